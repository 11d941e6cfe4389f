"""One perturbed objective for more than two classes: its loss, its density by brute force, its solver and its cost."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from each_commit import others_in_full
from scipy import optimize, stats

from dpml.audit import recorded_cost
from dpml.classifiers.linear import Prior, objective_noise, release_classes
from dpml.classifiers.linear.classes import ClippedSoftmax, PerturbedClasses, minimise_classes
from dpml.classifiers.linear.perturbation import MARGIN, SecureMinimum
from dpml.mechanisms import OneHotNorm
from dpml.mechanisms.norms import contrasts
from dpml.mechanisms.secure_one_hot import noise_distance

RELATIONS = ["add-remove", "replace-one"]
NO_START = 0.0


def prior(ordered):
    return Prior(NORM.sizes, NORM.n_scalars, (False, ordered))


def gradients(loss, scores, codes):
    return loss.residual(np.array(scores, dtype=float), (np.asarray(codes), NO_START))


def scores_and_codes(C, n=400, seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, C)) * rng.choice([0.1, 1.0, 5.0, 30.0], (n, 1))
    scores[: n // 4, 0] -= 40.0  # a class that seems impossible ends the linear part
    return scores, rng.integers(0, C, n)


def hessians(loss, scores, codes, step=1e-5):
    columns = [
        (gradients(loss, scores + step * e, codes) - gradients(loss, scores - step * e, codes)) / (2 * step)
        for e in np.eye(scores.shape[1])
    ]
    return np.stack(columns, axis=-1)


@pytest.mark.parametrize("C", [2, 3, 5, 26])
def test_the_loss_has_the_stated_gradient_norm_and_trace(C):
    loss = ClippedSoftmax(C)
    scores, codes = scores_and_codes(C)
    v = gradients(loss, scores, codes)
    for c, e in enumerate(np.eye(C)):
        numeric = (loss.values(scores + 1e-6 * e, codes) - loss.values(scores - 1e-6 * e, codes)) / 2e-6
        np.testing.assert_allclose(v[:, c], numeric, atol=1e-7)
    np.testing.assert_allclose(v.sum(axis=1), 0, atol=1e-12)
    norms = np.abs(v - np.median(v, axis=1, keepdims=True)).sum(axis=1)
    assert norms.max() <= 1 + 1e-12
    assert norms.max() > 0.999
    S = hessians(loss, scores, codes)
    traces = np.trace(S, axis1=1, axis2=2)
    T = loss.curvature * (C - 1)
    assert np.linalg.eigvalsh(S).min() > -1e-6
    assert traces.max() <= T + 1e-6
    # of more classes the bound is reached where the linear part has ended and the others are alike
    if C == 3:
        rows = np.array([[0.0, 1e-4, -200.0]])
        assert np.trace(hessians(loss, rows, [1])[0]) == pytest.approx(0.5, abs=1e-3)


@pytest.mark.parametrize(("C", "others"), list(product((3, 5), (0, 6))))
def test_the_determinant_grows_at_most_by_the_stated_factor(C, others):
    loss, rng = ClippedSoftmax(C), np.random.default_rng(1)
    largest = 0.0
    for reg_lambda in (0.05, 1.0, 20.0):
        scores, codes = scores_and_codes(C, 60, seed=2)
        S = hessians(loss, scores, codes)
        for s in S[:40]:
            x, *more = (row / np.linalg.norm(row) for row in rng.normal(size=(1 + others, 3)))
            A = reg_lambda * np.eye(3 * C)
            for other, row in zip(S[50:], more, strict=False):
                A += np.kron(other, np.outer(row, row))
            grown = np.linalg.slogdet(A + np.kron(s, np.outer(x, x)))[1] - np.linalg.slogdet(A)[1]
            bound = loss.largest_ratio(0.0, reg_lambda)
            assert -1e-6 <= grown <= bound + 1e-6
            largest = max(largest, grown / bound)
    assert largest > (0.4 if others == 0 else 0.2)


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_rate_spends_all_of_epsilon_and_enough_is_enough(relation):
    loss, factor = ClippedSoftmax(4), {"add-remove": 1, "replace-one": 2}[relation]
    for epsilon, reg_lambda in product((0.1, 1.0, 5.0), (1e-3, 1.0, 50.0)):
        rate, raised = objective_noise(epsilon, reg_lambda, relation=relation, loss=loss)
        cost = factor * rate + 3 * np.log1p(loss.curvature / raised)
        assert raised >= reg_lambda
        assert cost == pytest.approx(epsilon, rel=1e-9)
    assert loss.largest_ratio(0.0, loss.enough(0.3)) == pytest.approx(0.3)


# ---- the density of what is released, for one column ----------------------------------------------------------------


def log_noise(B, rate):
    """The log density, up to a constant, of Laplace noise b_c of each class over what the classes have in common."""
    places = np.sort(-B)
    slopes = 2 * np.arange(len(B) + 1) - len(B)  # of Σ|b_c + t| between the places where a term is 0
    heights = -rate * np.abs(B[:, None] + places).sum(axis=0)
    top = heights.max()
    total = np.exp(heights[0] - top) / (rate * len(B)) + np.exp(heights[-1] - top) / (rate * len(B))
    for k in range(len(B) - 1):
        length, slope = places[k + 1] - places[k], rate * abs(slopes[k + 1])
        area = length if slope == 0 else -np.expm1(-slope * length) / slope
        total += np.exp(heights[k : k + 2].max() - top) * area
    return top + np.log(total)


def log_density(theta, records, rate, reg_lambda, loss):
    """Of the minimiser, for records (x, class) with |x| <= 1, up to a constant."""
    C = len(theta)
    x, codes = np.array([x for x, _ in records]), np.array([y for _, y in records], dtype=int)
    B, H = -reg_lambda * theta, reg_lambda * np.eye(C)
    if len(records):
        scores = x[:, None] * theta
        B = B - x @ gradients(loss, scores, codes)
        H = H + np.einsum("n,nab->ab", x**2, hessians(loss, scores, codes))
    return log_noise(B, rate) + np.linalg.slogdet(H)[1]


def some_theta(seed):
    rng = np.random.default_rng(seed)
    theta = rng.normal(size=(60, 3)) * 10.0 ** rng.uniform(-2, 2, (60, 1))
    theta = np.vstack([theta, [[100.01, 99.99, -200], [-40, 0, 40], [-80, -80, 160], [0.01, 0, -0.01]]])
    return theta - theta.mean(axis=1, keepdims=True)


def test_the_noise_density_is_what_remains_of_independent_noise():
    rng = np.random.default_rng(0)
    t = np.linspace(-200, 200, 400_001)
    for _ in range(5):
        B = rng.normal(size=3) * 5
        numeric = np.exp(-0.7 * np.abs(B[:, None] + t).sum(axis=0)).sum() * (t[1] - t[0])
        assert log_noise(B, 0.7) == pytest.approx(np.log(numeric), abs=1e-6)


# the last records pull as much as they can, and have no curvature, where class 0 is a little ahead of class 1
COMMON = ([], [(1.0, 0), (-0.5, 1)], [(1.0, 1)] * 20)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(
    ("epsilon", "reg_lambda"), others_in_full([(0.2, 0.1), (1.0, 5.0), (1.0, 0.5), (3.0, 1.0)], first=2)
)
def test_privacy_loss_of_the_exact_density_is_at_most_epsilon(epsilon, reg_lambda, relation):
    loss = ClippedSoftmax(3)
    rate, reg_lambda = objective_noise(epsilon, reg_lambda, relation=relation, loss=loss)
    largest = 0.0
    for common in COMMON:
        one = [*common, (1.0, 0)]
        others = [common] if relation == "add-remove" else [[*common, other] for other in ((1.0, 1), (-1.0, 0))]
        for theta, other in product(some_theta(1), others):
            first, second = (log_density(theta, records, rate, reg_lambda, loss) for records in (one, other))
            largest = max(largest, abs(first - second))
    assert largest <= epsilon + 1e-5
    # so noise of half the size costs more than ε; one column does not let pull and curvature be largest together
    assert largest > 0.6 * epsilon


# ---- what is released -----------------------------------------------------------------------------------------------

SIZES = (2, 3)
LENGTH = 1 / np.sqrt(0.5 + 2 / 3 + 1)
NORM = OneHotNorm(1.0, SIZES, n_scalars=1, sensitivity=LENGTH)
ROWS = np.array([[*contrasts(2)[i], *contrasts(3)[j], 1.0] for i in range(2) for j in range(3)]) * LENGTH


def table(n, C=4, seed=0):
    rng = np.random.default_rng(seed)
    return ROWS[rng.integers(0, 6, n)], rng.integers(0, C, n), rng.normal(size=(n, C))


@pytest.mark.parametrize("secure", [False, True])
@pytest.mark.parametrize("ordered", [(), (False, True)])
@pytest.mark.parametrize("relation", RELATIONS)
def test_the_recorded_cost_is_what_is_stated(relation, ordered, secure):
    X, codes, starts = table(7)
    options = {"n_classes": 4, "norm": NORM, "ordered": ordered, "relation": relation, "secure": secure}

    def call(rows):
        rng = None if secure else np.random.default_rng(0)
        return release_classes(X[rows], codes[rows], starts[rows], 0.8, 2.0, **options, rng=rng)

    before = range(6) if relation == "add-remove" else [*range(5), 6]
    cost = recorded_cost(call, list(before), list(range(7)) if relation == "add-remove" else list(range(6)))
    assert cost <= 0.8 + 1e-9
    assert cost > 0.79  # all but what covers the solver, whose centres agree
    # a record that only starts elsewhere, or is only of another class, is another record
    for changed in (codes + (np.arange(7) == 6), codes):
        moved = starts + (changed is codes) * (np.arange(7) == 6)[:, None]
        first = PerturbedClasses(replace(NORM, epsilon=1.0), 1, 2.0, 1e-8, ClippedSoftmax(5), prior=prior(False))
        loss = first._compare((X, codes, starts), first, (X, changed, moved))
        assert loss.pure > 1.9


def test_secure_weights_are_on_the_grid_of_the_cover():
    X, codes, starts = table(3_000, C=3)
    root = prior(True).root
    perturbed = PerturbedClasses(NORM, 120, 2.0, 1e-6, ClippedSoftmax(3), prior=prior(True))
    cover = SecureMinimum(perturbed, 0.001).cover
    # a rounded vector of each class is off by noise_distance at most, and R stretches that
    off = np.sqrt(3) * noise_distance(NORM) * np.linalg.svd(root, compute_uv=False)[0]
    assert cover.distance == pytest.approx(2 * (MARGIN * 1e-6 + off) / 2.0)
    assert cover.dimension == 3 * NORM.dimension
    secure = SecureMinimum(perturbed, 0.1)._sample((X, codes, starts), None)
    study = perturbed._sample((X, codes, starts), np.random.default_rng(0))
    for k in range(secure.shape[1]):
        assert stats.ks_2samp(secure[:, k], study[:, k]).pvalue > 1e-9
    assert (secure % cover.step == 0).all()


def test_without_noise_the_weights_minimise_the_stated_objective():
    X, codes, starts = table(300)
    root = prior(True).root
    np.testing.assert_allclose((root @ root.T)[-1, -1], 1)
    middle = (root @ root.T)[1:3, 1:3]
    distance = np.abs(np.subtract.outer(np.arange(3), np.arange(3)))
    np.testing.assert_allclose(
        middle, contrasts(3).T @ (0.9 * np.exp(-distance / 3) + 0.1 * np.eye(3)) @ contrasts(3), atol=1e-12
    )
    options = {"n_classes": 4, "norm": NORM, "ordered": (False, True), "rng": np.random.default_rng(0)}
    found = release_classes(X, codes, starts, 1e9, 3.0, **options)[0]
    loss, precision = ClippedSoftmax(4), np.linalg.inv(root @ root.T)

    def objective(flat):
        theta = flat.reshape(4, -1)
        return loss.values(X @ theta.T + starts, codes).sum() + 1.5 * np.einsum("cd,de,ce->", theta, precision, theta)

    best = optimize.minimize(objective, np.zeros(found.size), method="BFGS", options={"gtol": 1e-6})
    np.testing.assert_allclose(found.ravel(), best.x, atol=1e-5)
    np.testing.assert_allclose(found.sum(axis=0), 0, atol=1e-6)


@pytest.mark.parametrize("reg_lambda", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("n", [0, 1, 500])
def test_gradients_are_within_the_tolerance(n, reg_lambda):
    X, codes, starts = table(n)
    loss, b = ClippedSoftmax(4), np.random.default_rng(1).normal(size=(3, 4, X.shape[1])) * 20
    b -= b.mean(axis=1, keepdims=True)
    theta = minimise_classes(X, codes, starts, reg_lambda, 1e-8, b, loss)
    for draw, linear in zip(theta, b, strict=True):
        v = loss.residual(X @ draw.T, (codes, starts))
        assert np.linalg.norm(v.T @ X + reg_lambda * draw + linear) <= 1e-8
        assert np.linalg.norm(draw.sum(axis=0)) <= 1e-8 / reg_lambda
