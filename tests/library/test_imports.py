"""What an import brings with it: nothing that draws, no cluster, no classifier or claim before it is asked for."""

import json
import pkgutil
import subprocess
import sys

import pytest

import dpml.classifiers

# each takes tenths of a second, or is an extra that need not be there
NOT_WANTED = {"panel", "panel_material_ui", "bokeh", "holoviews", "param"}
NOT_WANTED |= {"distributed", "dask", "duckdb", "opendp", "jax", "tqdm.notebook"}


def imported(program):
    """Return the modules that a new process has after a program."""
    text = f"{program}\nimport sys, json; print(json.dumps(sorted(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    return set(json.loads(run.stdout.splitlines()[-1]))


def test_the_library_imports_nothing_that_draws_and_no_cluster():
    names = [m.name for m in pkgutil.walk_packages(dpml.__path__, "dpml.") if m.name != "dpml.__main__"]
    assert {"dpml.budget", "dpml.schema.schema", "dpml.mechanisms.noise"} <= set(names)
    modules = imported(f"from dpml.classifiers import *; import {', '.join(names)}")
    assert sorted(modules & NOT_WANTED) == []


def test_the_room_of_classifiers_imports_none_until_one_is_asked_for():
    rooms = {"sklearn", "scipy", "pandas", *(f"dpml.classifiers.{room}" for room in ("linear", "tree", "naive_bayes"))}
    assert imported("import dpml.classifiers") & rooms == set()
    after = imported("from dpml.classifiers import BernoulliNB")
    assert "dpml.classifiers.naive_bayes" in after
    assert {"dpml.classifiers.tree", "dpml.classifiers.automatic", "sklearn.cluster"} & after == set()


def test_a_budget_is_charged_without_a_library_of_tables():
    assert {"pandas", "scipy", "sklearn"} & imported("from dpml.budget import Budget\nBudget(1.0).spend(0.5)") == set()


def test_a_release_imports_no_audit():
    modules = imported("from dpml.release import Plan, Released, verify")
    assert [name for name in modules if name.startswith("dpml.audit")] == []


def test_the_app_draws_without_holoviews():
    assert "holoviews" not in imported("import dpml_app.shell")


def test_views_import_no_claims_before_a_series_is_named():
    assert {"dpml.audit.cases", "dpml.audit", "sklearn"} & imported("import dpml_app.views") == set()


def test_every_classifier_is_there_under_its_name():
    for name in dpml.classifiers.__all__:
        assert getattr(dpml.classifiers, name).__name__ == name
        assert name in dir(dpml.classifiers)
    with pytest.raises(AttributeError, match=r"'dpml\.classifiers' has no attribute 'Forest'"):
        _ = dpml.classifiers.Forest


def test_a_sweep_reads_yaml_and_parquet_only_where_they_are_needed():
    assert {"yaml", "joblib.memory", "distributed"} & imported("import dpml.sweep.declaration") <= {"joblib.memory"}
