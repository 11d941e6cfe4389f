"""Every estimator has the common fields, the `fit` and the docs of its base."""

import dataclasses
import inspect
import re

import numpy as np
import pytest
from public_estimators import KINDS, NEEDED, NOT_PRIVATE, PREDICTING, QUICK

from dpml.budget import Budget
from dpml.classifiers._base import PrivateClassifier
from dpml.estimators.base import PrivateEstimator
from dpml.exceptions import NotPrivate
from dpml.mechanisms import Laplace
from dpml.mechanisms.private import number_of
from dpml.publishing import ImportanceWeights

ALL = {**KINDS, "ImportanceWeights": ImportanceWeights}
COMMON = [f.name for f in dataclasses.fields(PrivateEstimator)]


def library_classes(kind=PrivateEstimator):
    """Return every class of the library below a base, the hidden ones too."""
    below = {found for child in kind.__subclasses__() for found in (child, *library_classes(child))}
    return sorted((c for c in below if c.__module__.startswith("dpml.")), key=lambda c: c.__qualname__)


def restated(kind):
    """Return the common fields that a class states again. A class may fix one for all its objects."""
    fixed = [name for name, of in inspect.get_annotations(kind).items() if "ClassVar" in str(of)]
    return [name for name in COMMON if name in {*inspect.get_annotations(kind), *vars(kind)} and name not in fixed]


def listed(kind, title):
    """Return the names of a list in a class's docstring."""
    section = re.search(rf"\n{title}\n-+\n(.*?)(?=\n\n\S|\Z)", inspect.getdoc(kind), re.DOTALL)[1]
    heads = (line.partition(" : ")[0] for line in re.findall(r"^\S.*", section, re.MULTILINE))
    return [name for head in heads for name in head.split(", ")]


def undescribed(kind):
    """Return the parameters that the list in a class's docstring lacks or has twice."""
    names = listed(kind, "Parameters")
    return [name for name in inspect.signature(kind).parameters if names.count(name) != 1]


def test_common_fields_are_stated_in_the_base_alone():
    assert COMMON == ["epsilon", "relation", "schema", "budget", "on_invalid", "release", "random_state"]
    assert len(library_classes()) > 25
    assert {kind.__name__: names for kind in library_classes() if (names := restated(kind))} == {}


@pytest.mark.parametrize("name", sorted(ALL))
def test_every_parameter_is_described_once(name):
    assert undescribed(ALL[name]) == []


# ---- one fit -------------------------------------------------------------------------------------------------------

# what the base alone defines, and who else says `fit` with names of its own before it goes on to the base's
ORDER = ("_fit_checked", "_charge", "_check_common", "_check_claim")
OTHER_NAMES = {"Publisher", "ImportanceWeights"}
# they fit what they hold with a budget of their own, which it must charge (tests/test_tuning_*.py)
WRAPPERS = {"PrivateSearch", "BestSelector"}
STEPS = ["_charge", "_statistics", "_release", "_model"]
X = np.random.default_rng(0).integers(2, size=(60, 4))


def relation_of(name):
    return "replace-one" if name == "ImportanceWeights" else "add-remove"


def out_of_order(kind):
    """Return what a class defines that is the base's."""
    return {name for name in ("fit", *ORDER) if name in vars(kind)}


def steps_of(name):
    # a private prediction releases labels, and not in its fit
    return [step for step in STEPS if name not in PREDICTING or step != "_release"]


def watched(name, **options):
    """Return an estimator that lists its steps, and the list."""
    seen = []

    def step(method):
        def listed(self, *arguments):
            seen.append(method)
            return getattr(super(kind, self), method)(*arguments)

        return listed

    kind = type(name, (ALL[name],), {method: step(method) for method in steps_of(name)})
    settings = {**NEEDED.get(name, {}), **QUICK.get(name, {}), **options}
    return kind(epsilon=1.0, random_state=0, **settings), seen


def test_every_fit_is_the_bases():
    others = {kind.__name__: names for kind in library_classes() if (names := out_of_order(kind))}
    assert others == {name: {"fit"} for name in OTHER_NAMES | WRAPPERS}


@pytest.mark.parametrize("name", sorted(ALL.keys() - WRAPPERS))
def test_a_fit_charges_then_computes_then_releases_then_learns(name):
    model, seen = watched(name, budget=None if name in NOT_PRIVATE else Budget(1.0, relation=relation_of(name)))
    model.fit(X, X[:30] if name == "ImportanceWeights" else X[:, 0])
    assert seen == steps_of(name)
    if model.budget is not None and name not in PREDICTING:
        assert model.budget.ledger["epsilon"].sum() == pytest.approx(1.0)


class Forgetful(PrivateClassifier):
    """A method that releases a number of records and states no cost."""

    def _costs(self, schema):
        return {}

    def _release(self, statistics, table):
        return Laplace(self.epsilon, 1.0).release(number_of(statistics), rng=table.rng)

    def _model(self, released, table):
        self.n_ = released


class Free(Forgetful):
    """A method that forgets its cost altogether."""

    _costs = PrivateClassifier._costs


class Paid(Forgetful):
    def _costs(self, schema):
        return {"Paid": self.epsilon}


class OwnFit(Forgetful):
    def fit(self, X, y):
        self.n_ = len(X)
        return self


def test_a_method_without_a_charge_cannot_be_fitted():
    assert Paid(1e9, random_state=0).fit(X, X[:, 0]).n_ == pytest.approx(60, abs=1e-6)
    for budget in (None, Budget(1.0)):
        with pytest.raises(NotPrivate, match="Forgetful releases something and states no cost"):
            Forgetful(1.0, budget=budget).fit(X, X[:, 0])
        with pytest.raises(NotImplementedError):
            Free(1.0, budget=budget).fit(X, X[:, 0])
    assert out_of_order(OwnFit) == {"fit"}
