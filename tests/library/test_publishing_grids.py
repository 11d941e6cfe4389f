"""Publishers of grids: tables within the schema, charges, and scores and grids against enumeration and references."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from each_commit import others_in_full
from observing import observing
from pet_table import SCHEMA, people
from public_estimators import KINDS, NOT_PRIVATE, PUBLISHING
from sklearn.base import clone

from dpml.budget import Budget
from dpml.classifiers import DiffPC45, DiffPID3
from dpml.classifiers.grid.cells import MOST_CELLS
from dpml.exceptions import InvalidData, InvalidParameter, InvalidTaxonomy, NotPrivate
from dpml.mechanisms import ExponentialMechanism
from dpml.publishing import PPH, DiffGen, DiffGenStructNF, PrivBayes, PrivPfC, UniformGrid, grids
from dpml.publishing.grids import (
    DISCERNIBILITY_RANGE,
    discernibility,
    number_of_cells,
    specialisation_range,
    specialisation_score,
    uniform_bins,
)
from dpml.schema import Feature

PUBLISHERS = [KINDS[name] for name in PUBLISHING if name not in NOT_PRIVATE]
FOR_STUDY = [KINDS[name] for name in PUBLISHING if name in NOT_PRIVATE]


@pytest.mark.parametrize("epsilon", [1e-9, 0.01, 1.0, 1e9])
@pytest.mark.parametrize("kind", [*PUBLISHERS, *FOR_STUDY])
def test_a_table_satisfies_the_schema_at_every_epsilon(kind, epsilon):
    table = kind(epsilon, schema=SCHEMA, random_state=0).fit(people(), "wealth").sample(300)
    X, codes, _ = SCHEMA.check_table(table[SCHEMA.feature_names], table["wealth"])
    assert X.shape == (300, 4)
    assert len(codes) == 300
    assert list(table.columns) == [*SCHEMA.feature_names, "wealth"]


@pytest.mark.parametrize("kind", [*PUBLISHERS, *FOR_STUDY])
def test_table_has_the_released_number_of_records(kind):
    model = kind(1.0, schema=SCHEMA, random_state=0).fit(people(), "wealth")
    assert len(model.sample()) == pytest.approx(3000, abs=150)
    assert not model.sample(50, random_state=1).equals(model.sample(50, random_state=2))


@pytest.mark.parametrize("consistency", ["back-off", "total", "floor"])
@pytest.mark.parametrize("kind", [PrivPfC, DiffGen, PPH, UniformGrid])
def test_counts_of_a_grid_are_consistent(kind, consistency):
    model = kind(0.5, schema=SCHEMA, random_state=0, consistency=consistency).fit(people(), "wealth")
    assert (model.cell_counts_ >= 0).all()
    if consistency == "floor":
        assert (model.cell_counts_ == np.floor(model.cell_counts_)).all()


@pytest.mark.parametrize("kind", FOR_STUDY)
def test_a_choice_without_noise_is_for_study(kind):
    frame = people(50)
    with pytest.raises(NotPrivate, match=f"{kind.__name__} is not private at its published ε"):
        kind(1.0, schema=SCHEMA, release=True).fit(frame, "wealth")
    budget = Budget(1.0)
    with pytest.raises(NotPrivate, match="without a budget"):
        kind(1.0, schema=SCHEMA, budget=budget).fit(frame, "wealth")
    assert not len(budget.ledger)
    assert clone(kind(1.0)).private is False


OPTIONS = [
    (PrivPfC, {"max_grids": 0}), (PrivPfC, {"max_grids": 2.5}), (PrivPfC, {"calibration": "none"}),
    (PrivPfC, {"shares": (1, 1, 1)}), (PrivPfC, {"consistency": "no"}),
    (DiffGen, {"n_steps": 0}), (DiffGen, {"score": "no"}), (DiffGen, {"shares": (1, 1)}), (PPH, {"n_attributes": 0}),
    (PPH, {"shares": (0.5, 0.5)}), (UniformGrid, {"rule": "no"}), (UniformGrid, {"shares": (0.5, 0.6)}),
    (PrivBayes, {"degree": -1}), (PrivBayes, {"usefulness": 0}), (PrivBayes, {"score": "no"}),
    (DiffPC45, {"max_depth": -1}), (DiffPID3, {"criterion": "no"}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "options"), OPTIONS)
def test_parameters_are_named(kind, options):
    budget, frame = Budget(1.0), people(50)
    with pytest.raises(InvalidParameter, match=f"^`{next(iter(options))}` must be "):
        kind(**{"epsilon": 1.0, "schema": SCHEMA, "budget": budget, **options}).fit(
            frame.drop(columns="wealth"), frame["wealth"]
        )
    assert not len(budget.ledger)


def test_the_table_has_the_shares_of_the_counts():
    model = PrivPfC(1e6, schema=SCHEMA, random_state=0, max_grids=6, consistency="total").fit(people(), "wealth")
    table = model.sample(200_000)
    expected = model.cell_counts_.sum(axis=1) / model.cell_counts_.sum()
    shares = [(table["wealth"] == c).mean() for c in SCHEMA.classes]
    np.testing.assert_allclose(shares, expected, atol=0.006)  # over five standard errors


def test_counts_set_to_zero_add_records():
    empty = people(3000)
    empty["age"], empty["pet"], empty["owner"] = 10, "cat", 0
    totals = {
        c: np.mean([PrivPfC(1.0, schema=SCHEMA, random_state=s, consistency=c, calibration="published",
                            shares=(0.3, 1e-6, 0.7 - 1e-6)).fit(empty, "wealth").cell_counts_.sum() for s in range(20)])
        for c in ("floor", "total", "back-off")
    }  # fmt: skip
    assert totals["floor"] > 3020  # the choice is by chance, so that most grids have many empty cells
    assert totals["total"] == pytest.approx(3000, abs=10)
    assert totals["back-off"] == pytest.approx(3000, abs=10)


def test_labels_by_column_or_apart():
    frame = people(500)
    apart = frame.drop(columns="wealth")
    by_name = PrivPfC(1.0, schema=SCHEMA, random_state=0).fit(frame, "wealth")
    for labels in (frame["wealth"], frame["wealth"].tolist()):
        other = PrivPfC(1.0, schema=SCHEMA, random_state=0).fit(apart, labels)
        np.testing.assert_array_equal(by_name.cell_counts_, other.cell_counts_)
    assert other.sample(1).columns[-1] == "label"
    with pytest.raises(InvalidData, match="column 'rich' is missing"):
        PrivPfC(1.0, schema=SCHEMA).fit(frame, "rich")
    named = PrivPfC(1.0, random_state=0).fit(pd.DataFrame({"label": [0, 1, 1]}), [0, 1, 1])
    assert named.sample(2).columns.tolist() == ["label", "label_"]


def test_taxonomies_of_ones_own_take_the_place_of_the_schemas():
    frame = people()
    model = PrivPfC(1e6, schema=SCHEMA, taxonomies={"age": [[70]]}, random_state=0).fit(frame, "wealth")
    # one of sixteen drawn numbers is its group's lower end
    assert {0.0, 70.0} <= set(model.sample(1000)["age"])
    with pytest.raises(InvalidTaxonomy, match="'horse'"):
        PrivPfC(1.0, schema=SCHEMA, taxonomies={"horse": [[1]]}).fit(frame, "wealth")
    with pytest.raises(InvalidTaxonomy, match="level of 'age'"):
        PrivPfC(1.0, schema=SCHEMA, taxonomies={"age": [[90]]}).fit(frame, "wealth")
    with pytest.raises(InvalidTaxonomy, match=r"`taxonomies` must be .*Got 5"):
        PrivPfC(1.0, schema=SCHEMA, taxonomies=5).fit(frame, "wealth")


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


def test_choices_of_attributes_share_their_part_of_epsilon():
    with observing() as passed:
        PPH(1.0, n_attributes=3, shares=(0.1, 0.6, 0.3), schema=SCHEMA, random_state=0).fit(people(300), "wealth")
    choices = passed.of(ExponentialMechanism)
    assert [each.epsilon for each in choices] == pytest.approx([0.2] * 3)
    assert {each.change_range for each in choices} == {1.0}


@pytest.mark.parametrize("epsilon", [3e-17, 1e-15])
def test_a_huge_noisy_number_of_records_has_limited_bins(epsilon, monkeypatch):
    seen = []
    exact = grids.binned

    def watched(feature, bins):
        seen.append(bins)
        return exact(feature, bins)

    monkeypatch.setattr(grids, "binned", watched)
    for seed in range(4):
        PPH(epsilon, schema=SCHEMA, random_state=seed).fit(people(20), "wealth")
    assert 1000 < max(seen) <= MOST_CELLS
    # a number that no list of bins could have
    assert len(PPH(1e-90, schema=SCHEMA, random_state=0).fit(people(20), "wealth").sample(3)) == 3


def tables(shape, most):
    for cells in itertools.product(range(most + 1), repeat=shape[0] * shape[1]):
        yield np.array(cells).reshape(shape)


def changes(score, shape, most):
    """Return all changes of a score by one more record."""
    for table in tables(shape, most):
        before = specialisation_score(table, score)
        for place in np.ndindex(shape):
            more = table.copy()
            more[place] += 1
            yield specialisation_score(more, score) - before


@pytest.mark.parametrize(("shape", "most"), [((2, 2), 8), ((3, 2), 3), ((2, 3), 3), ((3, 3), 1)])
def test_one_record_adds_nothing_or_one_to_the_largest_classes(shape, most):
    found = set(changes("max", shape, most))
    assert found == {0.0, 1.0}  # both ends, in two groups at once
    assert specialisation_range("max", shape[0]) == 1
    assert specialisation_range("max", shape[0], "replace-one") == 2


@pytest.mark.parametrize(
    ("shape", "most"),
    others_in_full([((2, 2), 5), ((3, 2), 3), ((2, 3), 3), ((3, 3), 1), ((4, 2), 2)], first=2),
)
def test_the_gain_has_the_published_sensitivity(shape, most):
    found = np.array(list(changes("gain", shape, most)))
    assert np.abs(found).max() <= specialisation_range("gain", shape[0]) / 2 + 1e-12
    # two records of two classes in two children: from nothing to one bit
    assert found.max() == pytest.approx(1.0)
    assert found.min() < -0.5


def test_the_gain_is_the_entropy_that_the_children_save():
    table = np.array([[3, 1], [0, 4]])

    def h(*p):
        return -sum(q * np.log2(q) for q in p if q)

    # four of each class; children of (3, 0) and (1, 4)
    expected = h(1 / 2, 1 / 2) - 3 / 8 * h(1.0) - 5 / 8 * h(1 / 5, 4 / 5)
    assert specialisation_score(table, "gain") == pytest.approx(expected)
    assert specialisation_score(np.zeros((2, 2), dtype=int), "gain") == 0


# each attribute's tree by hand: a group is a set of values, and has groups below it
AGE = {f"{a}-{b}": (a, b) for a, b in ((0, 80), (0, 40), (40, 80), (0, 20), (20, 40), (40, 60), (60, 80))}
SUBGROUPS = {
    "age": {"0-80": ["0-40", "40-80"], "0-40": ["0-20", "20-40"], "40-80": ["40-60", "60-80"]},
    "pet": {"all": ["furry", "carp"], "furry": ["cat", "dog"]},
}
PETS = {"all": {"cat", "dog", "carp"}, "furry": {"cat", "dog"}, "carp": {"carp"}, "cat": {"cat"}, "dog": {"dog"}}


def inside(frame, attribute, group):
    if attribute == "age":
        low, high = AGE[group]
        return (frame["age"] >= low) & (frame["age"] < high)
    return frame["pet"].isin(PETS[group])


def naive(frame, n_steps):
    """DiffGen by the paper's words, without noise and with the score "max": a cut for each attribute."""
    cuts = {"age": ["0-80"], "pet": ["all"]}
    for _ in range(n_steps):
        best = None
        for attribute, cut in cuts.items():
            for group in cut:
                below = SUBGROUPS[attribute].get(group)
                if below:
                    score = sum(
                        frame["wealth"][inside(frame, attribute, child)].value_counts().max() for child in below
                    )
                    if best is None or score > best[0]:
                        best = score, attribute, group
        if best:
            _, attribute, group = best
            at = cuts[attribute].index(group)
            cuts[attribute][at : at + 1] = SUBGROUPS[attribute][group]
    return cuts


@pytest.mark.parametrize("n_steps", [1, 2, 3, 4, 5, 9])
@pytest.mark.parametrize("seed", [0, 1])
def test_without_noise_the_grid_is_the_papers(n_steps, seed):
    frame = people(500, seed)[["age", "pet", "wealth"]]
    schema = SCHEMA.subset(["age", "pet"])
    model = DiffGenStructNF(1e9, n_steps=n_steps, schema=schema, random_state=0, consistency="total").fit(
        frame, "wealth"
    )
    cuts = naive(frame, n_steps)
    expected = [
        int((inside(frame, "age", a) & inside(frame, "pet", p) & (frame["wealth"] == c)).sum())
        for c in schema.classes
        for a in cuts["age"]
        for p in cuts["pet"]
    ]
    np.testing.assert_allclose(model.cell_counts_.ravel(), expected, atol=1e-3)
    # with all of ε that one can wish for, the noise of the choices is nothing
    noisy = DiffGen(1e9, n_steps=n_steps, schema=schema, random_state=0, consistency="total").fit(frame, "wealth")
    np.testing.assert_allclose(noisy.cell_counts_, model.cell_counts_, atol=1e-3)


def test_a_grid_has_no_more_cells_than_allowed(monkeypatch):
    monkeypatch.setattr(grids, "MOST_CELLS", 5)
    model = DiffGenStructNF(1.0, n_steps=9, schema=SCHEMA, random_state=0).fit(people(500), "wealth")
    assert model.cell_counts_.shape[1] <= 5
    assert model.cell_counts_.shape[1] >= 4
