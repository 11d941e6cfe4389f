"""Bins of numbers: cells of histograms, cut points of them, and public ones."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from people import EQUAL, SCHEMA, checked, people

from dpml.classifiers import AutoClassifier
from dpml.classifiers.automatic import Layout, default_n_cells, histograms, quantile_levels
from dpml.classifiers.automatic.layout import CELLS, CLEAR, FEWEST_CELLS, WORTH, cell_edges, pruned, public_levels
from dpml.schema import Feature, Schema


def test_histograms_count_cells_that_are_equal_and_that_grow_from_zero():
    X, _, layout = checked(n=200)
    X.loc[:9, "age"] = 0.0
    X.loc[10:19, "age"] = 0.001
    edges = sorted({*(10.0 * k for k in range(9)), *(80 * 2 ** (-2.5 * k) for k in range(1, 9))})
    expected, _ = np.histogram(X["age"], bins=edges)
    assert expected[0] == (X["age"] == 0).sum() >= 10  # 0 has a cell of its own
    np.testing.assert_array_equal(histograms(layout, X, 16)[0], expected)


@pytest.mark.parametrize(
    ("lower", "upper", "origin"),
    [(0, 1, 0), (-4, 9, 0), (-9, 0, 0), (18, 90, 18), (-90, -18, -18), (-1.7e308 / 2, 1.7e308 / 2, 0), (0, 6e-306, 0)],
)
def test_cells_grow_from_zero_or_the_bound_next_to_it(lower, upper, origin):
    edges = cell_edges(lower, upper, 128)
    assert (edges[0], edges[-1]) == (lower, upper)
    assert (np.diff(edges) > 0).all()
    assert 120 <= len(edges) <= 129
    width = upper - lower
    assert max(b / width - a / width for a, b in pairwise(edges)) <= 1 / 64 + 1e-9
    for end in {lower, upper} - {origin}:
        near = min(
            abs(edge - origin) for edge in edges if edge not in (origin, 0.0) and (edge > origin) == (end > origin)
        )
        assert near == pytest.approx(abs(end - origin) * 2.0**-20, rel=1e-6)
    for levels in (public_levels(lower, upper), quantile_levels(np.full(128, 9.0), 1e-9, lower, upper)):
        assert replace(SCHEMA.features[0], lower=lower, upper=upper, levels=levels).taxonomy.n_levels == 5


def test_a_domain_of_a_few_floats_has_fewer_cells():
    lower, upper = 1e16, 1e16 + 6
    edges = cell_edges(lower, upper, 128)
    assert edges == [lower, lower + 2, lower + 4, upper]
    layout = Layout.of(Schema((Feature("x", "numeric", lower=lower, upper=upper),)))
    counts = histograms(layout, np.array([[lower], [lower + 4], [upper]]), 128)[0]
    assert counts.tolist() == [1.0, 0.0, 2.0, *[0.0] * 125]
    assert public_levels(lower, upper)[-1] == (lower + 2, lower + 4)
    assert quantile_levels(np.full(128, 9.0), 1e-9, lower, upper)[-1] == [lower + 2, lower + 4]


def test_stated_cut_points_are_used_as_they_are():
    _, _, layout = checked(EQUAL, n=50)
    assert layout.numbers == ()
    assert layout.sizes == (8, 3, 2, 2)
    many = replace(EQUAL.features[0], levels=[list(range(1, 80))])
    assert Layout.of(Schema((many,))).sizes == (80,)
    model = AutoClassifier(1.0, schema=replace(EQUAL, n_lower=4000), random_state=0).fit(*people())
    assert model.plan_.n_cells == 0
    assert AutoClassifier(1.0, schema=replace(SCHEMA, n_lower=4000), random_state=0).fit(*people()).plan_.n_cells


def test_cut_points_share_the_mass_and_refine():
    rng = np.random.default_rng(0)
    values = np.clip(rng.lognormal(3, 1, 100_000), 0, 255)
    counts, _ = np.histogram(values, bins=cell_edges(0, 256, 256))
    levels = quantile_levels(counts.astype(float), 1e-9, 0.0, 256.0)
    assert [len(level) for level in levels] == [1, 3, 7, 15]
    for above, level in pairwise(levels):
        assert set(above) <= set(level)
    shares = np.histogram(values, bins=[0, *levels[2], 256])[0] / 100_000
    assert shares.max() < 0.16  # eight bins, and cells of width 2 or less
    assert shares.min() > 0.09
    # with few cells there are no bins that these could not tell apart
    few, _ = np.histogram(values, bins=cell_edges(0, 256, 32))
    padded = np.append(few, np.zeros(32 - len(few)))
    assert [len(level) for level in quantile_levels(padded, 1e-9, 0.0, 256.0)] == [1, 3, 7]


def test_a_common_value_gets_a_bin_of_its_own_and_noise_is_cut_in_the_middle():
    counts, edges = np.zeros(64), cell_edges(0, 64, 64)
    counts[0], counts[40] = 900.0, 100.0
    assert quantile_levels(counts, 1e-9, 0.0, 64.0)[0] == [edges[1]] == [64 * 2.0**-20]
    # nothing stands out of this noise, so the bins have equal numbers of cells
    cells = len(edges) - 1
    assert quantile_levels(counts, 1e6, 0.0, 64.0)[1] == [edges[k] for k in (cells // 4, cells // 2, cells * 3 // 4)]
    # one cell is left when the noise has hidden the other
    for scale, first in ((999.0 / CLEAR / np.sqrt(2), edges[1]), (1001.0 / CLEAR / np.sqrt(2), edges[cells // 2])):
        assert quantile_levels(counts, scale, 0.0, 64.0)[0] == [first]


def test_empty_parts_are_empty_and_the_rest_adds_up():
    rng = np.random.default_rng(0)
    counts = np.zeros(256)
    counts[8:24] = 500.0
    noisy = counts + rng.laplace(scale=20, size=256)
    found = pruned(noisy, 20.0)
    assert found.sum() == pytest.approx(noisy.sum())
    assert found[128:].sum() == 0
    assert np.abs(np.cumsum(found) - np.cumsum(counts)).max() < np.abs(np.cumsum(noisy) - np.cumsum(counts)).max()
    np.testing.assert_allclose(pruned(counts, 1e-12), counts, atol=1e-8)


def test_a_histogram_is_bought_where_it_is_worth_its_epsilon():
    assert default_n_cells(10_000, 0, 1.0) == 0
    edge = WORTH * FEWEST_CELLS * 5 / 10_000
    for relation, factor in (("add-remove", 1), ("replace-one", 2)):
        found = [default_n_cells(10_000, 5, s * factor * edge, relation) for s in (0.99, 1.01, 1.99, 2.01, 4.01, 99)]
        assert found == [0, FEWEST_CELLS, FEWEST_CELLS, 2 * FEWEST_CELLS, CELLS, CELLS]
