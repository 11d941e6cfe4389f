"""The audit itself: exact values by hand, calibration of the sampled bound, power, errors."""

import math

import numpy as np
import pytest
from scipy import stats

from dpml.audit import audit, audit_outputs, exact_epsilon, hockey_stick
from dpml.audit.exact import needed_delta
from dpml.audit.recorder import total_epsilon
from dpml.audit.sampled import attacker_roc
from dpml.exceptions import InvalidParameter
from dpml.mechanisms import Gaussian, Laplace
from dpml.mechanisms.boundary import Loss
from dpml.mechanisms.noise import gaussian_delta


def coin(bias):
    return {"heads": np.log(bias), "tails": np.log(1 - bias)}


def test_exact_epsilon_by_hand():
    epsilon, event = exact_epsilon(coin(0.75), coin(0.25))
    assert epsilon == pytest.approx(np.log(3))
    assert event in ("output 'heads'", "output 'tails'")
    assert exact_epsilon(coin(0.5), coin(0.5))[0] == 0
    assert exact_epsilon({"a": 0.0}, {"b": 0.0})[0] == np.inf
    assert exact_epsilon(np.log([0.2, 0.8]), np.log([0.4, 0.6]))[0] == pytest.approx(np.log(2))


def test_exact_epsilon_with_delta_inverts_the_hockey_stick():
    p, q = np.log([0.7, 0.2, 0.1]), np.log([0.3, 0.3, 0.4])
    for delta in (0.01, 0.1, 0.3):
        epsilon, _ = exact_epsilon(p, q, delta=delta)
        assert hockey_stick(p, q, epsilon) == pytest.approx(delta, abs=1e-9)
    assert exact_epsilon(p, q, delta=0.45)[0] == 0
    # an output of probability 0.05 on one side only: infinite without δ, finite with δ >= 0.05
    one_sided = {"a": np.log(0.95), "b": np.log(0.05)}, {"a": 0.0}
    assert exact_epsilon(*one_sided)[0] == np.inf
    assert exact_epsilon(*one_sided, delta=0.06)[0] < 0.1
    assert exact_epsilon(*one_sided, delta=0.04)[0] == np.inf


def test_the_hockey_stick_is_the_larger_of_both_sides():
    p, q = np.log([0.7, 0.2, 0.1]), np.log([0.3, 0.3, 0.4])
    # at e^ε = 2: 0.7 - 0.6 one way, 0.4 - 0.2 the other
    assert hockey_stick(p, q, np.log(2)) == pytest.approx(0.2)
    assert hockey_stick(q, p, np.log(2)) == pytest.approx(0.2)


class RandomisedResponse:
    """Tells the truth with probability e^ε / (1 + e^ε)."""

    def __init__(self, epsilon):
        self.truth = np.exp(epsilon) / (1 + np.exp(epsilon))

    def log_probabilities(self, data):
        return np.log([1 - self.truth, self.truth] if data else [self.truth, 1 - self.truth])

    def __call__(self, data, draws, rng):
        return np.where(rng.random(draws) < self.truth, data, 1 - data)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_randomised_response_costs_exactly_its_epsilon(epsilon):
    mechanism = RandomisedResponse(epsilon)
    result = audit(mechanism, 1, 0, epsilon)
    assert result.exact
    assert result.passed
    assert result.epsilon_lower == pytest.approx(epsilon, abs=1e-9)
    assert not audit(mechanism, 1, 0, epsilon - 0.01).passed
    sampled = audit(mechanism.__call__, 1, 0, epsilon, draws=200_000, rng=np.random.default_rng(0))
    assert not sampled.exact
    assert sampled.passed
    assert epsilon - 0.15 * max(epsilon, 0.3) < sampled.epsilon_lower <= epsilon
    assert "passed" in repr(sampled)


def test_the_sampled_bound_is_wrong_no_oftener_than_stated():
    """Randomised response is tight: at 80 % confidence at most 20 % of 400 bounds may pass the truth."""
    mechanism = RandomisedResponse(1.0)
    rng = np.random.default_rng(1)
    wrong = sum(not audit(mechanism.__call__, 1, 0, 1.0, draws=400, rng=rng, confidence=0.8).passed for _ in range(400))
    assert wrong <= stats.binom.ppf(0.9999, 400, 0.2)
    # the bound is not so loose that it could never be wrong
    assert wrong > 0


def audited_laplace(epsilon, draws, seed):
    """Return the audit, from draws, of a claim of ε = 1 by Laplace noise for ε."""
    release = Laplace(epsilon).release
    return audit(release, [0.0], [1.0], epsilon=1.0, draws=draws, rng=np.random.default_rng(seed))


def test_the_attacker_obeys_the_bound_of_an_honest_mechanism():
    """Antonova (2016), eq. 2.6 and 2.7: tpr <= e^ε fpr, up to five standard errors of 20,000 held-out draws."""
    result = audited_laplace(1.0, 40_000, 3)
    slack = 5 * 0.5 / np.sqrt(20_000) * (1 + np.e)
    assert (result.tpr <= np.e * result.fpr + slack).all()
    assert (1 - result.fpr <= np.e * (1 - result.tpr) + slack).all()
    assert result.tpr[0] == result.fpr[0] == 0
    assert result.tpr[-1] == result.fpr[-1] == 1
    assert np.trapezoid(result.tpr, result.fpr) > 0.55


def test_attacker_roc_by_hand():
    fpr, tpr = attacker_roc([2.0, 1.0], [1.0, 0.0])
    assert fpr.tolist() == [0.0, 0.0, 0.5, 1.0, 1.0]
    assert tpr.tolist() == [0.0, 0.5, 1.0, 1.0, 1.0]


def test_many_coordinates_that_differ_together_are_caught():
    """No single coordinate tells much: a hundred of them, weighed together, do."""
    rng = np.random.default_rng(4)
    outputs = [rng.normal(size=(20_000, 100)) + shift for shift in (0.0, 0.15)]
    result = audit_outputs(*outputs, epsilon=1.0)
    assert result.epsilon_lower > 1.5
    assert "discriminant" in result.event


def test_a_scale_that_differs_is_caught():
    rng = np.random.default_rng(5)
    result = audit_outputs(rng.normal(size=20_000), 0.3 * rng.normal(size=20_000), epsilon=1.0)
    assert result.epsilon_lower > 2
    assert "distance" in result.event


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"epsilon": 0.0}, "`epsilon` must be .*Got 0.0"),
        ({"epsilon": 1.0, "delta": 1.0}, "`delta` must be .*Got 1.0"),
        ({"epsilon": 1.0, "draws": 2, "rng": np.random.default_rng(0)}, "`draws` must be .*Got 2"),
        ({"epsilon": 1.0}, "`rng` must be .*Got None"),
        ({"epsilon": 1.0, "confidence": 1.0, "rng": np.random.default_rng(0)}, "`confidence` must be .*Got 1.0"),
    ],
)
def test_bad_audits_are_named(call, message):
    with pytest.raises(InvalidParameter, match=message):
        audit(RandomisedResponse(1.0).__call__, 1, 0, **call)


def test_delta_does_not_go_with_a_largest_ratio():
    class Known:
        def privacy_loss(self, data, neighbour):
            return 1.0

    with pytest.raises(InvalidParameter, match="delta"):
        audit(Known(), 0, 1, 1.0, delta=0.1)
    with pytest.raises(InvalidParameter, match="outputs"):
        audit_outputs(np.zeros(10), np.zeros(9), 1.0)


# ---- δ ---------------------------------------------------------------------------------------------------------------


class Normal:
    """A call about one number, by its recorded cost."""

    def __init__(self, delta, epsilon=1.0):
        self.mechanism = Gaussian(epsilon, delta)

    def privacy_profile(self, data, neighbour, epsilon):
        return gaussian_delta(epsilon, self.mechanism.scale, abs(data - neighbour))


@pytest.mark.parametrize(("claimed", "passed"), [(1e-5, True), (0.9e-5, False), (0.3e-5, False)])
def test_an_exact_audit_states_the_delta_that_is_needed(claimed, passed):
    result = audit(Normal(1e-5), 0.0, 1.0, 1.0, delta=claimed)
    assert result.delta_lower == pytest.approx(1e-5, rel=1e-6)
    assert result.passed is passed
    assert "δ = 1e-05 at the claimed ε" in repr(result)


def test_delta_of_known_probabilities_is_the_hockey_stick():
    class Rare:
        def log_probabilities(self, data):
            return np.log([1 - data, data])

    result = audit(Rare(), 1e-6, 4e-3, 1.0, delta=1e-3)
    assert result.delta_lower == pytest.approx(4e-3 - math.e * 1e-6, rel=1e-9)
    assert not result.passed
    assert audit(Rare(), 1e-6, 4e-3, 1.0, delta=4e-3).passed


@pytest.mark.parametrize(("factor", "passed"), [(1, True), (4, False)])
def test_draws_bound_delta_from_below(factor, passed):
    """An output that is possible on one side only, with probability δ or four times that."""

    def rarely(data, draws, rng):
        return (rng.random(draws) < factor * 0.02 * data).astype(float)

    result = audit(rarely, 1.0, 0.0, 1.0, delta=0.02, draws=20_000, rng=np.random.default_rng(0))
    assert result.passed is passed
    assert result.delta_lower <= factor * 0.02
    assert (result.delta_lower > 0.02) is not passed


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.5])
def test_the_delta_of_a_loss_is_where_its_epsilon_is_met(epsilon):
    noise = Loss(pure=0.2, gaussian=0.1)
    assert needed_delta(noise, epsilon) == pytest.approx(gaussian_delta(epsilon - 0.2, 1 / math.sqrt(0.1)), rel=1e-9)
    mixed = noise + Loss(profiles=(lambda e: math.exp(-3 - 4 * e), lambda e: 1e-4))
    delta = needed_delta(mixed, epsilon)
    assert total_epsilon(mixed, delta) <= epsilon + 1e-9
    assert total_epsilon(mixed, delta * 0.99) > epsilon
    assert needed_delta(Loss(pure=3.0), epsilon) == 1.0
    assert needed_delta(Loss(pure=0.1), epsilon) == 0.0
