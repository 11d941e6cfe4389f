"""Private logistic regression as an estimator: what it learns, accepts, charges and refuses."""

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression as Reference
from word_table import words

from dpml.budget import Budget
from dpml.classifiers.linear import (
    LogisticRegression,
    linear_models,
    minimiser,
    release_objective,
    release_output,
    release_weights,
    squared_norm_bound,
)
from dpml.encoding import cut_rows, unit_scale
from dpml.exceptions import (
    InvalidData,
    InvalidParameter,
    InvalidSchema,
)
from dpml.schema import Feature, Schema


@pytest.mark.parametrize("method", ["output", "objective"])
@pytest.mark.parametrize("reg_lambda", [1.0, 10.0])
def test_agrees_with_scikit_learn_where_epsilon_is_huge(method, reg_lambda):
    X, y = words()
    model = LogisticRegression(1e8, method=method, reg_lambda=reg_lambda, random_state=0).fit(X, y)
    scaled = np.column_stack([X, np.ones(len(X))]) / 3  # 8 ones at most, and the constant column
    reference = Reference(C=1 / reg_lambda, fit_intercept=False, tol=1e-10, max_iter=10_000).fit(scaled, y)
    weights = reference.coef_[0] / 3
    np.testing.assert_allclose(model.coef_[0], weights[:-1], atol=1e-4)
    np.testing.assert_allclose(model.intercept_, weights[-1:], atol=1e-4)
    np.testing.assert_allclose(model.predict_proba(X), reference.predict_proba(scaled), atol=1e-4)
    assert (model.predict(X) == reference.predict(scaled)).mean() > 0.995
    models = linear_models(release_weights(unit_scale(X, 8), y, 2, 1e8, reg_lambda, rng=np.random.default_rng(0)), 8)
    assert models.accuracy(X, y)[0] == pytest.approx((model.predict(X) == y).mean(), abs=0.005)


def numeric_schema():
    table = load_breast_cancer(as_frame=True)
    upper = table.data.max() * 1.25
    features = [Feature(name, "numeric", lower=-0.5, upper=float(upper[name])) for name in table.feature_names]
    return table.data, table.target, Schema(tuple(features))


@pytest.mark.parametrize("intercept", [True, False])
def test_numeric_columns_are_scaled_by_the_public_bounds(intercept):
    X, y, schema = numeric_schema()
    model = LogisticRegression(1e8, reg_lambda=1.0, schema=schema, fit_intercept=intercept, random_state=0).fit(X, y)
    lower, upper = np.array([(f.lower, f.upper) for f in schema.features]).T
    scaled = (2 * X.to_numpy() - lower - upper) / (upper - lower)
    scaled = np.column_stack([scaled, np.ones(len(X))]) / math.sqrt(31) if intercept else scaled / math.sqrt(30)
    assert squared_norm_bound(schema) == 30
    reference = Reference(C=1.0, fit_intercept=False, tol=1e-10, max_iter=10_000).fit(scaled, y)
    np.testing.assert_allclose(model.decision_function(X), reference.decision_function(scaled), atol=1e-3)
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(1.0)


def test_binary_and_numeric_columns_together():
    schema = Schema((Feature("a"), Feature("age", "numeric", lower=0, upper=10), Feature("b")), row_bound=1)
    assert squared_norm_bound(schema) == 2
    frame = pd.DataFrame({"a": [1, 0, 1], "age": [2.0, 7.5, 20.0], "b": [0, 1, 1]})
    with pytest.raises(InvalidData, match="age"):
        LogisticRegression(1.0, schema=schema).fit(frame, [0, 1, 1])
    with pytest.raises(InvalidData, match="2 ones"):
        LogisticRegression(1.0, schema=schema).fit(frame.assign(age=1.0), [0, 1, 1])
    model = LogisticRegression(1.0, schema=schema, on_invalid="clip", random_state=0).fit(frame, [0, 1, 7])
    # post-processing: the decision is linear in the columns' own units
    assert model.coef_.shape == (1, 3)
    score = frame.assign(age=[2.0, 7.5, 10.0]).to_numpy() @ model.coef_[0] + model.intercept_
    np.testing.assert_allclose(model.decision_function(frame), score)


def test_categorical_columns_are_refused_by_name():
    schema = Schema((Feature("a"), Feature("job", "categorical", ("x", "y"))))
    with pytest.raises(InvalidSchema, match="'job'"):
        LogisticRegression(1.0, schema=schema).fit(pd.DataFrame({"a": [1], "job": ["x"]}), [0])


@pytest.mark.parametrize("method", ["output", "objective"])
def test_a_record_with_too_many_ones_is_an_error_or_is_cut(method):
    X, y = words()
    schema = Schema.binary(8, row_bound=3)
    with pytest.raises(InvalidData, match="ones: the schema's row_bound is 3"):
        LogisticRegression(1.0, method=method, schema=schema).fit(X, y)
    options = {"method": method, "reg_lambda": 1.0, "random_state": 0}
    clipped = LogisticRegression(1e8, schema=schema, on_invalid="clip", **options).fit(X, y)
    by_choice = LogisticRegression(1e8, row_bound=3, **options).fit(X, y)
    np.testing.assert_array_equal(clipped.coef_, by_choice.coef_)
    rng = np.random.default_rng(0)
    table = unit_scale(cut_rows(X, 3, rng=rng), 3)
    theta = minimiser(table, 2 * y - 1, 1.0)
    np.testing.assert_allclose(clipped.coef_[0], theta[:-1] / 2, atol=1e-5)


@pytest.mark.parametrize("method", ["output", "objective"])
def test_more_than_two_classes_share_epsilon(method):
    rng = np.random.default_rng(18)
    y = rng.integers(3, size=900)
    X = (rng.random((900, 6)) < np.where(np.arange(6) // 2 == y[:, None], 0.9, 0.2)).astype(int)
    schema = Schema.binary(6, classes=("a", "b", "c"))
    labels = np.array(schema.classes)[y]
    budget = Budget(20.0)
    options = {"method": method, "reg_lambda": 1.0, "schema": schema, "budget": budget, "random_state": 0}
    model = LogisticRegression(20.0, **options).fit(X, labels)
    assert budget.ledger["epsilon"].tolist() == [20.0]
    assert model.coef_.shape == (3, 6)
    assert (model.predict(X) == labels).mean() > 0.85
    probabilities = model.predict_proba(X)
    assert probabilities.shape == (900, 3)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    # class b against the rest, with a third of ε: the second of three releases from the same generator
    rng = np.random.default_rng(0)
    table = unit_scale(X, 6)
    for c in range(3):
        signs = np.where(y == c, 1.0, -1.0)
        if method == "objective":
            theta = release_objective(table, signs, 20 / 3, 1.0, rng=rng)
        else:
            theta = release_output(minimiser(table, signs, 1.0), 20 / 3, 1.0, rng=rng)
        np.testing.assert_allclose(model.coef_[c], theta[0, :-1] / math.sqrt(7))


def test_a_frame_of_some_columns_takes_their_facts_from_the_schema():
    X, y = words()
    names = list("abcdefgh")
    schema = Schema.binary(8, names, row_bound=8)
    some = pd.DataFrame(X, columns=names)[["g", "b"]]
    model = LogisticRegression(1e8, schema=schema, reg_lambda=1.0, random_state=0).fit(some, y)
    theta = minimiser(unit_scale(some.to_numpy(), 2), 2 * y - 1, 1.0)
    np.testing.assert_allclose(model.coef_[0], theta[:2] / math.sqrt(3), atol=1e-5)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"reg_lambda": 0}, "reg_lambda"),
        ({"reg_lambda": "1"}, "reg_lambda"),
        ({"method": "gradient"}, "method"),
        ({"calibration": "loose"}, "calibration"),
        ({"tolerance": 0}, "tolerance"),
        ({"tolerance": 2.0}, "tolerance"),
        ({"row_bound": 0}, "row_bound"),
    ],
)
def test_bad_parameters_are_refused_at_fit(options, name):
    model = LogisticRegression(**({"epsilon": 1.0} | options))
    with pytest.raises(InvalidParameter) as caught:
        model.fit(*words())
    assert caught.value.name == name
    assert repr(options[name]) in str(caught.value)
