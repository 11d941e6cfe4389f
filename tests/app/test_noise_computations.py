"""What the Noise page plots is what the mechanisms do: densities against draws, bounds against enumeration."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from dpml_app.pages.noise import compute as noise_compute
from dpml_app.pages.noise import words as noise_words
from dpml_app.pages.noise.compute import (
    accuracy_bounds,
    bin_edges,
    calibrations,
    choice_losses,
    histogram,
    largest_tail,
    pair,
    plane,
    rival_sizes,
    true_cost,
)
from dpml_app.pages.noise.controls import NoiseControls, points_of
from dpml_app.pages.noise.models import NORMS, model, vector_draws, vector_log_density
from dpml_app.pages.noise.points import PRESETS, SIZES, decode, encode, is_code, preset
from dpml_app.pages.noise.settings import BETA_SHARES, MECHANISMS, NOISE_EPSILONS, NoiseSettings, NoiseValues
from dpml_app.state import Settings
from scipy import stats

from dpml.mechanisms import ExponentialMechanism, PermuteAndFlip, ReportNoisyMax
from dpml.mechanisms.smooth.admissible import Cauchy, cauchy_scale

NUMBERS = (0.7, 2, 1e-5, 1 / 6)  # ε, Δ, δ, β's share
each_mechanism = pytest.mark.parametrize("name", MECHANISMS)


@each_mechanism
@pytest.mark.parametrize("numbers", [1, 2])
def test_tail_is_that_of_the_density_and_of_the_draws(name, numbers):
    noise = model(name, *NUMBERS, numbers)
    t = np.array([0.0, 0.4, 1.0, 3.3, 8.0, 21.0])
    if noise.whole:
        k = np.arange(-2000, 2001)
        p = np.exp(noise.log_density(k))
        exact = [p[np.abs(k) > x].sum() for x in t]
    else:
        # in pieces of a step: a staircase jumps
        exact = [1 - 2 * _area(noise, x) for x in t]
    assert noise.tail(t) == pytest.approx(exact, abs=1e-7)
    draws = np.abs(noise.draw(40_000, np.random.default_rng(1)))
    share = (draws[:, None] > t).mean(axis=0)
    assert np.abs(share - noise.tail(t)).max() < 0.01
    if math.isfinite(noise.mean_size):
        assert draws.mean() == pytest.approx(noise.mean_size, rel=0.05)


def _area(noise, x):
    """Return the integral of the density from 0 to x, in pieces that end where a staircase jumps."""
    m = noise.mechanism
    jumps = [(j + g) * m.sensitivity for j in range(30) for g in (0.0, m.gamma)] if hasattr(m, "gamma") else []
    cuts = np.unique(np.clip([*jumps, *np.linspace(0, x, 60), 0, x], 0, x))
    nodes, weights = np.polynomial.legendre.leggauss(12)
    middle, half = (cuts[1:] + cuts[:-1]) / 2, np.diff(cuts) / 2
    return float(half @ np.exp(noise.log_density(middle[:, None] + half[:, None] * nodes)) @ weights)


@each_mechanism
@pytest.mark.parametrize("tail", [0.9, 0.5, 0.05, 1e-4])
def test_quantile_is_the_smallest_with_the_tail(name, tail):
    noise = model(name, *NUMBERS)
    t = noise.quantile(tail)
    assert noise.tail(t) <= tail * (1 + 1e-9)
    if noise.whole:
        assert t == 0 or noise.tail(t - 1) > tail
    else:
        assert noise.tail(t) == pytest.approx(tail)


@each_mechanism
def test_bars_of_draws_end_where_they_should(name):
    found = histogram(name, NUMBERS, 20, 4000, 3)
    inside = (found.share >= found.low) & (found.share <= found.high)
    assert inside.mean() > 0.85
    assert found.exact.sum() <= 1 + 1e-12
    assert found.share.sum() + found.beyond == pytest.approx(1)
    assert (found.low <= found.exact).all()


@each_mechanism
@pytest.mark.parametrize("moved", [1, 4])
def test_two_densities_of_a_count_overlap_and_differ_as_the_mechanism_says(name, moved):
    epsilon, _, *rest = NUMBERS
    found, noise = pair(name, (epsilon, moved, *rest), 0), model(name, epsilon, moved, *rest)
    # the overlap, by its definition, over all that is not out of reach
    far = min(noise.quantile(1e-6), 1e5)
    x = np.arange(-far, moved + far + 1) if noise.whole else np.linspace(-far, moved + far, 2_000_001)
    both = np.exp(np.minimum(noise.log_density(x), noise.log_density(x - moved)))
    exact = both.sum() if noise.whole else np.trapezoid(both, x)
    assert found.overlap == pytest.approx(exact, abs=2e-3)
    at_most = epsilon * (1 + 1e-9)
    if name != "gaussian":  # which may exceed it with probability δ
        assert np.abs(found.log_ratios).max() <= at_most
    logs = noise.log_density(found.releases - moved) - noise.log_density(found.releases)
    assert found.log_ratios == pytest.approx(logs)
    low, high = found.ends
    # the axis holds 95 % of the noise, and no more than a number on either side
    assert noise.tail(moved - low) <= 0.05 + 1e-9
    assert noise.tail(-low) == pytest.approx(0.05) or noise.whole
    assert high == pytest.approx(moved - low)
    assert len(found.releases) > 0.8 * noise_compute.DROPS
    assert ((found.places > low) & (found.places < high)).all()
    assert len(set(zip(found.places, found.heights, strict=True))) == len(found.places), "no dot hides another"
    assert (np.abs(found.places - found.releases) <= (high - low) / noise_compute.STACKS + 0.5).all()


def test_words_of_a_count_say_the_overlap_and_the_attacker_s_success():
    # Laplace noise for ε = 1: they share exp(-1/2), so an attacker is right in 1 - exp(-1/2)/2
    found = pair("laplace", (1.0, 1, 1e-6, 1 / 6), 0)
    assert found.overlap == pytest.approx(math.exp(-0.5))
    text = noise_words.headline(found)
    assert "<b>60.7%</b>" in text
    assert "<b>69.7%</b> of the time" in text
    values = NoiseValues.of(NoiseSettings(noise_mechanism="gaussian"))
    assert "e^ε = <b>2.72</b>" in noise_words.pair_words(values, found)
    assert "δ = 1e-06" in noise_words.pair_words(values, found)


@pytest.mark.parametrize("reach", [1, 2, 5, 50, 100, 1000])
def test_bins_of_whole_numbers_hold_equally_many(reach):
    edges = bin_edges(reach, True)
    held = np.diff(np.searchsorted(np.arange(-2000, 2001), edges))
    assert len(set(held)) == 1
    assert held[0] % 2 == 1
    assert (edges == -edges[::-1]).all()
    assert len(edges) < 70


@each_mechanism
def test_density_of_a_pair_integrates_to_one_and_its_contours_hold_what_they_say(name):
    scale = {"cauchy": None, "student": None}.get(name, 60.0)
    pair = vector_draws(name, NUMBERS, 30_000, np.random.default_rng(5))
    assert pair.shape == (30_000, 2)
    if scale and name != "staircase":
        axis = np.arange(-120, 121, 1.0)
        total = np.exp(vector_log_density(name, NUMBERS, axis[None, :], axis[:, None])).sum()
        assert total == pytest.approx(1, abs=0.01)
    found = plane(name, NUMBERS, 30, 500, 0)
    logs = vector_log_density(name, NUMBERS, pair[:, 0], pair[:, 1])
    peak = vector_log_density(name, NUMBERS, np.zeros(1), np.zeros(1))[0]
    for share, level in zip(noise_compute.HELD, found.levels, strict=True):
        above = (logs - peak) / math.log(10) >= level - 1e-9
        # a whole step or number more where the density has steps
        slack = 0.08 if name in ("geometric", "staircase") else 0.01
        assert share - 0.01 <= above.mean() <= share + slack


@pytest.mark.parametrize("p", [1, 2, 10, math.inf])
def test_norms_have_the_published_scales(p):
    name = {v: k for k, v in NORMS.items()}[p]
    pair = vector_draws(name, (0.5, 1, 1e-6, 1 / 6), 40_000, np.random.default_rng(0))
    norm = np.linalg.norm(pair, ord=p, axis=1)
    # Fig. 2.1: the norm is Gamma(2) with scale 2^(1/p)/ε
    assert norm.mean() == pytest.approx(2 * 2 ** (1 / p) / 0.5, rel=0.02)


@pytest.mark.parametrize("name", ["laplace", "geometric", "staircase", "gaussian", "norm-inf", "cauchy", "student"])
def test_largest_of_many_errors(name):
    t = np.array([4.0, 9.0, 15.0])
    exact = largest_tail(name, NUMBERS, 7, t)
    rng = np.random.default_rng(2)
    if name == "norm-inf":
        draws = stats.gamma(7, scale=NUMBERS[1] / NUMBERS[0]).rvs(20_000, random_state=rng)
    else:
        draws = np.abs(model(name, *NUMBERS).draw(140_000, rng)).reshape(-1, 7).max(axis=1)
    assert np.abs((draws[:, None] > t).mean(axis=0) - exact).max() < 0.015
    assert largest_tail("norm-2", NUMBERS, 7, t) is None


@pytest.mark.parametrize("queries", [1, 2, 1000, 10_000])
@pytest.mark.parametrize("p", [0.001, 0.05, 0.9])
def test_theorem_bounds_the_exact_error(queries, p):
    bound, exact = accuracy_bounds(0.5, 3, queries, p)
    assert exact <= bound * (1 + 1e-12)
    assert 1 - (1 - math.exp(-exact * 0.5 / 3)) ** queries == pytest.approx(p, rel=1e-6)
    assert (queries == 1) == (bound == pytest.approx(exact, rel=1e-12))


def test_example_of_antonova():
    bound, exact = accuracy_bounds(1, 1, 1000, 0.05)
    assert (round(bound, 3), round(exact, 3)) == (9.903, 9.878)


def test_staircase_never_has_the_larger_mean_than_laplace_for_one_number():
    sizes = rival_sizes(1, 1e-6, 1, "mean")
    assert (sizes["staircase"] <= sizes["laplace"]).all()
    assert (sizes["geometric"] <= sizes["staircase"]).all()
    many = rival_sizes(1, 1e-6, 1000, "mean")
    assert (many["gaussian"] < many["laplace"]).all()


def test_size_grows_with_sensitivity():
    one, five = (rival_sizes(s, 1e-6, 3, "q95") for s in (1, 5))
    for name in ("laplace", "staircase", "gaussian"):
        assert five[name] == pytest.approx(5 * one[name])


def test_losses_are_those_of_the_mechanisms():
    losses = choice_losses(2.0, 4)
    at = NOISE_EPSILONS.index(0.8)
    scores = -2.0 * np.arange(5)
    for name, mechanism in (
        ("exponential", ExponentialMechanism(0.8, 4)),
        ("flip", PermuteAndFlip(0.8, 4)),
        ("noisy-max", ReportNoisyMax(0.8, 4, "laplace")),
    ):
        assert losses[name][at] == pytest.approx(-(mechanism.probabilities(scores) @ scores))
    assert (losses["flip"] <= losses["exponential"] + 1e-12).all()


@pytest.mark.parametrize("name", ["exact", "algorithm-1", "theorem-2"])
def test_cost_of_a_calibration_is_the_library_s(name):
    scale, cost = calibrations(1 / 6)[name]
    for at in (0, 10, 20, 30):
        noise = Cauchy(NOISE_EPSILONS[at], NOISE_EPSILONS[at] / 6, name)
        assert (scale[at], cost[at]) == (pytest.approx(noise.scale), pytest.approx(noise.cost))


@pytest.mark.parametrize("share", BETA_SHARES.values())
def test_exact_calibration_costs_its_claim_and_no_more(share):
    for epsilon in NOISE_EPSILONS:
        cost = true_cost(cauchy_scale(epsilon, share * epsilon), share * epsilon)
        assert cost == pytest.approx(epsilon, rel=1e-9)


def test_published_constants_break_where_beta_is_too_large():
    at = NOISE_EPSILONS.index(0.1)
    for share, broken in ((0.9, True), (1 / 6, False)):
        found = {name: (scale[at], cost[at]) for name, (scale, cost) in calibrations(share).items()}
        text = noise_words.calibration_words(SimpleNamespace(noise_epsilon=0.1, noise_beta="x"), found)
        assert ("Claim violated" in text) == broken == (found["algorithm-1"][1] > 0.1)


# ---- points and settings --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("size", SIZES)
def test_presets_come_back_from_their_code(name, size):
    points = preset(name, size)
    assert len(points) == size
    assert is_code(encode(points))
    assert (decode(encode(points)) == points).all()


@pytest.mark.parametrize("code", ["p", "p00", "p001", "q0000", "pzz00", 5, None, "p" + "00" * 201, "p00 0"])
def test_bad_codes_are_refused(code):
    assert not is_code(code)
    with pytest.raises(ValueError, match="points"):
        NoiseSettings(noise_points=code)


def test_preset_and_size_put_the_points_back_and_the_slider_moves_one():
    settings = Settings(noise_size=20)
    controls = NoiseControls(settings, lambda *_: None)
    controls.point.value = 3
    controls.value.value = 99.0
    assert points_of(settings)[2] == 99.0
    assert is_code(settings.noise_points)
    controls.widgets["noise_preset"].value = "clumps"
    assert settings.noise_points == ""
    assert controls.value.value == preset("clumps", 20)[2]
    controls.point.value = 15
    controls.widgets["noise_size"].value = 10
    assert len(points_of(settings)) == 10
    controls.value.value = 1.0  # point 15 is gone: the last one moves
    assert points_of(settings)[9] == 1.0


def test_words_claim_what_was_computed():
    values = NoiseValues.of(NoiseSettings())
    text = noise_words.rival_words(values, {"laplace": 1.0, "geometric": 0.85, "staircase": 0.96, "gaussian": 3.4})
    assert "<b>Geometric</b>, 11.5% smaller" in text
    assert "needs whole numbers" in text
    text = noise_words.rival_words(values, {"laplace": 1.0, "geometric": 0.0, "staircase": 0.9, "gaussian": 3.4})
    assert "Geometric 0" in text
    text = noise_words.tail_words(values, None)
    assert "9.88" in text
    assert "not 5%" in text
