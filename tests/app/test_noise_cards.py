"""What the Noise page plots is what the mechanisms do: densities against draws, bounds against enumeration."""

import math

import numpy as np
import pytest
from dpml_app.pages.noise import compute as noise_compute
from dpml_app.pages.noise import text as noise_text
from dpml_app.pages.noise.compute import (
    LOWER,
    MECHANISMS,
    UPPER,
    NoiseSettings,
    NoiseValues,
    log_density,
    mechanism,
    pair,
    preset,
    rival_sizes,
    smooth,
)
from dpml_app.settings import EPSILONS

from dpml.mechanisms import Gaussian, Geometric, Laplace, Staircase
from dpml.mechanisms.smooth import (
    global_sensitivity,
    local_sensitivity,
    sensitivity_envelope,
    smooth_sensitivity,
    statistic,
)
from dpml.mechanisms.smooth.admissible import cauchy_scale

NUMBERS = (0.7, 2, 1e-5)  # ε, Δ and δ
each_mechanism = pytest.mark.parametrize("name", MECHANISMS)


@each_mechanism
@pytest.mark.parametrize("moved", [1, 4])
def test_two_densities_of_a_count_overlap_and_differ_as_the_mechanism_says(name, moved):
    epsilon, _, *rest = NUMBERS
    found, noise = pair(name, (epsilon, moved, *rest), 0), mechanism(name, epsilon, moved, *rest)
    # the overlap, by its definition, over all that is not out of reach
    far, whole = noise.tail_size(1e-6), name == "geometric"
    x = np.arange(-far, moved + far + 1) if whole else np.linspace(-far, moved + far, 2_000_001)
    both = np.exp(np.minimum(log_density(noise, x), log_density(noise, x - moved)))
    exact = both.sum() if whole else np.trapezoid(both, x)
    assert found.overlap == pytest.approx(exact, abs=2e-3)
    at_most = epsilon * (1 + 1e-9)
    if name != "gaussian":  # which may exceed it with probability δ
        assert np.abs(found.log_ratios).max() <= at_most
    logs = log_density(noise, found.releases - moved) - log_density(noise, found.releases)
    assert found.log_ratios == pytest.approx(logs)
    low, high = found.x[[0, -1]]
    # the axis holds 95 % of the noise, and no more than a number on either side
    assert noise.tail(moved - low) <= 0.05 + 1e-9
    assert noise.tail(-low) == pytest.approx(0.05) or whole
    assert high == pytest.approx(moved - low)
    assert len(found.releases) > 0.8 * noise_compute.DROPS
    # dots are below the curve with you, and those of whole numbers beside one another
    assert (found.heights <= np.exp(log_density(noise, found.releases - moved))).all()
    assert len(set(zip(found.places, found.heights, strict=True))) == len(found.places), "no dot hides another"
    assert np.abs(found.places - found.releases).max() <= 0.4 * whole


def test_words_of_a_count_say_the_overlap_and_the_attacker_s_success():
    # Laplace noise for ε = 1: they share exp(-1/2), so an attacker is right in 1 - exp(-1/2)/2
    found = pair("laplace", (1.0, 1, 1e-6), 0)
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


# ---- sensitivity of the points ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["median", "mean"])
def test_sensitivities_of_points_are_the_librarys(kind):
    epsilon, share, x = 0.5, 1 / 6, preset("clumps", 20)
    found, beta = smooth("clumps", 20, kind, epsilon, share, 4), share * epsilon
    about = kind, x, LOWER, UPPER
    whole = global_sensitivity(kind, LOWER, UPPER, 20)
    level = smooth_sensitivity(*about, beta)
    assert found.levels == {"local": local_sensitivity(*about), "smooth": level, "global": whole}
    assert found.value == statistic(*about)
    assert found.terms == pytest.approx(sensitivity_envelope(*about, beta, distances=21).terms)
    assert found.terms[found.best] == pytest.approx(level)
    # Laplace noise for the global sensitivity holds 90% within log(10) times its scale
    assert found.widths["global"][1] == pytest.approx(math.log(10) * whole / epsilon)
    # half of Cauchy noise is within its scale
    assert found.widths["smooth"][0] == pytest.approx(cauchy_scale(epsilon, beta) * level)


def test_samples_of_a_release_lie_in_their_intervals():
    found = [smooth("bell", 20, "median", 1.0, 1 / 6, seed) for seed in range(40)]
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


# ---- words ----------------------------------------------------------------------------------------------------------


def test_words_claim_what_was_computed():
    values = NoiseValues.of(NoiseSettings())
    text = noise_text.rivals_readout(values, {"laplace": 1.0, "geometric": 0.85, "staircase": 0.96, "gaussian": 3.4})
    assert "<b>Geometric</b>, 11.5% smaller" in text
    assert "needs whole numbers" in text


def test_wrong_values_and_settings_of_earlier_versions_are_named(alone):
    alone.enter("noise", "&noise_points=p0010&noise_mechanism=cauchy&noise_epsilon=7&noise_touched=3&noise_size=20")
    said = " ".join([*alone.faults, *alone.alerts])
    assert "noise_points: unknown setting" in said
    for wrong in ("noise_mechanism = cauchy", "noise_epsilon = 7", "noise_touched = 3"):
        assert f"{wrong} is not allowed" in said
    assert alone.array("noise-release-points", "x") == pytest.approx(preset("bell", 20))
