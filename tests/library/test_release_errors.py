"""``python -m dpml release`` ends well whatever one record is, and reads all others as without it."""

import json
import pickle
import re

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from odd_lines import ODD
from release_table import FILES, files_without

from dpml.__main__ import main
from dpml.exceptions import NotPrivate
from dpml.mechanisms.private import opened
from dpml.release import Plan
from dpml.release.records import read_records
from dpml.schema import Feature, Schema
from dpml.tables import read_table

SCHEMA = Schema(
    (
        Feature("age", "numeric", lower=0, upper=120),
        Feature("plan", "categorical", ("basic", "family")),
        Feature("spent", "numeric", lower=0, upper=300, missing=40),
    ),
    ("no", "yes"),
    n_lower=30,
)
LINES = [f"{20 + i},{'basic' if i % 2 else 'family'},{i}.5,{'yes' if i % 3 else 'no'}".encode() for i in range(40)]


def file_of(lines):
    return b"\n".join([b"age,plan,spent,left", *lines, b""])


@pytest.fixture
def ended(tmp_path, capfd):
    """Return how the command ends for lines of a file, and what it has written."""
    (tmp_path / "schema.yaml").write_text(SCHEMA.to_yaml(), encoding="utf-8")
    calls = []

    def run(lines, *more):
        out = tmp_path / f"out{len(calls)}"
        calls.append(out)
        (tmp_path / "table.csv").write_bytes(file_of(lines))
        asked = ["--label", "left", "--epsilon", "1", "--out", str(out), "--share", "training=0.5", *more]
        code = main(["release", str(tmp_path / "table.csv"), str(tmp_path / "schema.yaml"), *asked])
        written = sorted(path.name for path in out.iterdir()) if out.exists() else []
        return code, written, capfd.readouterr(), out

    return run


@pytest.mark.parametrize("kind", ODD)
def test_no_record_ends_the_command(ended, kind):
    """Nor does it write or say anything else than it does without the record."""
    lines = [*LINES[:7], ODD[kind], *LINES[7:]]
    one, two = ended(LINES), ended(lines)
    assert one[:2] == two[:2] == (0, files_without("evaluation.json", "table.csv"))
    # the manifest is of files with noise in them
    said = [re.sub(r"SHA-256 of .*|out\d", "", run[2].out) for run in (one, two)]
    assert (said[0], one[2].err) == (said[1], two[2].err)
    ledgers = [json.loads((run[3] / "ledger.json").read_text()) for run in (one, two)]
    assert ledgers[0] == ledgers[1]


@pytest.mark.parametrize("lines", [[], [b",,,"], [b""] * 3, list(ODD.values())], ids=["none", "null", "blank", "odd"])
def test_a_table_without_any_record_is_released(ended, lines):
    code, written, _said, out = ended(lines, "--share", "evaluation=0.2", "--share", "publishing=0.3")
    assert (code, written) == (0, FILES)
    person = pd.DataFrame({"age": [1], "plan": ["basic"], "spent": [0]})
    assert joblib.load(out / "model.joblib").predict(person)[0] in ("no", "yes")


@settings(max_examples=15)
@given(st.integers(0, 40), st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"")), st.booleans())
def test_any_line_leaves_the_records_of_others_and_the_command_ends_well(tmp_path_factory, place, odd, add):
    folder = tmp_path_factory.mktemp("release")
    (folder / "schema.yaml").write_text(SCHEMA.to_yaml(), encoding="utf-8")
    place = min(place, len(LINES) - 1)
    changed = [*LINES[:place], odd, *LINES[place + (not add) :]]
    records = []
    for number, lines in enumerate((LINES, changed)):
        (folder / "table.csv").write_bytes(file_of(lines))
        asked = ["--label", "left", "--epsilon", "1", "--share", "training=1", "--out", str(folder / f"out{number}")]
        assert main(["release", str(folder / "table.csv"), str(folder / "schema.yaml"), *asked]) == 0
        assert (folder / f"out{number}" / "model.joblib").exists()
        read = read_records(SCHEMA, read_table(folder / "table.csv", release=True), "left")
        checked, _ = SCHEMA.check_features(opened(read.X), "clip")
        codes = SCHEMA.check_labels(opened(read.y), "clip")
        rows = zip(checked.astype(object).values.tolist(), codes.tolist(), strict=True)
        records.append([pickle.dumps(row) for row in rows])
    one, two = records
    assert one[:place] == two[:place]
    assert one[place + (not add) :] == two[place + 1 :]


def test_a_table_that_is_whole_is_read_for_a_release_as_for_study():
    plan = Plan(SCHEMA, 1.0, shares={"training": 0.5, "evaluation": 0.2, "publishing": 0.3}, max_grids=20)
    made = []
    for release in (False, True):
        table = read_table(file_of(LINES), release=release)
        released = plan.run(table, "left", secure=False, random_state=0)
        made.append((released.evaluation_json(), released.table.to_csv(), released.model.predict(table).tolist()))
    assert made[0] == made[1]


def test_a_demonstration_run_says_that_records_are_dropped(ended):
    with pytest.warns(match="records without a valid label are dropped"):
        code, *_ = ended([*LINES, ODD["ragged"]], "--dry-run", "0")
    assert code == 0


def test_a_file_in_another_encoding_is_said(ended):
    lines = [line.replace(b"basic", b"b\xe4sic") for line in LINES]
    assert ended(lines, "--encoding", "cp1252")[0] == 0


class Strange(ArithmeticError):
    """What a method may raise."""


@pytest.mark.parametrize("secure", [False, True])
def test_what_fails_on_no_records_is_told_as_it_is(monkeypatch, secure):
    """With the part that fails, which need not be the classifier, and the error itself."""
    from dpml.publishing import PrivPfC

    def broken(self, X, y):
        raise Strange("the widths of 7 bins are 0")

    monkeypatch.setattr(PrivPfC, "fit", broken)
    plan = Plan(SCHEMA, 1.0, shares={"training": 0.5, "publishing": 0.5})
    [problem] = plan.problems(secure)
    assert isinstance(problem, NotPrivate)
    assert "publishing fails on a table without records: Strange: the widths of 7 bins are 0" in str(problem)
    assert isinstance(problem.__cause__, Strange)
    assert "AutoClassifier" not in str(problem)


def test_records_of_a_list_and_their_labels():
    rows = [[30, "basic", 1], [30], None, [31, "family", 2]]
    read = read_records(SCHEMA, rows, np.array(["yes", "no", "yes", "no"]))
    assert opened(read.y).tolist() == ["yes", None, None, "no"]
    assert opened(read_records(SCHEMA, [], []).y).tolist() == []
