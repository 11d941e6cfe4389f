"""Uniform grids and PPH: numbers of cells, bins, and the discernibility of attributes by brute force."""

import itertools
import math

import numpy as np
import pytest
from pet_table import SCHEMA, people

from dpml.classifiers.grid.cells import MOST_CELLS
from dpml.publishing import PPH, UniformGrid
from dpml.publishing.tables import pph
from dpml.publishing.tables.pph import DISCERNIBILITY_RANGE, discernibility
from dpml.publishing.tables.uniform import binned, number_of_cells, uniform_bins
from dpml.schema import Feature


@pytest.mark.parametrize("n", [100, 45_222, 1e6])
@pytest.mark.parametrize("epsilon", [0.05, 1.0])
@pytest.mark.parametrize("d", [1, 2, 14])
def test_numbers_of_cells_are_the_papers(n, epsilon, d):
    assert number_of_cells(n, d, "ug", epsilon) == pytest.approx(max(n * epsilon / 10, 1))
    assert number_of_cells(n, d, "eug", epsilon) == pytest.approx(max((n * epsilon / 10) ** (2 * d / (2 + d)), 1))
    assert number_of_cells(n, d, "lei") == pytest.approx((n / math.sqrt(math.log(n))) ** (2 * d / (2 + d)))


@pytest.mark.parametrize("n", [-1e9, -3.0, 0.0, 1.0, 1e300])
@pytest.mark.parametrize("rule", ["ug", "eug", "lei"])
def test_any_noisy_number_of_records_has_a_number_of_cells(n, rule):
    found = number_of_cells(n, 30, rule, 1.0)
    assert 1 <= found < math.inf


def test_bins_are_as_many_as_fit_and_as_even_as_possible():
    features = [Feature("a", "numeric", lower=0, upper=1), Feature("b"), Feature("c", "categorical", tuple("wxyz"))]
    assert uniform_bins(features, 1) == [1, 1, 1]
    assert uniform_bins(features, 8) == [2, 2, 2]
    assert uniform_bins(features, 17.9) == [4, 2, 2]
    assert uniform_bins(features, 18) == [3, 2, 3]
    for most in range(1, 200):
        bins = uniform_bins(features, most)
        assert math.prod(bins) <= most
        assert bins[1] <= 2
        assert bins[2] <= 4
        # no attribute can have one more
        limits = (most, 2, 4)
        assert all(b == limit or math.prod(bins) // b * (b + 1) > most for b, limit in zip(bins, limits, strict=True))


@pytest.mark.parametrize("bins", [1, 2, 3, 7])
def test_a_binned_feature_has_bins_of_equal_width_or_size(bins):
    number = binned(Feature("a", "numeric", lower=-1, upper=1), bins)
    assert number.sizes[-1] == bins
    np.testing.assert_allclose(np.diff(number.values), 2 / bins)
    letters = binned(Feature("c", "categorical", tuple("stuvwxyz")), bins)
    sizes = np.diff([*letters.firsts[-1], 8])
    assert sizes.sum() == 8
    assert np.ptp(sizes) <= 1


def test_a_uniform_grid_has_the_counts_of_its_cells():
    frame = people(3000)
    model = UniformGrid(1e6, rule="ug", schema=SCHEMA, random_state=0, consistency="total").fit(frame, "wealth")
    assert model.bins_["owner"] == 2
    model = UniformGrid(1.0, rule="ug", schema=SCHEMA.subset(["age", "owner"]), random_state=0).fit(
        frame[["age", "owner", "wealth"]], "wealth"
    )
    # 3,000 · 0.97 / 10 = 291 cells, less noise: 145 bins of age and 2 of owner
    assert model.bins_["owner"] == 2
    assert model.bins_["age"] == pytest.approx(145, abs=5)


# ---- PPH -------------------------------------------------------------------------------------------------------------


def undiscerned(records, attribute):
    """Pairs of different classes with the same value, one by one."""
    pairs = itertools.combinations(records, 2)
    return sum(a[attribute] == b[attribute] and a[-1] != b[-1] for a, b in pairs)


def score(records, attribute, n_classes):
    cells = np.array([r[attribute] for r in records], dtype=np.intp)
    return discernibility(cells, 3, np.array([r[-1] for r in records], dtype=np.intp), n_classes)


@pytest.mark.parametrize(("n_classes", "largest"), [(2, 5), (3, 4)])
def test_one_record_changes_discernibility_within_its_range(n_classes, largest):
    """All tables of up to so many records with two attributes of two values, and every record that may join."""
    kinds = list(itertools.product(range(2), range(2), range(n_classes)))
    worst = 0.0
    for n in range(largest + 1):
        for records in itertools.combinations_with_replacement(kinds, n):
            before = [score(records, a, n_classes) for a in (0, 1)]
            assert before[0] == pytest.approx(-undiscerned(records, 0) / max(n, 1))
            for record in kinds:
                after = [score((*records, record), a, n_classes) for a in (0, 1)]
                change = np.subtract(after, before)
                assert np.ptp(change) <= n / (n + 1) + 1e-12
                assert np.abs(change).max() <= n / (n + 1) + 1e-12
                worst = max(worst, np.ptp(change))
    assert worst == pytest.approx(largest / (largest + 1))  # so the limit is 1
    assert DISCERNIBILITY_RANGE == 1.0


def greedy(frame, columns, k):
    """The attributes that leave the fewest pairs undiscerned, one by one, with bins of numbers as PPH has them."""
    bins = int((len(frame) / math.sqrt(math.log(len(frame)))) ** (2 / (2 + k)))
    places = {
        name: np.minimum((frame[name] - low) / (high - low) * bins, bins - 1).astype(int)
        if low is not None
        else frame[name]
        for name, low, high in columns
    }
    chosen = []
    for _ in range(k):

        def left(name):
            sizes = frame.groupby([places[c] for c in [*chosen, name]] + [frame["wealth"]], observed=True).size()
            cells = sizes.groupby(level=list(range(len(chosen) + 1)))
            return ((cells.sum() ** 2).sum() - (sizes**2).sum()) / 2

        chosen.append(min((name for name in places if name not in chosen), key=left))
    return set(chosen)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("k", [1, 2, 3])
def test_with_much_epsilon_the_attributes_are_the_greedy_ones(k, seed):
    frame = people(1500, seed)
    columns = [("age", 0, 80), ("pet", None, None), ("owner", None, None), ("noise", -1, 1)]
    model = PPH(1e9, n_attributes=k, schema=SCHEMA, random_state=0).fit(frame, "wealth")
    assert set(model.levels_) == greedy(frame, columns, k)


def test_the_cells_say_what_the_records_say_and_are_no_more_than_allowed():
    frame = people(1500).drop(columns="noise")
    schema = SCHEMA.subset(["age", "pet", "owner"])
    model = PPH(1e9, n_attributes=2, schema=schema, random_state=0).fit(frame, "wealth")
    assert model.levels_ == {"age": 1, "pet": 1}
    table = model.sample(3000)
    share = ((table["age"] >= 40) & (table["pet"] != "carp")).eq(table["wealth"] == "rich").mean()
    assert share > 0.9  # 5 % of the labels are wrong, and some bins reach over 40
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pph, "MOST_CELLS", 6)
        small = PPH(1e9, n_attributes=4, schema=schema, random_state=0).fit(frame, "wealth")
    assert small.levels_ == {"pet": 1, "owner": 1}


def test_the_number_of_bins_follows_the_noisy_number_of_records():
    frame = people(3000)
    model = PPH(1e9, n_attributes=1, schema=SCHEMA.subset(["age", "owner"]), random_state=0).fit(
        frame[["age", "owner", "wealth"]], "wealth"
    )
    expected = int((3000 / math.sqrt(math.log(3000))) ** (2 / 3))
    assert model.cell_counts_.shape[1] == expected


@pytest.mark.parametrize("epsilon", [3e-17, 1e-15])
def test_a_noisy_number_of_records_that_is_huge_asks_for_no_more_bins_than_cells(epsilon, monkeypatch):
    seen = []
    exact = pph.binned

    def watched(feature, bins):
        seen.append(bins)
        return exact(feature, bins)

    monkeypatch.setattr(pph, "binned", watched)
    for seed in range(4):
        PPH(epsilon, schema=SCHEMA, random_state=seed).fit(people(20), "wealth")
    assert 1000 < max(seen) <= MOST_CELLS
    # a number that no list of bins could have
    assert len(PPH(1e-90, schema=SCHEMA, random_state=0).fit(people(20), "wealth").sample(3)) == 3
