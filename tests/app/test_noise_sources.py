"""The Noise page plots what the library computes: what its data sources hold, read without a browser."""

import numpy as np
import pytest
from dpml_app.pages.noise.compute import (
    accuracy_bounds,
    calibrations,
    choice_losses,
    histogram,
    pair,
    plane,
    rival_sizes,
)
from dpml_app.pages.noise.settings import NOISE_EPSILONS


def test_plots_hold_what_the_library_computes(alone):
    query = "&noise_epsilon=0.5&noise_sensitivity=2&noise_mechanism=geometric&noise_reach=20&noise_touched=5"
    alone.enter("noise", query + "&noise_seed=3&noise_gap=2&noise_beta=1/4&noise_queries=20&noise_failure=0.1")
    found = histogram("geometric", (0.5, 2, 1e-6, 0.25), 20, 2000, 3)
    assert alone.array("noise-bars", "share") == pytest.approx(np.maximum(found.share, 1e-6), abs=1e-12)
    assert alone.array("noise-bars", "exact") == pytest.approx(found.exact, abs=1e-12)
    of_count = pair("geometric", (0.5, 2, 1e-6, 0.25), 3)
    assert alone.array("noise-densities", "with") == pytest.approx(of_count.with_you)
    assert alone.array("noise-drops", "release") == pytest.approx(of_count.releases)
    at = NOISE_EPSILONS.index(0.5)
    for name, sizes in rival_sizes(2, 1e-6, 5, "mean").items():
        assert alone.array(f"noise-rivals-{name}", "y") == pytest.approx(sizes)
    for name, losses in choice_losses(2.0, 2).items():
        assert alone.array(f"noise-choices-{name}", "y") == pytest.approx(losses)
    for name, (scale, cost) in calibrations(0.25).items():
        assert alone.array(f"noise-scales-{name}", "y") == pytest.approx(scale)
        assert alone.array(f"noise-costs-{name}", "y") == pytest.approx(cost)
        assert cost[at] <= 0.5 * (1 + 1e-9)
    assert alone.array("noise-tails-here", "x") * 2 / 0.5 == pytest.approx(accuracy_bounds(0.5, 2, 20, 0.1))
    text = alone.text
    assert "With probability 90 % none of 20 errors is larger than" in text
    assert "the smallest noise is" in text


def test_noise_in_the_plane_and_points_of_a_link_are_drawn(alone):
    query = "&noise_mechanism=norm-10&noise_dimension=2&noise_epsilon=2&noise_sensitivity=3&noise_delta=0.001"
    query += "&noise_beta=1/4&noise_draws=1500&noise_seed=9&noise_reach=20&noise_size=20&noise_points=p0010rs5050"
    alone.enter("noise", query)
    assert alone.array("noise-points", "x") == pytest.approx([0, 3.6, 100, 18, 18])
    found = plane("norm-10", (2.0, 3, 0.001, 0.25), 20, 1500, 9)
    assert alone.array("noise-dots", "x") == pytest.approx(found.x)
    assert alone.array("noise-dots", "y") == pytest.approx(found.y)
    assert alone.read("noise-contours")["held"] == ["50 %", "90 %", "99 %"]


def test_what_is_wrong_or_cannot_be_drawn_is_said(alone):
    alone.enter("noise", "&noise_points=pzz00&noise_epsilon=7&noise_gap=50&noise_size=20")
    said = " ".join([*alone.faults, *alone.alerts])
    for wrong in ("noise_points = pzz00", "noise_epsilon = 7", "noise_gap = 50"):
        assert f"{wrong} is not allowed" in said
    assert len(alone.array("noise-points", "x")) == 20
    trimmed = "&noise_statistic=trimmed_mean&noise_trim=30&noise_size=50"
    alone.enter("noise", f"&noise_mechanism=student&noise_beta=1/2{trimmed}")
    assert "needs β below ε/3" in alone.text
    assert len(alone.array("noise-bars", "share")) == len(alone.array("noise-drops", "x")) == 0
    alone.act(noise_beta="1/4")
    assert len(alone.array("noise-bars", "share")) > 0
    assert "Student's t" in alone.text
