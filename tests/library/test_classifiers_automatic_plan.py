"""The default classifier's public rule, and the map of what a fit did."""

from dataclasses import replace

import numpy as np
import pytest
from observing import observing
from people import FEATURES, people

from dpml.classifiers import AutoClassifier
from dpml.classifiers.automatic import Plan, default_plan
from dpml.classifiers.automatic.layout import MOST_CLASSES, MOST_GROUPS, Layout
from dpml.classifiers.automatic.plan import (
    ENOUGH,
    ENOUGH_FOR_CLASSES,
    FEW_RECORDS,
    MOST_BINARY,
    MOST_FOR_GRID,
    SHARE_FOR_CLASSES,
    SMALL_SHARE,
    gaussian_gain,
)
from dpml.mechanisms import Laplace, OneHotNorm
from dpml.mechanisms.noise import gaussian_sigma
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

    grid, alone, both = ("none", True), ("weights", False), ("weights", True)
    # four attributes of four weights
    edge = ENOUGH * 16 / 1000
    assert [chosen(e) for e in (edge, 1.01 * edge)] == [grid, both]
    assert chosen(1.5 * edge, relation="replace-one") == grid
    assert chosen(1.01 * edge, 500) == grid
    three, few, edge = replace(schema, classes=(0, 1, 2)), FEW_RECORDS / 1000, ENOUGH_FOR_CLASSES * 16 / 1000
    assert [chosen(e, of=three) for e in (few - 0.01, few, 0.99 * edge, edge)] == [grid, *2 * [("counts", True)], both]
    assert default_plan(three, edge).grid_share == SHARE_FOR_CLASSES
    # beside weights of many classes the cells of a grid stay large, and only there
    assert [default_plan(three, e).cell_records for e in (few, edge)] == [0, ENOUGH]
    assert default_plan(schema, 10.0).cell_records == 0
    # beside what is added for many classes a grid has too few cells
    many = replace(three, classes=tuple(range(MOST_CLASSES + 1)))
    assert [chosen(e, of=many) for e in (few - 0.01, few, edge)] == [grid, ("counts", False), alone]
    assert chosen(1.0, of=Schema((Feature("a", "categorical", ("u",)),), n_lower=1000)) == both


def test_the_grid_beside_weights_gets_less_the_more_records_each_has():
    schema = Schema([Feature(c, "categorical", tuple("uvwxy")) for c in "abcd"], (0, 1), n_lower=10_000)
    edge, small = ENOUGH * 16 / 10_000, 1 - SMALL_SHARE
    for relation, factor in (("add-remove", 1), ("replace-one", 2)):
        epsilons = [factor * e for e in (edge, 1.001 * edge, 1.1 * edge, 2 * edge, 10.0, 1e6)]
        first, least, near, *plans = [default_plan(schema, epsilon, relation=relation) for epsilon in epsilons]
        # nothing jumps where weights begin: they get little, and are pulled to the grid's answer
        assert first == least == Plan("table")
        assert near.grid_share == near.trust == pytest.approx(SMALL_SHARE + small / 1.1**4)
        assert near.reg_factor == pytest.approx(1 / (1 - 1 / 1.1**4))
        middle = SMALL_SHARE + small / 16
        assert [p.grid_share for p in plans] == pytest.approx([middle, MOST_FOR_GRID / 10, MOST_FOR_GRID / 1e6])
        assert [plan.trust for plan in plans] == pytest.approx([middle, SMALL_SHARE, SMALL_SHARE], abs=1e-6)
        assert [plan.reg_factor for plan in plans] == pytest.approx([16 / 15, 1, 1])


def test_a_grid_of_little_epsilon_leaves_the_regulariser_as_it_is():
    # few records and a large ε: the grid gets `MOST_FOR_GRID`, whatever the number of records for each weight
    schema = Schema([Feature(c, "categorical", tuple("uvwxy")) for c in "abcd"], (0, 1), n_lower=40)
    plan = default_plan(schema, 4.1)
    assert plan.addition == "weights"
    assert plan.grid_share == pytest.approx(MOST_FOR_GRID / 4.1)
    assert plan.trust > 0.9
    assert plan.reg_factor == 1


def test_counts_are_added_and_have_more_groups_where_noise_hides_less():
    # so many weights that counts are taken instead
    features = [Feature(f"x{i}", "numeric", lower=0, upper=1) for i in range(40)]

    def chosen(classes, records):
        plan = default_plan(Schema(features, tuple(range(classes)), n_lower=1000), records / 1000)
        return plan.addition, plan.grid_share, plan.most_groups

    assert chosen(2, 78) == ("none", 1.0, MOST_GROUPS)
    assert [chosen(4, FEW_RECORDS + k)[:2] for k in (-1, 0)] == [("none", 1.0), ("counts", SHARE_FOR_CLASSES)]
    # forty attributes: half of so many counts of each class as there are records times ε for it
    assert [chosen(30, 30 * each) for each in (39, 79, 80, 159, 160)] == [("counts", 0.0, g) for g in (2, 2, 4, 4, 8)]


def test_a_wide_table_with_numbers_is_one_of_naive_bayes():
    binary = [Feature(f"b{i}") for i in range(MOST_BINARY + 20)]
    number = Feature("x", "numeric", lower=0, upper=1)
    schema = Schema((*binary, number), n_lower=1000)
    assert [default_plan(schema, e).kind for e in (0.01, 10)] == ["mixed", "mixed"]
    assert default_plan(Schema(tuple(binary), n_lower=1000), 0.01).kind == "words"


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


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_gaussian_noise_counts_as_more_records_where_it_is_less(relation):
    columns = [Feature(f"x{i}", "categorical", tuple("uvwxy")) for i in range(60)]
    wide, narrow = (Schema(columns[:k], (0, 1), n_lower=5000) for k in (60, 3))
    options = {"delta": 1e-6, "relation": relation}
    # 240 weights, and two for the grid and the constant; squared length 60 · 4/5 + 2
    gain = OneHotNorm(1.0, (5,) * 60, n_scalars=2).deviation / gaussian_sigma(1.0, 1e-6, np.sqrt(50))
    assert gaussian_gain(Layout.of(wide), 1.0, 1e-6) == pytest.approx(gain)
    assert gain > 1 > gaussian_gain(Layout.of(narrow), 1.0, 1e-6)
    edge = ENOUGH * 240 / gain * {"add-remove": 1, "replace-one": 2}[relation]
    plans = [default_plan(wide, 1.0, n, **options) for n in (0.99 * edge, 1.01 * edge)]
    assert [(plan.addition, plan.delta) for plan in plans] == [("none", 0.0), ("weights", 1e-6)]
    assert default_plan(wide, 1.0, 1.01 * edge, relation=relation).addition == "none"
    assert default_plan(narrow, 1.0, **options) == default_plan(narrow, 1.0, relation=relation)
    three = replace(wide, classes=(0, 1, 2))
    assert default_plan(three, 9.0, **options) == default_plan(three, 9.0, relation=relation)
