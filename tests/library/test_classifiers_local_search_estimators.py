"""PrivLocal and PrivGene as estimators: what they learn, accept and refuse."""

import pickle

import numpy as np
import pandas as pd
import pytest
from binary_tables import told_by_all

from dpml.budget import Budget
from dpml.classifiers import PrivGene, PrivLocal
from dpml.exceptions import (
    InvalidParameter,
    InvalidSchema,
)
from dpml.schema import Feature, Schema

LOSSES = ["logistic", "hinge"]
KINDS = [PrivLocal, PrivGene]
SCHEMA = Schema.binary(5, n_lower=600)


# ---- estimators -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", KINDS)
def test_it_learns_and_predicts_consistently(kind, loss):
    X, y = told_by_all(600, 5, 0.8)
    model = kind(20.0, loss=loss, schema=SCHEMA, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.85
    scores = model.decision_function(X)
    assert (model.predict(X) == (scores > 0)).all()
    assert scores == pytest.approx(X @ model.coef_[0] + model.intercept_[0])
    assert hasattr(model, "predict_proba") == (loss == "logistic")
    if loss == "logistic":
        assert model.predict_proba(X)[:, 1] == pytest.approx(1 / (1 + np.exp(-scores)))
    assert pickle.loads(pickle.dumps(model)).coef_ == pytest.approx(model.coef_)


@pytest.mark.parametrize("kind", KINDS)
def test_several_classes_are_one_against_the_rest_and_cost_epsilon_in_all(kind):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=900)
    X = (rng.random((900, 3)) < np.where(np.eye(3)[y], 0.9, 0.1)).astype(int)
    labels = np.array(["a", "b", "c"])[y]
    budget = Budget(60.0)
    schema = Schema.binary(3, classes=("a", "b", "c"), n_lower=900)
    model = kind(60.0, schema=schema, budget=budget, random_state=0).fit(X, labels)
    assert model.coef_.shape == (3, 3)
    assert model.score(X, labels) > 0.75
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(1)
    assert budget.ledger["epsilon"].tolist() == [60.0]


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_are_centred_by_public_bounds(kind):
    rng = np.random.default_rng(1)
    age, flag = rng.uniform(20, 80, 800), rng.integers(2, size=800)
    y = ((age > 50) ^ (rng.random(800) < 0.05)).astype(int)
    schema = Schema((Feature("age", "numeric", lower=20, upper=80), Feature("flag")), n_lower=800)
    frame = pd.DataFrame({"age": age, "flag": flag})
    model = kind(50.0, schema=schema, random_state=0).fit(frame, y)
    assert model.score(frame, y) > 0.85
    grid = pd.DataFrame({"age": [20.0, 80.0], "flag": [0, 0]})
    assert model.predict(grid).tolist() == [0, 1]
    # exactly: scores are those of weights on (age - 50)/30, flag and 1
    scores = model.decision_function(pd.DataFrame({"age": [50.0, 80.0], "flag": [0, 0]}))
    assert scores[1] - scores[0] == pytest.approx(30 * model.coef_[0, 0])
    with pytest.raises(InvalidSchema, match="one-hot"):
        kind(1.0, schema=Schema((Feature("job", "categorical", ("x", "y")),))).fit(pd.DataFrame({"job": ["x"]}), [0])


BAD = [
    (PrivLocal, {"loss": "squared"}), (PrivLocal, {"n_iterations": 0}), (PrivLocal, {"step": 0}),
    (PrivGene, {"step": 11}), (PrivLocal, {"decay": 1.5}), (PrivGene, {"calibration": "tight"}),
    (PrivLocal, {"row_bound": 0}), (PrivLocal, {"fit_intercept": "no"}), (PrivLocal, {"stay": "no"}),
    (PrivGene, {"n_candidates": 0}), (PrivGene, {"n_selected": 300}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "options"), BAD)
def test_bad_parameters_are_named_before_data_are_read(kind, options):
    [name] = options
    with pytest.raises(InvalidParameter) as caught:
        kind(1.0, **options).fit(object(), object())
    assert caught.value.name == name
