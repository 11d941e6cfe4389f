"""The registry of methods: each entry is the class, the study and the claims that it names."""

import ast
import importlib
import inspect
import subprocess
import sys

import pytest
from public_estimators import KINDS, NEEDED

from dpml import registry
from dpml.claims import claims_of
from dpml.evaluation.as_published import METHODS as CURVES
from dpml.exceptions import InvalidParameter
from dpml.registry import METHODS, Method, claim, standing
from dpml.studies import SelectedNBStudy, every_study

CLASSIFIERS = METHODS["classifier"]
OWN = [key for key, entry in CLASSIFIERS.items() if entry.target]
STUDIED = [key for key, entry in CLASSIFIERS.items() if entry.study]
EVERY = [(family, key) for family, entries in METHODS.items() for key in entries]
TARGETED = [(family, key) for family, key in EVERY if METHODS[family][key].target]
ESTIMATORS = [(family, key) for family, key in TARGETED if family in ("classifier", "selector", "publisher")]


def test_reading_the_list_imports_no_classifier():
    code = "import sys, dpml.registry; print([m for m in sys.modules if m.startswith(('dpml.', 'sklearn', 'pandas'))])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    own = {name for name in ast.literal_eval(out) if not name.startswith("dpml.registry")}
    assert own == {"dpml._validate", "dpml.claims", "dpml.exceptions"}


@pytest.mark.parametrize(("family", "key"), ESTIMATORS)
def test_an_entry_makes_its_estimator(family, key):
    entry = METHODS[family][key]
    name = entry.target.rpartition(".")[2]
    model = entry.make(0.5, **{n: v for n, v in NEEDED.get(name, {}).items() if n not in entry.options})
    assert (type(model).__name__, model.epsilon) == (name, 0.5)
    assert {name: getattr(model, name) for name in entry.options} == dict(entry.options)
    assert name in importlib.import_module(entry.target.rpartition(".")[0]).__all__


@pytest.mark.parametrize(("family", "key"), TARGETED)
def test_an_entry_and_its_claims_are_about_one_object(family, key):
    entry = METHODS[family][key]
    assert set(entry.options) <= set(inspect.signature(entry.kind).parameters)
    assert entry.claims
    for name in (*entry.claims, *entry.numeric_claims):
        own = claim(name)
        assert own in claims_of(entry.kind), name
        # where a claim is about some values of an option, those of the entry are among them
        for option in set(own.options) & set(entry.options) - {"score", "calibration"}:
            assert entry.options[option] == own.options[option]


def test_what_has_no_entry_has_no_noise_or_is_a_part_of_another():
    """Every public selector, publisher and classifier is some entry's class."""
    entered = {entry.target.rpartition(".")[2] for family in METHODS.values() for entry in family.values()}
    assert set(KINDS) - entered == {
        # around another estimator
        "PrivateSearch",
        # one prediction at a time, and a tree that DiffPC45 is better than
        "PrivatePredictionLR",
        "PrivatePredictionNB",
        "DiffPID3",
    }


def test_every_published_curve_is_some_entry_s():
    entered = {entry.options.get("method") for entry in METHODS["curve"].values()} - {None}
    # not in the paper, and compared in no list
    assert set(CURVES) - entered == {"quantiles"}


def test_what_is_not_private_is_what_the_catalogue_says():
    assert [key for key in OWN if not standing(key).private] == ["vaidya", "published"]
    assert [key for key in OWN if not standing(key, numeric=False).private] == ["published"]
    assert [key for key in OWN if not standing(key, numeric=False).holds] == ["vaidya", "published"]
    assert [key for key in OWN if standing(key).delta] == ["descent"]
    assert standing("vaidya").relations == ("add-remove",)
    assert standing("vaidya", numeric=False).relations == ("add-remove", "replace-one")
    others = {
        family: [key for key in METHODS[family] if not standing(key, family).private]
        for family in METHODS
        if family != "classifier"
    }
    assert others == {
        "selector": ["iterative", "exact", "threshold-testing", "noisy-cut", "clusters"],
        "publisher": ["privpfc-selnf", "privbayes-struct", "diffgen-struct"],
        "curve": ["fixed-space", "laplace"],
        "noise": [],
    }


def test_without_claims_nothing_is_called_private():
    unclaimed = [(key, family) for family, key in EVERY if not METHODS[family][key].claims]
    assert ("exact", "selector") in unclaimed
    assert not any(standing(*each).private for each in unclaimed)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"key": ""}, "key"),
        ({"family": "mechanism"}, "family"),
        ({"group": "trees"}, "group"),
        ({"advised": True}, "study"),
    ],
)
def test_an_entry_that_says_something_wrong_is_refused(options, name):
    with pytest.raises(InvalidParameter, match=name):
        Method(**{"key": "mine", "title": "Mine", "family": "classifier", **options})


def test_a_key_is_taken_once_and_can_be_taken_out():
    entry = Method("mine", "Mine", "classifier")
    assert registry.register(entry) is registry.method("mine")
    try:
        with pytest.raises(InvalidParameter, match="mine"):
            registry.register(entry)
    finally:
        del METHODS["classifier"]["mine"]
    with pytest.raises(InvalidParameter, match="key"):
        registry.method("mine")


@pytest.mark.parametrize("key", STUDIED)
def test_a_sweep_builds_the_study_of_the_entry(key):
    entry, build = CLASSIFIERS[key], every_study()[CLASSIFIERS[key].sweep].build
    own = registry.study_by_name(entry.study)
    # with all features a choice of features is Algorithm 1
    assert build is own or (key == "algorithm-1" and issubclass(build, SelectedNBStudy))
    assert (entry.study_options.get("method", "") or None) in (*registry.methods_of(entry.sweep), None)
