"""Which ε an accuracy needs: against curves whose crossing is known, and against simulated studies."""

import numpy as np
import pytest

from dpml.exceptions import InvalidParameter
from dpml.studies import needed_epsilon

EPSILONS = np.geomspace(0.01, 10, 31)


def curve(epsilon):
    return 0.9 - 0.2 * np.exp(-3 * epsilon)


@pytest.mark.parametrize("target", [0.72, 0.8, 0.89])
def test_the_crossing_of_a_known_curve(target):
    exact = -np.log((0.9 - target) / 0.2) / 3
    draws = np.repeat(curve(EPSILONS)[:, None], 5, axis=1)
    found = needed_epsilon(EPSILONS, draws, target)
    # linear in log ε between values a quarter apart
    assert found.epsilon == pytest.approx(exact, rel=0.02)
    assert found.low == found.high == found.epsilon


def test_the_interval_covers_the_true_epsilon():
    rng, target = np.random.default_rng(0), 0.8
    exact = needed_epsilon(EPSILONS, np.repeat(curve(EPSILONS)[:, None], 2, axis=1), target).epsilon
    covered = 0
    for _ in range(400):
        draws = curve(EPSILONS)[:, None] + 0.02 * rng.standard_normal((len(EPSILONS), 20))
        found = needed_epsilon(EPSILONS, draws, target)
        assert found.low <= found.epsilon <= found.high
        covered += found.low <= exact <= found.high
    # each curve crosses at the first of several values, so it is pointwise and no less than 90 %
    assert covered / 400 > 0.9


def test_what_is_never_reached_is_infinite_and_what_always_is_starts_at_the_first():
    draws = np.tile([[0.7, 0.71]], (3, 1))
    assert needed_epsilon([1, 2, 3], draws, 0.8) == (np.inf, np.inf, np.inf)
    assert needed_epsilon([1, 2, 3], draws, 0.6) == (1.0, 1.0, 1.0)
    found = needed_epsilon([1, 2], [[0.7, 0.72], [0.78, 0.82]], 0.81)
    assert found.epsilon == np.inf
    assert np.isfinite(found.low)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"epsilons": [1.0, 0.5]}, "epsilons"),
        ({"epsilons": [0.0, 0.5]}, "epsilons"),
        ({"epsilons": []}, "epsilons"),
        ({"draws": [[0.5], [0.6]]}, "draws"),
        ({"draws": [0.5, 0.6]}, "draws"),
        ({"target": np.nan}, "target"),
        ({"errors": -1.0}, "errors"),
    ],
)
def test_bad_input_is_named(change, name):
    given = {"epsilons": [0.1, 1.0], "draws": [[0.5, 0.6], [0.7, 0.8]], "target": 0.65, **change}
    with pytest.raises(InvalidParameter, match=name):
        needed_epsilon(**given)
