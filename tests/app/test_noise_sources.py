"""The Noise page plots what the library computes: what its data sources hold, read without a browser."""

import numpy as np
import pytest
from dpml_app.pages.noise.compute import accuracy_bounds, calibrations, choice_losses, histogram, rival_sizes
from dpml_app.pages.noise.settings import NOISE_EPSILONS


def test_plots_hold_what_the_library_computes(alone):
    query = "&noise_epsilon=0.5&noise_sensitivity=2&noise_mechanism=geometric&noise_reach=20&noise_touched=5"
    alone.enter("noise", query + "&noise_seed=3&noise_gap=2&noise_beta=1/4&noise_queries=20&noise_failure=0.1")
    found = histogram("geometric", (0.5, 2, 1e-6, 0.25), 20, 2000, 3)
    assert alone.array("noise-bars", "share") == pytest.approx(np.maximum(found.share, 1e-6), abs=1e-12)
    assert alone.array("noise-bars", "exact") == pytest.approx(found.exact, abs=1e-12)
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
