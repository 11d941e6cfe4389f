"""The plan of a release: what it says beforehand is what is charged, and what it refuses."""

import math
from dataclasses import replace
from fractions import Fraction
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
from release_table import CANARY, SCHEMA, customers, without_label
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline

from dpml.audit.cases import AUDITED
from dpml.budget import Budget
from dpml.classifiers import AutoClassifier, BernoulliNB, LinearClassifier, LogisticRegression, MixedNB
from dpml.exceptions import (
    BudgetExceeded,
    FactWarning,
    InvalidData,
    InvalidParameter,
    InvalidSchema,
    MissingExtra,
    NoSecureSampler,
    NotPrivate,
    RelationMismatch,
)
from dpml.release import Plan
from dpml.release import plan as plans
from dpml.release.plan import NOT_RELEASED
from dpml.schema import Schema
from dpml.tuning import PrivateSearch

THREE = {"training": 0.6, "evaluation": 0.2, "publishing": 0.2}
FOUR = {"selection": 0.1, "training": 0.5, "evaluation": 0.2, "publishing": 0.2}
BINARY = Schema.binary(6, n_lower=100)


def run(plan, data, secure=False):
    """Carry out a plan, with a seed for a demonstration run."""
    return plan.run(*data, secure=secure, **({} if secure else {"random_state": 0}))


def binary_records(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = (rng.random((n, 6)) < 0.4).astype(float)
    return pd.DataFrame(X, columns=BINARY.feature_names), np.where(X[:, 0] > 0, 1, 0)


PLANS = {
    "default": (SCHEMA, {}),
    "three parts": (SCHEMA, {"shares": THREE, "max_grids": 40}),
    "table alone": (SCHEMA, {"shares": {"publishing": 1.0}, "max_grids": 40}),
    "model alone": (SCHEMA, {"shares": {"training": 1.0}, "method": "MixedNB"}),
    "several charges of one method": (SCHEMA, {"method": "PrivPfCClassifier"}),
    "four parts": (BINARY, {"shares": FOUR, "n_features": 2, "max_grids": 40, "method": BernoulliNB}),
    "more classes": (Schema(SCHEMA.features, ("no", "yes", "maybe"), n_lower=50, ignored=("customer",)), {}),
}


def data_of(schema, n=50):
    return without_label(customers(n)) if len(schema.features) == 3 else binary_records(n)


@pytest.mark.parametrize("secure", [False, True])
@pytest.mark.parametrize("name", PLANS)
def test_what_is_previewed_is_charged(name, secure):
    schema, options = PLANS[name]
    plan = Plan(schema, 0.7, **options)
    before = plan.preview(secure)
    released = run(plan, data_of(schema), secure)
    columns = ["part", "released", "epsilon", "relation", "noise", "source"]
    pd.testing.assert_frame_equal(released.ledger, before)
    assert list(before) == columns
    assert sum(map(Fraction, before["epsilon"])) <= Fraction(0.7)
    assert math.isclose(released.spent, 0.7, rel_tol=1e-12)
    if secure:
        kinds = {kind for noise in before["noise"] for kind in noise.split(", ")}
        one_hot = {"secure noise of a norm", "secure noise on the objective"}
        assert kinds <= {"integer Laplace noise", "noisy maximum (permute-and-flip)"} | one_hot


class NotCharging(MixedNB):
    """Fits, and charges nothing."""

    def fit(self, X, y):
        return MixedNB(self.epsilon, schema=self.schema, on_invalid="clip", random_state=0).fit(X, y)


class OneRelation(MixedNB):
    """States its cost under one relation, whatever it is asked."""

    def fit(self, X, y):
        self.budget.spend(self.epsilon, relation="replace-one")
        return self


class Failing(MixedNB):
    """Fails for a table without records."""

    def fit(self, X, y):
        self.budget.spend(self.epsilon)
        raise ZeroDivisionError


MARKED = replace(SCHEMA, features=(replace(SCHEMA.features[0], data_derived=True), *SCHEMA.features[1:]))
REFUSED = {
    "overspent": (Plan(SCHEMA, 1.0, shares={"training": 0.9, "evaluation": 0.2}), BudgetExceeded, "at most 1. Got 1.1"),
    "nothing": (Plan(SCHEMA, 1.0, shares={}), InvalidParameter, "greater than 0 for one of selection"),
    "no model": (Plan(SCHEMA, 1.0, shares={"evaluation": 1.0}), InvalidParameter, "if evaluation has a share"),
    "bounds of the data": (Plan(MARKED, 1.0), InvalidSchema, "confirmed as public.*lower of 'age', upper of 'age'"),
    "classes of the data": (
        Plan(replace(SCHEMA, data_derived=("classes",)), 1.0), InvalidSchema, "confirmed as public.*'classes'",
    ),
    "not private": (Plan(SCHEMA, 1.0, method="class-sums-by-width"), NotPrivate, "private = False.*'auto'"),
    "charges nothing": (Plan(SCHEMA, 1.0, method=NotCharging), NotPrivate, "not in the catalogue"),
    "pays at predict": (
        Plan(BINARY, 1.0, method="PrivatePredictionNB"), NoSecureSampler, "'auto', or simulate: secure=False",
    ),
    "no secure noise": (Plan(BINARY, 1.0, method=LogisticRegression), NoSecureSampler, "or simulate: secure=False"),
    "selection of no columns": (
        Plan(SCHEMA, 1.0, shares={"selection": 0.5, "training": 0.5}), InvalidParameter, "0 for this schema",
    ),
    "too many columns": (
        Plan(BINARY, 1.0, shares={"selection": 0.5, "training": 0.5}, n_features=9),
        InvalidParameter,
        "`n_features` must be .*Got 9",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_release_is_refused_before_the_data_are_read(name):
    plan, kind, told = REFUSED[name]
    problems = plan.problems()
    assert [type(problem) for problem in problems] == [kind]
    budget = Budget(5.0)
    with pytest.raises(kind, match=told):
        plan.run(Untouched(), Untouched(), budget=budget)
    assert not len(budget.ledger)
    assert set(plan.preview()["part"]) == {part for part, share in plan.shares.items() if share}


class Untouched:
    """Data that fail at any look."""

    def __getattr__(self, name):
        raise AssertionError(f"{name} was looked at")


@pytest.mark.parametrize(
    ("method", "kind", "told"),
    [
        (NotCharging, NotPrivate, "charged nothing"),
        (OneRelation, RelationMismatch, "replace-one cannot be charged"),
        (Failing, NotPrivate, "without records"),
        ("PrivatePredictionNB", NotPrivate, "charged nothing for its fit"),
    ],
)
def test_a_demonstration_run_refuses_what_does_not_pay(method, kind, told):
    with pytest.raises(kind, match=told):
        Plan(SCHEMA if method != "PrivatePredictionNB" else BINARY, 1.0, method=method).run(
            Untouched(), Untouched(), secure=False, random_state=0
        )


def test_a_release_takes_no_seed_and_reads_nothing_with_one():
    with pytest.raises(InvalidParameter, match="random_state"):
        Plan(SCHEMA, 1.0).run(Untouched(), Untouched(), secure=True, random_state=0)


def test_a_method_with_a_delta_is_refused():
    plan = Plan(BINARY, 1.0, method=LogisticRegression(1.0, method="noisy-descent", delta=1e-5))
    assert [type(problem) for problem in plan.problems(secure=False)] == [BudgetExceeded]


def test_without_opendp_only_a_release_is_refused(monkeypatch):
    def missing():
        raise MissingExtra("Secure noise", "OpenDP", "release")

    monkeypatch.setattr("dpml.mechanisms.secure._opendp", missing)
    plan = Plan(SCHEMA, 1.0, shares=THREE)
    [problem] = plan.problems()
    assert isinstance(problem, MissingExtra)
    assert plan.preview()["noise"].tolist() == ["not available, see the problems"] * 3
    assert plan.problems(secure=False) == ()


def test_a_relation_without_a_claim_is_refused(monkeypatch):
    entry = replace(AUDITED["mixed-nb-binned"], relations=("add-remove",))
    monkeypatch.setattr("dpml.release.methods.claims_of", lambda kind: [entry])
    [problem] = Plan(SCHEMA, 1.0, method="MixedNB", relation="replace-one").problems(secure=False)
    assert isinstance(problem, RelationMismatch)
    assert "Choose the relation add-remove" in str(problem)
    assert Plan(SCHEMA, 1.0, method="MixedNB").problems(secure=False) == ()


class TwiceTheSame(MixedNB):
    """Charges two halves under one name."""

    def _parts(self, X):
        return 2

    def fit(self, X, y):
        parts = self._parts(X)
        for _ in range(parts):
            self.budget.spend(self.epsilon / parts, label="half")
        model = MixedNB(self.epsilon, schema=self.schema, on_invalid="clip", random_state=0).fit(X, y)
        self.__dict__.update({k: v for k, v in vars(model).items() if k.endswith("_") or k.startswith("_")})
        return self


class OnceForRecords(TwiceTheSame):
    """Charges two halves, or all at once where there are records."""

    def _parts(self, X):
        return 1 if len(X) else 2


def test_charges_that_depend_on_the_records_are_refused():
    plan = Plan(SCHEMA, 1.0, method=OnceForRecords, shares={"training": 1.0})
    with pytest.warns(FactWarning), pytest.raises(NotPrivate, match="its charges depend on the data"):
        plan.run(*without_label(customers(60)), secure=False, random_state=0)


MANY = Schema(SCHEMA.features, ("no", "yes"), n_lower=100_000)
WIDE = Schema.binary(70, n_lower=20_000)


@pytest.mark.parametrize(("schema", "method"), [(MANY, "auto"), (WIDE, "LinearClassifier")])
def test_a_simulation_uses_the_method_of_the_release(schema, method):
    """Where any noise will do `LinearClassifier` chooses weights, whose noise has no secure sampler."""
    plan = Plan(schema, 8.0, method=method, shares={"training": 1.0})
    X = pd.DataFrame({f.name: ["basic" if f.kind == "categorical" else 0.0] * 500 for f in schema.features})
    y = np.array(schema.classes, dtype=object)[np.arange(500) % 2]
    demonstrated, released = (run(plan, (X, y), secure).model for secure in (False, True))
    assert demonstrated.method_ == released.method_
    study = {"auto": AutoClassifier, "LinearClassifier": LinearClassifier}[method](8.0, schema=schema, random_state=0)
    of_study = study.set_params(on_invalid="clip").fit(X, y).method_
    assert (of_study == released.method_) == (method == "auto")


def test_a_simulation_runs_on_data_derived_facts():
    released = run(Plan(MARKED, 1.0), without_label(customers()))
    assert released.status == "simulation, not a release" == released.model.status_
    assert "simulation, not a release" in released.files()["ledger.json"].decode()


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"shares": {"training": 1, "lunch": 0}}, "part in shares"),
        ({"shares": {"training": -1}}, "share of training"),
        ({"shares": [1]}, "shares"),
        ({"method": "no-such-method"}, "method"),
        ({"method": "laplace"}, "method"),
        ({"test_share": 1.0}, "test_share"),
        ({"relation": "near"}, "relation"),
        ({"n_features": 0}, "n_features"),
        ({"max_grids": 0}, "max_grids"),
        ({"n_published": -1}, "n_published"),
        ({"n_published": 10**8}, "n_published"),
    ],
)
def test_a_value_that_no_plan_can_have_is_named(options, name):
    with pytest.raises(InvalidParameter) as raised:
        Plan(SCHEMA, 1.0, **options)
    assert raised.value.name == name


def test_a_sum_of_shares_that_rounds_above_one_is_one():
    plan = Plan(SCHEMA, 0.3, shares={"training": 0.1 + 0.2, "evaluation": 0.3, "publishing": 0.4})
    assert plan.problems(secure=False) == ()
    assert sum(map(Fraction, plan.epsilons.values())) <= Fraction(0.3)


@pytest.mark.parametrize("fault", [KeyboardInterrupt, MemoryError])
def test_an_exception_after_the_charge_notes_its_epsilon(monkeypatch, fault):
    budget, plan = Budget(2.0), Plan(SCHEMA, 1.0)
    plan.problems(secure=False)
    monkeypatch.setattr(plans, "carry_out", Mock(side_effect=fault))
    with pytest.raises(fault) as caught:
        plan.run(customers(), "left", secure=False, random_state=0, budget=budget)
    assert caught.value.__notes__ == ["ε = 1 was charged to the budget" + NOT_RELEASED]
    monkeypatch.setattr(plans, "read_records", Mock(side_effect=fault))
    with pytest.raises(fault) as caught:
        plan.run(customers(), "left", secure=False, random_state=0, budget=budget)
    assert not hasattr(caught.value, "__notes__")


@pytest.mark.parametrize(
    ("method", "error", "told"),
    [
        (RidgeClassifier, NotPrivate, "RidgeClassifier has no parameter epsilon"),
        (make_pipeline(BernoulliNB(1.0)), NotPrivate, "Pipeline has no parameter epsilon"),
        (PrivateSearch, InvalidParameter, "whose only required parameter is epsilon"),
    ],
)
def test_methods_without_a_single_epsilon_are_refused(method, error, told):
    with pytest.raises(error, match=told):
        Plan(BINARY, 1.0, method=method)


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda: Budget(0.5), BudgetExceeded),
        (lambda: Budget(5.0, relation="replace-one"), RelationMismatch),
        (lambda: 1.0, InvalidParameter),
    ],
)
def test_a_budget_that_cannot_pay_is_charged_nothing(make, kind):
    budget = make()  # here, because it belongs to the process that made it
    with pytest.raises(kind):
        Plan(SCHEMA, 1.0).run(*without_label(customers(60)), secure=False, random_state=0, budget=budget)
    assert not isinstance(budget, Budget) or not len(budget.ledger)


def test_a_name_of_the_catalogue_is_its_classifier():
    plan = Plan(BINARY, 1.0, method="nb-published", shares={"training": 1.0})
    assert plan._method[1].method == "published"
    with pytest.raises(InvalidParameter, match="passed as an estimator"):
        Plan(SCHEMA, 1.0, method="mixed-nb-smooth-cauchy")


def test_missing_columns_and_lengths_are_public():
    X, y = without_label(customers(60))
    with pytest.raises(InvalidData, match="Column 'age' is missing"):
        Plan(SCHEMA, 1.0).run(X.drop(columns="age"), y, secure=False)
    with pytest.raises(InvalidData, match="must have the same length") as raised:
        Plan(SCHEMA, 1.0).run(X, y[:-1], secure=False)
    assert CANARY not in str(raised.value)
