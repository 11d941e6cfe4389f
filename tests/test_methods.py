"""The registry of methods: each entry is the class, the study and the claims that it names."""

import ast
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dpml.classifiers
from dpml import methods
from dpml.catalogue import CATALOGUE, standing
from dpml.datasets import load
from dpml.exceptions import InvalidParameter
from dpml.methods import METHODS, Method
from dpml.studies import STUDIES, SelectedNBStudy

OWN = [key for key, entry in METHODS.items() if entry.target]
# scikit-learn's own, without noise, trained on published tables
ELSEWHERE = {("app/dpml_app/pages/publish/settings.py", "Linear SVM")}
STUDIED = [key for key, entry in METHODS.items() if entry.study]


def test_reading_the_list_imports_no_classifier():
    code = "import sys, dpml.methods; print([m for m in sys.modules if m.startswith(('dpml.', 'sklearn', 'pandas'))])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert set(ast.literal_eval(out)) == {"dpml._validate", "dpml.exceptions", "dpml.methods"}


@pytest.mark.parametrize("key", OWN)
def test_an_entry_makes_its_estimator_and_its_claims_are_about_that(key):
    entry = METHODS[key]
    model = entry.make(0.5)
    assert (type(model).__name__, model.epsilon) == (entry.target.rpartition(".")[2], 0.5)
    assert type(model).__name__ in dpml.classifiers.__all__
    assert {name: getattr(model, name) for name in entry.options} == dict(entry.options)
    for name in (*entry.claims, *entry.numeric_claims):
        covered = {place.partition("[")[0].rpartition(".")[2] for place in CATALOGUE[name].covers}
        assert type(model).__name__ in covered or covered == {"release_coefficients"}, name


@pytest.mark.parametrize("key", STUDIED)
def test_the_study_of_an_entry_runs(key):
    study = METHODS[key].study_of(load("toy"), relation="replace-one")
    assert study(1.0, draws=2, rng=np.random.default_rng(0))["accuracy"].shape == (2,)


def test_what_is_not_private_is_what_the_catalogue_says():
    assert [key for key in OWN if not standing(key).private] == ["vaidya", "published"]
    assert [key for key in OWN if not standing(key, numeric=False).private] == ["published"]
    assert [key for key in OWN if not standing(key, numeric=False).holds] == ["vaidya", "published"]
    assert [key for key in OWN if standing(key).delta] == ["descent"]
    assert standing("vaidya").relations == ("add-remove",)
    assert standing("vaidya", numeric=False).relations == ("add-remove", "replace-one")


def test_without_claims_nothing_is_called_private():
    assert not any(standing(key).private for key, entry in METHODS.items() if not entry.claims)


def test_every_name_that_people_read_is_of_one_method():
    for name in ("title", "label", "phrase"):
        values = [getattr(entry, name) for entry in METHODS.values()]
        assert len(set(values)) == len(values) == 22


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
    assert methods.register(entry) is methods.method("mine")
    try:
        with pytest.raises(InvalidParameter, match="mine"):
            methods.register(entry)
    finally:
        methods.unregister("mine")
    with pytest.raises(InvalidParameter, match="key"):
        methods.method("mine")


@pytest.mark.parametrize("key", [key for key in STUDIED if METHODS[key].sweep])
def test_a_sweep_builds_the_study_of_the_entry(key):
    entry, build = METHODS[key], STUDIES[METHODS[key].sweep].build
    own = methods.study_by_name(entry.study)
    # with all features a choice of features is Algorithm 1
    assert build is own or (key == "algorithm-1" and issubclass(build, SelectedNBStudy))
    assert methods.by_sweep(entry.sweep, entry.study_options.get("method", "")) is entry


def test_titles_and_what_is_private_are_written_in_no_other_table():
    """No other module maps a method's key to its title or label, or says whether its claim holds."""
    root = Path(dpml.__file__).parent
    places = [*root.rglob("*.py"), *(root.parent / "app" / "dpml_app").rglob("*.py")]
    names = {getattr(entry, name) for entry in METHODS.values() for name in ("title", "label", "phrase")}
    names -= {each.rpartition(".")[2] for each in (entry.target for entry in METHODS.values())}
    faults = []
    for path in places:
        module = path.relative_to(root.parent).as_posix()
        if module == "dpml/methods.py" or module.startswith("dpml/catalogue/"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and node.value in names and (module, node.value) not in ELSEWHERE:
                faults.append((module, node.value))
            stated = isinstance(node, ast.keyword) and node.arg in ("claim_holds", "private", "pure")
            if stated and "dpml_app" in module and isinstance(getattr(node.value, "value", None), bool):
                faults.append((module, node.arg))
    assert faults == []
