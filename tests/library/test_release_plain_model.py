"""The released model as JSON predicts what the model does, by a script that knows no library."""

import csv
import json
import subprocess
import sys

import joblib
import numpy as np
import pandas as pd
import pytest
from release_table import SCHEMA, customers
from test_schema_untrusted import CELL, TEXTS

from dpml.classifiers import AutoClassifier, BernoulliNB
from dpml.release import Plan, score
from dpml.release.plain_model import plain_model
from dpml.schema import Feature, Schema
from dpml.schema.cells import cell_key


def table(n, classes, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, len(classes), n)
    frame = pd.DataFrame({
        "age": np.where(rng.random(n) < 0.05, np.nan, rng.normal(40 + 15 * codes, 9).round(1)),
        "paid": np.exp(rng.normal(2 + codes, 1, n)).round(2),
        "rooms": rng.choice([1, 2, 3], n),
        "plan": np.where(rng.random(n) < 0.5, np.array(["a", "b", "c"])[codes % 3], "a"),
        "owner": (rng.random(n) < 0.3 + 0.2 * (codes > 0)).astype(int),
    })  # fmt: skip
    blocks = rng.integers(0, 2, n)
    return frame.assign(f=1 - blocks, m=blocks), np.array(classes)[codes]


def schema_of(classes, **facts):
    features = (
        Feature("age", "numeric", lower=0, upper=90, missing=40),
        Feature("paid", "numeric", lower=0, upper=500),
        Feature("rooms", "categorical", (1, 2, 3)),
        Feature("plan", "categorical", ("a", "b", "c"), missing="b"),
        Feature("owner"),
        Feature("f", block="sex", exhaustive=True),
        Feature("m", block="sex", exhaustive=True),
    )
    return Schema(features, classes, n_lower=2000, **facts)


def by_script(model, frame):
    """Return the probabilities that the script gives the cells of a CSV file."""
    facts = json.loads(plain_model(model, "release"))
    records = csv.DictReader(frame.to_csv(index=False).splitlines())
    return np.array([score.probabilities(facts, record) for record in records])


@pytest.mark.parametrize("classes", [("no", "yes"), ("low", "middle", "high")])
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 30.0])
def test_the_json_gives_the_same_probabilities(classes, epsilon):
    X, y = table(3000, classes)
    model = AutoClassifier(epsilon, schema=schema_of(classes), on_invalid="clip", random_state=0).fit(X, y)
    new, _ = table(500, classes, seed=1)
    new.loc[:3, "plan"] = [None, "unknown", "c", "a"]
    new.loc[:3, "age"] = [-5, 200, np.nan, 90]
    np.testing.assert_allclose(by_script(model, new), model.predict_proba(new), rtol=0, atol=1e-12)


def test_the_script_reads_cells_by_value():
    for value in (*CELL, *TEXTS):
        if isinstance(value, (str, int, float, type(None))) and value != "1j":
            assert score.key(value) == cell_key(value), value


def test_the_folder_has_a_script_that_predicts_as_the_model_does_without_any_library(tmp_path):
    released = Plan(SCHEMA, 1.0).run(customers(), "left", secure=False, random_state=0)
    folder = released.save(tmp_path / "out")
    new = customers(100, seed=1).drop(columns=["left", "customer"])
    new.to_csv(tmp_path / "new.csv", index=False)
    command = [sys.executable, "-S", "-E", "score.py", str(tmp_path / "new.csv")]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=60)
    lines = done.stdout.splitlines()
    labels = [line.split()[0] for line in lines]
    model = joblib.load(folder / "model.joblib")
    assert labels == model.predict(pd.read_csv(tmp_path / "new.csv", dtype=object)).tolist()
    assert json.loads((folder / "model.json").read_text(encoding="utf-8"))["status"] == released.status


def test_another_model_has_no_json():
    X = np.random.default_rng(0).integers(0, 2, (50, 4))
    assert plain_model(BernoulliNB(1.0, random_state=0).fit(X, X[:, 0]), "release") is None
