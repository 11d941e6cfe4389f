"""Range queries: exact sensitivity, variances as stated, least squares, monotone regression."""

import itertools

import numpy as np
import pytest
from sklearn.isotonic import isotonic_regression

from dpml.exceptions import InvalidData, InvalidParameter
from dpml.mechanisms import Hierarchy, IdentityRanges, Privelet, isotonic
from dpml.mechanisms.ranges import best_branching

SIZES = (1, 2, 3, 7, 8, 13, 27)
MAKE = {
    "identity": IdentityRanges,
    "privelet": Privelet,
    "binary": lambda *a, **k: Hierarchy(*a, branching=2, **k),
    "three": lambda *a, **k: Hierarchy(*a, branching=min(3, max(a[1], 2)), **k),
    "flat": lambda *a, **k: Hierarchy(*a, branching=max(a[1], 2), **k),
    "best": Hierarchy,
}


def strategy(ranges):
    """The strategy's matrix, (answers, n)."""
    return ranges.measure(np.eye(ranges.n)).T


# ---- sensitivity ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", MAKE)
def test_sensitivity_by_enumeration_of_all_unit_changes(name, n):
    alone, one, two = (MAKE[name](1.0, n, *more) for more in ((), ("replace-one",), ("replace-one", 2)))
    assert alone.sensitivity == np.abs(strategy(alone)).sum(axis=0).max()
    matrix = strategy(one)
    # one count alone cannot change when a record is replaced; noise for 2 is added all the same
    moved = max((np.abs(matrix[:, a] - matrix[:, b]).sum() for a, b in itertools.permutations(range(n), 2)), default=2)
    assert one.sensitivity == moved
    columns = np.abs(strategy(two)).sum(axis=0)
    assert two.sensitivity == max(columns[a] + columns[b] for a, b in itertools.product(range(n), repeat=2))


def test_privelet_is_the_published_wavelet():
    """Means of halves, halved differences, weights n and 2^k: a coefficient times its weight is the answer here."""
    counts = np.random.default_rng(0).integers(0, 9, 8).astype(float)
    coefficients, weights, level = [], [], counts
    size = 1
    while len(level) > 1:
        left, right = level[::2], level[1::2]
        size *= 2
        coefficients = [*((left - right) / 2), *coefficients]
        weights = [size] * len(left) + weights
        level = (left + right) / 2
    expected = np.array([level[0], *coefficients]) * np.array([8, *weights])
    np.testing.assert_allclose(Privelet(1.0, 8).measure(counts), expected)
    assert Privelet(1.0, 8).sensitivity == 1 + np.log2(8)


# ---- reconstruction and variance ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", MAKE)
def test_exact_answers_give_exact_prefix_sums(name, n):
    counts = np.random.default_rng(n).integers(0, 9, (3, 2, n))
    ranges = MAKE[name](1.0, n)
    np.testing.assert_allclose(ranges.reconstruct(ranges.measure(counts)), np.cumsum(counts, axis=-1), atol=1e-9)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", MAKE)
def test_variances_are_those_of_the_linear_map(name, n):
    ranges = MAKE[name](0.7, n, "replace-one", 2)
    answers = strategy(ranges).shape[0]
    back = ranges.reconstruct(np.eye(answers)).T
    np.testing.assert_allclose(ranges.variances(), 2 * ranges.scale**2 * (back**2).sum(axis=1), rtol=1e-9)
    assert ranges.mean_squared_error() == pytest.approx(ranges.variances().mean())


@pytest.mark.parametrize(("n", "b"), [(2, 2), (5, 2), (8, 2), (12, 3), (13, 4), (27, 3), (10, 10)])
def test_two_passes_are_least_squares(n, b):
    tree = Hierarchy(1.0, n, branching=b)
    noisy = np.random.default_rng(n).normal(size=(4, strategy(tree).shape[0]))
    expected = np.linalg.lstsq(strategy(tree), noisy.T, rcond=None)[0].T
    np.testing.assert_allclose(tree.reconstruct(noisy), np.cumsum(expected, axis=-1), atol=1e-9)


@pytest.mark.parametrize("n", [12, 16, 100, 513])
def test_the_default_branching_has_the_least_error(n):
    best = Hierarchy(1.0, n)
    errors = {b: Hierarchy(1.0, n, branching=b).mean_squared_error() for b in (2, 3, 4, 6, 10, n)}
    assert best.mean_squared_error() <= min(errors.values()) + 1e-9
    assert best.branching == best_branching(n, "add-remove", 1)


def test_the_noise_is_laplace_on_the_answers():
    ranges = Privelet(0.5, 16)
    noisy = ranges.release(np.zeros(16), rng=np.random.default_rng(0), draws=20_000)
    answers = ranges.measure(np.diff(noisy, axis=-1, prepend=0))
    np.testing.assert_allclose(np.abs(answers).mean(axis=0), ranges.scale, rtol=0.04)
    assert np.abs(np.corrcoef(answers.T) - np.eye(16)).max() < 0.04


def test_bad_input():
    for bad in (0, -1, np.nan, "1"):
        with pytest.raises(InvalidParameter, match="`epsilon` must be "):
            Privelet(bad, 4)
    with pytest.raises(InvalidParameter, match=r"`n` must be .*Got 0"):
        IdentityRanges(1.0, 0)
    with pytest.raises(InvalidParameter, match=r"`branching` must be .*Got 1"):
        Hierarchy(1.0, 4, branching=1)
    with pytest.raises(InvalidParameter, match=r"`relation` must be .*Got 'swap'"):
        Privelet(1.0, 4, "swap")
    with pytest.raises(InvalidParameter, match=r"`rng` must be .*Got 0"):
        Privelet(1.0, 4).release([1, 2, 3, 4], rng=0)
    for bad in ([1, 2, 3], [1, 2, 3, np.nan], "four", 3.0, ["a", "b", "c", "d"]):
        with pytest.raises(InvalidData, match=r"counts must be finite numbers of shape \(\.\.\., 4\)"):
            Privelet(1.0, 4).release(bad, rng=np.random.default_rng(0))
    with pytest.raises(InvalidParameter, match=r"`counts` must be .*\(\.\.\., 2, 4\)"):
        Privelet(1.0, 4, "replace-one", 2).release([1, 2, 3, 4], rng=np.random.default_rng(0))


# ---- monotone regression --------------------------------------------------------------------------------------------


def test_isotonic_is_that_of_scikit_learn():
    values = np.random.default_rng(0).normal(size=(3, 4, 20))
    fitted = isotonic(values)
    for at in itertools.product(range(3), range(4)):
        np.testing.assert_allclose(fitted[at], isotonic_regression(values[at]), atol=1e-12)


def test_isotonic_with_bounds_is_the_nearest_in_a_fine_search():
    rng = np.random.default_rng(1)
    grid = np.linspace(0, 1, 11)
    rising = np.array(list(itertools.combinations_with_replacement(grid, 4)))
    for _ in range(20):
        values = rng.normal(0.5, 0.8, 4)
        best = ((rising - values) ** 2).sum(axis=1).min()
        fitted = isotonic(values, lower=0.0, upper=1.0)
        assert fitted.min() >= 0
        assert fitted.max() <= 1
        error = ((fitted - values) ** 2).sum()
        assert error <= best + 1e-12
        assert best <= error + 0.6


def test_isotonic_bounds_broadcast_and_bad_input():
    np.testing.assert_array_equal(isotonic([[1.0, 5], [1, 5]], upper=[[2.0], [9.0]]), [[1, 2], [1, 5]])
    assert isotonic(np.empty((0, 3))).shape == (0, 3)
    with pytest.raises(InvalidParameter, match="values"):
        isotonic([1.0, np.inf])
    with pytest.raises(InvalidParameter, match="lower"):
        isotonic([1.0, 2.0], lower=1.0, upper=0.0)
