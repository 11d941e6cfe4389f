"""Tails, their inverses and mean sizes of the noises, against sums and integrals of their densities, and draws."""

import itertools
import math

import numpy as np
import pytest
from scipy import integrate

from dpml.exceptions import InvalidParameter
from dpml.mechanisms import Gaussian, Geometric, Laplace, Staircase
from dpml.mechanisms.noise import SymmetricNoise
from dpml.mechanisms.smooth.admissible import (
    ArsinhNormal,
    Cauchy,
    LaplaceLogNormal,
    SmoothGaussian,
    SmoothLaplace,
    StudentT,
    UniformLogNormal,
)

CONTINUOUS = {
    "Laplace": Laplace(0.5, 2.0),
    "Gaussian": Gaussian(0.7, 1e-5, 3.0),
    "staircase": Staircase(2.0, 1.5),
    "staircase, a step elsewhere": Staircase(0.3, 1.0, gamma=0.8),
    "Cauchy": Cauchy(1.0, 0.2),
    "Student": StudentT(1.0, 0.1, 3.0),
    "Student, heavy": StudentT(1.0, 0.2, 0.7),
    "Student, light": StudentT(1.0, 0.002, 400.0),
    "smooth Laplace": SmoothLaplace(1.0, 1e-6, 0.03),
    "smooth Gaussian": SmoothGaussian(0.7, 1e-5, 0.01),
    "Laplace-log-normal": LaplaceLogNormal(1.0, 0.1),
    "Laplace-log-normal, wide": LaplaceLogNormal(1.0, 0.1, 2.5),
    "uniform-log-normal": UniformLogNormal(1.0, 0.1),
    "uniform-log-normal, wide": UniformLogNormal(1.0, 0.1, 2.5),
    "arsinh-normal": ArsinhNormal(1.0, 0.1),
    "arsinh-normal, wide": ArsinhNormal(1.0, 0.1, 2.0),
}
NOISES = {**CONTINUOUS, "geometric": Geometric(0.4, 2), "geometric, small": Geometric(5.0)}
PROBABILITIES = [0.999, 0.5, 0.05, 1e-3, 1e-9]


def log_density(noise, x):
    return noise.log_density(x, 0.0, 1.0) if hasattr(noise, "claim") else noise.log_density(x, 0.0)


def steps_of(noise, low, high):
    """Where the density jumps between two sizes."""
    if not isinstance(noise, Staircase):
        return None
    periods = np.arange(math.floor(low), math.ceil(high / noise.sensitivity) + 1)
    edges = np.concatenate([periods, periods + noise.gamma]) * noise.sensitivity
    return edges[(edges > low) & (edges < high)]


@pytest.mark.parametrize("name", CONTINUOUS)
def test_a_tail_is_the_integral_of_the_density(name):
    noise = CONTINUOUS[name]
    for probability in (0.9, 0.5, 0.1, 0.01):
        t = noise.tail_size(probability)
        inside, _ = integrate.quad(
            lambda x: float(np.exp(log_density(noise, x))), 0.0, t, points=steps_of(noise, 0.0, t), limit=200
        )
        assert noise.tail(t) == pytest.approx(1 - 2 * inside, abs=1e-9)


@pytest.mark.parametrize("name", ["geometric", "geometric, small"])
def test_an_integer_tail_is_a_sum(name):
    noise = NOISES[name]
    k = np.arange(1000)
    p = np.exp(noise.log_probability(k, 0)) * np.where(k > 0, 2, 1)
    assert noise.tail(k[:20]) == pytest.approx(p[::-1].cumsum()[::-1][1:21], rel=1e-12)
    assert noise.tail([0.5, 3.99]) == pytest.approx(noise.tail([0, 3]))
    assert noise.mean_size == pytest.approx(k @ p, rel=1e-12)


@pytest.mark.parametrize("probability", PROBABILITIES)
@pytest.mark.parametrize("name", CONTINUOUS)
def test_the_quantile_of_a_size_inverts_its_tail(name, probability):
    assert CONTINUOUS[name].tail(CONTINUOUS[name].tail_size(probability)) == pytest.approx(probability, rel=1e-9, abs=0)


@pytest.mark.parametrize("probability", PROBABILITIES)
@pytest.mark.parametrize("name", ["geometric", "geometric, small"])
def test_the_quantile_of_an_integer_size_is_the_smallest(name, probability):
    noise = NOISES[name]
    t = noise.tail_size(probability)
    assert t == round(t)
    assert noise.tail(t) <= probability
    assert noise.tail(t - 1) > probability


@pytest.mark.parametrize("name", CONTINUOUS)
def test_a_mean_size_is_the_integral_of_the_tail(name):
    noise = CONTINUOUS[name]
    heavy = name in ("Cauchy", "Student, heavy")
    assert math.isinf(noise.mean_size) == heavy
    if not heavy:
        far = noise.tail_size(1e-10)
        steps = steps_of(noise, 0.0, far)
        inner = [noise.tail_size(p) for p in (0.5, 0.1, 1e-3, 1e-6)] if steps is None else sorted(steps)
        ends = [0.0, *inner, far]
        if "wide" in name:  # what is far out counts: by the log of the size
            logs = np.linspace(-15, math.log(noise.tail_size(1e-30)), 40)
            pairs = itertools.pairwise(logs)
            parts = [integrate.quad(lambda x: noise.tail(math.exp(x)) * math.exp(x), a, b)[0] for a, b in pairs]
            assert noise.mean_size == pytest.approx(sum(parts), rel=1e-6)
            return
        parts = [integrate.quad(noise.tail, a, b, limit=500)[0] for a, b in itertools.pairwise(ends)]
        rest, _ = integrate.quad(noise.tail, ends[-1], math.inf)
        assert noise.mean_size == pytest.approx(sum(parts) + rest, rel=1e-6)


@pytest.mark.parametrize("name", NOISES)
def test_bins_share_out_what_lies_between_their_ends(name):
    noise = NOISES[name]
    edges = np.array([-np.inf, -7.5, -1.5, -0.5, 0.5, 2.5, 9.5, np.inf])
    shares = noise.bin_probabilities(edges)
    assert shares.sum() == pytest.approx(1.0)
    assert shares[3] == pytest.approx(1 - noise.tail(0.5))
    assert shares[-1] == pytest.approx(noise.tail(9.5) / 2)
    assert shares[4] == pytest.approx((noise.tail(0.5) - noise.tail(2.5)) / 2)


@pytest.mark.parametrize("name", NOISES)
def test_tails_and_sizes_at_their_ends(name):
    noise = NOISES[name]
    assert isinstance(noise, SymmetricNoise)
    assert noise.tail_size(1.0) == 0.0
    assert noise.tail([-1.0, np.inf]).tolist() == [1.0, 0.0]
    for wrong in (0.0, 1.5, math.nan):
        with pytest.raises(InvalidParameter, match="probability"):
            noise.tail_size(wrong)


# ---- noise that a log-normal variable widens: against other integrals, and in the limits -----------------------------

LOG_NORMAL = {"Laplace": LaplaceLogNormal, "uniform": UniformLogNormal}
SIGMAS = (1e-3, 0.1, 0.5, 1.0, 3.0, 8.0, 20.0)


def over_normal(tail_given_y, sigma, z):
    """Return the mean over Y by adaptive quadrature, with the places where the integrand turns given to it."""
    turn = math.log(z) / sigma
    ends = sorted({-12.0, 0.0, 12.0, *(np.clip(turn + k / sigma, -12, 12) for k in (-4, -1, 0, 1, 4))})
    parts = [
        integrate.quad(lambda y: tail_given_y(z * math.exp(-sigma * y)) * math.exp(-y * y / 2), a, b, limit=200)[0]
        for a, b in itertools.pairwise(ends)
    ]
    return sum(parts) / math.sqrt(2 * math.pi)


@pytest.mark.parametrize("sigma", SIGMAS)
@pytest.mark.parametrize("name", LOG_NORMAL)
def test_a_log_normal_tail_is_a_mean_over_the_normal(name, sigma):
    noise = LOG_NORMAL[name](1.0, 1e-4, sigma)
    given = {"Laplace": lambda x: math.exp(-x), "uniform": lambda x: max(1 - x, 0.0)}[name]
    for z in (1e-6, 1e-2, 0.3, 0.9, 1.1, 4.0, 50.0, 1e4):
        expected = over_normal(given, sigma, z)
        assert noise.tail(noise.scale * z) == pytest.approx(expected, rel=1e-7, abs=1e-12)


@pytest.mark.parametrize("sigma", SIGMAS)
@pytest.mark.parametrize("name", LOG_NORMAL)
def test_log_normal_tails_are_proper_far_out(name, sigma):
    noise = LOG_NORMAL[name](1.0, 1e-4, sigma)
    for probability in (1 - 1e-12, 0.999, 0.5, 1e-9, 1e-100, 1e-300):
        size = noise.tail_size(probability)
        if math.isfinite(size):  # σ = 20 goes beyond all floats
            assert noise.tail(size) == pytest.approx(probability, rel=1e-9, abs=0)
    assert math.isinf(noise.tail_size(1e-300)) == (sigma == 20.0)
    sizes = noise.scale * np.geomspace(1e-12, 1e12, 400)
    tails = noise.tail(sizes)
    assert (np.diff(tails) <= 1e-12 * tails[:-1]).all()
    assert noise.tail(0.0) == pytest.approx(1.0, abs=1e-14)
    if sigma < 20:
        assert noise.tail(sizes[0]) == pytest.approx(1.0, abs=1e-3)
    assert noise.tail(sizes.reshape(20, 20)).shape == (20, 20)


def test_far_out_uniform_log_normal_has_the_tail_of_mills_ratios():
    # Φ(-u) - e^(σu + σ²/2) Φ(-u-σ) is φ(u) (M(u) - M(u+σ)), and M(x) = 1/x - 1/x³ + 3/x⁵ - ...
    sigma, u = 0.5, 30.0
    noise = UniformLogNormal(1.0, 0.1, sigma)
    mills = [1 / x - 1 / x**3 + 3 / x**5 - 15 / x**7 for x in (u, u + sigma)]
    expected = math.exp(-u * u / 2) / math.sqrt(2 * math.pi) * (mills[0] - mills[1])
    assert noise.tail(noise.scale * math.exp(sigma * u)) == pytest.approx(expected, rel=1e-6, abs=0)
