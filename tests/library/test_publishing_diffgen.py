"""DiffGen: the changes of its scores by enumeration, and its grid against a naive reference."""

import itertools

import numpy as np
import pytest
from each_commit import others_in_full
from observing import observing
from pet_table import SCHEMA, people

from dpml.classifiers.grid import Records, places_of
from dpml.publishing import DiffGen, DiffGenStructNF
from dpml.publishing.tables import diffgen
from dpml.publishing.tables.diffgen import release_specialisations, specialisation_range, specialisation_score


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
    others_in_full([((2, 2), 8), ((3, 2), 3), ((2, 3), 3), ((3, 3), 1), ((4, 2), 2)], first=3),
)
def test_one_record_changes_the_gain_by_the_published_sensitivity_at_most(shape, most):
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
TREES = {
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
                below = TREES[attribute].get(group)
                if below:
                    score = sum(
                        frame["wealth"][inside(frame, attribute, child)].value_counts().max() for child in below
                    )
                    if best is None or score > best[0]:
                        best = score, attribute, group
        if best:
            _, attribute, group = best
            at = cuts[attribute].index(group)
            cuts[attribute][at : at + 1] = TREES[attribute][group]
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


def test_a_drawn_value_lies_in_its_group():
    frame = people(2000)
    model = DiffGenStructNF(1e9, n_steps=4, schema=SCHEMA, random_state=0, consistency="total").fit(frame, "wealth")
    table = model.sample(4000)
    for low, high in ((0, 40), (40, 80)):
        for c in SCHEMA.classes:
            shares = [((t["age"] >= low) & (t["age"] < high) & (t["wealth"] == c)).mean() for t in (frame, table)]
            assert shares[0] == pytest.approx(shares[1], abs=0.04)  # five standard errors of 4,000 draws


def test_a_grid_has_no_more_cells_than_allowed(monkeypatch):
    monkeypatch.setattr(diffgen, "MOST_CELLS", 5)
    model = DiffGenStructNF(1.0, n_steps=9, schema=SCHEMA, random_state=0).fit(people(500), "wealth")
    assert model.cell_counts_.shape[1] <= 5
    assert model.cell_counts_.shape[1] >= 4


def test_each_step_has_an_equal_part_of_the_first_share():
    frame = people(200)
    X, codes, _ = SCHEMA.check_table(frame.drop(columns="wealth"), frame["wealth"])
    taxonomies = tuple(f.taxonomy for f in SCHEMA.features)
    records = Records(places_of(X, SCHEMA, taxonomies), codes, 2, taxonomies)
    with observing() as passed:
        release_specialisations(records, 1.0, n_steps=4, shares=(0.2, 0.8), rng=np.random.default_rng(0))
    *choices, counts = [mechanism for mechanism, _ in passed]
    assert [choice.epsilon for choice in choices] == pytest.approx([0.05] * 4)
    assert {choice.change_range for choice in choices} == {1.0}
    assert counts.scale == pytest.approx(1 / 0.8)
