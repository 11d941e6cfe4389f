"""Every estimator has the common fields, the `fit` and the docs of its base."""

import dataclasses
import inspect
import re

import pytest
from public_estimators import KINDS

from dpml.classifiers._base import PrivateClassifier
from dpml.estimators.base import PrivateEstimator
from dpml.publishing import ImportanceWeights

ALL = {**KINDS, "ImportanceWeights": ImportanceWeights}
COMMON = [f.name for f in dataclasses.fields(PrivateEstimator)]


def library_classes(kind=PrivateEstimator):
    """Return every class of the library below a base, the hidden ones too."""
    below = {found for child in kind.__subclasses__() for found in (child, *library_classes(child))}
    return sorted((c for c in below if c.__module__.startswith("dpml.")), key=lambda c: c.__qualname__)


def restated(kind):
    """Return the common fields that a class states again. A class may fix one for all its objects."""
    fixed = [name for name, of in inspect.get_annotations(kind).items() if str(of).startswith("ClassVar")]
    return [name for name in COMMON if name in {*inspect.get_annotations(kind), *vars(kind)} and name not in fixed]


def undescribed(kind):
    """Return the parameters that the list in a class's docstring lacks or has twice."""
    section = re.search(r"\nParameters\n-+\n(.*?)(?=\n\n\S|\Z)", inspect.getdoc(kind), re.DOTALL)[1]
    heads = (line.partition(" : ")[0] for line in re.findall(r"^\S.*", section, re.MULTILINE))
    names = [name for head in heads for name in head.split(", ")]
    return [name for name in inspect.signature(kind).parameters if names.count(name) != 1]


def test_common_fields_are_stated_in_the_base_alone():
    assert COMMON == ["epsilon", "relation", "schema", "budget", "on_invalid", "release", "random_state"]
    assert len(library_classes()) > 25
    assert {kind.__name__: names for kind in library_classes() if (names := restated(kind))} == {}


def test_a_restated_field_is_seen():
    @dataclasses.dataclass(eq=False, repr=False, kw_only=True)
    class Restating(PrivateClassifier):
        budget: object = None

    class Setting(PrivateClassifier):
        on_invalid = "clip"

    assert restated(Restating) == ["budget"]
    assert restated(Setting) == ["on_invalid"]


@pytest.mark.parametrize("name", sorted(ALL))
def test_every_parameter_is_described_once(name):
    assert undescribed(ALL[name]) == []


def test_what_a_class_says_of_a_common_parameter_stands_in_place_of_the_bases_words():
    class Described(PrivateClassifier):
        """A classifier.

        Parameters
        ----------
        release : bool
            No.
        """

    assert undescribed(Described) == []
    assert "No.\n" in Described.__doc__
    assert "Draw secure noise" not in Described.__doc__
    assert "Draw secure noise" in PrivateEstimator.__doc__


def test_epsilon_comes_first_and_the_others_by_name():
    for name, kind in ALL.items():
        first, *others = inspect.signature(kind).parameters.values()
        if name != "PrivateSearch":  # what is searched comes before it
            assert first.name == "epsilon"
            assert first.kind == inspect.Parameter.POSITIONAL_OR_KEYWORD
        by_name = [p.name for p in others if p.kind == inspect.Parameter.KEYWORD_ONLY]
        assert set(COMMON[1:]) - {"relation"} <= set(by_name)
        assert ("relation" in by_name) == (name != "ImportanceWeights")
