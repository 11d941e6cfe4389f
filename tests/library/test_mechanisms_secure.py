"""Secure noise: its distribution, and scales that keep OpenDP's own ε below the claim.

OpenDP has no seed, so a statistical test here can fail by chance. Every such test has a nominal false-alarm
probability of 1e-9; the approximations behind it may be off by a factor of a thousand and it still is below 1e-6.
"""

import math
import sys
from fractions import Fraction

import numpy as np
import opendp.prelude as dp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from seeded_noise import give_seed

from dpml.audit import check_noise
from dpml.budget.shares import split_epsilon
from dpml.exceptions import InvalidParameter, MissingExtra, NotPrivate
from dpml.mechanisms import Geometric
from dpml.mechanisms.choice import PermuteAndFlip
from dpml.mechanisms.secure import (
    check_release,
    discrete_gaussian,
    gaussian_scale,
    integer_laplace,
    integer_scale,
    noisy_max,
)
from dpml.mechanisms.source import Source

pytestmark = pytest.mark.system_noise

INT64 = np.iinfo(np.int64)
epsilons = st.floats(1e-6, 1e6)


def vectors():
    dp.enable_features("contrib")
    return dp.vector_domain(dp.atom_domain(T=dp.i64))


def laplace_epsilon(scale, sensitivity):
    """The ε that OpenDP gives to integer Laplace noise."""
    return dp.m.make_laplace(vectors(), dp.l1_distance(T=dp.i64), scale=scale).map(sensitivity)


# ---- calibration ------------------------------------------------------------------------------------------------


@given(epsilons, st.integers(1, 100_000))
def test_opendp_never_charges_more_than_epsilon(epsilon, sensitivity):
    scale = integer_scale(epsilon, sensitivity)
    assert laplace_epsilon(scale, sensitivity) <= epsilon
    # and no smaller scale would do: nothing is given away
    assert Fraction(sensitivity) / Fraction(math.nextafter(scale, 0)) > Fraction(epsilon)


@given(st.floats(1e-9, 1e9), st.integers(1, 1000))
def test_opendp_never_charges_more_than_rho(rho, sensitivity):
    scale = gaussian_scale(rho, sensitivity)
    noise = dp.m.make_gaussian(vectors(), dp.l2_distance(T=dp.i64), scale=scale)
    exact = Fraction(sensitivity) ** 2 / (2 * Fraction(scale) ** 2)
    assert exact <= Fraction(rho) < Fraction(sensitivity) ** 2 / (2 * Fraction(math.nextafter(scale, 0)) ** 2)
    assert noise.map(sensitivity) <= rho


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: integer_scale(0.0), "epsilon"),
        (lambda: integer_scale(5e-324, 10**6), "epsilon"),
        (lambda: integer_scale(1.0, 0), "sensitivity"),
        (lambda: integer_scale(1.0, 1.5), "sensitivity"),
        (lambda: split_epsilon(1.0, 1.0), "share"),
        (lambda: gaussian_scale(math.inf), "rho"),
        (lambda: gaussian_scale(1.0, 0.0), "sensitivity"),
        (lambda: integer_laplace([1], 0.0), "scale"),
        (lambda: integer_laplace([1], math.inf), "scale"),
        (lambda: integer_laplace([1], 1.0, draws=0), "draws"),
        (lambda: discrete_gaussian([1], -1.0), "scale"),
        (lambda: noisy_max([1, 2], 1.0, 0.0), "change_range"),
        (lambda: noisy_max([1, 2], 1.0, 1.0, grid=0.0), "grid"),
        (lambda: noisy_max([], 1.0, 1.0), "scores"),
        (lambda: noisy_max([[1, 2]], 1.0, 1.0), "scores"),
        (lambda: check_release(0), "random_state"),
        (lambda: check_release(np.random.default_rng(0)), "random_state"),
    ],
)
def test_bad_parameters_are_named(call, name):
    with pytest.raises(InvalidParameter) as caught:
        call()
    assert caught.value.name == name


@pytest.mark.parametrize("call", [lambda v: integer_laplace(v, 1.0), lambda v: noisy_max(v, 1.0, 1.0)])
def test_a_value_that_is_no_integer_is_refused_unseen(call):
    with pytest.raises(InvalidParameter, match=r"must be integers.* Got 'float64'") as caught:
        call([4711.25, 1.0])
    assert "4711" not in str(caught.value)


# ---- integer Laplace --------------------------------------------------------------------------------------------


def test_every_coordinate_and_draw_has_noise_of_its_own():
    sample = integer_laplace(np.zeros((3, 2), dtype=int), 50.0, draws=4000)
    assert sample.shape == (4000, 3, 2)
    flat = sample.reshape(4000, 6)
    # |r|·sqrt(n) is about normal: 6.5 has a two-sided tail of 8e-11, and there are 15 pairs
    correlation = np.corrcoef(flat.T)[np.triu_indices(6, 1)]
    assert np.abs(correlation).max() * math.sqrt(4000) < 6.5
    assert np.abs(np.corrcoef(flat[1:, 0], flat[:-1, 0])[0, 1]) * math.sqrt(4000) < 6.5


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.uint16])
def test_shape_type_and_values_are_kept(dtype):
    values = np.arange(12, dtype=dtype).reshape(3, 4)
    values.flags.writeable = False
    almost_none = integer_scale(1e3)
    for noisy in (integer_laplace(values, almost_none), discrete_gaussian(values, 0.01)):
        assert noisy.dtype == np.int64
        np.testing.assert_array_equal(noisy, values)
    assert integer_laplace(values, 1.0, draws=5).shape == (5, 3, 4)
    assert integer_laplace(np.empty((0, 4), dtype=dtype), 1.0, draws=2).shape == (2, 0, 4)
    assert integer_laplace(7, almost_none).shape == ()


def test_what_passes_the_ends_of_64_bits_stays_there():
    noisy = integer_laplace([0, INT64.max, INT64.min], 1e30, draws=20)
    assert set(noisy.ravel().tolist()) == {INT64.min, INT64.max}


def test_noise_reaches_beyond_ten_scales():
    scale, draws = 20.0, 500_000
    noise = integer_laplace(0, scale, draws=draws)
    # by the definition of the noise
    alpha = math.exp(-1 / scale)
    expected = draws * 2 * alpha ** (10 * scale + 1) / (1 + alpha)
    far = int((np.abs(noise) > 10 * scale).sum())
    assert expected > 21.5  # none is seen with probability 5e-10
    assert stats.binom.cdf(far, draws, expected / draws) > 5e-10
    assert stats.binom.sf(far - 1, draws, expected / draws) > 5e-10
    assert check_noise(Geometric(1 / scale), noise).passed


def test_discrete_gaussian_noise_has_its_spread():
    scale, draws = 3.0, 50_000
    noise = discrete_gaussian(0, scale, draws=draws)
    # for such a scale the variance is that of the normal law to 1e-30; the mean square is normal within 6.2 errors
    assert np.mean(noise**2.0) == pytest.approx(scale**2, abs=6.2 * scale**2 * math.sqrt(2 / draws))


# ---- noisy max --------------------------------------------------------------------------------------------------


@given(epsilons, st.integers(1, 1000))
def test_opendp_charges_noisy_max_no_more_than_epsilon(epsilon, width):
    space = vectors(), dp.linf_distance(T=dp.i64, monotonic=True)
    choose = dp.m.make_noisy_max(*space, dp.max_divergence(), scale=integer_scale(epsilon, width))
    assert choose.map(width) <= epsilon


@given(
    st.lists(st.floats(-5, 5), min_size=2, max_size=6),
    st.floats(-3, 3),
    st.floats(0.01, 2.0),
    st.floats(0.01, 1.0),
    st.randoms(use_true_random=False),
)
def test_rounding_to_the_grid_widens_the_range_by_two_steps(scores, lowest, width, grid, random):
    neighbour = [s + random.uniform(lowest, lowest + width) for s in scores]
    change = np.floor(np.array(neighbour) / grid + 0.5) - np.floor(np.array(scores) / grid + 0.5)
    assert np.ptp(change) <= math.ceil(width / grid) + 2


def test_noisy_max_on_a_grid_uses_the_widened_range(monkeypatch):
    asked = []
    make = dp.m.make_noisy_max
    monkeypatch.setattr(dp.m, "make_noisy_max", lambda *a, scale: asked.append(scale) or make(*a, scale=scale))
    noisy_max([0.1, 0.25], epsilon=1.0, change_range=0.1, grid=0.01)
    noisy_max([1, 2], epsilon=1.0, change_range=1.5)
    # 0.1 is a little more than ten times 0.01 as floats are: 11 steps and 2 more
    assert asked == [13.0, 2.0]


@pytest.mark.parametrize("scores", [[math.nan, 0.0], [-math.inf, 0.0], [-1e300, 1e300], [0.0, math.inf]])
def test_no_score_makes_noisy_max_fail(scores):
    best = 1
    assert noisy_max(scores, 10.0, 1.0, grid=0.1) == best


def test_a_choice_without_noise_has_no_secure_source():
    with pytest.raises(NotPrivate, match="is a simulation"):
        Source(secure=True, exact_choice=True)


# ---- the extra --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        check_release,
        lambda: integer_laplace([1], 1.0),
        lambda: discrete_gaussian([1], 1.0),
        lambda: noisy_max([1, 2], 1.0, 1),
    ],
)
def test_without_the_extra_the_message_says_what_to_install(call, monkeypatch):
    monkeypatch.setitem(sys.modules, "opendp", None)
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    with pytest.raises(MissingExtra, match=r'pip install "dpml-explorer\[release\]"') as caught:
        call()
    assert isinstance(caught.value, ImportError)


# ---- the noise of other tests -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("draw", "law"),
    [
        (lambda: integer_laplace([0] * 4000, 2.0), stats.dlaplace(0.5).pmf),
        (lambda: discrete_gaussian([0] * 4000, 0.8), lambda k: np.exp(-((k / 0.8) ** 2) / 2)),
        (
            lambda: noisy_max([0, 1, 3], 1.0, 1.0, draws=4000),
            lambda k: PermuteAndFlip(1.0, 1.0).probabilities([0, 1, 3]),
        ),
    ],
)
def test_the_noise_of_other_tests_has_a_seed_and_the_law_of_a_release(draw, law, monkeypatch):
    released = []
    for seed in (1, 1, 2):
        with monkeypatch.context() as patch:
            give_seed(patch, seed)
            released.append(draw())
    assert (released[0] == released[1]).all()
    assert (released[0] != released[2]).any()
    values, counts = np.unique(released[0], return_counts=True)
    within = np.arange(min(values), max(values) + 1)
    expected = np.array(law(within)) / np.sum(law(within))
    seen = np.array([counts[values == k].sum() for k in within])
    common = expected * 4000 >= 5
    assert stats.chisquare(seen[common], expected[common] / expected[common].sum() * seen[common].sum()).pvalue > 1e-3
