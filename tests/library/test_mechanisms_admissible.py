"""Noise for smooth sensitivity: every claim recomputed from the densities of two neighbours."""

import itertools
import math

import numpy as np
import pytest
from each_commit import others_in_full
from scipy import integrate
from scipy.special import logsumexp

from dpml.exceptions import InvalidData, InvalidParameter
from dpml.mechanisms.smooth import admissible, smooth_sensitivity, statistic
from dpml.mechanisms.smooth.admissible import (
    ArsinhNormal,
    Cauchy,
    LaplaceLogNormal,
    SmoothGaussian,
    SmoothLaplace,
    StudentT,
    UniformLogNormal,
    cauchy_scale,
)

EVERY = [
    Cauchy(0.8, 0.1),
    StudentT(0.8, 0.05, degrees=3),
    LaplaceLogNormal(0.8, 0.05),
    UniformLogNormal(0.8, 0.05),
    ArsinhNormal(0.8, 0.05),
    SmoothLaplace(0.8, 1e-5, 0.01),
    SmoothGaussian(0.8, 1e-5, 0.005),
]
CONCENTRATED = [
    (family, calibration)
    for family in (LaplaceLogNormal, UniformLogNormal, ArsinhNormal)
    for calibration in ("derived", "bun-steinke")
]


def largest_log_ratio(noise, step):
    """Largest |log density ratio| over outputs for S = 1 and e^step, the locations min(S) apart, by search."""
    other = math.exp(step)
    apart = min(1.0, other)
    reach = noise.scale * np.logspace(-5, 9, 20_001)
    x = np.unique(np.concatenate([-reach, apart + reach, np.linspace(0, apart, 2001), -apart - reach, reach]))

    def ratio(x):
        return np.abs(noise.log_density(x, 0.0, 1.0) - noise.log_density(x, apart, other))

    # the maximum is smooth in x: refine around the best point of the grid
    for _ in range(4):
        best = ratio(x).argmax()
        x = np.linspace(x[max(best - 1, 0)], x[min(best + 1, len(x) - 1)], 2001)
    return float(ratio(x).max())


# Pure ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "share"),
    [*((epsilon, 1 / 6) for epsilon in (0.01, 0.1, 0.3, 1.0, 3.0, 10.0)), (0.1, 1 / 1000), (1.0, 0.5), (5.0, 0.9)],
)
def test_exact_cauchy_costs_epsilon_and_never_more(epsilon, share):
    beta = share * epsilon
    noise = Cauchy(epsilon, beta)
    worst = max(largest_log_ratio(noise, step) for step in (-beta, 0.0, beta))
    assert worst == pytest.approx(epsilon, abs=1e-6)
    inner = max(largest_log_ratio(noise, step) for step in np.linspace(-beta, beta, 9))
    assert max(worst, inner) <= epsilon + 1e-9
    assert noise.cost == pytest.approx(epsilon, abs=1e-9)
    assert noise.scale == cauchy_scale(epsilon, beta)


@pytest.mark.parametrize("degrees", [0.5, 1.0, 2.0, 3.0, 10.0])
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 6.0])
def test_exact_student_costs_epsilon_and_never_more(degrees, epsilon):
    for share in (0.05, 0.4, 0.9):
        beta = share * epsilon / max(degrees, 1)
        noise = StudentT(epsilon, beta, degrees)
        worst = max(largest_log_ratio(noise, step) for step in np.linspace(-beta, beta, 9))
        assert worst == pytest.approx(epsilon, abs=2e-6)
        assert worst <= epsilon + 1e-9
        assert noise.cost == pytest.approx(epsilon, abs=1e-9)


def test_published_calibrations_cost_what_is_said():
    third = {c: Cauchy(1.0, 1 / 6, c) for c in ("exact", "algorithm-1", "theorem-2")}
    assert third["theorem-2"].cost == pytest.approx(0.226, abs=5e-4)
    assert third["algorithm-1"].cost == pytest.approx(math.log(2), abs=1e-12)  # arccosh(1 + 1/4) = log 2
    for calibration, noise in third.items():
        found = max(largest_log_ratio(noise, step) for step in (-1 / 6, 0, 1 / 6))
        assert found == pytest.approx(noise.cost, abs=1e-8), calibration
    assert third["exact"].scale == pytest.approx(0.96, abs=1e-3)
    assert 0.001 * cauchy_scale(0.001, 0.001 / 6) == pytest.approx(1.0142, abs=1e-3)
    assert cauchy_scale(10, 10 / 6) == pytest.approx(0.0067, abs=5e-5)
    assert cauchy_scale(2, 0.1, "theorem-2") == 3
    assert cauchy_scale(2, 0.1, "algorithm-1") == pytest.approx(math.sqrt(2) / 2)
    assert cauchy_scale(0.1, 0.1 / 6) / cauchy_scale(0.1, 0.1 / 6, "theorem-2") <= 0.17
    noise = StudentT(1.0, 1 / 8, 3, "bun-steinke")
    found = max(largest_log_ratio(noise, step) for step in (-1 / 8, 0, 1 / 8))
    assert found == pytest.approx(noise.cost, abs=1e-7)
    assert 0.6 < noise.cost < 1


def test_published_constants_that_fail_are_refused():
    with pytest.raises(InvalidParameter, match="at most ε/6"):
        Cauchy(1.0, 0.99, "algorithm-1")
    with pytest.raises(InvalidParameter, match=r"`beta` must be .*Got 0.25"):
        StudentT(1.0, 0.25, 3, "bun-steinke")
    with pytest.raises(InvalidParameter, match=r"`beta` must be .*Got 0.34"):
        StudentT(1.0, 0.34, 3)


# Concentrated --------------------------------------------------------------------------------------------------------


def greatest_rho(noise, orders=(1.01, 1.5, 2.0, 4.0, 8.0, 16.0, 32.0)):
    """Largest Rényi divergence over order of the two worst kinds of neighbours, by quadrature in z = sinh(w)."""
    w = np.linspace(-60, 60, 12_000)
    z, log_slope = np.sinh(w), np.logaddexp(w, -w) - math.log(2)
    log_p = noise._log_unit(z)
    mass = logsumexp(log_p + log_slope) + math.log(w[1] - w[0])
    assert mass == pytest.approx(0, abs=2e-5)
    worst = 0.0
    for step in (-noise.beta, 0.0, noise.beta):
        for slide in (0.0, min(1.0, math.exp(step)) / noise.scale):
            log_q = noise._log_unit((z - slide) * math.exp(-step)) - step
            for order in orders:
                total = logsumexp(order * log_p + (1 - order) * log_q + log_slope) + math.log(w[1] - w[0])
                # a quadrature error of 2e-5 in a density's mass would count most near order 1
                worst = max(worst, (total - mass) / (order - 1) / order)
    return worst


@pytest.mark.parametrize(("family", "calibration"), CONCENTRATED)
@pytest.mark.parametrize(("epsilon", "beta"), others_in_full([(1.0, 0.1), (2.0, 0.5), (1.0, 0.01)], (1.0, 0.1)))
def test_renyi_divergences_stay_below_the_claim(family, calibration, epsilon, beta):
    noise = family(epsilon, beta, calibration=calibration)
    assert noise.claim.rho == epsilon**2 / 2
    found = greatest_rho(noise)
    assert found <= noise.rho
    # a hundredth of the noise would not be private: the computation can tell
    louder = type(noise)(epsilon * 100, beta, noise.sigma, calibration)
    assert greatest_rho(louder, (2.0,)) > noise.rho


@pytest.mark.parametrize("sigma", [0.2, 0.6, math.sqrt(2), 2.5])
def test_slopes_and_curvature_are_those_of_the_densities(sigma):
    for family in (LaplaceLogNormal, UniformLogNormal, ArsinhNormal):
        noise = family(20.0, 0.01, sigma)
        used = admissible._slope(sigma) if family is ArsinhNormal else family._slide(sigma, "derived")
        # towards 0, where the Laplace kind is steepest, as well as far out
        z = np.geomspace(1e-6, 1e7, 20_001) / used
        slope = np.abs(np.diff(noise._log_unit(z)) / np.diff(z)).max()
        assert slope <= used * (1 + 1e-5)
        assert slope == pytest.approx(used, rel=2e-3 if sigma < 2 else 0.05)
    # the arsinh kind may use the curvature of Z's density instead, which is largest at 0
    noise = ArsinhNormal(20.0, 0.01, sigma)
    z = np.linspace(0, 20, 40_001)
    curvature = -np.diff(noise._log_unit(z), n=2) / (z[1] - z[0]) ** 2
    assert curvature.max() == pytest.approx(1 + sigma**2, rel=1e-3)
    assert ArsinhNormal._slide(sigma, "derived") == min(admissible._slope(sigma), math.sqrt(1 + sigma**2))
    u = np.linspace(1e-3, 12, 200_001)
    log_size = np.log(np.sinh(u) / sigma)
    potential = -noise._log_unit(np.exp(log_size)) - log_size
    first = np.diff(potential) / np.diff(log_size)
    second = np.diff(first) / (np.diff(log_size)[1:] + np.diff(log_size)[:-1]) * 2
    inside = slice(2000, None)  # rounding spoils differences near 0
    dilation = ArsinhNormal._dilation(1.0, sigma, "derived")
    assert second[inside].max() == pytest.approx(dilation**2, rel=1e-3)


# Approximate ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", [SmoothLaplace, SmoothGaussian])
def test_hockey_stick_divergence_equals_quadrature(family):
    rng = np.random.default_rng(2)
    noise = family(1.0, 1e-6, 0.01)
    z = np.linspace(-60, 60, 1_200_001)
    p = np.exp(noise._log_unit(z))
    for case in range(24):
        epsilon = rng.uniform(0.01, 2)
        gap, ratio = rng.uniform(0, 4) * (case % 3 > 0), math.exp(rng.uniform(-0.6, 0.6) * (case % 4 > 0))
        q = np.exp(noise._log_unit((z - gap) / ratio)) / ratio
        expected = np.maximum(p - math.exp(epsilon) * q, 0).sum() * (z[1] - z[0])
        found = family._divergence(epsilon, np.array(gap), np.array(ratio))
        assert found == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("family", [SmoothLaplace, SmoothGaussian])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.05, 1e-6), (0.5, 1e-9), (1.0, 1e-2), (4.0, 1e-6)])
def test_delta_is_paid_and_never_more(family, epsilon, delta):
    beta = family._largest_beta(epsilon, delta)
    exact, published = family(epsilon, delta, beta), family(epsilon, delta, beta, "nissim")
    # published: private, and generous
    assert published.cost <= 0.2 * delta
    assert exact.scale < published.scale
    fine = admissible._worst(family, epsilon, beta, exact.scale, points=4001)
    assert fine <= delta
    assert fine == pytest.approx(delta, rel=1e-6)
    # slide and dilation alone, each below the whole
    slide = family._divergence(epsilon, np.array(1 / exact.scale), np.array(1.0))
    dilation = family._divergence(epsilon, np.array(0.0), np.exp(np.array([-beta, beta])))
    assert slide <= delta
    assert dilation.max() < delta


@pytest.mark.parametrize("family", [SmoothLaplace, SmoothGaussian])
def test_a_beta_that_alone_costs_more_than_delta_is_refused(family):
    with pytest.raises(InvalidParameter, match=r"`beta` must be .*Got 0.9"):
        family(1.0, 1e-6, 0.9)
    limit = family._largest_beta(1.0, 1e-6)
    with pytest.raises(InvalidParameter, match="at most"):
        family(1.0, 1e-6, limit * 1.01, "nissim")
    # the exact calibration allows more than the published condition
    assert family(1.0, 1e-6, limit * 1.01).cost <= 1e-6


# All -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "noise", [noise for noise in EVERY if hasattr(noise, "deviation")], ids=lambda n: type(n).__name__
)
def test_the_stated_deviation_is_that_of_the_density(noise):
    """Draws follow the density: tests/library/test_mechanisms_boundary.py."""
    w = np.linspace(-40, 40, 20_001)
    x = 2 + 0.5 * noise.scale * np.sinh(w)
    density = np.exp(noise.log_density(x, 2.0, 0.5)) * 0.5 * noise.scale * np.cosh(w)
    assert integrate.trapezoid(density, w) == pytest.approx(1, abs=1e-5)
    second = integrate.trapezoid(density * (x - 2) ** 2, w)
    assert math.sqrt(second) == pytest.approx(0.5 * noise.deviation, rel=1e-4)


@pytest.mark.parametrize("noise", EVERY, ids=lambda n: type(n).__name__)
def test_release_broadcasts_and_scales_with_the_sensitivity(noise):
    values, smooth = np.zeros((2, 3)), np.array([1.0, 2.0, 0.0])
    out = noise.release(values, smooth, rng=np.random.default_rng(0), draws=5)
    assert out.shape == (5, 2, 3)
    assert (out[..., 2] == 0).all()
    twice = noise.release(values, 2 * smooth, rng=np.random.default_rng(0), draws=5)
    np.testing.assert_allclose(twice, 2 * out)
    assert noise.release(1.0, 1.0, rng=np.random.default_rng(0)).shape == ()
    assert noise.release([1.0, 2.0], 1.0, rng=np.random.default_rng(0)).shape == (2,)
    assert (noise.claim.rho is None) != (noise.claim.epsilon is None)


@pytest.mark.parametrize("noise", EVERY, ids=lambda n: type(n).__name__)
def test_release_checks_its_arguments(noise):
    for bad in (-1.0, math.nan, math.inf):
        with pytest.raises(InvalidData, match="smooth"):
            noise.release([0.0], [bad], rng=np.random.default_rng(0))
    with pytest.raises(InvalidParameter, match=r"`smooth` must be .*Got 'array of shape"):
        noise.release(np.zeros(3), np.ones(2), rng=np.random.default_rng(0))
    with pytest.raises(InvalidParameter, match=r"`rng` must be .*Got 0"):
        noise.release([0.0], [1.0], rng=0)
    with pytest.raises(InvalidParameter, match=r"`draws` must be .*Got 0"):
        noise.release([0.0], [1.0], rng=np.random.default_rng(0), draws=0)


FAMILIES = (LaplaceLogNormal, UniformLogNormal, ArsinhNormal)


@pytest.mark.parametrize(
    ("name", "make", "values"),
    [
        ("epsilon", lambda bad: cauchy_scale(bad, 0.1), (0, -1.0, math.nan, math.inf, "1", None, True)),
        ("epsilon", lambda bad: [kind(bad, 0.1) for kind in (Cauchy, StudentT, LaplaceLogNormal)], (0, math.inf, "1")),
        ("beta", lambda bad: cauchy_scale(1, bad), (1, 2, 0, -1, math.nan, math.inf)),
        ("beta", lambda bad: cauchy_scale(1, bad, "theorem-2"), (1, 2, 0)),
        ("beta", lambda bad: StudentT(1, bad, 1.0), (1, 2, 0, -1, math.nan)),
        *(("beta", lambda bad, kind=kind: kind(1.0, bad, 0.5), (0.9, 30.0)) for kind in FAMILIES),
        *(("sigma", lambda bad, kind=kind: kind(1.0, 0.1, bad), (-1.0, 1e9)) for kind in FAMILIES),
        *(("calibration", lambda bad, kind=kind: kind(1.0, 0.1, calibration=bad), ("exact",)) for kind in FAMILIES),
        ("sigma", lambda bad: UniformLogNormal(1.0, 0.1, bad, "bun-steinke"), (1.0,)),
        ("delta", lambda bad: SmoothLaplace(1.0, bad, 0.01), (0, 1, -0.1, 2, math.nan, "x")),
    ],
)
def test_bad_parameters_are_named(name, make, values):
    for bad in values:
        with pytest.raises(InvalidParameter, match=f"`{name}` must be "):
            make(bad)


# With the smooth sensitivities ----------------------------------------------------------------------------------------

GRID = (0, 1, 2, 5, 6)
WORST = [
    ("mean", 0, "add-remove"),
    ("trimmed_mean", 1, "add-remove"),
    ("variance", 0, "add-remove"),
    ("trimmed_variance", 1, "add-remove"),
    ("median", 0, "add-remove"),
    ("mean", 0, "replace-one"),
    ("trimmed_mean", 1, "replace-one"),
    ("variance", 0, "replace-one"),
    ("trimmed_variance", 1, "replace-one"),
    ("median", 0, "replace-one"),
]


@pytest.mark.parametrize(("kind", "m", "relation"), WORST)
def test_neighbours_cost_epsilon_and_no_more(kind, m, relation):
    """The exact log ratio of the released densities, over every pair of small data sets on a grid."""
    sizes = range(8) if relation == "add-remove" else (5,)
    data = [x for n in sizes for x in itertools.combinations_with_replacement(GRID, n)]
    index = {x: i for i, x in enumerate(data)}

    def changed(x):
        if relation == "add-remove":
            return [(*x, v) for v in GRID]
        return [(*x[:i], *x[i + 1 :], v) for i in range(len(x)) for v in GRID]

    pairs = [(i, index[tuple(sorted(y))]) for i, x in enumerate(data) for y in changed(x) if tuple(sorted(y)) in index]
    first, second = np.array(pairs).T
    f = np.array([statistic(kind, x, 0, 6, trim=m) for x in data])
    for epsilon in (0.3, 3.0):
        noise = Cauchy(epsilon, epsilon / 6)
        s = np.array([smooth_sensitivity(kind, x, 0, 6, noise.beta, relation, trim=m) for x in data]) * noise.scale
        squared = (f[first] - f[second]) ** 2 + (s[first] - s[second]) ** 2
        cost = np.arccosh(1 + squared / (2 * s[first] * s[second]))
        assert cost.max() <= epsilon + 1e-9
        if relation == "replace-one" or epsilon <= 1:
            assert cost.max() >= 0.9 * epsilon
