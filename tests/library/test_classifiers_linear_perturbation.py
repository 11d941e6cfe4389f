"""Output and objective perturbation: sensitivities, the exact privacy loss, one-hot noise and the secure release."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from ball_records import random_records
from each_commit import others_in_full
from scipy import optimize, stats
from scipy.special import expit

from dpml.audit import recorded_cost, recorded_releases
from dpml.classifiers.linear import (
    ClippedLogistic,
    Prior,
    minimiser,
    objective_noise,
    order_covariance,
    perturbation,
    release_objective,
    release_output,
)
from dpml.classifiers.linear.perturbation import MARGIN, SOLVER_SHARE, PerturbedMinimum, SecureMinimum
from dpml.classifiers.linear.solver import LOGISTIC, HuberHinge, gradient, minimise
from dpml.encoding import unit_scale
from dpml.exceptions import InvalidParameter, NoSecureSampler
from dpml.mechanisms import OneHotNorm
from dpml.mechanisms.norms import NormGamma, contrasts
from dpml.mechanisms.secure_one_hot import noise_distance

RELATIONS = ["add-remove", "replace-one"]
DELTA = {"add-remove": 1, "replace-one": 2}
LOSSES = {"logistic": LOGISTIC, "hinge": HuberHinge(0.5), "clipped": ClippedLogistic()}


def one_hot():
    rng = np.random.default_rng(6)
    codes = rng.integers(8, size=(2000, 3)) * (rng.random((2000, 3)) < 0.6)
    X = np.concatenate([np.eye(8)[codes[:, j]] for j in range(3)], axis=1)
    return unit_scale(X, 3), np.where(rng.random(2000) < 0.2 + 0.1 * codes[:, 0] / 8, 1.0, -1.0)


# ---- output perturbation --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("relation", RELATIONS)
def test_minimisers_of_neighbours_are_within_the_sensitivity(relation, name):
    rng = np.random.default_rng(11)
    loss = LOSSES[name]
    for _ in range(80):
        reg_lambda = 10.0 ** rng.uniform(-2, 2)
        X, signs = random_records(rng, int(rng.integers(1, 12)), int(rng.integers(1, 4)))
        first = minimiser(X, signs, reg_lambda, tolerance=1e-10, loss=loss)
        if relation == "add-remove":
            X, signs = X[1:], signs[1:]
        else:
            other, sign = random_records(rng, 1, X.shape[1])
            X, signs = np.vstack([X[1:], other]), np.append(signs[1:], sign)
        second = minimiser(X, signs, reg_lambda, tolerance=1e-10, loss=loss)
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


def exact_cost(rate, reg_lambda, relation, loss=LOGISTIC):
    if loss is LOGISTIC:
        p = np.linspace(0, 1, 200_001)
        cost = (rate * p + np.log1p(p * (1 - p) / reg_lambda)).max()
    else:
        curvature = 0.5 if isinstance(loss, ClippedLogistic) else 1 / (2 * loss.half_width)
        cost = rate + math.log1p(curvature / reg_lambda)
    return cost + (rate if relation == "replace-one" else 0)


LAMBDAS = (1e-6, 0.01, 0.1, 0.5, 2.0, 9.0, 50.0, 1e4)
GRID = [(epsilon, reg_lambda) for epsilon in (0.01, 0.1, 1.0, 5.0, 20.0) for reg_lambda in LAMBDAS]


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("relation", RELATIONS)
def test_tight_rate_spends_all_of_epsilon_and_no_more(relation, name):
    loss = LOSSES[name]
    for epsilon, reg_lambda in GRID:
        rate, raised = objective_noise(epsilon, reg_lambda, relation=relation, loss=loss)
        most = epsilon / DELTA[relation]
        assert raised >= reg_lambda
        assert most / 2 <= rate <= most
        assert exact_cost(rate, raised, relation, loss) == pytest.approx(epsilon, rel=1e-8)
        if raised > reg_lambda:
            assert rate == most / 2
            assert exact_cost(rate, raised * 0.999, relation, loss) > epsilon


@pytest.mark.parametrize("relation", RELATIONS)
def test_tight_noise_is_at_most_the_published(relation):
    for epsilon, reg_lambda in GRID:
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


# ---- objective perturbation: the exact privacy loss ------------------------------------------------------------------


class Density:
    """Log density of the exact minimiser, by change of variables: f(∇J(θ; D))·det H(θ; D)."""

    def __init__(self, X, signs, counts=None, loss=LOGISTIC):
        self.u = np.asarray(signs)[:, None] * np.asarray(X, dtype=float)
        self.counts = np.ones(len(self.u)) if counts is None else np.asarray(counts, dtype=float)
        self.loss = loss

    def noise(self, theta, reg_lambda):
        """The noise b that leads to each θ, and the Hessian's log determinant there."""
        D = theta.shape[1]
        z = theta @ self.u.T
        if self.loss is LOGISTIC:
            pull = expit(-z)
            weights = pull * (1 - pull)
        elif isinstance(self.loss, ClippedLogistic):
            pull = np.minimum(2 * expit(-z), 1)
            weights = np.where(z > 0, 2 * expit(-z) * expit(z), 0)
        else:
            h = self.loss.half_width
            pull = np.clip((1 + h - z) / (2 * h), 0, 1)
            weights = (np.abs(1 - z) < h) / (2 * h)
        b = (self.counts * pull) @ self.u - reg_lambda * theta
        H = np.einsum("kn,ni,nj->kij", self.counts * weights, self.u, self.u) + reg_lambda * np.eye(D)
        return b, np.linalg.slogdet(H)[1]

    def __call__(self, theta, rate, reg_lambda, norm=2):
        b, log_det = self.noise(theta, reg_lambda)
        return NormGamma(rate, 1.0, theta.shape[1], p=norm).log_density(b, np.zeros(theta.shape[1])) + log_det


def plane(dimension, scale):
    if dimension == 1:
        return np.linspace(-scale, scale, 4001)[:, None]
    side = np.linspace(-scale, scale, 81)
    return np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("calibration", ["tight", "published"])
@pytest.mark.parametrize(
    ("epsilon", "reg_lambda"),
    # the penalty is raised, is large enough with less noise rate, and is so large that it takes none
    others_in_full(
        [(0.1, 0.01), (1.0, 0.7), (0.1, 6.0), (0.1, 30.0), (1.0, 0.1), (3.0, 1.0)],
        first=2,
    ),
)
def test_privacy_loss_of_the_exact_density_is_at_most_epsilon(epsilon, reg_lambda, calibration, relation, name):
    loss = LOSSES[name]
    rate, raised = objective_noise(epsilon, reg_lambda, relation=relation, calibration=calibration, loss=loss)
    rng = np.random.default_rng(14)
    for trial in range(40):
        dimension = 1 + trial % 2
        X, signs = random_records(rng, int(rng.integers(1, 5)), dimension)
        counts = rng.choice([1, 3, 1000], size=len(X))
        counts[0] = 1
        one = Density(X, signs, counts, loss)
        if relation == "add-remove":
            two = Density(X[1:], signs[1:], counts[1:], loss)
        else:
            other, sign = random_records(rng, 1, dimension)
            two = Density(np.vstack([other, X[1:]]), np.append(sign, signs[1:]), counts, loss)
        theta = plane(dimension, rng.choice([1.0, 10.0, 100.0]))
        ratio = one(theta, rate, raised) - two(theta, rate, raised)
        assert np.abs(ratio).max() <= epsilon * (1 + 1e-9)


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


@pytest.mark.parametrize(("norm", "squared_norm"), [("l2", 1.0), ("l1", 0.5)])
@pytest.mark.parametrize("name", LOSSES)
def test_the_noise_in_the_objective_has_the_stated_norm(name, norm, squared_norm):
    # at the released θ the gradient gives b back: its norm is gamma with shape D and scale 1/β
    rng = np.random.default_rng(20)
    X = rng.choice([-0.5, 0.5], size=(200, 3)) * (rng.random((200, 3)).argsort(axis=1) < 2)
    signs = rng.choice([-1.0, 1.0], 200)
    loss = LOSSES[name]
    options = {"loss": loss, "norm": norm, "squared_norm": squared_norm}
    theta = release_objective(X, signs, 1.0, 4.0, draws=3000, rng=rng, **options)
    rate, raised = objective_noise(0.999, 4.0 / squared_norm, loss=loss)
    b, _ = Density(X, signs, loss=loss).noise(theta, raised * squared_norm)
    norms = np.abs(b).sum(axis=1) if norm == "l1" else np.linalg.norm(b, axis=1)
    assert stats.kstest(norms, stats.gamma(3, scale=1 / rate).cdf).pvalue > 0.01
    assert stats.kstest(norms, stats.gamma(3, scale=1.1 / rate).cdf).pvalue < 0.01
    signs_of_b = (b > 0) @ [1, 2, 4]
    assert stats.chisquare(np.bincount(signs_of_b, minlength=8)).pvalue > 0.01


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


# ---- noise for one-hot records ---------------------------------------------------------------------------------------

LENGTH = 1 / np.sqrt(0.5 + 2 / 3 + 1)
NORM = OneHotNorm(1.0, (2, 3), n_scalars=1, sensitivity=LENGTH)
# each record that two attributes of two and three values can have, in the unit ball
ROWS = np.array([[*contrasts(2)[i], *contrasts(3)[j], 1.0] for i in range(2) for j in range(3)]) * LENGTH
LOSS = ClippedLogistic()


def test_the_clipped_logistic_loss_states_probabilities():
    loss = ClippedLogistic()
    for p in (0.03, 0.4, 0.5, 0.8, 0.999):
        # where the expected gradient of a score vanishes
        z = optimize.brentq(
            lambda z, p=p: p * min(2 / (1 + np.exp(z)), 1) - (1 - p) * min(2 / (1 + np.exp(-z)), 1), -40, 40, xtol=1e-13
        )
        assert loss.log_odds(np.array([z]))[0] == pytest.approx(np.log(p / (1 - p)), abs=1e-9)
    g = np.linspace(-30, 30, 301)
    np.testing.assert_allclose(loss.log_odds(loss.score(g)), g, atol=1e-9)


def test_the_cover_of_the_solvers_error_costs_its_share_of_epsilon():
    X, y = ROWS[[0, 1, 3, 4]], np.array([1.0, -1.0, 1.0, -1.0])

    def call(data):
        return release_objective(*data, 0.8, 2.0, norm=NORM, loss=LOSS, rng=np.random.default_rng(0))

    last = recorded_releases(call, (X, y), (np.vstack([X, ROWS[5]]), np.append(y, 1.0)))[-1]
    # both minimisers are near to one point, so half as much would leave no room for the error
    assert last.loss.pure == pytest.approx(SOLVER_SHARE * 0.8, rel=1e-3)


# ---- the secure release ---------------------------------------------------------------------------------------------


def released(data, epsilon=0.8, reg_lambda=2.0, **options):
    X, y = data
    signs = np.where(np.asarray(y) == 1, 1.0, -1.0)
    return release_objective(X, signs, epsilon, reg_lambda, norm=NORM, loss=LOSS, secure=True, **options)


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_no_neighbour_of_a_small_table_costs_more_than_epsilon(relation):
    X, y = ROWS[[0, 1, 3, 4]], np.array([0, 1, 0, 1])
    costs = []
    for row in ROWS:
        for label in (0, 1):
            more = np.vstack([X, row]), np.append(y, label)
            before = (X, y) if relation == "add-remove" else (np.vstack([X, ROWS[5]]), np.append(y, 0))
            costs.append(recorded_cost(lambda data: released(data, relation=relation), before, more, pasts=1))
    assert max(costs) <= 0.8
    # under replace-one the derivation adds up two records that can seldom be so different
    assert max(costs) == pytest.approx(0.8, rel=1e-6 if relation == "add-remove" else 0.3)


def test_the_cover_protects_values_of_equal_ideal_minima(monkeypatch):
    """Neighbours, the noise that leads both to one θ*, rounding and a solver's error as large as is stated."""
    rng = np.random.default_rng(0)
    reg_lambda, tolerance = 0.5, 1e-5
    mechanism = SecureMinimum(PerturbedMinimum(NORM, 1, reg_lambda, tolerance, LOSS), cover_epsilon=0.01)
    bound = MARGIN * tolerance + noise_distance(NORM)
    assert mechanism.cover.distance == pytest.approx(2 * bound / reg_lambda)
    X, signs = ROWS[rng.integers(6, size=50)], rng.choice([-1.0, 1.0], 50)
    farthest = most = 0.0
    for row in ROWS:
        ideal, values = rng.normal(size=(1, 4)) * 3, []
        away = rng.normal(size=4)
        for table, sign, error in ((X, signs, away), (np.vstack([X, row]), np.append(signs, 1.0), -away)):
            # noise that leads to θ* has a gradient of 0 there; all that is off acts as more of it
            g, _ = gradient(table, (sign + 1) / 2, LOSS, reg_lambda, np.zeros((1, 4)), ideal)
            noise = -g[0] + bound * (1 - 1e-4) * error / np.linalg.norm(error)
            monkeypatch.setattr(perturbation, "noise_vector", lambda of, noise=noise: noise)
            kept = []
            monkeypatch.setattr(type(mechanism.cover), "noisy", lambda self, theta, kept=kept: kept.append(theta))
            exact = replace(mechanism, perturbed=replace(mechanism.perturbed, tolerance=1e-10))
            exact._sample((table, sign), None)
            values.append(kept[0][0])
        farthest = max(farthest, np.linalg.norm(values[0] - values[1]))
        steps = [np.rint(v / mechanism.cover.step) for v in values]
        most = max(most, np.abs(steps[0] - steps[1]).sum())
    assert 0.1 * mechanism.cover.distance < farthest <= mechanism.cover.distance
    assert most <= mechanism.cover.reach


def test_secure_weights_are_multiples_near_the_simulation():
    rng = np.random.default_rng(1)
    codes = rng.integers(6, size=3_000)
    y = rng.random(3_000) < np.linspace(0.1, 0.9, 6)[codes]
    data, signs = (ROWS[codes], y), np.where(y, 1.0, -1.0)
    secure = released(data, epsilon=1.0, draws=400)
    study = release_objective(*(ROWS[codes], signs), 1.0, 2.0, norm=NORM, loss=LOSS, draws=400, rng=rng)
    exact = minimise(ROWS[codes], signs, 2.0, 1e-8, np.zeros((1, 4)), LOSS)
    for k in range(4):
        assert stats.ks_2samp(secure[:, k] - exact[0, k], study[:, k] - exact[0, k]).pvalue > 1e-9
    kept = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SecureMinimum, "_sample", lambda self, statistic, rng: kept.append(self))
        released(data, epsilon=1.0)
    steps = secure / kept[0].cover.step
    assert (steps == np.rint(steps)).all()
    assert kept[0].cover.scale * kept[0].cover.step < 0.05 * study.std(axis=0).min()


def test_determinant_is_free_from_lambda_one_over_epsilon_on():
    assert objective_noise(0.1, 10.0) == (0.1, 10.0)
    assert objective_noise(0.1, 20.0, relation="replace-one") == (0.05, 20.0)
    assert objective_noise(0.1, 9.9)[0] < 0.1
    assert objective_noise(0.1, 19.9, relation="replace-one")[0] < 0.05


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("epsilon", "reg_lambda"), [(1.0, 1e-3), (1.0, 5.0), (0.1, 0.1), (0.1, 40.0)])
def test_tight_privacy_loss_of_the_hinge_nearly_reaches_epsilon(epsilon, reg_lambda, relation):
    # θ is so that u has a pull of nearly 1 with all the parabola's curvature, while a crowd brings b along -u
    loss = HuberHinge(0.5)
    rate, raised = objective_noise(epsilon, reg_lambda, relation=relation, loss=loss)
    w = np.array([-math.cos(0.05), -math.sin(0.05)])
    theta = np.array([[0.501, 1000.0]])
    one = Density([w, [1.0, 0.0]], [1.0, 1.0], [1e7, 1.0], loss)
    two = Density([w], [1.0], [1e7 + 1 if relation == "replace-one" else 1e7], loss)
    ratio = (one(theta, rate, raised) - two(theta, rate, raised)).item()
    assert 0.99 * epsilon < ratio <= epsilon
    assert (one(theta, 2 * rate, raised) - two(theta, 2 * rate, raised)).item() > 1.2 * epsilon


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("epsilon", "reg_lambda"), [(0.1, 0.01), (1.0, 0.1), (1.0, 0.7)])
def test_privacy_loss_with_laplace_noise_is_at_most_epsilon(epsilon, reg_lambda, relation):
    # records with ‖x‖₁ <= 1 and ‖x‖₂² <= q = ½: λ/q takes the place of λ
    rng = np.random.default_rng(19)
    rate, raised = objective_noise(epsilon, reg_lambda / 0.5, relation=relation)
    largest = 0.0
    for _ in range(40):
        X = rng.choice([-0.5, 0.0, 0.5], size=(4, 2))
        signs = rng.choice([-1.0, 1.0], 4)
        counts = np.append(rng.choice([1, 3, 1000], 2), [1, 1])
        common = np.array([0, 1])
        one = Density(X[[0, 1, 2]], signs[[0, 1, 2]], counts[:3])
        other = common if relation == "add-remove" else np.array([0, 1, 3])
        two = Density(X[other], signs[other], counts[other])
        theta = plane(2, rng.choice([1.0, 10.0, 100.0]))
        ratio = np.abs(one(theta, rate, raised * 0.5, 1) - two(theta, rate, raised * 0.5, 1)).max()
        largest = max(largest, ratio)
    assert 0.3 * epsilon < largest <= epsilon * (1 + 1e-9)


def test_only_the_noise_that_has_a_secure_sampler_is_taken():
    X, signs = ROWS, np.ones(6)
    with pytest.raises(NoSecureSampler, match="OneHotNorm"):
        release_objective(X, signs, 1.0, 1.0, secure=True)
    with pytest.raises(NoSecureSampler, match="rng"):
        released((X, signs), rng=np.random.default_rng(0))


PRIOR = Prior(NORM.sizes, NORM.n_scalars, (True, *(False for _ in NORM.sizes[1:])), by_size=True)


def test_a_prior_by_size_has_the_stated_variances():
    covariance = PRIOR.root @ PRIOR.root.T
    row = 0
    for d in NORM.sizes:
        part = slice(row, row + d - 1)
        assert np.diag(covariance)[part].mean() == pytest.approx(d / 6)
        row += d - 1
    np.testing.assert_allclose(covariance[row:, row:], np.eye(NORM.n_scalars))
    first = contrasts(NORM.sizes[0])
    own = first.T @ order_covariance(NORM.sizes[0]) @ first
    ratio = covariance[: len(own), : len(own)] / own
    np.testing.assert_allclose(ratio, ratio[0, 0])


def test_no_record_is_longer_than_the_prior_states():
    rng = np.random.default_rng(0)
    rows = NORM._sample(np.zeros((500, NORM.dimension)), rng)
    rows /= NORM.norm(rows)[:, None]
    corners = [np.concatenate(each) for each in product(*map(contrasts, NORM.sizes), np.array([[-1.0], [1.0]]))]
    squares = ((np.vstack([rows, corners]) @ PRIOR.root) ** 2).sum(axis=1)
    assert squares.max() == pytest.approx(PRIOR.longest)


@pytest.mark.parametrize("secure", [False, True])
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_weights_with_a_prior_cost_what_is_stated(relation, secure):
    signs, n = np.where(np.arange(len(ROWS)) % 2, 1.0, -1.0), len(ROWS)

    def call(some):
        rng = None if secure else np.random.default_rng(0)
        options = {"norm": NORM, "loss": LOSS, "prior": PRIOR, "relation": relation, "secure": secure}
        return release_objective(ROWS[some], signs[some], 0.8, 0.1, **options, rng=rng)

    costs = []
    for gone in range(n):
        after = [i for i in range(n) if i != gone] + [(gone + 1) % n] * (relation == "replace-one")
        costs.append(recorded_cost(call, list(range(n)), after))
    assert 0.79 < max(costs) <= 0.8 + 1e-9


def test_a_prior_is_the_precision_of_the_regulariser():
    rng = np.random.default_rng(0)
    rows, signs = ROWS[rng.integers(0, len(ROWS), 300)], rng.choice([-1.0, 1.0], 300)
    [found] = release_objective(rows, signs, 1e9, 3.0, norm=NORM, loss=LOSS, prior=PRIOR, rng=rng)
    precision = np.linalg.inv(PRIOR.root @ PRIOR.root.T)

    def objective(theta):
        return LOSS.value(signs * (rows @ theta)).sum() + 1.5 * theta @ precision @ theta

    best = optimize.minimize(objective, np.zeros(len(found)), method="BFGS", options={"gtol": 1e-8})
    np.testing.assert_allclose(found, best.x, atol=1e-4)
    with pytest.raises(InvalidParameter, match="prior"):
        release_objective(rows, signs, 1.0, 3.0, prior=PRIOR, rng=rng)
