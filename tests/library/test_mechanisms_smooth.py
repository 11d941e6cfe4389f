"""Smooth sensitivities: equal to brute force under replace-one, β-smooth and large enough under add/remove."""

import itertools
import math

import numpy as np
import pytest

from dpml.exceptions import InvalidData, InvalidParameter
from dpml.mechanisms.smooth import (
    KINDS,
    global_sensitivity,
    local_sensitivity,
    sensitivity_envelope,
    smooth_sensitivity,
    statistic,
)

CASES = [(kind, m) for kind in KINDS for m in ((0, 1, 2, 3) if kind.startswith("trimmed") else (0,))]
BETAS = (0.02, 1.0)


def naive(kind, x, lower, upper, m):
    """The statistic by its definition; the values may come in any order."""
    x = sorted(x)
    n = len(x)
    if kind == "median":
        return x[math.ceil(n / 2) - 1] if n else lower
    kept = x[m : n - m] if n > 2 * m else []
    if kind.endswith("mean"):
        return sum(kept) / len(kept) if kept else (lower + upper) / 2
    if not kept:
        return 0.0
    mean = sum(kept) / len(kept)
    return sum((v - mean) ** 2 for v in kept) / len(kept)


def all_data(grid, n):
    return list(itertools.combinations_with_replacement(grid, n))


def replacements(data):
    """Number of values in which two multisets of one size differ."""
    values = sorted(set(itertools.chain.from_iterable(data)))
    counts = np.array([[x.count(v) for v in values] for x in data])
    return np.maximum(counts[:, None, :] - counts[None, :, :], 0).sum(axis=-1)


def naive_local(kind, data, distance, lower, upper, m):
    """Largest change over all replacements on the grid and, for a variance, by the mean of the others that are kept."""
    values = np.array([naive(kind, x, lower, upper, m) for x in data])
    local = np.where(distance <= 1, np.abs(values[:, None] - values[None, :]), 0.0).max(axis=1)
    if "variance" in kind:
        for i, x in enumerate(data):
            for j in range(len(x)):
                rest = x[:j] + x[j + 1 :]
                core = rest[m : len(rest) - m]
                if core:
                    moved = naive(kind, (*rest, sum(core) / len(core)), lower, upper, m)
                    local[i] = max(local[i], abs(moved - values[i]))
    return local


@pytest.mark.parametrize(("kind", "m"), CASES)
@pytest.mark.parametrize(
    ("grid", "n"),
    [((0, 1, 2, 4, 7, 8), 5), ((-3, -2, 0, 4), 7), ((0.0, 1.0, 5.0), 8), *(((0, 1, 5), n) for n in range(4))],
)
def test_replace_one_equals_brute_force(kind, m, grid, n):
    data = all_data(grid, n)
    distance = replacements(data) if n else np.zeros((1, 1))
    lower, upper = grid[0], grid[-1]
    local = naive_local(kind, data, distance, lower, upper, m)
    for beta in BETAS:
        expected = (np.exp(-beta * distance) * local).max(axis=1)
        found = [smooth_sensitivity(kind, x, lower, upper, beta, "replace-one", trim=m) for x in data]
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    found = [local_sensitivity(kind, x, lower, upper, trim=m) for x in data]
    np.testing.assert_allclose(found, local, rtol=1e-12, atol=1e-12)
    assert global_sensitivity(kind, lower, upper, n, trim=m) == pytest.approx(local.max(), abs=1e-12)


@pytest.mark.parametrize(("kind", "m"), [("variance", 0), ("trimmed_variance", 1), ("trimmed_mean", 1), ("median", 0)])
def test_a_finer_grid_finds_nothing_larger(kind, m):
    """Values off the data's grid, wherever they lie, do not beat the formula."""
    fine = tuple(np.linspace(0, 1, 11))
    data = all_data(fine, 4)
    distance = replacements(data)
    local = naive_local(kind, data, distance, 0, 1, m)
    for beta in (0.1, 0.7):
        expected = (np.exp(-beta * distance) * local).max(axis=1)
        found = np.array([smooth_sensitivity(kind, x, 0, 1, beta, trim=m) for x in data[::7]])
        assert (found >= expected[::7] - 1e-12).all()
        np.testing.assert_allclose(found, expected[::7], rtol=1e-12)


@pytest.fixture(scope="module")
def pairs():
    """All data sets of up to 6 values out of five, and every pair of which one has one value more."""
    grid = (0, 1, 2, 5, 6)
    data = [x for n in range(7) for x in all_data(grid, n)]
    index = {x: i for i, x in enumerate(data)}
    small = [i for i, x in enumerate(data) if len(x) < 6]
    edges = np.array([(i, index[tuple(sorted((*data[i], v)))]) for i in small for v in grid])
    return data, edges


@pytest.mark.parametrize(("kind", "m"), [c for c in CASES if c[1] < 3])
def test_add_remove_bounds_every_pair(kind, m, pairs):
    data, edges = pairs
    value = np.array([naive(kind, x, 0, 6, m) for x in data])
    change = np.abs(value[edges[:, 0]] - value[edges[:, 1]])
    local = np.zeros(len(data))
    np.maximum.at(local, edges[:, 0], change)
    np.maximum.at(local, edges[:, 1], change)
    if "variance" in kind:  # the value added may be the mean of the others
        for i, x in enumerate(data):
            if len(x) > 2 * m:
                added = naive(kind, (*x, np.mean(x[m : len(x) - m])), 0, 6, m)
                local[i] = max(local[i], abs(added - value[i]))
    for beta in (0.05, 0.3, 1.5):
        smooth = np.array([smooth_sensitivity(kind, x, 0, 6, beta, "add-remove", trim=m) for x in data])
        assert (smooth >= local * (1 - 1e-12)).all()
        assert np.abs(np.log(smooth[edges[:, 0]] / smooth[edges[:, 1]])).max() <= beta + 1e-12
    # on all but the largest data sets (whose supersets are not listed) the local sensitivity is exact
    inner = [i for i, x in enumerate(data) if len(x) < 6]
    found = [local_sensitivity(kind, data[i], 0, 6, "add-remove", trim=m) for i in inner]
    np.testing.assert_allclose(found, local[inner], rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
@pytest.mark.parametrize(("kind", "m"), [("mean", 0), ("trimmed_mean", 4), ("variance", 0), ("trimmed_variance", 4)])
def test_larger_data_are_smooth_too(kind, m, relation):
    rng = np.random.default_rng(7)
    for _ in range(40):
        n = int(rng.integers(2, 60))
        x = rng.choice([rng.random(n), rng.integers(0, 3, n) / 2, np.clip(rng.normal(0.5, 0.05, n), 0, 1)])
        y = x.copy()
        at = rng.integers(n)
        new = rng.choice([0.0, 1.0, x.mean(), rng.random()])
        if relation == "replace-one":
            y[at] = new
        else:
            y = np.append(y, new) if rng.random() < 0.5 else np.delete(y, at)
        change = abs(statistic(kind, x, 0, 1, trim=m) - statistic(kind, y, 0, 1, trim=m))
        for beta in (0.01, 0.1, 1.0):
            sx, sy = (smooth_sensitivity(kind, z, 0, 1, beta, relation, trim=m) for z in (x, y))
            assert change <= min(sx, sy) * (1 + 1e-9) + 1e-15
            if sx or sy:
                assert abs(math.log(sx / sy)) <= beta + 1e-9


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
@pytest.mark.parametrize(("kind", "m"), CASES)
def test_limits_monotony_and_envelope(kind, m, relation):
    rng = np.random.default_rng(3)
    for n in (1, 4, 9, 30):
        x = rng.integers(0, 11, n).astype(float)
        betas = (1e-9, 0.01, 0.1, 0.4, 1.0, 4.0, 60.0)
        found = np.array([smooth_sensitivity(kind, x, 0, 10, b, relation, trim=m) for b in betas])
        assert (np.diff(found) <= 1e-12).all()
        ceiling = global_sensitivity(kind, 0, 10, n, relation, trim=m)
        local = local_sensitivity(kind, x, 0, 10, relation, trim=m)
        assert found[0] == pytest.approx(ceiling, rel=1e-6, abs=1e-12)
        if relation == "replace-one" or kind != "median":
            assert found[-1] == pytest.approx(local, abs=1e-9)
        assert found[-1] >= local - 1e-12
        for beta, smooth in zip(betas[1:], found[1:], strict=True):
            envelope = sensitivity_envelope(kind, x, 0, 10, beta, relation, trim=m)
            assert envelope.terms.max() == pytest.approx(smooth, rel=1e-12, abs=1e-12)
            assert (np.diff(envelope.sensitivity) >= -1e-12).all()
            np.testing.assert_allclose(envelope.terms, np.exp(-beta * envelope.distance) * envelope.sensitivity)
        longer = sensitivity_envelope(kind, x, 0, 10, 0.4, relation, trim=m, distances=n + 2 * m + 3)
        assert len(longer.distance) == n + 2 * m + 3
        assert longer.sensitivity[-1] == pytest.approx(ceiling, abs=1e-12)


def test_known_values():
    # one replacement already brings the mean's local sensitivity to R/n, so S = max(LS, exp(-β) R/n)
    x = [2, 3, 3, 4]
    assert smooth_sensitivity("mean", x, 0, 10, 0.01) == pytest.approx(math.exp(-0.01) * 10 / 4)
    assert smooth_sensitivity("mean", x, 0, 10, 2.0) == pytest.approx(8 / 4)
    # Nissim, Raskhodnikova and Smith's median: A(0) = 1, A(1) = max(x4 - x2, x3 - x1, ...) with the bounds as ends
    e = sensitivity_envelope("median", [0, 4, 5, 6, 10], 0, 10, 0.5)
    assert e.sensitivity[:4].tolist() == [1, 5, 6, 10]
    # all at one end: half of them must change before the trimmed mean can move far
    e = sensitivity_envelope("trimmed_mean", [0] * 8, 0, 1, 0.5, trim=3, distances=8)
    assert e.sensitivity.tolist() == [0, 0, 0, 0.5, 0.5, 0.5, 0.5, 0.5]
    # the variance of n equal values moves most by one value at the farther end
    assert local_sensitivity("variance", [2] * 5, 0, 10) == pytest.approx(4 / 25 * 8**2)
    # the worst replacement is of 0 by 8.5, the mean of the others: 10, the other end, would do less
    assert local_sensitivity("variance", [0, 8, 9], 0, 10) == pytest.approx(2 / 9 * 8.5**2)
    assert global_sensitivity("variance", 0, 10, relation="add-remove") == 25


def test_many_distances_agree_with_the_envelope():
    """Hundreds of distances matter here: the search must not stop before the one that decides."""
    x = np.concatenate([np.full(400, 0.5), np.linspace(0, 1, 21)])
    for kind, m in [("median", 0), ("trimmed_mean", 190), ("trimmed_variance", 190), ("variance", 0)]:
        for relation in ("replace-one", "add-remove"):
            for beta in (0.001, 0.02):
                e = sensitivity_envelope(kind, x, 0, 1, beta, relation, trim=m, distances=450)
                found = smooth_sensitivity(kind, x, 0, 1, beta, relation, trim=m)
                assert found == pytest.approx(e.terms.max(), rel=1e-11)
                if kind == "median":
                    assert e.terms.argmax() > 150


def test_no_scale_is_zero_where_a_neighbour_has_one():
    x = np.full(100_000, 0.5)  # exp(-β·50,000) is no float
    for kind, m in [("median", 0), ("trimmed_mean", 49_000), ("trimmed_variance", 49_000)]:
        assert smooth_sensitivity(kind, x, 0, 1, 0.5, trim=m) > 0
        assert smooth_sensitivity(kind, x, 0, 1, 0.5, "add-remove", trim=m) > 0


def test_clipping_moves_values_into_the_domain():
    bad = [-5, 3, 99, np.nan, np.inf]
    good = [0, 3, 10, 5, 10]
    for kind in KINDS:
        clipped = smooth_sensitivity(kind, bad, 0, 10, 0.3, on_invalid="clip", trim=1)
        assert clipped == smooth_sensitivity(kind, good, 0, 10, 0.3, trim=1)
        assert statistic(kind, bad, 0, 10, on_invalid="clip", trim=1) == statistic(kind, good, 0, 10, trim=1)


@pytest.mark.parametrize(
    ("x", "shown"), [([1, 11], "11.0"), ([-1, 3], "-1.0"), ([np.nan], "nan"), ([2, np.inf], "inf")]
)
def test_values_outside_their_domain_are_named(x, shown):
    with pytest.raises(InvalidData, match=rf"values has {shown}: it must be a number from 0 to 10"):
        smooth_sensitivity("mean", x, 0, 10, 0.1)


def test_in_release_no_data_make_it_fail():
    nobody = ["a", 3, None, 10**400, "7", [1]]
    assert statistic("mean", [["a"], ["b"]], 0, 10, on_invalid="clip") == 5
    for kind in KINDS:
        found = smooth_sensitivity(kind, nobody, 0, 10, 0.3, on_invalid="clip", trim=1)
        assert found == smooth_sensitivity(kind, [5, 3, 5, 10, 7, 5], 0, 10, 0.3, trim=1)


def test_wrong_shapes_and_types():
    with pytest.raises(InvalidData, match="values has 2 dimensions"):
        smooth_sensitivity("mean", [[1, 2]], 0, 10, 0.1)
    with pytest.raises(InvalidData, match="not numbers"):
        smooth_sensitivity("mean", ["a"], 0, 10, 0.1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "mode"}, "`kind` must be .*Got 'mode'"),
        ({"lower": 10}, "`lower` must be .*Got 10"),
        ({"upper": np.inf}, "`upper` must be .*Got inf"),
        ({"upper": 1e200}, "`upper` must be .*Got 1e"),
        ({"upper": 1e-70}, "`upper` must be .*Got 1e-70"),
        ({"beta": 0}, "`beta` must be .*Got 0"),
        ({"relation": "both"}, "`relation` must be .*Got 'both'"),
        ({"trim": -1}, "`trim` must be .*Got -1"),
        ({"on_invalid": "drop"}, "`on_invalid` must be .*Got 'drop'"),
    ],
)
def test_bad_parameters_are_named(change, message):
    call = {"kind": "trimmed_mean", "values": [1, 2], "lower": 0, "upper": 10, "beta": 0.1, **change}
    with pytest.raises(InvalidParameter, match=message):
        smooth_sensitivity(**call)


def test_global_sensitivity_needs_n_where_n_is_public():
    with pytest.raises(InvalidParameter, match=r"`n` must be .*Got None"):
        global_sensitivity("mean", 0, 1)
