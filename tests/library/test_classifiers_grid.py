"""Grids: candidates are sets, rolled-up counts are the counts, and one record changes the quality as derived."""

import itertools
import math

import numpy as np
import pytest
from scipy import integrate

from dpml.classifiers.grid import (
    GridQuality,
    NoisyGrid,
    Records,
    candidate_grids,
    cell_probabilities,
    children_counts,
    consistent,
    grid_counts,
    quality_range,
    quality_sensitivity,
    release_grid,
)
from dpml.classifiers.grid import counts as counting
from dpml.classifiers.grid.cells import MOST_EXCESS, coarser_grids, grid_qualities, quality_excess
from dpml.schema import Feature, Schema

PAIRS = [[["u", "z"], list("vwxy")], [["z", "u"], ["v", "x"], ["w", "y"]]]
SCHEMA = Schema(
    (
        Feature("a", "numeric", lower=0, upper=16, levels=[[8], [4, 8, 12], [2, 4, 6, 8, 10, 12, 14]]),
        Feature("b"),
        Feature("c", "categorical", tuple("uvwxyz"), levels=PAIRS),
        Feature("d", "categorical", ("one",)),
        Feature("e", "numeric", lower=-1, upper=1),
    ),
    ("p", "q", "r"),
)
TAXONOMIES = tuple(f.taxonomy for f in SCHEMA.features)


def records(n=300, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    places = [rng.integers(t.sizes[-1], size=n) for t in TAXONOMIES]
    # the class depends on two of the attributes
    codes = (places[0] // 3 + places[2] + rng.integers(2, size=n)) % n_classes
    return Records(places, codes, n_classes, TAXONOMIES)


# ---- candidates ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_cells", [-5.0, 0.5, 1.0, 3.9, 12.0, 60.0, math.inf])
def test_candidates_are_all_small_grids_each_once(max_cells):
    expected = {
        levels
        for levels in itertools.product(*(range(t.n_levels) for t in TAXONOMIES))
        if np.prod([t.sizes[level] for t, level in zip(TAXONOMIES, levels, strict=True)]) <= max(max_cells, 1)
    }
    pool = candidate_grids(TAXONOMIES, 10_000, max_cells)
    found = [pool.levels(i) for i in range(len(pool))]
    assert len(found) == len(set(found))
    assert set(found) == expected
    sizes = [np.prod([t.sizes[level] for t, level in zip(TAXONOMIES, g, strict=True)]) for g in found]
    assert pool.sizes.tolist() == sizes


# ---- counts ----------------------------------------------------------------------------------------------------------


def naive(found, levels):
    """Class counts by a loop over the records."""
    used = [j for j, level in enumerate(levels) if level]
    shape = [TAXONOMIES[j].sizes[levels[j]] for j in used]
    table = np.zeros((found.n_classes, *shape), dtype=int)
    for i, code in enumerate(found.codes):
        table[(code, *(TAXONOMIES[j].above(levels[j])[found.places[j][i]] for j in used))] += 1
    return table.reshape(found.n_classes, -1)


def test_counts_of_a_grid_are_those_of_a_loop():
    found = records(60)
    for levels in [(0, 0, 0, 0, 0), (3, 0, 0, 0, 0), (1, 1, 2, 0, 0), (2, 0, 1, 0, 3), (0, 1, 0, 0, 4)]:
        np.testing.assert_array_equal(grid_counts(found, levels), naive(found, levels))


@pytest.mark.parametrize(
    ("most", "n_classes", "signed", "max_grids"),
    [(1, 2, True, 50), (40, 3, False, 10_000), (300, 2, False, 50), (1 << 18, 2, True, 10_000)],
)
def test_rolled_up_counts_are_the_counts(most, n_classes, signed, max_grids, monkeypatch):
    """Whatever the size of a table that is counted at once, and for pools that end in the middle of a layer."""
    monkeypatch.setattr(counting, "MOST_ENTRIES", most)
    found = records(200, n_classes)
    pool = candidate_grids(TAXONOMIES, max_grids, 200)
    seen = []
    for children in children_counts(pool, found, signed=signed):
        ends = [*children.starts[1:], children.counts.shape[2]]
        for k, (start, end) in enumerate(zip(children.starts, ends, strict=True)):
            expected = grid_counts(found, pool.levels(children.first + k))
            expected = expected[1:] - expected[:1] if signed else expected
            rolled = children.counts[:, :, start:end].reshape(len(expected), -1)
            np.testing.assert_array_equal(rolled, expected)
            seen.append(children.first + k)
    assert sorted(seen) == list(range(1, len(pool)))


# ---- quality ---------------------------------------------------------------------------------------------------------


def density(x, epsilon):
    return epsilon / 2 * np.exp(-epsilon * abs(x))


def below(x, epsilon):
    return np.exp(epsilon * x) / 2 if x < 0 else 1 - np.exp(-epsilon * x) / 2


def naive_quality(counts, epsilon):
    """Eq. 1 with the integral of eq. 2, cell by cell."""
    total = 0.0
    for cell in np.transpose(counts):
        for i, n in enumerate(cell):
            others = [m for k, m in enumerate(cell) if k != i]

            def wins(x, n=n, others=others):
                return density(x - n, epsilon) * np.prod([below(x - m, epsilon) for m in others])

            ends = [min(cell) - 40 / epsilon, *sorted(set(map(float, cell))), max(cell) + 40 / epsilon]
            total += n * sum(integrate.quad(wins, a, b)[0] for a, b in itertools.pairwise(ends))
    return total


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 3.0])
def test_quality_of_two_classes_is_the_expected_number_correct(epsilon):
    counts = np.array([[0, 5, 12, 3, 7], [0, 5, 2, 4, 0]])
    quality = GridQuality(epsilon, int(counts.sum()))
    assert quality.of_grid(counts) == pytest.approx(naive_quality(counts, epsilon), rel=1e-9)
    signed = (counts[1] - counts[0]).astype(np.int32)[None, :, None]
    assert quality.of_grids(signed, np.array([0]))[0] == pytest.approx(quality.of_grid(counts), rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 3.0])
def test_the_quality_of_more_classes_takes_the_two_largest(epsilon):
    counts = np.array([[9, 1, 4, 0], [2, 6, 4, 0], [5, 6, 4, 3], [0, 0, 1, 1]])
    largest = -np.sort(-counts, axis=0)[:2]
    expected = naive_quality(largest, epsilon)
    assert GridQuality(epsilon, 60).of_grid(counts) == pytest.approx(expected, rel=1e-9)


EPSILONS = [0.01, 0.02, 0.05, 0.06, 0.1, 0.2, 0.3, 0.5, 0.6, 0.8, 1.0, 1.2, 1.5, 1.8, 2.0]
MOST = 60


def changes(epsilon, n_classes):
    """The change of a cell's quality by one more record of the first class, over all counts up to 60."""
    counts = np.stack(np.meshgrid(*[np.arange(MOST + 1)] * n_classes, indexing="ij")).reshape(n_classes, -1)
    gain = GridQuality(epsilon, 3 * MOST + 3)._gain

    def of(counts):
        ranked = np.sort(counts, axis=0)
        return (ranked[-1] + ranked[-2]) / 2 + gain[ranked[-1] - ranked[-2]]

    more = counts.copy()
    more[0] += 1
    return of(more) - of(counts)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_one_record_changes_the_quality_as_stated(epsilon, n_classes):
    found = changes(epsilon, n_classes)
    assert np.abs(found).max() <= quality_sensitivity(epsilon) <= 1.1
    assert np.ptp(found) <= quality_range(epsilon) <= 1.178
    # the record that is taken away changes it by the same amounts with the other sign, and one is replaced by two steps
    assert 2 * np.ptp(found) <= quality_range(epsilon, "replace-one")
    if epsilon >= (1 + math.sqrt(3)) / (MOST - 1):  # the extreme is among these counts
        assert np.ptp(found) == pytest.approx(quality_range(epsilon), abs=1e-9)
        assert np.abs(found).max() == pytest.approx(quality_sensitivity(epsilon), abs=1e-9)


@pytest.mark.parametrize("epsilon", [1e-3, 0.06, 0.3, 1.0, 5.0])
def test_lemma_1_over_all_counts(epsilon):
    """Eq. 3 and 4, term by term, and the stationary point that the lemma states."""
    x = np.arange(1.0, 40 / epsilon + 10)

    def half(y):
        return np.exp(-epsilon * y) / 2 * (1 + epsilon * y / 2)

    f = np.abs((x - 1) * (half(x - 1) - half(x)) + 1 - half(x))
    assert quality_sensitivity(epsilon) == pytest.approx(f.max(), abs=1e-9)
    grown = math.exp(epsilon)
    star = (epsilon * grown + math.sqrt(2 - (4 - 2 * grown) * grown + epsilon**2 * grown)) / (epsilon * (grown - 1))
    slope = [math.exp(-epsilon * y) * (2 - (epsilon * y) ** 2) for y in (star - 1, star)]
    assert slope[0] == pytest.approx(slope[1], abs=1e-9)


def test_the_limit_of_small_epsilon_bounds_all():
    found = [quality_excess(e) for e in np.geomspace(1e-6, 50, 400)]
    assert max(found) <= MOST_EXCESS < 0.08891
    assert quality_excess(1e-99) == MOST_EXCESS
    # exact integers far beyond the extreme, without differences of large numbers
    y = np.linspace(0, 40, 100_001)
    assert (np.exp(-y) * (y**2 - 2) / 4).max() <= MOST_EXCESS
    assert quality_range(1e-5, "replace-one", "published") == 4.4
    assert quality_range(1e-5, calibration="lemma") == pytest.approx(2 * 1.0889087, abs=1e-6)


# ---- the release -----------------------------------------------------------------------------------------------------


def test_much_epsilon_selects_the_best_grid_with_exact_counts():
    found = records(3000)
    grid = release_grid(found, 1e9, rng=np.random.default_rng(0))
    pool = candidate_grids(TAXONOMIES, 10_000, math.inf)
    qualities = grid_qualities(pool, found, 6e8)
    exact = grid_counts(found, grid.levels)
    assert np.rint(grid.counts).tolist() == exact.tolist()
    assert exact.max(axis=0).sum() == pytest.approx(qualities.max())
    assert grid.n == pytest.approx(3000, abs=0.01)
    assert grid.n_candidates == len(pool)


def test_the_limit_on_cells_follows_the_noisy_number():
    """τ = 0.2·N·ε of the counts: the cells hold five times the mean size of the noise."""
    found = records(3000)
    grid = release_grid(found, 1e-2, shares=(0.98, 0.01, 0.01), rng=np.random.default_rng(0))
    assert grid.n_candidates == 1  # 0.2·3000·1e-4 is below 1
    exact = len(candidate_grids(TAXONOMIES, 10_000, 3000 * 0.002))
    seen = set()
    for seed in range(10):
        grid = release_grid(found, 1.0, shares=(0.0005, 0.9895, 0.01), rng=np.random.default_rng(seed))
        assert grid.n_candidates == len(candidate_grids(TAXONOMIES, 10_000, grid.n * 0.002))
        seen.add(grid.n_candidates)
    assert seen - {exact}  # the noise on the number, of scale 2000, moves the limit


def test_counts_that_fit_together_are_the_nearest():
    rng = np.random.default_rng(0)
    for total in (0.0, 3.0, 50.0):
        noisy = rng.normal(1, 5, (2, 8))
        found = consistent(noisy, total)
        assert found.min() >= 0
        assert found.sum() == pytest.approx(total)
        others = rng.dirichlet(np.ones(16), 300).reshape(-1, 2, 8) * total
        assert (((others - noisy) ** 2).sum(axis=(1, 2)) >= ((found - noisy) ** 2).sum() - 1e-9).all()


def test_the_total_is_weighted_by_precision():
    grid = NoisyGrid(TAXONOMIES, (1, 0, 0, 0, 0), np.full((2, 2), 10.0), 1.0, 100.0, 2.0, 1)
    # variances 2·4 and 4·2
    assert grid.total == pytest.approx((40 + 100) / 2)


# ---- the classifier --------------------------------------------------------------------------------------------------


def test_coarser_grids_keep_all_counts_down_to_one_cell():
    found = records(500)
    levels = (2, 1, 1, 0, 1)
    grid = NoisyGrid(TAXONOMIES, levels, grid_counts(found, levels).astype(float), 1.0, 500.0, 1.0, 1)
    chain = coarser_grids(grid)
    assert [sum(step) for step, _, _ in chain] == [5, 4, 3, 2, 1, 0]
    for step, counts, merged in chain:
        np.testing.assert_array_equal(counts, grid_counts(found, step))
        assert merged == grid.counts.shape[1] / counts.shape[1]


def test_noise_moves_a_cell_towards_the_coarser_cell():
    counts = np.array([[60.0, 40.0, 100.0, 100.0], [20.0, 60.0, 10.0, 20.0]])
    found = [
        cell_probabilities(NoisyGrid(TAXONOMIES, (2, 0, 0, 0, 0), counts, scale, 410.0, 1.0, 1))[0, 1]
        for scale in (1e-6, 10.0, 1e5)
    ]
    assert found[0] == pytest.approx(0.4, abs=1e-3)  # its own counts
    assert 0.42 < found[1] < 0.6  # its own and those of its half, 100 : 80
    assert found[2] == pytest.approx(301 / 412, abs=1e-3)  # those of all


@pytest.mark.parametrize("few", [0, 1 << 13])
def test_runs_are_added_up_along_any_axis(few, monkeypatch):
    from dpml.classifiers.grid import counts

    monkeypatch.setattr(counts, "FEW_ENTRIES", few)
    table = np.random.default_rng(0).integers(-5, 9, (2, 8, 8, 8)).astype(np.int32)
    before = table.copy()
    for runs in ([0], [0, 2, 4, 6], [0, 1, 2, 3, 4, 5, 6, 7], [0, 3, 4], [0, 2, 5, 7], [0, 1, 2]):
        for axis in (1, 2, 3):
            found = counts.added_runs(table, np.array(runs), axis)
            np.testing.assert_array_equal(found, np.add.reduceat(table, runs, axis=axis))
            assert found.dtype == np.int32
    np.testing.assert_array_equal(table, before)
