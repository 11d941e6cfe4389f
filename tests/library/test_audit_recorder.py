"""The recorder: exact costs by hand, of compositions and coins, and what tells neighbours apart for certain."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline

from dpml.audit import recorded_cost, recorded_releases
from dpml.audit.recorder import same
from dpml.exceptions import DpmlError, InvalidParameter
from dpml.mechanisms import (
    ExponentialMechanism,
    Gaussian,
    Geometric,
    Laplace,
    NormGamma,
    PermuteAndFlip,
    ReportNoisyMax,
    Staircase,
    boundary,
)
from dpml.mechanisms.noise import gaussian_delta
from dpml.mechanisms.secure import discrete_gaussian, integer_laplace, noisy_max
from dpml.mechanisms.smooth.admissible import Cauchy, SmoothGaussian, SmoothLaplace, StudentT
from dpml.tuning.stopping import random_stopping

RNG = np.random.default_rng(0)


def released(mechanism, *more, **keywords):
    return lambda data: mechanism.release(data, *more, rng=RNG, **keywords)


@pytest.mark.parametrize(
    ("call", "data", "neighbour", "expected"),
    [
        (released(Laplace(0.5)), [3.0, 1.0], [4.0, 1.0], 0.5),
        (released(Laplace(0.5), draws=3), [3.0], [4.0], 1.5),
        (released(Laplace(0.5, 4.0)), [3.0], [4.0], 0.125),
        (released(Geometric(1.0, 2)), [3, 7], [4, 6], 1.0),
        (released(Staircase(1.0)), [0.0], [0.3], 1.0),
        (released(Staircase(1.0)), [0.0], [1.2], 2.0),
        (released(NormGamma(1.0, 1.0, 2)), [0.0, 0.0], [0.6, 0.8], 1.0),
        # e/(e+1) for 1/2: the first candidate's probability grows by the factor 2e/(e+1)
        (released(ExponentialMechanism(1.0, 1.0)), [1.0, 0.0], [0.0, 0.0], math.log((math.e + 1) / 2)),
        (released(ReportNoisyMax(1.0, 1.0, "gumbel")), [1.0, 0.0], [0.0, 0.0], math.log((math.e + 1) / 2)),
        # permute-and-flip: the worse of two has exp(-d)/2, so 1/2 becomes e^-1/2
        (released(PermuteAndFlip(1.0, 1.0)), [1.0, 0.0], [0.0, 0.0], 1.0),
        (lambda data: integer_laplace(data, 2.0), [3, 5], [4, 5], 0.5),
        (lambda data: noisy_max(data, 1.0, 1), [1, 0], [0, 0], 1.0),
        (lambda data: sum(Laplace(0.1 * k).release(data, rng=RNG) for k in (1, 2)), 0.0, 1.0, 0.3),
    ],
)
def test_costs_by_hand(call, data, neighbour, expected):
    assert recorded_cost(call, data, neighbour) == pytest.approx(expected, rel=1e-9)
    assert recorded_cost(call, neighbour, data) == pytest.approx(expected, rel=1e-9)
    assert recorded_cost(call, data, data) == 0


@pytest.mark.parametrize("noise", [Cauchy(1.0, 0.1), StudentT(1.0, 0.1)])
def test_heavy_tails_cost_the_largest_ratio_of_densities(noise):
    z = np.sinh(np.linspace(-20, 20, 400_001))
    (one, s), (two, t) = (0.2, 0.5), (0.6, 0.55)
    densities = noise.log_density(z, one, s) - noise.log_density(z, two, t)
    found = recorded_cost(lambda data: noise.release(*data, rng=RNG), (one, s), (two, t))
    assert found == pytest.approx(np.abs(densities).max(), rel=1e-6)


@pytest.mark.parametrize("noise", [SmoothLaplace(1.0, 1e-3, 0.05), SmoothGaussian(1.0, 1e-3, 0.05)])
def test_a_profile_is_the_divergence_of_the_densities(noise):
    z = np.linspace(-80, 80, 400_001)
    (one, s), (two, t) = (0.0, 1.0), (1.0, 1.05)
    p, q = (np.exp(noise.log_density(z, *side)) for side in ((one, s), (two, t)))
    for delta in (1e-2, 1e-3):
        epsilon = recorded_cost(lambda data: noise.release(*data, rng=RNG), (one, s), (two, t), delta=delta)
        both = [np.trapezoid(np.maximum(a - np.exp(epsilon) * b, 0), z) for a, b in ((p, q), (q, p))]
        assert max(both) == pytest.approx(delta, rel=1e-3)


def test_gaussian_releases_add_up_exactly():
    def call(data):
        return [Gaussian(1.0, 1e-5).release(data, rng=RNG) for _ in range(4)]

    epsilon = recorded_cost(call, [0.0], [1.0], delta=1e-5)
    # four releases are one with half the noise
    assert gaussian_delta(epsilon, Gaussian(1.0, 1e-5).scale / 2) == pytest.approx(1e-5, rel=1e-6)
    assert recorded_cost(call, [0.0], [1.0]) == math.inf
    one = recorded_cost(lambda data: discrete_gaussian(data, 5.0), [0], [1], delta=1e-5)
    assert gaussian_delta(one, 5.0) == pytest.approx(1e-5, rel=0.05)  # steps of a fifth of σ are nearly continuous


def test_random_stopping_costs_a_factor_of_its_dearest_run():
    def call(data):
        def run(rng):
            score = float(Laplace(0.25).release(data, rng=rng))
            return score, score

        return random_stopping(run, 0.25, eta=1.0, gamma=0.3, rng=np.random.default_rng(3))

    assert recorded_cost(call, 0.0, 1.0, pasts=5) == pytest.approx(0.75)

    def gaussian(data):
        noisy = float(Gaussian(1.0, 1e-5).release(data, rng=RNG))
        return random_stopping(lambda rng: (0, float(Gaussian(1.0, 1e-5).release(data, rng=rng))), 0.25,
                               gamma=0.3, rng=np.random.default_rng(3)), noisy  # fmt: skip

    with pytest.raises(DpmlError, match="random stopping"):
        recorded_cost(gaussian, 0.0, 1.0, delta=1e-5)


class Holder(BaseEstimator):
    """Keeps something after a release."""

    def __init__(self, keep="nothing"):
        self.keep = keep

    def fit(self, data):
        self.sum_ = float(Laplace(1.0).release(sum(data), rng=RNG))
        if self.keep == "count":
            self._n = len(data)
        elif self.keep == "closure":
            self.facts_ = {"rows": [np.array(data)]}
        return self


@pytest.mark.parametrize("keep", ["count", "closure"])
def test_what_is_kept_beside_the_releases_is_found(keep):
    assert recorded_cost(lambda data: Holder().fit(data), [1.0], [1.0, 1.0]) == pytest.approx(1.0)
    assert recorded_cost(lambda data: Holder(keep).fit(data), [1.0], [1.0, 1.0]) == math.inf
    pipeline = make_pipeline(Holder(keep))
    assert recorded_cost(lambda data: [pipeline.steps, Holder(keep).fit(data)], [1.0], [1.0, 1.0]) == math.inf


def raises_on_two(data):
    if len(data) == 2:
        raise ValueError(data)


@pytest.mark.parametrize(
    "call",
    [
        lambda data: len(data),
        lambda data: Laplace(1.0 / len(data)).release(0.0, rng=RNG),
        lambda data: Laplace(1.0).release(np.zeros(len(data)), rng=RNG),
        lambda data: [Laplace(1.0).release(0.0, rng=RNG) for _ in data],
        lambda data: [Laplace(1.0).release(0.0, rng=RNG) for _ in data].clear(),
        raises_on_two,
        lambda data: Laplace(1.0).release(0.0 if len(data) == 1 else math.nan, rng=RNG),
    ],
)
def test_certain_differences_have_no_finite_cost(call):
    assert recorded_cost(call, [1.0], [1.0, 1.0]) == math.inf
    assert recorded_cost(call, [1.0, 1.0], [1.0]) == math.inf


def test_an_array_that_is_kept_is_compared_by_its_values():
    def call(data):
        return Laplace(1.0).release(sum(data), rng=RNG), np.array(data)

    assert recorded_cost(call, [1.0], [1.0]) == 0.0
    assert recorded_cost(call, [1.0], [2.0]) == math.inf


@dataclass(frozen=True)
class Held:
    """A part of a result, in one of several places."""

    values: np.ndarray
    parts: tuple = ()


@pytest.mark.parametrize("place", range(5))
def test_each_part_of_a_nest_of_objects_is_compared(place):
    """What the comparison makes on its way is gone soon, and its address goes to the next: that is another object."""

    def nest(odd):
        return Held(np.zeros(1), tuple(Held(np.full(1, float(k == odd)), (Held(np.zeros(1)),)) for k in range(5)))

    assert same(nest(None), nest(None))
    assert not same(nest(None), nest(place))


def test_the_dearest_of_several_pasts_counts():
    def call(data):
        first = Laplace(1.0).release(0.0, rng=RNG)
        return Laplace(1.0 if first > 0 else 3.0).release(sum(data), rng=RNG)

    costs = [sum(r.loss.pure for r in recorded_releases(call, [1.0], [2.0], past=past)) for past in range(8)]
    cheap = next(i for i in range(1, 8) if costs[i] < max(costs[:i]))
    assert recorded_cost(call, [1.0], [2.0], pasts=cheap + 1) == max(costs[:cheap]) == pytest.approx(3.0)


def test_releases_with_profiles_share_delta():
    noise = SmoothLaplace(1.0, 1e-3, 0.05)
    one = recorded_cost(lambda data: noise.release(data, 1.0, rng=RNG), [0.0], [1.0], delta=5e-4)
    two = recorded_cost(lambda data: noise.release(data, 1.0, rng=RNG), [0.0, 0.0], [1.0, 1.0], delta=1e-3)
    assert two == pytest.approx(2 * one, rel=1e-9)
    assert one > 0.5


def test_a_call_that_cannot_run_has_no_cost():
    with pytest.raises(ValueError, match="1"):
        recorded_cost(raises_on_two, [1.0, 1.0], [1.0, 1.0])
    with pytest.raises(InvalidParameter, match=r"`pasts` must be .*Got 0"):
        recorded_cost(len, [], [], pasts=0)
    with pytest.raises(InvalidParameter, match=r"`call` must be .*Got 3"):
        recorded_cost(3, [], [])


def in_parts(data, dealt):
    """Release noisy counts of the ones in each of two parts, into which records are dealt."""
    X, y = data
    part = dealt(len(y))
    counts = np.array([X[part == k].sum() for k in (0, 1)])
    return Laplace(1.0).release(counts, rng=RNG)


@pytest.mark.parametrize(("place", "in_turn_cost"), [(0, 5.0), (2, 3.0), (5, 1.0), (6, 1.0)])
def test_a_record_anywhere_moves_none_that_is_dealt_by_coins(place, in_turn_cost):
    X, y = np.array([[1.0], [0.0]] * 3), np.zeros(6)
    more = np.insert(X, place, 1.0, axis=0), np.zeros(7)

    def by_coins(data):
        return in_parts(data, lambda n: boundary.public_randomness(RNG, "integers", 2, size=n))

    def in_turn(data):
        return in_parts(data, lambda n: np.arange(n) % 2)

    assert recorded_cost(by_coins, (X, y), more) == pytest.approx(1.0)
    # in turn, the records behind the new one change part: the sums of (3, 0) become (1, 3), (2, 2), (3, 1) and (4, 0)
    assert recorded_cost(in_turn, (X, y), more) == pytest.approx(in_turn_cost)


@pytest.mark.parametrize("place", [0, 3])
def test_a_release_that_depends_on_the_first_record_is_seen(place):
    X, y = np.eye(4), np.arange(4)
    fewer = np.delete(X, place, axis=0), np.delete(y, place)
    cost = recorded_cost(lambda data: data[1][0].item(), (X, y), fewer)
    assert (cost == math.inf) == (place == 0)
