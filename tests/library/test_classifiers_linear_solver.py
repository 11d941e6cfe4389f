"""The solver of the linear classifiers: its guarantee on any data, for both losses."""

import numpy as np
import pytest
from ball_records import random_records
from each_commit import others_in_full
from scipy import sparse

from dpml.classifiers.linear import ClippedLogistic, minimiser, release_objective, solver
from dpml.classifiers.linear.solver import LOGISTIC, HuberHinge
from dpml.encoding import unit_scale
from dpml.exceptions import InvalidData

TOLERANCE = 1e-8
LOSSES = {"logistic": LOGISTIC, "hinge": HuberHinge(0.5), "sharp hinge": HuberHinge(0.01), "kink at 0": HuberHinge(1.0)}


def gradient_norms(X, signs, reg_lambda, theta, linear=0.0, loss=LOGISTIC):
    """The reference, in extended precision: ‖λθ + b - Σ s w(s θ·x) x‖ for each draw."""
    X, signs = np.asarray(X, dtype=np.longdouble), np.asarray(signs, dtype=np.longdouble)
    theta = np.atleast_2d(theta).astype(np.longdouble)
    z = signs[:, None] * (X @ theta.T)
    if loss is LOGISTIC:
        w = np.where(z > 0, np.exp(-np.abs(z)), 1) / (1 + np.exp(-np.abs(z)))
    else:
        h = np.longdouble(loss.half_width)
        w = np.clip((1 + h - z) / (2 * h), 0, 1)
    g = reg_lambda * theta + linear - (signs[:, None] * w).T @ X
    return np.sqrt((g**2).sum(axis=1)).astype(float)


# ---- the solver -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("reg_lambda", [1e-6, 1e-3, 1.0, 1e6])
@pytest.mark.parametrize("seed", others_in_full(range(5), 1, 3))
def test_gradient_is_within_tolerance_on_random_problems(seed, reg_lambda, name):
    loss = LOSSES[name]
    rng = np.random.default_rng(seed)
    n, dimension = int(rng.choice([0, 1, 2, 5, 40, 400])), int(rng.choice([1, 2, 5, 20]))
    X, signs = random_records(rng, n, dimension)
    b = rng.normal(size=(6, dimension)) * 10.0 ** rng.integers(-2, 5, size=(6, 1))
    if loss is not LOGISTIC:
        b *= min(reg_lambda, 1.0)  # θ is at most 1e5 long: its products with records have few digits farther out
    b[0] = 0
    together = minimiser(X, signs, reg_lambda, tolerance=TOLERANCE, linear=b, loss=loss)
    assert gradient_norms(X, signs, reg_lambda, together, b, loss).max() <= TOLERANCE
    alone = minimiser(X, signs, reg_lambda, tolerance=TOLERANCE, loss=loss)
    assert gradient_norms(X, signs, reg_lambda, alone, 0.0, loss).max() <= TOLERANCE
    assert np.linalg.norm(alone - together[0]) <= 2 * TOLERANCE / reg_lambda


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


WAYS = [(name, way, 1e-2) for name in ("logistic", "hinge") for way in ("factored", "diagonal", "sparse")]
WAYS += [
    ("logistic", "diagonal", 1e-6),
    ("hinge", "factored", 1e-5),
    ("logistic", "sparse", 1e6),
    ("hinge", "sparse", 1e6),
]


HARD_WAYS = [(problem, *way) for problem in HARD for way in WAYS]


# at each commit each problem three times, each way twice
@pytest.mark.parametrize(("problem", "name", "way", "reg_lambda"), others_in_full(HARD_WAYS, *HARD_WAYS[::3]))
def test_gradient_is_within_tolerance_on_hard_problems(problem, reg_lambda, way, name, monkeypatch):
    X, signs = HARD[problem]()
    loss = LOSSES[name]
    b = np.concatenate([np.zeros((1, X.shape[1])), np.random.default_rng(7).normal(size=(4, X.shape[1])) * 30])
    if way == "diagonal":
        monkeypatch.setattr(solver, "FACTOR_COLUMNS", 0)
    if way == "sparse":
        monkeypatch.setattr(solver, "DENSE_CELLS", 0)
    table = sparse.csr_array(X) if way == "sparse" else X
    theta = minimiser(table, signs, reg_lambda, tolerance=TOLERANCE, linear=b[:1], loss=loss)
    assert gradient_norms(X, signs, reg_lambda, theta, 0.0, loss).max() <= TOLERANCE
    # θ may be as far out as b/λ, and there the arithmetic has so many digits
    tolerance = max(TOLERANCE, 2.0**-44 * 100 * max(4 * loss.curvature, 1) / min(reg_lambda, 1))
    theta = minimiser(table, signs, reg_lambda, tolerance=tolerance, linear=b, loss=loss)
    assert gradient_norms(X, signs, reg_lambda, theta, b, loss).max() <= tolerance


def test_rows_of_equal_hashes_that_differ_stay_apart(monkeypatch):
    monkeypatch.setattr(solver, "hash_array", lambda values: np.zeros(len(values), dtype=np.uint64))
    rng = np.random.default_rng(11)
    X, signs = random_records(rng, 200, 3)
    b = rng.normal(size=(5, 3))
    theta = minimiser(X, signs, 1.0, tolerance=TOLERANCE, linear=b)
    assert gradient_norms(X, signs, 1.0, theta, b).max() <= TOLERANCE


def test_a_million_records_in_order_of_class():
    y = np.repeat([0, 1], 500_000)
    X = unit_scale(np.random.default_rng(9).random((1_000_000, 2)) < np.where(y[:, None] == 1, 0.6, 0.4), 2)
    signs = 2 * y - 1
    theta = minimiser(X, signs, 1.0)
    # in one long sum, without chunks, the rounding is some 1e-7
    assert gradient_norms(X, signs, 1.0, theta).max() <= TOLERANCE


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
def test_records_outside_the_unit_ball_are_refused(records):
    with pytest.raises(InvalidData):
        minimiser(*records, 1.0)
    with pytest.raises(InvalidData):
        release_objective(*records, 1.0, 1.0, rng=np.random.default_rng(0))


# ---- the losses -----------------------------------------------------------------------------------------------------

MARGINS = np.linspace(-4, 4, 80_001)
ALL_LOSSES = LOSSES | {"clipped": ClippedLogistic()}


@pytest.mark.parametrize("name", ALL_LOSSES)
def test_pull_and_curvature_are_the_derivatives_of_the_loss(name):
    loss = ALL_LOSSES[name]
    step = MARGINS[1] - MARGINS[0]
    value = loss.value(MARGINS)
    middle = (MARGINS[1:] + MARGINS[:-1]) / 2
    pull = -loss.residual(middle[:, None].copy(), np.ones(len(middle)))[:, 0]
    np.testing.assert_allclose(pull, -np.diff(value) / step, atol=2 * step * loss.curvature)
    # with the other sign the score is the margin's negative
    np.testing.assert_allclose(loss.residual(-middle[:, None], np.zeros(len(middle)))[:, 0], pull, atol=1e-12)
    assert (pull >= 0).all()
    assert (pull <= 1).all()
    weights = loss.weights(loss.residual(MARGINS[:, None].copy(), np.ones(len(MARGINS))))[:, 0]
    slope = -np.diff(pull) / step
    jumps = np.abs(np.diff(weights)) > 0.1 * loss.curvature
    smooth = ~(jumps[1:] | jumps[:-1])
    np.testing.assert_allclose(slope[smooth], weights[1:-1][smooth], atol=1e-3 * loss.curvature)
    assert weights.max() == pytest.approx(loss.curvature)


@pytest.mark.parametrize("name", ALL_LOSSES)
@pytest.mark.parametrize("reg_lambda", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("rate", [0.0, 0.05, 1.0, 20.0])
def test_largest_ratio_is_the_supremum_over_margins(name, reg_lambda, rate):
    loss = ALL_LOSSES[name]
    residual = loss.residual(np.linspace(-40, 40, 400_001)[:, None], np.ones(400_001))
    ratios = rate * np.abs(residual) + np.log1p(loss.weights(residual) / reg_lambda)
    largest = loss.largest_ratio(rate, reg_lambda)
    assert ratios.max() <= largest + 1e-12
    assert ratios.max() == pytest.approx(largest, abs=0.02 * max(rate, 1))
