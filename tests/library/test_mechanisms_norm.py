"""Norm-gamma noise: its norm is gamma, its direction uniform, its density integrates to 1, and its cost is ε."""

import math

import numpy as np
import pytest
from scipy import stats

from dpml.exceptions import InvalidParameter
from dpml.mechanisms.norms import NormGamma


@pytest.mark.parametrize("dimension", [1, 2, 7, 100])
def test_norm_is_gamma_with_the_stated_shape_and_scale(dimension):
    noise = NormGamma(0.5, 3.0, dimension).release(np.zeros(dimension), rng=np.random.default_rng(0), draws=4000)
    norms = np.linalg.norm(noise, axis=1)
    assert stats.kstest(norms, stats.gamma(dimension, scale=6.0).cdf).pvalue > 0.01
    # the test can tell a scale that is 10 % off
    assert stats.kstest(norms, stats.gamma(dimension, scale=6.6).cdf).pvalue < 0.01


@pytest.mark.parametrize("dimension", [2, 3, 10])
def test_direction_is_uniform_on_the_sphere(dimension):
    noise = NormGamma(1.0, 1.0, dimension).release(np.zeros(dimension), rng=np.random.default_rng(1000), draws=4000)
    norms = np.linalg.norm(noise, axis=1, keepdims=True)
    direction = noise / norms
    # a coordinate u of a uniform direction has (u + 1)/2 ~ Beta((D-1)/2, (D-1)/2)
    beta = stats.beta((dimension - 1) / 2, (dimension - 1) / 2)
    tilted = (direction @ np.ones(dimension)) / math.sqrt(dimension)
    for coordinate in (direction[:, 0], direction[:, -1], tilted):
        assert stats.kstest((coordinate + 1) / 2, beta.cdf).pvalue > 0.001
        assert stats.kstest((0.8 * coordinate + 1) / 2, beta.cdf).pvalue < 0.001  # drawn in by a fifth
    assert abs(stats.spearmanr(norms[:, 0], direction[:, 0]).statistic) < 0.05


def test_density_of_the_norm_is_gamma_in_ten_dimensions():
    mechanism = NormGamma(0.7, 1.0, 10)
    r = np.array([0.5, 5.0, 30.0])
    points = np.zeros((3, 10))
    points[:, 4] = r
    sphere = 2 * math.pi**5 / math.gamma(5) * r**9
    expected = stats.gamma(10, scale=1 / 0.7).pdf(r)
    np.testing.assert_allclose(np.exp(mechanism.log_density(points, np.zeros(10))) * sphere, expected, rtol=1e-10)


def test_shapes_and_independent_noise():
    mechanism = NormGamma(1.0, 1.0, 4)
    values = np.arange(8.0).reshape(2, 4)
    assert mechanism.release(values, rng=np.random.default_rng(0)).shape == (2, 4)
    noisy = mechanism.release(values, rng=np.random.default_rng(0), draws=5)
    assert noisy.shape == (5, 2, 4)
    norms = np.linalg.norm(noisy - values, axis=2)
    assert len(np.unique(norms)) == 10
    assert (noisy == mechanism.release(values, rng=np.random.default_rng(0), draws=5)).all()


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"sensitivity": 0}, "sensitivity"),
        ({"dimension": 0}, "dimension"),
        ({"dimension": 2.0}, "dimension"),
    ],
)
def test_bad_parameters_are_refused(options, name):
    with pytest.raises(InvalidParameter) as caught:
        NormGamma(**({"epsilon": 1.0, "sensitivity": 1.0, "dimension": 2} | options))
    assert caught.value.name == name


@pytest.mark.parametrize("values", [0.0, np.zeros(3), np.zeros((2, 1))])
def test_values_of_another_dimension_are_refused(values):
    with pytest.raises(InvalidParameter, match="shape of values"):
        NormGamma(1.0, 1.0, 2).release(values, rng=np.random.default_rng(0))
