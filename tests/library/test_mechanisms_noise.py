"""Laplace, geometric, staircase, p-norm and Gaussian noise: published values, densities, exact privacy, samples."""

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, stats

from dpml.exceptions import InvalidParameter
from dpml.mechanisms import (
    ExponentialMechanism,
    Gaussian,
    Geometric,
    Laplace,
    NormGamma,
    Staircase,
    gaussian_delta,
    gaussian_sigma,
)


# ---- Laplace ----
def test_laplace_density_integrates_to_one_and_costs_epsilon():
    mechanism = Laplace(epsilon=0.3, sensitivity=2.0)
    total = integrate.quad(lambda z: np.exp(mechanism.log_density(z, 5.0)), 5, 400)[0] * 2
    assert total == pytest.approx(1.0, abs=1e-8)
    z = np.linspace(-50, 50, 1001)
    loss = np.abs(mechanism.log_density(z, 0.0) - mechanism.log_density(z, 2.0))
    assert loss.max() == pytest.approx(0.3, abs=1e-12)


@pytest.mark.parametrize("p", [0.001, 0.3, 0.5, 0.65, 0.999])
def test_laplace_quantile(p):
    assert Laplace(0.5, 3.0).quantile(p) == pytest.approx(stats.laplace(scale=6).ppf(p))


@pytest.mark.parametrize("cls", [Laplace, ExponentialMechanism])
@pytest.mark.parametrize("bad", [0, -1.0, float("nan"), float("inf"), "1", None, True])
def test_bad_epsilon_and_sensitivity_are_named(cls, bad):
    with pytest.raises(InvalidParameter, match=r"`epsilon` must be a finite number"):
        cls(bad, 1.0)
    with pytest.raises(InvalidParameter, match=r"`(sensitivity|change_range)` must be a finite number"):
        cls(1.0, bad)


# ---- geometric ----
def test_geometric_probabilities_are_the_published_ones():
    """Ghosh et al. 2012: (1-α)/(1+α)·α^|k|; with α = ½ that is 1/3, 1/6, 1/12, ..."""
    mechanism = Geometric(math.log(2))
    k = np.arange(-200, 201)
    p = np.exp(mechanism.log_probability(k, 0))
    np.testing.assert_allclose(p[200:204], [1 / 3, 1 / 6, 1 / 12, 1 / 24])
    assert p.sum() == pytest.approx(1)
    # with sensitivity 1 it is the Laplace mechanism rounded, up to what rounding takes at 0
    laplace = Laplace(math.log(2))
    beyond = -laplace.scale * np.log(2) * 0 + stats.laplace(scale=laplace.scale).sf(2.5)
    assert p[k > 2].sum() == pytest.approx(beyond, rel=0.1)


# ---- staircase ----
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 10.0])
@pytest.mark.parametrize("gamma", [None, 0.0, 0.3, 1.0])
def test_staircase_density(epsilon, gamma):
    mechanism = Staircase(epsilon, 2.0, gamma)
    edges = np.arange(0, 3000) * 2.0
    middles = np.concatenate([edges + mechanism.gamma, edges + 1 + mechanism.gamma])
    widths = np.repeat([2 * mechanism.gamma, 2 * (1 - mechanism.gamma)], 3000)
    inside = np.where(widths > 0, np.exp(mechanism.log_density(middles, 0)) * widths, 0)
    assert 2 * inside.sum() == pytest.approx(1, abs=1e-9)
    x = np.linspace(-40, 40, 4001) + 1e-7
    for shift in (0.3, 1.0, 2.0):
        loss = np.abs(mechanism.log_density(x, 0.0) - mechanism.log_density(x, shift))
        assert loss.max() <= epsilon + 1e-9
    assert loss.max() == pytest.approx(epsilon)


def test_staircase_mean_size_is_the_published_optimum():
    """Geng and Viswanath 2014, Theorem 3: Δ·e^(ε/2)/(e^ε - 1), the least over γ and never above Laplace's."""
    for epsilon in (0.1, 1.0, 2.0, 5.0):
        best = Staircase(epsilon)
        assert best.gamma == pytest.approx(1 / (1 + math.exp(epsilon / 2)))
        assert best.mean_size == pytest.approx(math.exp(epsilon / 2) / math.expm1(epsilon))
        assert best.mean_size < Laplace(epsilon).scale
        assert all(Staircase(epsilon, gamma=g).mean_size >= best.mean_size - 1e-12 for g in np.linspace(0, 1, 41))
        sizes = np.abs(best.release(np.zeros(40_000), rng=np.random.default_rng(0)))
        assert abs(sizes.mean() - best.mean_size) < 5 * sizes.std() / 200


# ---- p-norms ----
NORMS = [1.0, 1.5, 2.0, 3.0, 10.0, math.inf]


@pytest.mark.parametrize("p", NORMS)
def test_norm_density_integrates_to_one_in_the_plane(p):
    mechanism = NormGamma(1.3, 1.0, 2, p)
    grid = np.linspace(-25, 25, 1001)
    points = np.stack(np.meshgrid(grid, grid), axis=-1)
    assert np.exp(mechanism.log_density(points, np.zeros(2))).sum() * 0.05**2 == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("p", NORMS)
def test_norm_samples_follow_the_density(p):
    """Chi-square over 36 sectors and rings of the plane against the density's mass there."""
    mechanism = NormGamma(1.0, 1.0, 2, p)
    drawn = mechanism.release(np.zeros(2), draws=40_000, rng=np.random.default_rng(2))
    norm = np.linalg.norm(drawn, ord=p, axis=1)
    assert stats.kstest(norm, stats.gamma(2).cdf).pvalue > 0.001
    angle = np.arctan2(drawn[:, 1], drawn[:, 0])
    edges = np.linspace(-np.pi, np.pi, 25)
    counts = np.histogram(angle, edges)[0]

    def per_angle(t):
        return np.linalg.norm([np.cos(t), np.sin(t)], ord=p) ** -2

    mass = np.array([integrate.quad(per_angle, a, b)[0] for a, b in itertools.pairwise(edges)])
    assert stats.chisquare(counts, 40_000 * mass / mass.sum()).pvalue > 0.001
    if p in (1.0, 10.0, math.inf):
        # a direction uniform on the circle, as Antonova (2016) can be read, is another distribution
        assert stats.chisquare(counts).pvalue < 1e-6


@pytest.mark.parametrize("p", NORMS)
def test_norm_mechanism_costs_epsilon(p):
    mechanism = NormGamma(0.7, 2.0, 3, p)
    rng = np.random.default_rng(3)
    shift = rng.normal(size=3)
    shift *= 2.0 / np.linalg.norm(shift, ord=p)
    outputs = np.concatenate([rng.normal(size=(2000, 3)) * 5, np.outer(np.linspace(-20, 20, 41), shift)])
    loss = np.abs(mechanism.log_density(outputs, np.zeros(3)) - mechanism.log_density(outputs, shift))
    assert loss.max() == pytest.approx(0.7, abs=1e-9)


# ---- Gaussian ----
def test_sigma_agrees_with_another_implementation():
    """dp-accounting's own calibration of Gaussian noise, and the value quoted for ε = 1, δ = 1e-5."""
    from dp_accounting import gaussian_mechanism

    assert gaussian_sigma(1.0, 1e-5) == pytest.approx(3.7306, abs=5e-5)
    for epsilon, delta in [(0.1, 1e-6), (1.0, 1e-5), (2.0, 1e-3), (8.0, 1e-9)]:
        reference = gaussian_mechanism.get_sigma_gaussian(epsilon, delta)
        assert gaussian_sigma(epsilon, delta) == pytest.approx(reference, rel=1e-6)


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 10.0, 100.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-5, 0.1, 0.9])
def test_sigma_is_the_smallest_that_holds_delta(epsilon, delta):
    sigma = gaussian_sigma(epsilon, delta, sensitivity=3.0)
    assert gaussian_delta(epsilon, sigma, 3.0) <= delta
    assert gaussian_delta(epsilon, sigma * (1 - 1e-6), 3.0) > delta
    if epsilon <= 1:
        assert sigma <= 3.0 * math.sqrt(2 * math.log(1.25 / delta)) / epsilon


def test_delta_is_the_hockey_stick_of_two_normals():
    for epsilon, sigma in [(0.2, 1.0), (1.0, 0.7), (3.0, 0.4)]:
        one, two = stats.norm(0, sigma), stats.norm(1, sigma)
        # positive from where the densities' ratio is e^ε
        start = 0.5 + epsilon * sigma**2
        exact = integrate.quad(lambda x: two.pdf(x) - math.exp(epsilon) * one.pdf(x), start, start + 12)[0]  # noqa: B023
        assert gaussian_delta(epsilon, sigma) == pytest.approx(exact, abs=1e-8)
    assert gaussian_delta(0.0, 1.0) == pytest.approx(2 * stats.norm.cdf(0.5) - 1)


def test_gaussian_mechanism():
    mechanism = Gaussian(1.0, 1e-5, 2.0)
    assert mechanism.scale == pytest.approx(2 * 3.7306, abs=1e-4)
    assert mechanism.rho == pytest.approx(1 / (2 * 3.7306**2), rel=1e-4)
    drawn = mechanism.release([5.0], draws=20_000, rng=np.random.default_rng(6))[:, 0]
    assert stats.kstest(drawn, stats.norm(5, mechanism.scale).cdf).pvalue > 0.001
    np.testing.assert_allclose(mechanism.log_density([4.0], 5.0), stats.norm(5, mechanism.scale).logpdf(4.0))


@pytest.mark.parametrize("delta", [0, 1, -0.1, math.nan])
def test_gaussian_needs_a_delta(delta):
    with pytest.raises(InvalidParameter, match="`delta` must be "):
        Gaussian(1.0, delta)
