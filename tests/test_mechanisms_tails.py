"""Tails, their inverses and mean sizes of the noises, against sums and integrals of their densities, and draws."""

import itertools
import math

import numpy as np
import pytest
from scipy import integrate

from dpml.exceptions import InvalidParameter
from dpml.mechanisms import Gaussian, Geometric, Laplace, Staircase
from dpml.mechanisms.smooth.admissible import Cauchy, StudentT
from dpml.mechanisms.tails import SymmetricNoise

CONTINUOUS = {
    "Laplace": Laplace(0.5, 2.0),
    "Gaussian": Gaussian(0.7, 1e-5, 3.0),
    "staircase": Staircase(2.0, 1.5),
    "staircase, a step elsewhere": Staircase(0.3, 1.0, gamma=0.8),
    "Cauchy": Cauchy(1.0, 0.2),
    "Student": StudentT(1.0, 0.1, 3.0),
    "Student, heavy": StudentT(1.0, 0.2, 0.7),
    "Student, light": StudentT(1.0, 0.002, 400.0),
}
NOISES = {**CONTINUOUS, "geometric": Geometric(0.4, 2), "geometric, small": Geometric(5.0)}
PROBABILITIES = [0.999, 0.5, 0.05, 1e-3, 1e-9]


def log_density(noise, x):
    return noise.log_density(x, 0.0, 1.0) if hasattr(noise, "claim") else noise.log_density(x, 0.0)


def draws_of(noise, n):
    rng = np.random.default_rng(3)
    return noise.release(0.0, 1.0, rng=rng, draws=n) if hasattr(noise, "claim") else noise.release(0, rng=rng, draws=n)


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
    assert CONTINUOUS[name].tail(CONTINUOUS[name].tail_size(probability)) == pytest.approx(probability, rel=1e-9)


@pytest.mark.parametrize("probability", PROBABILITIES)
@pytest.mark.parametrize("name", ["geometric", "geometric, small"])
def test_the_quantile_of_an_integer_size_is_the_smallest_that_holds(name, probability):
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
        parts = [integrate.quad(noise.tail, a, b, limit=500)[0] for a, b in itertools.pairwise(ends)]
        rest, _ = integrate.quad(noise.tail, ends[-1], math.inf)
        assert noise.mean_size == pytest.approx(sum(parts) + rest, rel=1e-6)


@pytest.mark.parametrize("name", NOISES)
def test_draws_have_these_tails(name):
    noise, n = NOISES[name], 20_000
    sizes = np.abs(draws_of(noise, n))
    for probability in (0.8, 0.3, 0.05):
        t = noise.tail_size(probability)
        expected = float(noise.tail(t))
        # four standard errors
        assert (sizes > t).mean() == pytest.approx(expected, abs=4 * math.sqrt(expected * (1 - expected) / n) + 1e-12)


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


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 30.0, 800.0])
def test_steps_and_integers_at_extreme_epsilons(epsilon):
    for noise in (Staircase(epsilon), Geometric(epsilon), Laplace(epsilon)):
        t = noise.tail_size(0.05)
        assert math.isfinite(t)
        assert noise.tail(t) <= 0.05 * (1 + 1e-9)
        assert math.isfinite(noise.mean_size)
