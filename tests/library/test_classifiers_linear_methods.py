"""LogisticRegression and LinearSVC by every method: what all of them must do."""

import math

import numpy as np
import pytest
from each_commit import others_in_full
from scipy import optimize, sparse
from word_table import words

from dpml.budget import Budget
from dpml.classifiers.linear import (
    LOGISTIC_METHODS,
    SVC_METHODS,
    HuberHinge,
    LinearSVC,
    LogisticRegression,
    default_reg_lambda,
    linear_models,
    release_weights,
    squared_norm_bound,
)
from dpml.encoding import cut_rows, unit_scale
from dpml.exceptions import (
    InvalidParameter,
    NoSecureSampler,
)
from dpml.schema import Schema

# ---- both estimators, all methods -----------------------------------------------------------------------------------

MODELS = [(LogisticRegression, m) for m in LOGISTIC_METHODS] + [(LinearSVC, m) for m in SVC_METHODS]


@pytest.mark.parametrize("method", ["output", "objective", "approximate-minima"])
@pytest.mark.parametrize("reg_lambda", [1.0, 10.0])
def test_linear_svc_agrees_with_a_general_optimiser_where_epsilon_is_huge(method, reg_lambda):
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


@pytest.mark.parametrize("kind", [LogisticRegression, LinearSVC])
def test_laplace_noise_in_the_objective_agrees_with_norm_gamma_where_epsilon_is_huge(kind):
    X, y = words()
    # records are divided by 3 once more, so λ/9 is the same regulariser
    thin = kind(1e8, method="objective", norm="l1", reg_lambda=1 / 9, random_state=0).fit(X, y)
    same = kind(1e8, method="objective", reg_lambda=1.0, random_state=0).fit(X, y)
    np.testing.assert_allclose(thin.coef_, same.coef_, atol=1e-4)
    np.testing.assert_allclose(thin.intercept_, same.intercept_, atol=1e-4)
    with pytest.raises(InvalidParameter, match=r"`norm` must be .*Got 'l1'"):
        kind(1.0, method="output", norm="l1").fit(X, y)


@pytest.mark.parametrize(("kind", "method"), MODELS)
def test_every_method_learns_and_repeats_itself(kind, method):
    X, y = words(n=4000)
    first, second, third = (kind(2.0, method=method, random_state=s).fit(X, y) for s in (5, 5, 6))
    np.testing.assert_array_equal(first.coef_, second.coef_)
    assert np.abs(first.coef_ - third.coef_).max() > 1e-3
    assert first.score(X, y) > 0.7
    thin = kind(2.0, method=method, random_state=5).fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(thin.coef_, first.coef_, atol=1e-6)


@pytest.mark.parametrize(("kind", "method"), MODELS)
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_every_method_charges_what_it_states(kind, method, relation):
    X, y = words(n=100)
    budget = Budget(1.0, 1e-5, relation=relation)
    kind(0.7, method=method, relation=relation, delta=1e-6, budget=budget, random_state=0).fit(X, y)
    delta = 1e-6 if method in ("approximate-minima", "noisy-descent") else 0.0
    assert budget.ledger[["epsilon", "delta", "relation"]].to_numpy().tolist() == [[0.7, delta, relation]]
    assert budget.ledger["label"][0] == f"{kind.__name__}, {method}"


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


@pytest.mark.parametrize(("kind", "method"), MODELS)
def test_the_regulariser_that_is_not_given_is_the_public_rule(kind, method):
    X, y = words(n=200)
    schema = Schema.binary(8, row_bound=8)
    facts = {"method": method, "delta": 1e-5, "n_nonzero": 9}
    stated = default_reg_lambda(0.5, 9, **facts)
    options = {"method": method, "schema": schema, "random_state": 1}
    default = kind(0.5, **options).fit(X, y)
    np.testing.assert_array_equal(default.coef_, kind(0.5, reg_lambda=stated, **options).fit(X, y).coef_)
    assert np.abs(default.coef_ - kind(0.5, reg_lambda=3 * stated, **options).fit(X, y).coef_).max() > 1e-6


def test_the_rule_for_the_regulariser_is_what_it_says():
    assert default_reg_lambda(0.5, 100, method="objective") == 20.0
    assert default_reg_lambda(0.5, 100, method="objective", relation="replace-one", n_classes=3) == pytest.approx(120.0)
    assert default_reg_lambda(0.5, 100, method="objective", norm="l1", n_nonzero=8) == 1.0
    assert default_reg_lambda(4.0, 100, method="output") == 10.0
    assert default_reg_lambda(0.25, 100, method="output") == 80.0
    assert default_reg_lambda(1.0, 100, method="approximate-minima") == pytest.approx(3.7306 / 3, rel=1e-4)
    assert default_reg_lambda(1.0, 100, method="noisy-descent") == 1.0
    # 1.2·√(8·100)·Δ/ε with Δ = √9/2 + 9/8
    assert default_reg_lambda(0.5, 100, method="functional", n_nonzero=9) == pytest.approx(1.2 * 800**0.5 * 2.625 / 0.5)
    assert default_reg_lambda(1e8, 100, method="objective") == 0.01


@pytest.mark.parametrize(("kind", "method"), MODELS)
def test_a_release_is_refused_where_no_noise_is_secure(kind, method):
    model = kind(1.0, method=method, release=True)
    if method == "functional":
        assert not hasattr(model, "score")
        return
    with pytest.raises(NoSecureSampler, match=method):
        model.fit(object(), object())


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"huber": 0.001}, "huber"),
        ({"method": "functional"}, "method"),
        ({"delta": 0.0}, "delta"),
        ({"delta": 1.0}, "delta"),
        ({"n_iterations": 0}, "n_iterations"),
        ({"sampling_rate": 0.0}, "sampling_rate"),
        ({"norm": "l3"}, "norm"),
        ({"reg_lambda": math.nan}, "reg_lambda"),
    ],
)
def test_bad_parameters_of_the_support_vector_machine_are_refused(options, name):
    with pytest.raises(InvalidParameter) as caught:
        LinearSVC(**({"epsilon": 1.0} | options)).fit(*words())
    assert caught.value.name == name


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "reg_lambda", "row_bound", "floor"),
    others_in_full(
        [("mushrooms", 300.0, None, 0.86), ("adult", 30.0, None, 0.80), ("newsgroup1", 100.0, 5, 0.65)], first=1
    ),
)
def test_objective_perturbation_on_real_data_at_a_tenth(name, reg_lambda, row_bound, floor, data_home):
    from dpml import datasets

    data = datasets.load(name, data_home)
    r = squared_norm_bound(data.schema, row_bound)
    table = unit_scale(cut_rows(data.X_train, r, rng=np.random.default_rng(0)), r)
    draw = {"method": "objective", "draws": 20}
    theta = release_weights(table, data.y_train, 2, 0.1, reg_lambda, rng=np.random.default_rng(1), **draw)
    accuracy = linear_models(theta, r).accuracy(data.X_test, data.y_test).mean()
    worse = release_weights(
        table, data.y_train, 2, 0.1, reg_lambda, calibration="published", rng=np.random.default_rng(1), **draw
    )
    assert accuracy > floor
    assert accuracy > linear_models(worse, r).accuracy(data.X_test, data.y_test).mean()
