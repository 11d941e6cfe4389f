"""What the Noise page plots is what the mechanisms do: densities against draws, bounds against enumeration."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from dpml_app.pages.noise import compute as noise_compute
from dpml_app.pages.noise import text as noise_text
from dpml_app.pages.noise.compute import (
    BETA_SHARES,
    LOWER,
    MECHANISMS,
    PRESETS,
    SIZES,
    UPPER,
    NoiseSettings,
    NoiseValues,
    calibrations,
    decode,
    encode,
    is_code,
    model,
    pair,
    points_of,
    preset,
    rival_sizes,
    smooth,
)
from dpml_app.pages.noise.page import NoiseControls
from dpml_app.settings import EPSILONS
from dpml_app.state import Settings

from dpml.mechanisms import Gaussian, Geometric, Laplace, Staircase
from dpml.mechanisms.smooth import (
    global_sensitivity,
    local_sensitivity,
    sensitivity_envelope,
    smooth_sensitivity,
    statistic,
)
from dpml.mechanisms.smooth.admissible import Cauchy, cauchy_scale

NUMBERS = (0.7, 2, 1e-5, 1 / 6)  # ε, Δ, δ, β's share
each_mechanism = pytest.mark.parametrize("name", MECHANISMS)


# tests/library/test_mechanisms_tails.py compares tails, quantiles and sizes of each mechanism with its density
@each_mechanism
@pytest.mark.parametrize("numbers", [1, 2])
def test_a_model_draws_has_the_tail_and_the_size_of_its_mechanism(name, numbers):
    noise, draws = model(name, *NUMBERS, numbers), 40_000
    sizes = np.abs(noise.draw(draws, np.random.default_rng(1)))
    for tail in (0.5, 0.05):
        share = noise.tail(noise.quantile(tail))
        assert share <= tail * (1 + 1e-9)
        assert (sizes > noise.quantile(tail)).mean() == pytest.approx(
            share, abs=5 * math.sqrt(share * (1 - share) / draws)
        )
    if math.isfinite(noise.mean_size):
        assert sizes.mean() == pytest.approx(noise.mean_size, rel=0.05)


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
    text = noise_text.headline(found)
    assert "<b>60.7%</b>" in text
    assert "<b>69.7%</b> of the time" in text
    values = NoiseValues.of(NoiseSettings(noise_mechanism="gaussian"))
    assert "e^ε = <b>2.72</b>" in noise_text.count_readout(values, found)
    assert "δ = 1e-06" in noise_text.count_readout(values, found)


def test_sizes_are_those_of_the_mechanisms():
    found, epsilon = rival_sizes(5, 1e-6, 3), EPSILONS[9]
    expected = {
        "laplace": Laplace(epsilon, 15).mean_size,
        "geometric": Geometric(epsilon, 15).mean_size,
        "staircase": Staircase(epsilon / 3, sensitivity=5).mean_size,
        "gaussian": Gaussian(epsilon, 1e-6, 5 * math.sqrt(3)).mean_size,
    }
    assert {name: curve[epsilon][0] for name, curve in found.items()} == pytest.approx(expected)


@pytest.mark.parametrize("name", ["exact", "algorithm-1", "theorem-2"])
def test_cost_of_a_calibration_is_the_library_s(name):
    for epsilon, (cost,) in calibrations(1 / 6)[name].items():
        assert cost == pytest.approx(Cauchy(epsilon, epsilon / 6, name).cost)


@pytest.mark.parametrize("share", [0.02, 1 / 6, 0.9])
def test_exact_calibration_costs_its_claim_and_no_more(share):
    assert [cost for (cost,) in calibrations(share)["exact"].values()] == pytest.approx(EPSILONS, rel=1e-9)


def test_published_constants_break_where_beta_is_too_large():
    for share, broken in (("9/10", True), ("1/6", False)):
        found = {name: curve[0.1][0] for name, curve in calibrations(BETA_SHARES[share]).items()}
        text = noise_text.calibrations_readout(SimpleNamespace(noise_epsilon=0.1, noise_beta=share), found)
        assert ("Claim violated" in text) == broken == (found["algorithm-1"] > 0.1)


# ---- sensitivity of the points ------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("kind", ["median", "trimmed_mean", "variance"])
def test_sensitivities_of_points_are_the_librarys(kind, relation):
    code, epsilon, share, trim = encode(preset("clumps", 20)), 0.5, 1 / 6, 3
    found, beta = smooth(code, kind, relation, trim, epsilon, share, 4), share * epsilon
    trim = trim if kind == "trimmed_mean" else 0
    x = preset("clumps", 20)
    whole = global_sensitivity(kind, LOWER, UPPER, 20, relation, trim)
    level = smooth_sensitivity(kind, x, LOWER, UPPER, beta, relation, trim)
    local = local_sensitivity(kind, x, LOWER, UPPER, relation, trim)
    assert found.levels == {"local": local, "smooth": level, "global": whole}
    assert found.value == statistic(kind, x, LOWER, UPPER, trim)
    envelope = sensitivity_envelope(kind, x, LOWER, UPPER, beta, relation, trim, distances=21)
    assert found.terms == pytest.approx(envelope.terms)
    assert found.terms[found.best] == pytest.approx(level)
    # Laplace noise for the global sensitivity holds 90% within log(10) times its scale
    assert found.widths["global"][1] == pytest.approx(math.log(10) * whole / epsilon)
    # half of Cauchy noise is within its scale
    assert found.widths["smooth"][0] == pytest.approx(cauchy_scale(epsilon, beta) * level)


def test_samples_of_a_release_lie_in_their_intervals():
    found = [smooth(encode(preset("bell", 20)), "median", "replace-one", 0, 1.0, 1 / 6, seed) for seed in range(40)]
    for row in ("smooth", "global"):
        for share, width in zip((0.5, 0.9), found[0].widths[row], strict=True):
            inside = np.mean([np.abs(one.samples[row] - one.value) <= width for one in found])
            assert inside == pytest.approx(share, abs=0.04)


def test_smooth_readout_compares_both_releases():
    def said(**settings):
        values = NoiseValues.of(NoiseSettings(**settings))
        return noise_text.smooth_readout(values, smooth(*values.smooth_key()))

    assert "times <b>less</b> than Laplace noise with global sensitivity" in said()
    assert "times <b>more</b>" in said(noise_preset="clumps", noise_size=10, noise_statistic="mean")
    assert "leaves none of 10" in said(noise_statistic="trimmed_mean", noise_trim=5, noise_size=10)


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
    text = noise_text.rivals_readout(values, {"laplace": 1.0, "geometric": 0.85, "staircase": 0.96, "gaussian": 3.4})
    assert "<b>Geometric</b>, 11.5% smaller" in text
    assert "needs whole numbers" in text


def test_points_of_a_link_are_drawn(alone):
    alone.enter("noise", "&noise_size=20&noise_points=p0010rs5050&noise_gap=5&noise_mechanism=norm-2")
    assert alone.array("noise-points", "x") == pytest.approx([0, 3.6, 100, 18, 18])
    said = " ".join([*alone.faults, *alone.alerts])
    # a setting and a mechanism of earlier versions
    assert "noise_gap: unknown setting" in said
    assert "noise_mechanism = norm-2 is not allowed" in said
    # dragged in the browser
    source = alone.sources["noise-points"]

    async def drag():
        source.data = {**source.data, "x": [0.0, 3.6, 120.0, 18.0, 55.54]}

    alone._run(drag)
    assert points_of(alone.page.settings) == pytest.approx([0, 3.6, 100, 18, 55.5])


def test_wrong_values_and_impossible_noise_are_named(alone):
    alone.enter("noise", "&noise_points=pzz00&noise_epsilon=7&noise_touched=3&noise_size=20")
    said = " ".join([*alone.faults, *alone.alerts])
    for wrong in ("noise_points = pzz00", "noise_epsilon = 7", "noise_touched = 3"):
        assert f"{wrong} is not allowed" in said
    assert len(alone.array("noise-points", "x")) == 20
    alone.enter("noise", "&noise_mechanism=student&noise_beta=1/2")
    assert "needs β below ε/3" in alone.text
    assert len(alone.array("noise-drops", "x")) == 0
    alone.act(noise_beta="1/4")
    assert len(alone.array("noise-drops", "x")) > 0
