"""Noise vectors for a norm: its law, its direction, its density and its cost; for one-hot records also its body."""

import itertools
import math

import numpy as np
import pytest
from scipy import optimize, stats

from dpml.audit import recorded_cost
from dpml.exceptions import InvalidParameter
from dpml.mechanisms import NormGamma, OneHotNorm
from dpml.mechanisms.norms import contrasts


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


@pytest.mark.parametrize(
    ("kind", "options", "name"),
    [
        (NormGamma, {"epsilon": 0}, "epsilon"),
        (NormGamma, {"sensitivity": 0}, "sensitivity"),
        (NormGamma, {"dimension": 0}, "dimension"),
        (NormGamma, {"dimension": 2.0}, "dimension"),
        *((NormGamma, {"p": p}, "p") for p in (0.5, 0, -1, math.nan, "2")),
        (OneHotNorm, {"sizes": (1, 2)}, "sizes"),
        (OneHotNorm, {"sizes": ()}, "sizes"),
        (OneHotNorm, {"sizes": (2,), "n_scalars": -1}, "n_scalars"),
    ],
)
def test_bad_parameters_are_named(kind, options, name):
    whole = {"epsilon": 1.0, "sensitivity": 1.0, "dimension": 2} if kind is NormGamma else {"epsilon": 1.0}
    with pytest.raises(InvalidParameter) as caught:
        kind(**(whole | options))
    assert caught.value.name == name


@pytest.mark.parametrize("mechanism", [NormGamma(1.0, 1.0, 2), OneHotNorm(1.0, (3,))])
@pytest.mark.parametrize("values", [0.0, np.zeros(3), np.zeros((2, 1))])
def test_values_of_another_dimension_are_refused(mechanism, values):
    with pytest.raises(InvalidParameter, match="shape of values"):
        mechanism.release(values, rng=np.random.default_rng(0))


# ---- one-hot records ------------------------------------------------------------------------------------------------


def gauge(points, v):
    """The norm of the body conv{±points} by linear programming: the least Σ|a| with Σ a_j p_j = v."""
    both = np.concatenate([points, -points]).T
    return optimize.linprog(np.ones(both.shape[1]), A_eq=both, b_eq=v).fun


@pytest.mark.parametrize("d", [2, 3, 4, 7])
def test_contrasts_are_an_orthonormal_basis_of_sum_zero(d):
    Q = contrasts(d)
    np.testing.assert_allclose(Q.T @ Q, np.eye(d - 1), atol=1e-12)
    np.testing.assert_allclose(Q @ Q.T, np.eye(d) - 1 / d, atol=1e-12)
    with pytest.raises(ValueError, match="read-only"):
        Q[0, 0] = 1.0


@pytest.mark.parametrize("d", [2, 3, 4, 5])
def test_the_norm_is_the_gauge_of_the_body(d):
    rng = np.random.default_rng(d)
    mechanism = OneHotNorm(1.0, (d,))
    for v in rng.normal(size=(20, d - 1)):
        assert mechanism.norm(v) == pytest.approx(gauge(contrasts(d), v), rel=1e-7)


def test_no_record_is_longer_than_one_and_each_reaches_it():
    sizes = (2, 3, 4)
    mechanism = OneHotNorm(1.0, sizes, n_scalars=2)
    for values in itertools.product(*map(range, sizes)):
        for scalars in ((1.0, -1.0), (0.3, 0.0)):
            record = np.concatenate([*(contrasts(d)[j] for d, j in zip(sizes, values, strict=True)), scalars])
            assert mechanism.norm(record) == pytest.approx(1.0)
            assert mechanism.norm(-0.5 * record) == pytest.approx(0.5)


@pytest.mark.parametrize("d", [2, 3, 4, 5])
def test_points_of_one_attribute_are_uniform_in_its_body(d):
    """The noise over its norm's gamma law is a uniform point over its norm; halves of the body have half of them."""
    rng = np.random.default_rng(10 + d)
    drawn = OneHotNorm(1.0, (d,)).release(np.zeros(d - 1), draws=20_000, rng=rng)
    values = drawn @ contrasts(d).T
    # all orders of the values are equally likely, and so are both signs
    orders = [tuple(row) for row in values.argsort(axis=1).tolist()]
    seen = [orders.count(order) for order in itertools.permutations(range(d))]
    assert stats.chisquare(seen).pvalue > 0.001
    # against points of a box that fall into the body: their directions, as shares of the norm
    body = OneHotNorm(1.0, (d,))
    box = rng.uniform(-1, 1, (60_000, d - 1))
    inside = box[body.norm(box) <= 1]

    def largest(points):
        return np.abs(points @ contrasts(d).T).max(axis=1) / body.norm(points)

    if d > 2:  # with two values there are two directions only
        assert stats.ks_2samp(largest(drawn), largest(inside)).pvalue > 0.001
    volume = math.exp(-body.log_density(np.zeros(d - 1), np.zeros(d - 1))) / math.factorial(d - 1)
    assert len(inside) / 60_000 * 2.0 ** (d - 1) == pytest.approx(volume, rel=0.04)


def test_density_integrates_to_one_in_the_plane():
    grid = np.linspace(-25, 25, 1001)
    points = np.stack(np.meshgrid(grid, grid), axis=-1)
    for mechanism in (OneHotNorm(0.8, (3,)), OneHotNorm(0.8, (2, 2)), OneHotNorm(0.8, (2,), n_scalars=1)):
        assert np.exp(mechanism.log_density(points, np.zeros(2))).sum() * 0.05**2 == pytest.approx(1, abs=2e-3)


@pytest.mark.parametrize(("sizes", "n_scalars"), [((2, 2, 2), 0), ((2, 3, 4, 5, 6), 2), ((), 3)])
def test_the_deviation_is_that_of_the_draws(sizes, n_scalars):
    mechanism = OneHotNorm(0.5, sizes, n_scalars, sensitivity=2.0)
    drawn = mechanism.release(np.zeros(mechanism.dimension), draws=60_000, rng=np.random.default_rng(0))
    assert drawn.std() == pytest.approx(mechanism.deviation, rel=0.02)
    assert stats.kstest(mechanism.norm(drawn), stats.gamma(mechanism.dimension, scale=4.0).cdf).pvalue > 0.001


def test_the_recorded_cost_is_the_norm_times_epsilon():
    def call(data):
        return OneHotNorm(0.7, (2, 3), sensitivity=2.0).release(data, rng=np.random.default_rng(0))

    record = np.concatenate([contrasts(2)[0], contrasts(3)[1]])
    assert recorded_cost(call, np.zeros(3), record) == pytest.approx(0.35)
    other = np.concatenate([contrasts(2)[1], contrasts(3)[2]])
    assert recorded_cost(call, other, record) == pytest.approx(0.7)  # a record is replaced: 2 of its length
