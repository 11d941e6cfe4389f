"""The default classifier's public rule, and the map of what a fit did."""

from dataclasses import replace

import numpy as np
import pytest
from observing import observing
from people import FEATURES, people

from dpml.classifiers import AutoClassifier
from dpml.classifiers.automatic import Plan, default_plan
from dpml.classifiers.automatic.layout import MOST_GROUPS
from dpml.classifiers.automatic.plan import (
    ENOUGH,
    ENOUGH_FOR_CLASSES,
    ENOUGH_FOR_GRID,
    ENOUGH_FOR_MIXED,
    FEW_GROUPS,
    GRID_SHARE,
    HIDDEN,
    LARGE,
    MANY_CLASSES,
    MIDDLE,
    MOST_BINARY,
    MOST_FOR_GRID,
    SMALL_SHARE,
    TRUST_FOR_CLASSES,
    WEIGHT,
)
from dpml.mechanisms import Laplace
from dpml.schema import Feature, Schema


def test_the_rule_tells_words_from_attributes():
    assert default_plan(Schema.binary(MOST_BINARY, n_lower=5000), 1.0).kind == "table"
    assert default_plan(Schema.binary(MOST_BINARY + 1, n_lower=5000), 1.0) == Plan("words", look=True)
    assert default_plan(Schema.binary(1000, n_lower=2000), 1.0) == Plan("words")
    assert default_plan(Schema.binary(1000, n_lower=1999), 1.0) == Plan("words", look=True)
    blocks = [Feature(f"{a}={v}", block=f"a{a}", exhaustive=True) for a in range(30) for v in range(4)]
    assert default_plan(Schema(tuple(blocks), n_lower=5000), 1.0).kind == "table"


def test_the_rule_counts_records_for_each_weight():
    schema = Schema([Feature(c, "categorical", tuple("uvwxy")) for c in "abcd"], (0, 1), n_lower=1000)

    def chosen(epsilon, *more, of=schema, **options):
        plan = default_plan(of, epsilon, *more, **options)
        return plan.addition, plan.grid_share > 0

    counts, alone, both = ("counts", True), ("weights", False), ("weights", True)
    # four attributes of four weights
    edge = ENOUGH * 16 / 1000
    assert [chosen(e) for e in (0.99 * edge, edge)] == [counts, both]
    assert chosen(1.5 * edge, relation="replace-one") == counts
    assert chosen(edge, 500) == counts
    three, edge_of_grid = Schema(schema.features, (0, 1, 2), n_lower=1000), ENOUGH_FOR_GRID * 16 / 1000
    assert [chosen(e * edge_of_grid, of=three) for e in (2.99, 3)] == [counts, both]
    # many classes: weights alone before a grid has cells for them
    edge, second = ENOUGH_FOR_CLASSES * 16 / 1000, 16 * edge_of_grid
    many = replace(three, classes=tuple(range(16)))
    assert [chosen(e, of=many) for e in (0.99 * edge, edge, 0.99 * second, second)] == [counts, alone, alone, both]
    assert default_plan(many, second).trust == TRUST_FOR_CLASSES
    assert chosen(1.0, of=Schema((Feature("a", "categorical", ("u",)),), n_lower=1000)) == both


def test_the_grid_beside_weights_gets_less_the_more_records_each_has():
    schema = Schema([Feature(c, "categorical", tuple("uvwxy")) for c in "abcd"], (0, 1), n_lower=10_000)
    edge, counts = ENOUGH * 16 / 10_000, GRID_SHARE
    for relation, factor in (("add-remove", 1), ("replace-one", 2)):
        plans = [default_plan(schema, factor * e, relation=relation) for e in (edge, 2 * edge, 10.0, 1e6)]
        middle = SMALL_SHARE + (counts - SMALL_SHARE) / 64
        assert [p.grid_share for p in plans] == pytest.approx([counts, middle, MOST_FOR_GRID / 10, MOST_FOR_GRID / 1e6])
        assert [plan.trust for plan in plans] == pytest.approx([counts, middle, SMALL_SHARE, SMALL_SHARE], abs=1e-6)


def test_the_rule_gives_counts_more_weight_where_there_are_many_classes():
    # so many weights that counts are taken instead
    features = [Feature(f"x{i}", "numeric", lower=0, upper=1) for i in range(40)]

    def chosen(classes, each):
        schema = Schema(features, tuple(range(classes)), n_lower=1000)
        plan = default_plan(schema, each * classes / 1000)
        assert plan.addition == "counts"
        return plan.grid_share, plan.weight, plan.most_groups

    usual = GRID_SHARE, WEIGHT, MOST_GROUPS
    assert [chosen(4, 149), chosen(4, 150)] == [(*HIDDEN, MOST_GROUPS), usual]
    found = [chosen(MANY_CLASSES, each) for each in (99, 100, 249, 250)]
    assert [of[:2] for of in found] == [HIDDEN, MIDDLE[1:], MIDDLE[1:], LARGE[1:]]
    # forty attributes of eight groups: so many counts of each class, and fewer records times ε than that for each
    assert [chosen(8, each)[2] for each in (319, 320)] == [FEW_GROUPS, MOST_GROUPS]


def test_a_wide_table_with_numbers_is_one_of_attributes_under_much_noise():
    binary = [Feature(f"b{i}") for i in range(MOST_BINARY + 20)]
    number = Feature("x", "numeric", lower=0, upper=1)
    schema = Schema((*binary, number), n_lower=1000)
    edge = ENOUGH_FOR_MIXED * (len(binary) + 7) / 1000
    assert [default_plan(schema, e).kind for e in (0.99 * edge, edge)] == ["table", "mixed"]
    assert default_plan(Schema(tuple(binary), n_lower=1000), 0.99 * edge).kind == "words"


@pytest.mark.parametrize(
    ("n_lower", "epsilon", "relation"),
    [(3000, 5.0, "replace-one"), (3000, 0.02, "add-remove"), (None, 2.0, "add-remove")],
)
def test_the_map_of_a_fit_adds_up_and_names_what_was_done(n_lower, epsilon, relation):
    table, y = people()
    facts = {"n_rows": 4000} if relation == "replace-one" else {}
    schema = Schema(FEATURES, ("no", "yes"), n_lower=n_lower, **facts)
    with observing() as passed:
        model = AutoClassifier(epsilon, schema=schema, relation=relation, random_state=0).fit(table, y)
    parts = model.explain().set_index("part")
    assert parts["epsilon"].sum() == pytest.approx(epsilon)
    assert parts["share"].sum() == pytest.approx(1.0)
    scales = [mechanism.scale for mechanism, _ in passed if isinstance(mechanism, Laplace)]
    stated = parts["noise_scale"].dropna()
    assert all(any(scale == pytest.approx(other) for other in scales) for scale in stated)
    assert ("number of records" in parts.index) == (n_lower is None)
    if "histograms" in parts.index:
        assert parts.loc["histograms", "columns"] == "age"
    grid = model._model_of_table.grid
    named = [model._model_of_table.layout.everything[a].feature.name for a in grid.attributes]
    assert [each.split(" (")[0] for each in parts.loc["grid", "columns"].split(", ")] == named


def test_the_map_of_words_is_one_part():
    X, y = np.eye(80)[np.arange(200) % 80], np.arange(200) % 2
    model = AutoClassifier(1.0, schema=Schema.binary(80, row_bound=2, n_lower=200), random_state=0).fit(X, y)
    assert model.explain()[["part", "share"]].to_numpy().tolist() == [["words", 1.0]]
