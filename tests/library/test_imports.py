"""What an import brings with it: nothing that draws, no cluster, no classifier or claim before it is asked for."""

import json
import pkgutil
import subprocess
import sys

import dpml.classifiers

# each takes tenths of a second, or is an extra that need not be there
NOT_WANTED = {"panel", "panel_material_ui", "bokeh", "holoviews", "param"}
NOT_WANTED |= {"distributed", "dask", "duckdb", "opendp", "jax", "tqdm.notebook"}


def imported(*programs):
    """Return the modules that a new process has after each of some programs, one after another."""
    shown = "\nprint(json.dumps(sorted(sys.modules)))\n"
    text = "import sys, json\n" + "".join(program + shown for program in programs)
    run = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    return [set(json.loads(line)) for line in run.stdout.splitlines()]


def test_a_part_of_the_library_imports_no_more_than_it_needs():
    names = [m.name for m in pkgutil.walk_packages(dpml.__path__, "dpml.") if m.name != "dpml.__main__"]
    assert {"dpml.budget", "dpml.schema.schema", "dpml.mechanisms.noise"} <= set(names)
    charged, classifiers, one, command, sweep, release, everything = imported(
        "from dpml.budget import Budget; Budget(1.0).spend(0.5)",
        "import dpml.classifiers",
        "from dpml.classifiers import BernoulliNB",
        "import dpml.__main__; _ = dpml.__main__._parser()",
        "import dpml.sweep.declaration",
        "from dpml.release import Plan, Released, verify",
        f"from dpml.classifiers import *; import {', '.join(names)}",
    )
    parts = {f"dpml.classifiers.{part}" for part in ("linear", "tree", "naive_bayes", "automatic")}
    assert charged & {"pandas", "scipy", "sklearn"} == set()
    assert classifiers & {"sklearn", "scipy", "pandas", *parts} == set()
    assert one & {*parts, "sklearn.cluster"} == {"dpml.classifiers.naive_bayes"}
    assert command & {"joblib"} <= one
    assert sweep & {"yaml", "distributed"} == set()
    assert [name for name in release if name.startswith("dpml.audit")] == []
    assert sorted(everything & NOT_WANTED) == []


def test_views_import_no_claims_before_a_series_is_named():
    assert {"dpml.audit.cases", "dpml.audit", "sklearn"} & imported("import dpml_app.views")[0] == set()
