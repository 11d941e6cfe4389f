"""Private logistic regression: the solver's guarantee, the exact privacy loss, and the estimator's manners."""

import math
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats
from scipy.special import expit
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression as Reference

from dpml.budget import Budget
from dpml.classifiers import _newton
from dpml.classifiers.linear import (
    LogisticRegression,
    linear_models,
    minimiser,
    objective_noise,
    release_objective,
    release_output,
    release_weights,
    squared_norm_bound,
)
from dpml.encoding import cut_rows, unit_scale
from dpml.exceptions import (
    BudgetExceeded,
    InvalidData,
    InvalidParameter,
    InvalidSchema,
    NoSecureSampler,
    RelationMismatch,
)
from dpml.mechanisms.norm import NormGamma
from dpml.schema import Feature, Schema

RELATIONS = ["add-remove", "replace-one"]
DELTA = {"add-remove": 1, "replace-one": 2}
TOLERANCE = 1e-8


def gradient_norms(X, signs, reg_lambda, theta, linear=0.0):
    """The reference, in extended precision: ‖λθ + b - Σ s σ(-s θ·x) x‖ for each draw."""
    X, signs = np.asarray(X, dtype=np.longdouble), np.asarray(signs, dtype=np.longdouble)
    theta = np.atleast_2d(theta).astype(np.longdouble)
    z = signs[:, None] * (X @ theta.T)
    p = np.where(z > 0, np.exp(-np.abs(z)), 1) / (1 + np.exp(-np.abs(z)))
    g = reg_lambda * theta + linear - (signs[:, None] * p).T @ X
    return np.sqrt((g**2).sum(axis=1)).astype(float)


def random_records(rng, n, dimension):
    """Records in the unit ball, some on the sphere, some the same, some of one class."""
    X = rng.normal(size=(n, dimension))
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-300)
    X *= np.where(rng.random((n, 1)) < 0.5, 1.0, rng.random((n, 1)))
    if n and rng.random() < 0.3:
        X[: n // 2] = X[0]
    signs = np.where(rng.random(n) < rng.choice([0.0, 0.5, 0.9]), 1.0, -1.0)
    return X, signs


# ---- the solver -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reg_lambda", [1e-6, 1e-3, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("seed", range(12))
def test_gradient_is_within_tolerance_on_random_problems(seed, reg_lambda):
    rng = np.random.default_rng(seed)
    n, dimension = int(rng.choice([0, 1, 2, 5, 40, 400])), int(rng.choice([1, 2, 5, 20]))
    X, signs = random_records(rng, n, dimension)
    b = rng.normal(size=(6, dimension)) * 10.0 ** rng.integers(-2, 5, size=(6, 1))
    b[0] = 0
    together = minimiser(X, signs, reg_lambda, tolerance=TOLERANCE, linear=b)
    assert gradient_norms(X, signs, reg_lambda, together, b).max() <= TOLERANCE
    alone = minimiser(X, signs, reg_lambda, tolerance=TOLERANCE)
    assert gradient_norms(X, signs, reg_lambda, alone).max() <= TOLERANCE
    assert np.linalg.norm(alone - together[0]) <= 2 * TOLERANCE / reg_lambda


@pytest.mark.parametrize("reg_lambda", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("size", [1e6, 1e9])
def test_huge_linear_terms_are_solved_to_their_rounding(size, reg_lambda):
    rng = np.random.default_rng(0)
    X, signs = random_records(rng, 100, 3)
    b = rng.normal(size=(5, 3)) * size
    theta = minimiser(X, signs, reg_lambda, tolerance=2.0**-44 * size, linear=b)
    assert (gradient_norms(X, signs, reg_lambda, theta, b) <= max(2.0**-44 * size, 1e-8)).all()


def separable():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 6))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X, np.sign(X[:, 0])


def narrow():
    """Separable with a tiny margin: the minimiser is far out."""
    side = np.tile([1.0, -1.0], 200)
    return np.column_stack([1e-3 * side, np.full(400, 0.999)]), side


def one_hot():
    rng = np.random.default_rng(6)
    codes = rng.integers(8, size=(2000, 3)) * (rng.random((2000, 3)) < 0.6)
    X = np.concatenate([np.eye(8)[codes[:, j]] for j in range(3)], axis=1)
    return unit_scale(X, 3), np.where(rng.random(2000) < 0.2 + 0.1 * codes[:, 0] / 8, 1.0, -1.0)


HARD = {
    "separable": separable,
    "narrow": narrow,
    "one hot": one_hot,
    "one class": lambda: (one_hot()[0], np.ones(2000)),
    "equal rows, unequal labels": lambda: (np.full((50, 2), 0.5), np.tile([1.0, -1.0], 25)),
    "zeros": lambda: (np.zeros((20, 3)), np.ones(20)),
    "empty": lambda: (np.zeros((0, 4)), np.zeros(0)),
}


@pytest.mark.parametrize("reg_lambda", [1e-6, 1e-2, 1.0, 1e6])
@pytest.mark.parametrize("problem", HARD)
@pytest.mark.parametrize("way", ["factored", "diagonal", "sparse"])
def test_gradient_is_within_tolerance_on_hard_problems(problem, reg_lambda, way, monkeypatch):
    X, signs = HARD[problem]()
    b = np.concatenate([np.zeros((1, X.shape[1])), np.random.default_rng(7).normal(size=(4, X.shape[1])) * 30])
    if way == "diagonal":
        monkeypatch.setattr(_newton, "FACTOR_COLUMNS", 0)
    if way == "sparse":
        monkeypatch.setattr(_newton, "DENSE_CELLS", 0)
    table = sparse.csr_array(X) if way == "sparse" else X
    theta = minimiser(table, signs, reg_lambda, tolerance=TOLERANCE, linear=b[:1])
    assert gradient_norms(X, signs, reg_lambda, theta).max() <= TOLERANCE
    # θ may be as far out as b/λ, and there the arithmetic has so many digits
    tolerance = max(TOLERANCE, 2.0**-44 * 100 / min(reg_lambda, 1))
    theta = minimiser(table, signs, reg_lambda, tolerance=tolerance, linear=b)
    assert gradient_norms(X, signs, reg_lambda, theta, b).max() <= tolerance


def test_more_columns_than_are_factored():
    rng = np.random.default_rng(8)
    X = sparse.csr_array((rng.random((300, 2000)) < 0.005).astype(float))
    X = unit_scale(cut_rows(X, 10, rng=rng), 10)
    signs = np.where(rng.random(300) < 0.4, 1.0, -1.0)
    b = rng.normal(size=(3, 2001))
    theta = minimiser(X, signs, 0.1, linear=b)
    assert gradient_norms(X.toarray(), signs, 0.1, theta, b).max() <= TOLERANCE
    assert gradient_norms(X.toarray(), signs, 0.1, theta, -b).min() > 1


def test_a_million_records_in_order_of_class():
    y = np.repeat([0, 1], 500_000)
    X = unit_scale(np.random.default_rng(9).random((1_000_000, 2)) < np.where(y[:, None] == 1, 0.6, 0.4), 2)
    signs = 2 * y - 1
    theta = minimiser(X, signs, 1.0)
    # in one long sum, without chunks, the rounding is some 1e-7
    assert gradient_norms(X, signs, 1.0, theta).max() <= TOLERANCE


def test_a_batch_larger_than_one_block_equals_one_by_one(monkeypatch):
    monkeypatch.setattr(_newton, "BLOCK_CELLS", 1)
    X, signs = one_hot()
    b = np.random.default_rng(10).normal(size=(19, X.shape[1])) * 10
    together = minimiser(X, signs, 0.5, linear=b)
    alone = np.array([minimiser(X, signs, 0.5, linear=row) for row in b])
    assert np.linalg.norm(together - alone, axis=1).max() <= 2 * TOLERANCE / 0.5
    assert np.linalg.norm(together[0] - alone[1]) > 1  # not all the same


@pytest.mark.parametrize(
    "records",
    [
        (np.full((2, 2), 0.8), np.ones(2)),
        (sparse.csr_array(np.full((2, 2), 0.8)), np.ones(2)),
        (np.full((2, 2), np.nan), np.ones(2)),
        (np.zeros((2, 2)), np.ones(3)),
        (np.zeros((2, 2)), np.array([0.0, 1.0])),
    ],
)
def test_records_outside_the_unit_ball_or_without_signs_are_refused(records):
    with pytest.raises(InvalidData):
        minimiser(*records, 1.0)
    with pytest.raises(InvalidData):
        release_objective(*records, 1.0, 1.0, rng=np.random.default_rng(0))


# ---- output perturbation --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", RELATIONS)
def test_minimisers_of_neighbours_are_within_the_sensitivity(relation):
    rng = np.random.default_rng(11)
    for _ in range(300):
        reg_lambda = 10.0 ** rng.uniform(-2, 2)
        X, signs = random_records(rng, int(rng.integers(1, 12)), int(rng.integers(1, 4)))
        first = minimiser(X, signs, reg_lambda, tolerance=1e-10)
        if relation == "add-remove":
            X, signs = X[1:], signs[1:]
        else:
            other, sign = random_records(rng, 1, X.shape[1])
            X, signs = np.vstack([X[1:], other]), np.append(signs[1:], sign)
        second = minimiser(X, signs, reg_lambda, tolerance=1e-10)
        assert np.linalg.norm(first - second) <= (DELTA[relation] + 2e-10) / reg_lambda


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_sensitivity_is_nearly_reached(relation):
    # many records along the second axis push θ far out, where a record across them has a gradient near 1
    common = np.tile([[0.0, 1.0]], (200_000, 1))
    left, right = np.array([[-0.866, -0.5]]), np.array([[0.866, -0.5]])
    first = np.vstack([common, left]) if relation == "replace-one" else common
    second = np.vstack([common, right])
    thetas = [minimiser(X, np.ones(len(X)), 1.0) for X in (first, second)]
    assert 0.8 * DELTA[relation] < np.linalg.norm(thetas[0] - thetas[1]) < DELTA[relation]


@pytest.mark.parametrize(
    ("relation", "calibration", "delta"),
    [
        ("add-remove", "tight", 1),
        ("replace-one", "tight", 2),
        ("add-remove", "published", 2),
        ("replace-one", "published", 2),
    ],
)
def test_output_noise_has_the_stated_scale(relation, calibration, delta):
    options = {"relation": relation, "calibration": calibration, "tolerance": 0.25, "draws": 3000}
    theta = np.array([1.0, -2.0, 3.0])
    noisy = release_output(theta, 0.5, 4.0, rng=np.random.default_rng(12), **options)
    assert noisy.shape == (3000, 3)
    norms = np.linalg.norm(noisy - theta, axis=1)
    assert stats.kstest(norms, stats.gamma(3, scale=(delta + 0.5) / (4.0 * 0.5)).cdf).pvalue > 0.01


# ---- objective perturbation: calibration ----------------------------------------------------------------------------


def exact_cost(rate, reg_lambda, relation):
    p = np.linspace(0, 1, 200_001)
    cost = (rate * p + np.log1p(p * (1 - p) / reg_lambda)).max()
    return cost + (rate if relation == "replace-one" else 0)


LAMBDAS = (1e-6, 0.01, 0.1, 0.5, 2.0, 9.0, 50.0, 1e4)
GRID = [(epsilon, reg_lambda) for epsilon in (0.01, 0.1, 1.0, 5.0, 20.0) for reg_lambda in LAMBDAS]


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("epsilon", "reg_lambda"), GRID)
def test_tight_rate_spends_all_of_epsilon_and_no_more(epsilon, reg_lambda, relation):
    rate, raised = objective_noise(epsilon, reg_lambda, relation=relation)
    most = epsilon / DELTA[relation]
    assert raised >= reg_lambda
    assert most / 2 <= rate <= most
    assert exact_cost(rate, raised, relation) == pytest.approx(epsilon, rel=1e-8)
    if raised > reg_lambda:
        assert rate == most / 2
        assert exact_cost(rate, raised * 0.999, relation) > epsilon


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("epsilon", "reg_lambda"), GRID)
def test_tight_is_never_worse_than_one_log_nor_that_than_the_published(epsilon, reg_lambda, relation):
    rate, raised = objective_noise(epsilon, reg_lambda, relation=relation)
    one_log = (epsilon - math.log1p(0.25 / reg_lambda)) / DELTA[relation]
    assert rate >= one_log * (1 - 1e-12)
    published, raised_published = objective_noise(epsilon, reg_lambda, relation=relation, calibration="published")
    assert rate >= published
    assert raised <= raised_published
    assert rate > published or raised < raised_published
    assert exact_cost(published, raised_published, relation) < epsilon


def test_published_is_algorithm_7_to_the_letter():
    c, epsilon, reg_lambda = 0.25, 1.0, 2.0
    left = epsilon - math.log(1 + 2 * c / reg_lambda + c**2 / reg_lambda**2)
    assert objective_noise(epsilon, reg_lambda, calibration="published") == pytest.approx((left / 2, 2.0), rel=1e-12)
    rate, raised = objective_noise(0.1, 0.5, calibration="published")
    n = 17  # the paper's N·Δ' + λ does not depend on N
    delta = c / (n * (math.exp(0.1 / 4) - 1)) - 0.5 / n
    assert (rate, raised) == pytest.approx((0.1 / 4, 0.5 + n * delta), rel=1e-12)


def test_determinant_is_free_from_lambda_one_over_epsilon_on():
    assert objective_noise(0.1, 10.0) == (0.1, 10.0)
    assert objective_noise(0.1, 20.0, relation="replace-one") == (0.05, 20.0)
    assert objective_noise(0.1, 9.9)[0] < 0.1
    assert objective_noise(0.1, 19.9, relation="replace-one")[0] < 0.05


def test_determinants_of_neighbours_differ_by_at_most_one_plus_c_over_lambda():
    rng = np.random.default_rng(13)
    largest = 0.0
    for _ in range(2000):
        reg_lambda = 10.0 ** rng.uniform(-2, 1)
        X, signs = random_records(rng, int(rng.integers(2, 8)), int(rng.integers(1, 4)))
        theta = rng.normal(size=X.shape[1]) * rng.choice([0.0, 1.0, 10.0])
        p = expit(-signs * (X @ theta))
        one = (X.T * (p * (1 - p))) @ X + reg_lambda * np.eye(X.shape[1])
        for rows in ([*range(1, len(X))], [*range(1, len(X)), 1]):  # one removed; replaced by a copy of another
            q = p[rows]
            two = (X[rows].T * (q * (1 - q))) @ X[rows] + reg_lambda * np.eye(X.shape[1])
            ratio = abs(np.linalg.slogdet(one)[1] - np.linalg.slogdet(two)[1])
            largest = max(largest, ratio / math.log1p(0.25 / reg_lambda))
    assert 0.9 < largest <= 1 + 1e-9


# ---- objective perturbation: the exact privacy loss ------------------------------------------------------------------


class Density:
    """Log density of the exact minimiser, by change of variables: f(∇J(θ; D))·det H(θ; D)."""

    def __init__(self, X, signs, counts=None):
        self.u = np.asarray(signs)[:, None] * np.asarray(X, dtype=float)
        self.counts = np.ones(len(self.u)) if counts is None else np.asarray(counts, dtype=float)

    def __call__(self, theta, rate, reg_lambda):
        D = theta.shape[1]
        p = expit(-(theta @ self.u.T))
        b = (self.counts * p) @ self.u - reg_lambda * theta
        H = np.einsum("kn,ni,nj->kij", self.counts * p * (1 - p), self.u, self.u) + reg_lambda * np.eye(D)
        return NormGamma(rate, 1.0, D).log_density(b, np.zeros(D)) + np.linalg.slogdet(H)[1]


def plane(dimension, scale):
    if dimension == 1:
        return np.linspace(-scale, scale, 4001)[:, None]
    side = np.linspace(-scale, scale, 81)
    return np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("calibration", ["tight", "published"])
@pytest.mark.parametrize(
    ("epsilon", "reg_lambda"), [(0.1, 0.01), (0.1, 6.0), (0.1, 30.0), (1.0, 0.1), (1.0, 0.7), (3.0, 1.0)]
)
def test_privacy_loss_of_the_exact_density_is_at_most_epsilon(epsilon, reg_lambda, calibration, relation):
    rate, raised = objective_noise(epsilon, reg_lambda, relation=relation, calibration=calibration)
    rng = np.random.default_rng(14)
    for trial in range(60):
        dimension = 1 + trial % 2
        X, signs = random_records(rng, int(rng.integers(1, 5)), dimension)
        counts = rng.choice([1, 3, 1000], size=len(X))
        counts[0] = 1
        one = Density(X, signs, counts)
        if relation == "add-remove":
            two = Density(X[1:], signs[1:], counts[1:])
        else:
            other, sign = random_records(rng, 1, dimension)
            two = Density(np.vstack([other, X[1:]]), np.append(sign, signs[1:]), counts)
        theta = plane(dimension, rng.choice([1.0, 10.0, 100.0]))
        loss = one(theta, rate, raised) - two(theta, rate, raised)
        assert np.abs(loss).max() <= epsilon * (1 + 1e-9)


def worst_case(relation, p):
    """Neighbours and a θ at which the loss nearly reaches ε.

    Very many saturated records bring b to point along -u without any curvature; one of the two data sets has a record
    along u with the stated p, and under replace-one the other has one more saturated record.
    """
    far = 1000.0
    w = np.array([-math.cos(0.05), -math.sin(0.05)])
    theta = np.array([[-math.log(p / (1 - p)), far]])
    # records along w have probability 1 there: their gradient -w is all they add
    crowd = Density([w], [1.0], [1e7])
    with_u = Density([w, [1.0, 0.0]], [1.0, 1.0], [1e7, 1.0])
    less = Density([w], [1.0], [1e7 + 1]) if relation == "replace-one" else crowd
    return with_u, less, theta


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("epsilon", "reg_lambda"), [(1.0, 1e-3), (1.0, 0.7), (1.0, 5.0), (0.1, 0.1), (0.1, 8.0)])
def test_tight_privacy_loss_nearly_reaches_epsilon(epsilon, reg_lambda, relation):
    rate, raised = objective_noise(epsilon, reg_lambda, relation=relation)
    p = np.linspace(0.5, 0.9999, 5000)
    p = p[(rate * p + np.log1p(p * (1 - p) / raised)).argmax()]
    one, two, theta = worst_case(relation, p)
    loss = (one(theta, rate, raised) - two(theta, rate, raised)).item()
    assert 0.99 * epsilon < loss <= epsilon
    # and so half the noise is not private: the tests above can fail
    half = (one(theta, 2 * rate, raised) - two(theta, 2 * rate, raised)).item()
    assert half > 1.2 * epsilon


@pytest.mark.parametrize("calibration", ["tight", "published"])
@pytest.mark.parametrize(("epsilon", "reg_lambda"), [(1.0, 3.0), (0.5, 0.01)])
def test_released_values_follow_the_exact_density(epsilon, reg_lambda, calibration):
    X, signs = np.array([[1.0], [0.4], [-0.7]]), np.array([1.0, 1.0, -1.0])
    draws = release_objective(
        X, signs, epsilon, reg_lambda, calibration=calibration, draws=4000, rng=np.random.default_rng(15)
    )
    rate, raised = objective_noise(0.999 * epsilon, reg_lambda, calibration=calibration)

    def cdf(t):  # θ falls as b grows: P(θ <= t) = P(b >= -∇J(t)), and b is Laplace noise in one dimension
        t = np.atleast_1d(t)
        u = signs * X[:, 0]
        return stats.laplace(scale=1 / rate).sf((expit(-np.outer(t, u)) * u).sum(axis=1) - raised * t)

    assert stats.kstest(draws[:, 0], cdf).pvalue > 0.01
    t = np.linspace(-30, 30, 60_001)
    density = np.exp(Density(X, signs)(t[:, None], rate, raised))
    np.testing.assert_allclose(np.cumsum(density)[::5000] * 1e-3, cdf(t)[::5000] - cdf(t)[0], atol=2e-3)


def test_noise_covers_the_inexact_minimiser():
    # so loose a tolerance that the solver stops early: the second noise, 2τ/λ' over a thousandth of ε, must be there
    X, signs = one_hot()
    options = {"draws": 400, "rng": np.random.default_rng(16)}
    theta = release_objective(X, signs, 1.0, 50.0, tolerance=1.0, **options)
    rate, raised = objective_noise(0.999, 50.0)
    b = NormGamma(rate, 1.0, 25).release(np.zeros(25), rng=np.random.default_rng(16), draws=400)
    noise = np.linalg.norm(theta - minimiser(X, signs, raised, linear=b), axis=1)
    expected = stats.gamma(25, scale=2 * 1.0 / raised / 0.001)
    assert stats.kstest(noise, expected.cdf).pvalue > 0.01


def test_batch_equals_one_by_one_with_the_same_noise():
    X, signs = one_hot()
    theta = release_objective(X, signs, 1.0, 1.0, draws=6, rng=np.random.default_rng(17))
    rng = np.random.default_rng(17)
    rate, raised = objective_noise(0.999, 1.0)
    b = NormGamma(rate, 1.0, 25).release(np.zeros(25), rng=rng, draws=6)
    alone = np.array([minimiser(X, signs, raised, linear=row) for row in b])
    alone = NormGamma(0.001, 2 * TOLERANCE / raised, 25).release(alone, rng=rng)
    assert np.linalg.norm(theta - alone, axis=1).max() <= 2 * TOLERANCE / raised
    assert np.linalg.norm(np.diff(theta, axis=0), axis=1).min() > 0.1


# ---- the estimator --------------------------------------------------------------------------------------------------


def words(n=600, D=8, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    X = (rng.random((n, D)) < np.where(y[:, None], np.linspace(0.1, 0.8, D), 0.4)).astype(int)
    return X, y


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
    clipped = LogisticRegression(1e8, method=method, schema=schema, on_invalid="clip", random_state=0).fit(X, y)
    by_choice = LogisticRegression(1e8, method=method, row_bound=3, random_state=0).fit(X, y)
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
    model = LogisticRegression(20.0, method=method, schema=schema, budget=budget, random_state=0).fit(X, labels)
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


@pytest.mark.parametrize("method", ["output", "objective"])
@pytest.mark.parametrize("calibration", ["tight", "published"])
def test_data_of_one_class_and_empty_data_fit(method, calibration):
    options = {"method": method, "calibration": calibration, "random_state": 0}
    ones = LogisticRegression(100.0, **options).fit(np.ones((500, 2), int), np.ones(500, int))
    assert ones.classes_.tolist() == [0, 1]
    assert ones.predict([[1, 1]]).tolist() == [1]
    zeros = LogisticRegression(100.0, **options).fit(np.ones((500, 2), int), np.zeros(500, int))
    assert zeros.predict([[1, 1]]).tolist() == [0]
    empty = LogisticRegression(1.0, **options).fit(np.zeros((0, 2), int), np.zeros(0, int))
    assert np.isfinite(empty.coef_).all()
    assert empty.predict_proba(np.zeros((0, 2), int)).shape == (0, 2)


@pytest.mark.parametrize("method", ["output", "objective"])
def test_clipping_never_raises_whatever_the_data(method):
    X = np.array([[np.nan, 5.0, -1.0], [np.inf, 1.0, 1.0], [0.0, 0.3, 1e300]])
    model = LogisticRegression(1.0, method=method, on_invalid="clip", random_state=0).fit(X, [0, 1, 9])
    assert np.isfinite(model.coef_).all()
    assert model.predict(X).shape == (3,)


@pytest.mark.parametrize("method", ["output", "objective"])
@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 1e3, 1e9])
def test_extreme_epsilon_gives_finite_weights(method, epsilon):
    X, y = words()
    model = LogisticRegression(epsilon, method=method, random_state=0).fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("method", ["output", "objective"])
def test_sparse_dense_and_frame_are_the_same(method):
    X, y = words()
    options = {"method": method, "random_state": 3}
    dense = LogisticRegression(1.0, **options).fit(X, y)
    thin = LogisticRegression(1.0, **options).fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-7)
    np.testing.assert_allclose(thin.decision_function(sparse.csr_array(X)), dense.decision_function(X), atol=1e-6)
    names = list("abcdefgh")
    frame = pd.DataFrame(X, columns=names)
    named = LogisticRegression(1.0, schema=Schema.binary(8, names), **options).fit(frame, y)
    np.testing.assert_allclose(named.coef_, dense.coef_, atol=1e-7)
    assert named.feature_names_in_.tolist() == names
    np.testing.assert_array_equal(named.predict(frame[names[::-1]]), dense.predict(X))
    with pytest.raises(InvalidData, match="'c'"):
        named.predict(frame.drop(columns="c"))


def test_a_frame_of_some_columns_takes_their_facts_from_the_schema():
    X, y = words()
    names = list("abcdefgh")
    schema = Schema.binary(8, names, row_bound=8)
    some = pd.DataFrame(X, columns=names)[["g", "b"]]
    model = LogisticRegression(1e8, schema=schema, random_state=0).fit(some, y)
    theta = minimiser(unit_scale(some.to_numpy(), 2), 2 * y - 1, 1.0)
    np.testing.assert_allclose(model.coef_[0], theta[:2] / math.sqrt(3), atol=1e-5)


@pytest.mark.parametrize("method", ["output", "objective"])
def test_the_same_seed_gives_the_same_model_and_another_does_not(method):
    X, y = words()
    first, second, third = (LogisticRegression(1.0, method=method, random_state=s).fit(X, y) for s in (5, 5, 6))
    np.testing.assert_array_equal(first.coef_, second.coef_)
    assert np.abs(first.coef_ - third.coef_).max() > 1e-3


@pytest.mark.parametrize("method", ["output", "objective"])
def test_budget_is_charged_once_and_guarded_before_any_draw(method):
    X, y = words()
    budget = Budget(1.0)
    model = LogisticRegression(0.7, method=method, budget=budget, random_state=0)
    model.fit(X, y)
    assert budget.ledger[["epsilon", "relation"]].to_numpy().tolist() == [[0.7, "add-remove"]]
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    with pytest.raises(BudgetExceeded):
        clone(model).set_params(random_state=rng).fit(X, y)
    assert rng.bit_generator.state == before
    with pytest.raises(RelationMismatch):
        LogisticRegression(0.1, method=method, relation="replace-one", budget=budget).fit(X, y)
    assert budget.spent == 0.7


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": math.inf}, "epsilon"),
        ({"reg_lambda": 0}, "reg_lambda"),
        ({"reg_lambda": "1"}, "reg_lambda"),
        ({"method": "gradient"}, "method"),
        ({"calibration": "loose"}, "calibration"),
        ({"relation": "swap"}, "relation"),
        ({"tolerance": 0}, "tolerance"),
        ({"tolerance": 2.0}, "tolerance"),
        ({"fit_intercept": 1}, "fit_intercept"),
        ({"row_bound": 0}, "row_bound"),
        ({"on_invalid": "drop"}, "on_invalid"),
        ({"random_state": -1}, "random_state"),
        ({"budget": 1.0}, "budget"),
        ({"schema": 1.0}, "schema"),
        ({"release": True, "random_state": 0}, "random_state"),
    ],
)
def test_bad_parameters_are_refused_at_fit(options, name):
    model = LogisticRegression(**({"epsilon": 1.0} | options))
    with pytest.raises(InvalidParameter) as caught:
        model.fit(*words())
    assert caught.value.name == name
    assert repr(options[name]) in str(caught.value) or name == "schema"


def test_release_is_refused_before_the_data_are_looked_at():
    with pytest.raises(NoSecureSampler):
        LogisticRegression(1.0, release=True).fit(object(), object())


@pytest.mark.parametrize(
    ("X", "y", "says"),
    [
        ([[2, 0]], [0], "'x0' has the value 2"),
        ([[1, 0]], [3], "label 3"),
        ([[1, 0]], [0, 1], "1 records and y has 2"),
        ([1, 0], [0, 1], "1 dimensions"),
    ],
)
def test_bad_data_are_refused_by_name_and_nothing_is_charged(X, y, says):
    budget = Budget(1.0)
    with pytest.raises(InvalidData, match=says):
        LogisticRegression(1.0, budget=budget).fit(np.array(X), np.array(y))
    assert budget.spent == 0


@pytest.mark.parametrize("method", ["output", "objective"])
def test_fitted_object_holds_what_was_released_and_public_facts_only(method):
    X, y = words()
    model = LogisticRegression(1.0, method=method, schema=Schema.binary(8)).fit(X, y)
    fitted = set(vars(model)) - set(model.get_params())
    assert fitted == {"_schema", "classes_", "n_features_in_", "coef_", "intercept_"}
    assert model._schema == model.schema
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
    assert len(pickle.dumps(model)) == len(pickle.dumps(clone(model).fit(X[:3], y[:3])))


def test_clone_keeps_the_parameters_and_nothing_learned():
    model = LogisticRegression(0.3, method="objective", reg_lambda=7, random_state=1).fit(*words())
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    assert not hasattr(fresh, "coef_")


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "reg_lambda", "row_bound", "floor"),
    [("adult", 30.0, None, 0.80), ("mushrooms", 300.0, None, 0.86), ("newsgroup1", 100.0, 5, 0.65)],
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
