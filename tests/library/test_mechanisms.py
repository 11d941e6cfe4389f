"""Laplace and exponential mechanism: densities, exact privacy, samples."""

import numpy as np
import pytest
from scipy import integrate

from dpml.exceptions import InvalidParameter
from dpml.mechanisms import ExponentialMechanism, Laplace


def test_laplace_density_integrates_to_one_and_costs_epsilon():
    mechanism = Laplace(epsilon=0.3, sensitivity=2.0)
    total = integrate.quad(lambda z: np.exp(mechanism.log_density(z, 5.0)), 5, 400)[0] * 2
    assert total == pytest.approx(1.0, abs=1e-8)
    z = np.linspace(-50, 50, 1001)
    loss = np.abs(mechanism.log_density(z, 0.0) - mechanism.log_density(z, 2.0))
    assert loss.max() == pytest.approx(0.3, abs=1e-12)


def test_laplace_noise_vanishes_as_epsilon_grows_and_scales_with_it():
    exact = np.arange(6.0).reshape(2, 3)
    almost = Laplace(1e12).release(exact, draws=5, rng=np.random.default_rng(0))
    assert almost.shape == (5, 2, 3)
    np.testing.assert_allclose(almost, np.broadcast_to(exact, almost.shape), atol=1e-9)
    one = Laplace(1.0).release(np.zeros(4), rng=np.random.default_rng(1))
    ten = Laplace(0.1).release(np.zeros(4), rng=np.random.default_rng(1))
    np.testing.assert_allclose(ten, 10 * one)


@pytest.mark.parametrize("cls", [Laplace, ExponentialMechanism])
@pytest.mark.parametrize("bad", [0, -1.0, float("nan"), float("inf"), "1", None, True])
def test_bad_epsilon_and_sensitivity_are_named(cls, bad):
    with pytest.raises(InvalidParameter, match=r"`epsilon` must be a finite number"):
        cls(bad, 1.0)
    with pytest.raises(InvalidParameter, match=r"`(sensitivity|change_range)` must be a finite number"):
        cls(1.0, bad)


def test_a_seed_is_not_a_generator():
    with pytest.raises(InvalidParameter, match=r"`rng` must be .*Got 0"):
        Laplace(1.0).release([0.0], rng=0)
