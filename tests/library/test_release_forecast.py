"""A forecast names a worthless model and a leak to the owner before the charge, and a release says what it can."""

import io
import json
import sys

import numpy as np
import pandas as pd
import pytest
from release_table import DATE

from dpml.__main__ import main
from dpml.budget import Budget
from dpml.datasets import load
from dpml.release import Plan
from dpml.schema import Feature, Schema

N = 3_000


def patients(seed=0):
    """Return records of whom 5 % are positive; age says who is at risk, and nobody is more likely than not."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, N)
    y = (rng.random(N) < 0.12 * (age / 90) ** 2).astype(int)
    frame = pd.DataFrame({"age": age, "bmi": rng.normal(28, 5, N).clip(12, 60), "sex": rng.choice(["f", "m"], N)})
    return frame.assign(stroke=y)


PATIENTS = Schema(
    (
        Feature("age", "numeric", lower=0, upper=120),
        Feature("bmi", "numeric", lower=0, upper=100),
        Feature("sex", "categorical", ("f", "m")),
    ),
    (0, 1),
    n_lower=2_000,
)


def bookings(seed=0):
    """Return records with a column that is known after the label only, in three texts, and the day it was written."""
    rng = np.random.default_rng(seed)
    lead = rng.integers(0, 400, N)
    y = (rng.random(N) < 0.1 + 0.6 * lead / 400).astype(int)
    status = np.where(y == 0, "Check-Out", rng.choice(["Canceled", "No-Show"], N))
    return pd.DataFrame({"lead": lead, "status": status, "day": 30 * y + rng.integers(0, 30, N), "cancelled": y})


BOOKINGS = Schema(
    (
        Feature("lead", "numeric", lower=0, upper=500),
        Feature("status", "categorical", ("Canceled", "Check-Out", "No-Show")),
        Feature("day", "numeric", lower=0, upper=60),
    ),
    (0, 1),
    n_lower=2_000,
)


def reasons(found):
    return [(each.kind, each.column) for each in found.warnings]


def test_a_model_that_always_answers_one_class_is_named():
    found = Plan(PATIENTS, 1.0).forecast(patients(), "stroke")
    assert reasons(found) == [("worthless model", None)]
    assert found.accuracy == pytest.approx(found.majority, abs=0.005)
    assert found.accuracy > 0.94
    assert found.balanced_accuracy == pytest.approx(0.5, abs=0.02)
    [warning] = found.warnings
    assert "no better than the majority-class baseline" in str(warning)
    assert "AUC" in str(warning)
    assert not any(letter.isdigit() for letter in warning.short.replace("0.8", ""))


def test_each_column_that_predicts_the_label_alone_is_named():
    found = Plan(BOOKINGS, 1.0).forecast(bookings(), "cancelled")
    assert reasons(found) == [("leak", "status"), ("leak", "day")]
    assert "column 'status' predicts 'cancelled' alone: accuracy 100.0%" in str(found.warnings[0])


def test_a_useful_model_of_honest_columns_has_no_warning():
    honest = BOOKINGS.subset(["lead"])
    found = Plan(honest, 1.0).forecast(bookings().drop(columns=["status", "day"]), "cancelled")
    assert found.warnings == ()
    assert found.accuracy > found.majority + 0.05
    assert 0.6 < found.auc < 0.9


def test_a_leak_is_found_in_binary_and_multiclass_tables():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N)
    X = pd.DataFrame({"a": rng.integers(0, 2, N), "b": 1 - y, "c": rng.integers(0, 2, N)})
    schema = Schema.binary(3, ["a", "b", "c"], n_lower=2_000)
    assert reasons(Plan(schema, 1.0).forecast(X, y)) == [("leak", "b")]
    colours = ("red", "green", "blue")
    kind = np.array(colours)[rng.integers(0, 3, N)]
    schema = Schema(
        (Feature("x", "numeric", lower=0, upper=1), Feature("k", "categorical", colours)), colours, n_lower=9
    )
    found = Plan(schema, 1.0).forecast(pd.DataFrame({"x": rng.random(N), "k": kind}), kind)
    assert reasons(found) == [("leak", "k")]
    assert found.auc > 0.9


@pytest.mark.parametrize("n", [0, 1, 2, 4, 10])
def test_a_forecast_of_few_records_fails_for_none(n):
    found = Plan(PATIENTS, 1.0).forecast(patients().head(n), "stroke")
    assert found.n_records == n
    assert {kind for kind, _ in reasons(found)} <= {"worthless model"}


# ---- what a release says ---------------------------------------------------------------------------------------------


def test_the_accuracy_stands_beside_the_majority_class_baseline(tmp_path):
    released = Plan(PATIENTS, 2.0, shares={"training": 0.5, "evaluation": 0.5}).run(
        patients(), "stroke", secure=False, random_state=0
    )
    rows = released.evaluation.set_index("measure")
    assert rows.index.tolist() == ["accuracy", "majority_accuracy", "recall", "roc_auc"]
    assert rows.loc["majority_accuracy", "value"] == pytest.approx(0.95, abs=0.02)
    assert rows.loc["recall", "value"] < 0.2
    for row in rows.itertuples():
        assert row.low <= row.noise_low <= row.value <= row.noise_high <= row.high
    folder = released.save(tmp_path / "out", date=DATE)
    for name in ("README.md", "statement.html"):
        text = (folder / name).read_text(encoding="utf-8")
        assert "not measurably better than the majority-class baseline" in text, name
    assert "majority_accuracy" in (folder / "evaluation.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("keep", [False, True])
def test_uniform_columns_are_left_out_or_marked(keep, tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N)
    X = pd.DataFrame({"x": np.where(y == 1, 0.75, 0.25) + rng.uniform(-0.2, 0.2, N), "noise": rng.random(N)})
    schema = Schema(tuple(Feature(n, "numeric", lower=0, upper=1) for n in X), (0, 1), n_lower=2_000)
    plan = Plan(schema, 0.5, shares={"publishing": 1.0}, keep_uniform=keep, max_grids=2)
    released = plan.run(X, pd.Series(y, name="y"), secure=False, random_state=0)
    assert released.uniform == ("noise",)
    assert ("noise" in released.table) is keep
    assert {"x", "y"} <= set(released.table)
    words = "without information from the data: noise." if keep else "carry no information about them: noise."
    folder = released.save(tmp_path / "out", date=DATE)
    for name in ("README.md", "statement.html"):
        assert words in (folder / name).read_text(encoding="utf-8"), name
    assert ("noise" in (folder / "table.csv").read_text(encoding="utf-8").splitlines()[0]) is keep


# ---- the command -----------------------------------------------------------------------------------------------------


@pytest.fixture
def call(tmp_path, monkeypatch):
    """Return a call of the command on bookings, with what a person types at a terminal; None: no terminal."""
    pytest.importorskip("opendp", reason="the extra release is not installed")
    bookings().to_csv(tmp_path / "table.csv", index=False)
    (tmp_path / "schema.yaml").write_text(BOOKINGS.to_yaml(), encoding="utf-8")

    def run(*more, typed=None):
        stdin = io.StringIO(typed or "")
        stdin.isatty = lambda: typed is not None
        monkeypatch.setattr(sys, "stdin", stdin)
        files = [str(tmp_path / "table.csv"), str(tmp_path / "schema.yaml")]
        asked = ["--label", "cancelled", "--epsilon", "1", "--out", str(tmp_path / "out")]
        paid = ["--ledger", str(tmp_path / "ledger.db"), "--total", "1"]
        return main(["release", *files, *asked, *paid, *more])

    return run


@pytest.mark.parametrize(("more", "typed"), [((), "n\n"), ((), "\n"), ((), ""), (("--on-warning", "refuse"), None)])
def test_an_owner_stops_a_release_before_the_charge(call, tmp_path, capsys, more, typed):
    assert call(*more, typed=typed) == 5
    told = capsys.readouterr().err
    assert "warning: column 'status' predicts 'cancelled' alone: accuracy 100.0%" in told
    assert "nothing was charged" in told
    assert not (tmp_path / "out").exists()
    assert Budget(1.0, path=tmp_path / "ledger.db").spent == 0


@pytest.mark.parametrize(("more", "typed"), [((), "y\n"), ((), None), (("--on-warning", "ignore"), "")])
def test_an_owner_goes_on_in_spite_of_warnings(call, tmp_path, capsys, more, typed):
    assert call(*more, typed=typed) == 0
    told = capsys.readouterr().err
    assert ("column 'status' predicts 'cancelled' alone" in told) is not more
    # what nobody is asked for may be kept in a log
    assert ("100.0%" in told) is (typed == "y\n")
    assert json.loads((tmp_path / "out" / "ledger.json").read_text())["spent"] == pytest.approx(1.0)


@pytest.mark.data
def test_real_tables_of_honest_columns_have_no_warning():
    dataset = load("adult")
    schema = dataset.frame_schema
    table = dataset.frame[schema.feature_names]
    found = Plan(schema, 1.0).forecast(table, schema.class_labels[np.r_[dataset.y_train, dataset.y_test]])
    assert found.warnings == ()
    assert found.auc > 0.8


@pytest.mark.parametrize(
    ("column", "value", "kind", "text"),
    [
        ("bmi", "1/2/15", "values", "60.0% of the values of column 'bmi' are missing or not a number from 0 to 100"),
        ("bmi", -999.0, "values", "60.0% of the values of column 'bmi'"),
        ("sex", "F", "values", "not one of 'f', 'm'"),
        ("stroke", "sick", "labels", "60.0% of the labels of column 'stroke' are not a class of the schema (0, 1)"),
    ],
    ids=["dates as numbers", "missing-value code", "other spelling", "other labels"],
)
def test_column_that_does_not_fit_is_named(column, value, kind, text):
    table = patients().astype({column: object})
    table.loc[table.index % 5 < 3, column] = value
    [warning] = [
        each for each in Plan(PATIENTS, 1.0).forecast(table, "stroke").warnings if each.kind == "misread column"
    ]
    assert warning.column == column
    assert warning.short == f"many {kind} of column {column!r} do not match the schema"
    assert text in warning.text


def test_a_dry_run_prints_the_forecast_with_its_warnings(call, capsys):
    assert call("--dry-run", "0") == 0
    printed = capsys.readouterr()
    assert "forecast (private, for the owner of the table): accuracy" in printed.out
    assert "majority-class baseline" in printed.out
    assert "AUC" in printed.out
    assert "column 'day' predicts 'cancelled' alone" in printed.err
