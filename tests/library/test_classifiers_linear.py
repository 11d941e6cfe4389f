"""The linear classifiers as estimators, by every method: learning, charges, refusals and the public rules."""

import math
from functools import partial

import numpy as np
import pytest
from scipy import optimize, sparse
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression as Reference
from sklearn.metrics import roc_auc_score

from dpml.classifiers import BernoulliNB, LinearClassifier
from dpml.classifiers.linear import (
    LOGISTIC_METHODS,
    SVC_METHODS,
    HuberHinge,
    LinearSVC,
    LogisticRegression,
    default_reg_lambda,
    linear_models,
    minimiser,
    release_weights,
    squared_norm_bound,
)
from dpml.classifiers.linear_classifier import default_linear_method
from dpml.datasets import load
from dpml.encoding import cut_rows, share_rows, unit_scale
from dpml.exceptions import (
    InvalidData,
    NoSecureSampler,
)
from dpml.mechanisms.noise import gaussian_sigma
from dpml.schema import Feature, Schema


def words(n=600, D=8, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    X = (rng.random((n, D)) < np.where(y[:, None], np.linspace(0.1, 0.8, D), 0.4)).astype(int)
    return X, y


@pytest.mark.parametrize("method", ["output", "objective"])
@pytest.mark.parametrize("reg_lambda", [1.0, 10.0])
def test_logistic_regression_agrees_with_scikit_learn(method, reg_lambda):
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


# ---- both estimators, all methods -----------------------------------------------------------------------------------

MODELS = [(LogisticRegression, m) for m in LOGISTIC_METHODS] + [(LinearSVC, m) for m in SVC_METHODS]


@pytest.mark.parametrize("method", ["output", "objective", "approximate-minima"])
@pytest.mark.parametrize("reg_lambda", [1.0, 10.0])
def test_linear_svc_agrees_with_a_general_optimiser(method, reg_lambda):
    X, y = words()
    model = LinearSVC(1e8, method=method, reg_lambda=reg_lambda, random_state=0).fit(X, y)
    scaled, signs = np.column_stack([X, np.ones(len(X))]) / 3, 2.0 * y - 1
    loss = HuberHinge(0.5)

    def objective(theta):
        margins = signs * (scaled @ theta)
        pull = np.clip(1.5 - margins, 0, 1)
        return loss.value(margins).sum() + reg_lambda * theta @ theta / 2, reg_lambda * theta - (signs * pull) @ scaled

    reference = optimize.minimize(objective, np.zeros(9), jac=True, method="BFGS", options={"gtol": 1e-8}).x / 3
    np.testing.assert_allclose(model.coef_[0], reference[:-1], atol=1e-4)
    np.testing.assert_allclose(model.intercept_, reference[-1:], atol=1e-4)
    assert not hasattr(model, "predict_proba")


@pytest.mark.parametrize(("kind", "method"), MODELS)
def test_every_method_has_three_classes(kind, method):
    rng = np.random.default_rng(18)
    y = rng.integers(3, size=3000)
    X = (rng.random((3000, 6)) < np.where(np.arange(6) // 2 == y[:, None], 0.9, 0.2)).astype(int)
    schema = Schema.binary(6, classes=("a", "b", "c"))
    labels = np.array(schema.classes)[y]
    model = kind(20.0, method=method, schema=schema, random_state=0).fit(X, labels)
    assert model.coef_.shape == (3, 6)
    assert model.decision_function(X).shape == (3000, 3)
    assert model.score(X, labels) > 0.8
    thin = kind(20.0, method=method, schema=schema, random_state=0).fit(sparse.csr_matrix(X), labels)
    np.testing.assert_allclose(thin.coef_, model.coef_, atol=1e-6)


@pytest.mark.parametrize(("epsilon", "name"), [(0.05, "naive-bayes"), (1.0, "objective")])
def test_the_fitted_model_is_the_one_that_the_rule_names(epsilon, name):
    data = load("census")
    facts = {"schema": data.schema, "random_state": 3}
    model = LinearClassifier(epsilon, **facts).fit(data.X_train, data.y_train)
    same = BernoulliNB(epsilon, **facts)
    if name == "objective":
        same = LinearSVC(epsilon, method="objective", norm="l1", huber=1.0, **facts)
    same.fit(data.X_train, data.y_train)
    assert model.method_ == name
    np.testing.assert_array_equal(model.predict(data.X_test), same.predict(data.X_test))
    np.testing.assert_array_equal(model.decision_function(data.X_test) > 0, model.predict(data.X_test) == 1)


def test_release_takes_the_method_with_a_secure_sampler():
    data = load("census")
    model = LinearClassifier(1.0, schema=data.schema, release=True).fit(data.X_train, data.y_train)
    assert model.method_ == "naive-bayes"
    assert np.mean(model.predict(data.X_test) == data.y_test) > 0.8
    with pytest.raises(NoSecureSampler):
        LinearClassifier(1.0, method="objective", schema=data.schema, release=True).fit(data.X_train, data.y_train)


def test_shared_records_are_what_laplace_noise_is_added_for():
    # at a huge ε the released weights are those of the shared records, without privacy
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=600)
    X = (rng.random((600, 12)) < np.where(y, 0.5, 0.3)[:, None]).astype(int)
    r, lam = 3, 1.0
    options = {"norm": "l1", "row_bound": r, "reg_lambda": lam / (r + 1) ** 2, "random_state": 0}
    model = LogisticRegression(1e8, method="objective", **options).fit(X, y)
    records = np.column_stack([share_rows(X, r), np.ones(600)])
    reference = Reference(C=1 / lam, fit_intercept=False, tol=1e-10, max_iter=10_000).fit(records, y)
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), reference.coef_[0], atol=1e-4)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "epsilon", "accuracy"),
    [
        ("newsgroup1", 0.1, 0.88),
        ("mushrooms", 1.0, 0.965),
        ("adult", 1.0, 0.842),
        *(
            pytest.param(*case, marks=pytest.mark.full)
            for case in (("newsgroup1", 1.0, 0.915), ("mushrooms", 0.1, 0.91), ("adult", 0.1, 0.825))
        ),
    ],
)
def test_accuracy_on_real_data(name, epsilon, accuracy):
    data = load(name)
    models = [
        LinearClassifier(epsilon, schema=data.schema, random_state=seed).fit(data.X_train, data.y_train)
        for seed in range(3)
    ]
    assert np.mean([model.score(data.X_test, data.y_test) for model in models]) > accuracy
    if (name, epsilon) == ("adult", 1.0):
        scores = [roc_auc_score(data.y_test, model.decision_function(data.X_test)) for model in models]
        assert np.mean(scores) > 0.893


def test_the_rule_counts_records_for_each_column():
    one_hot = load("census").schema  # 84 columns of 14 attributes, 20,000 records
    assert default_linear_method(one_hot, 12 * 84 / 20_000) == "objective"
    assert default_linear_method(one_hot, 0.999 * 12 * 84 / 20_000) == "naive-bayes"
    words = Schema.binary(100, n_lower=5000)
    assert [default_linear_method(words, e) for e in (3.9, 4.0)] == ["naive-bayes", "objective"]
    three = Schema.binary(100, classes=(0, 1, 2), n_lower=5000)
    assert [default_linear_method(three, e) for e in (11.9, 12.0)] == ["naive-bayes", "objective"]
    five = Schema.binary(100, classes=tuple(range(5)), n_lower=5000)
    assert [default_linear_method(five, e) for e in (39.9, 40.0)] == ["naive-bayes", "objective"]
    assert default_linear_method(Schema.binary(100), 10.0) == "naive-bayes"
    number = Schema((Feature("x", "numeric", lower=0, upper=1),), (0, 1))
    assert default_linear_method(number, 0.01) == "objective"


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_default_lambda_is_the_size_of_the_noise_that_it_controls(relation):
    change = {"add-remove": 1, "replace-one": 2}[relation]
    of = partial(default_reg_lambda, 0.5, 16, relation=relation)
    assert of(method="objective") == pytest.approx(change * 4 / 0.5)
    assert of(method="output") == pytest.approx(2 * change * 4 / 0.5)
    assert of(method="approximate-minima") == pytest.approx(gaussian_sigma(0.5, 1e-5, change) / 3)
