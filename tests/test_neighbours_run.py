"""The run of many neighbours goes on where it stopped, takes every whole, and fails where one costs too much."""

import csv
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).with_name("neighbours_run.py")
HEAD = "subject,relation,first,examples,largest,seconds,failure"


def run(*options):
    return subprocess.run([sys.executable, str(SCRIPT), *options], capture_output=True, text=True, check=False)


def test_a_run_goes_on_where_it_stopped(tmp_path):
    out = tmp_path / "rows.csv"
    done = "functions: private_roc_auc,add-remove,0,3,0.5,1.0,"
    out.write_text(f"{HEAD}\n{done}\n", encoding="utf-8")
    options = ("--examples", "6", "--words", "functions: private_roc_auc", "--out", str(out))
    first = run(*options)
    assert first.returncode == 0, first.stderr
    rows = list(csv.reader(out.read_text(encoding="utf-8").splitlines()))
    assert ",".join(rows[1]) == done
    assert [row[:4] for row in rows[2:]] == [["functions: private_roc_auc", "replace-one", "0", "3"]]
    assert 0 < float(rows[2][4]) <= 1 + 1e-9
    assert run("--table", str(out)).stdout.splitlines()[1] == "functions: private_roc_auc,add-remove,3,0.5,1,"


def test_a_cost_above_its_charge_fails_the_table(tmp_path):
    out = tmp_path / "rows.csv"
    out.write_text(f"{HEAD}\none,add-remove,0,3,2.0,1.0,example 1: 2\n", encoding="utf-8")
    assert run("--table", str(out)).returncode == 1


def test_every_test_of_neighbours_is_a_subject():
    code = "import neighbours_run as run; print(*(name for name, *_ in run.subjects()), sep='\\n')"
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=SCRIPT.parent, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert len(set(found)) == len(found) >= 120
    assert {
        "estimators: AutoClassifier",
        "estimators: cross-validation",
        "functions: private_roc_auc",
        "more: Plan[classifier]",
    } <= set(found)
