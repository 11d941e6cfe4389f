"""The bar that divides one ε among the parts of a release, and what each part buys."""

import math
import re

import numpy as np
import pytest
import uploaded_tables
from contrast import channels, contrast
from dpml_app import uploaded_table
from dpml_app.pages.mydata.compute import (
    PARTS,
    START,
    Bought,
    Runs,
    accuracy_reach,
    column_distance,
    moved,
    selection_reach,
    study_runs,
)
from dpml_app.pages.mydata.figures import BudgetBar
from dpml_app.pages.mydata.text import COLOURS, budget_bar
from dpml_app.shell import STYLES
from hypothesis import given
from hypothesis import strategies as st
from own_session import csv

from dpml.evaluation import private_confusion_matrix, release_evaluation
from dpml.exceptions import InvalidParameter
from dpml.publishing import PrivPfC
from dpml.schema import Schema
from dpml.selection import TopSelector

TINY = 1e-9


@st.composite
def splits(draw):
    """Shares of the four parts that add up to 1; some may be 0."""
    weights = draw(st.lists(st.integers(0, 1000), min_size=4, max_size=4).filter(any))
    return {part: weight / sum(weights) for part, weight in zip(PARTS, weights, strict=True)}


locks = st.sets(st.sampled_from(PARTS))
part_of = st.sampled_from(PARTS)
share = st.floats(0.0, 1.0)


def room(shares, part, locked):
    return 1 - math.fsum(shares[name] for name in locked - {part})


def total(shares):
    return math.fsum(shares.values())


@given(splits(), st.lists(st.tuples(part_of, share, locks), max_size=12))
def test_the_sum_stays_locked_ones_stay_and_none_is_negative_however_often_one_is_moved(shares, moves):
    for part, to, locked in moves:
        now = moved(shares, part, to, locked)
        assert list(now) == list(shares)
        assert total(now) == pytest.approx(1.0, abs=TINY)
        assert all(0.0 <= value <= 1.0 for value in now.values())
        assert {name: now[name] for name in locked} == {name: shares[name] for name in locked}
        shares = now


@given(splits(), part_of, share, locks)
def test_a_part_goes_where_it_is_moved_or_as_far_as_there_is_room(shares, part, to, locked):
    now = moved(shares, part, to, locked)
    if part in locked or set(PARTS) <= locked | {part}:
        assert now == shares
    else:
        assert now[part] == pytest.approx(min(to, room(shares, part, locked)), abs=TINY)


@given(splits(), part_of, share, locks)
def test_those_that_follow_keep_their_proportion(shares, part, to, locked):
    now = moved(shares, part, to, locked)
    follow = [name for name in PARTS if name != part and name not in locked]
    for one in follow:
        for other in follow:
            assert now[one] * shares[other] == pytest.approx(now[other] * shares[one], abs=TINY)


def test_from_nothing_each_gets_the_same():
    alone = {"selection": 0.0, "training": 1.0, "evaluation": 0.0, "publishing": 0.0}
    now = moved(alone, "training", 0.4, {"evaluation"})
    assert now == pytest.approx({"selection": 0.3, "training": 0.4, "evaluation": 0.0, "publishing": 0.3})


def test_what_cannot_be_is_named():
    with pytest.raises(InvalidParameter, match=r"`part` must be .*Got 'luck'"):
        moved(START, "luck", 0.5)
    with pytest.raises(InvalidParameter, match=r"`share` must be .*Got 1\.5"):
        moved(START, "training", 1.5)


# ---- the bar ---------------------------------------------------------------------------------------------------------


def test_sliders_move_each_other_and_locked_ones_stay():
    changes = []
    bar = BudgetBar(0.5, lambda: changes.append(total(bar.shares)))
    bar.sliders["training"].value = 70
    assert bar.sliders["selection"].value == pytest.approx(10)
    assert bar.sliders["publishing"].value == pytest.approx(10)
    bar.locks["training"].value = True
    assert bar.sliders["training"].disabled
    bar.sliders["selection"].value = 90
    # there is no more room, and the slider says so
    assert bar.sliders["selection"].value == pytest.approx(30)
    assert bar.shares["training"] == pytest.approx(0.7)
    assert bar.shares["publishing"] == 0.0
    bar.sliders["training"].value = 10
    assert bar.sliders["training"].value == pytest.approx(70)
    bar.locks["publishing"].value = bar.locks["evaluation"].value = True
    assert all(slider.disabled for slider in bar.sliders.values())
    assert changes == pytest.approx([1.0] * len(changes))
    assert len(changes) == 3


@pytest.mark.parametrize("junk", [None, -3.0, 1e300, float("nan"), float("inf")])
def test_what_a_browser_says_of_a_slider_is_not_trusted(junk):
    bar = BudgetBar(0.5, lambda: None)
    bar._move("training", junk)
    assert total(bar.shares) == pytest.approx(1.0)
    assert all(0 <= share <= 1 for share in bar.shares.values())


def test_the_bar_says_what_each_part_has_and_what_is_left_out():
    said = budget_bar(
        2.0, {"selection": 0.0, "training": 0.75, "evaluation": 0.0, "publishing": 0.25}, {"publishing"}, {}
    )
    assert "Selection left out" in said
    assert "Training <b>1.5</b>" in said
    assert "Publishing <b>0.5</b> (locked)" in said
    assert "width:75.000%" in said
    assert "Parts of ε = 2" in said


# ---- colours ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", PARTS)
def test_a_part_is_read_in_its_colour_and_seen_on_both_pages(part):
    assert contrast("#ffffff", COLOURS[part]) >= 4.5
    for page in ("#ffffff", "#121212"):
        assert contrast(page, COLOURS[part]) >= 3


def test_the_strip_and_the_pages_of_both_modes_are_read_in_light_and_dark():
    strips = re.findall(r"#mode \{\s*display: block; background: [^#;]*(#\w{6})[^#;]*(#\w{6})?", STYLES)
    assert len(strips) == 2
    for colour in filter(None, (colour for strip in strips for colour in strip)):
        assert contrast("#ffffff", colour) >= 4.5
    mixed = re.findall(r"color-mix\(in srgb, var\(--panel-background-color, #f6f8fa\) (\d+)%, (#\w{6})\)", STYLES)
    assert len(mixed) == 2
    for share, tint in mixed:
        for page, written in (("#f6f8fa", "#16202c"), ("#121212", "#ffffff")):
            assert contrast(between(page, tint, int(share) / 100), written) >= 7


def between(one, other, share):
    """Return the colour that has a share of one and the rest of another."""
    mixed = share * channels(one) + (1 - share) * channels(other)
    return "#" + "".join(f"{round(v):02x}" for v in mixed)


# ---- what each part buys ---------------------------------------------------------------------------------------------


def numbers(line):
    return [float(number.replace(",", "")) for number in re.findall(r"\d[\d,]*\.?\d*", line)]


# ---- formulas beside draws -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_the_reach_of_an_accuracy_is_that_of_the_interval_of_an_evaluation(epsilon):
    rng, n = np.random.default_rng(0), 3000
    y = rng.integers(2, size=n)
    right = rng.random(n) < 0.8
    measured = release_evaluation(
        y, np.where(right, y, 1 - y) * 2.0 - 1, epsilon, rng=rng, score_scale="log-odds", draws=20
    )
    low, high = measured.interval("accuracy", sampling=True)
    assert accuracy_reach(epsilon, n, 0.8, 2) == pytest.approx(np.mean(high - low) / 2, rel=0.1)


@pytest.mark.parametrize("n_classes", [4, 20])
def test_the_reach_of_an_accuracy_of_several_classes_is_that_of_their_confusion_matrix(n_classes):
    rng, n = np.random.default_rng(0), 3000
    y = rng.integers(n_classes, size=n)
    predicted = np.where(rng.random(n) < 0.8, y, (y + 1) % n_classes)
    measured = private_confusion_matrix(y, predicted, 0.1, classes=range(n_classes), rng=rng, draws=20)
    low, high = measured.interval("accuracy", sampling=True)
    # the other half of ε is for the area under their curves
    assert accuracy_reach(0.2, n, 0.8, n_classes) == pytest.approx(np.mean(high - low) / 2, rel=0.1)


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_published_columns_are_as_far_off_as_the_formula_says_at_most(epsilon):
    frame, schema, n = uploaded_tables.customers(4000), uploaded_tables.SCHEMA, 4000
    distances, expected = [], []
    for seed in range(30):
        publisher = PrivPfC(epsilon, schema=schema, random_state=seed, max_grids=10).fit(frame, "label")
        size = 2 ** publisher.levels_.get("age", 0)
        if size > 1:
            drawn = np.histogram(publisher.sample(n)["age"], size, (18, 98))[0] / n
            distances.append(np.abs(drawn - np.histogram(frame["age"], size, (18, 98))[0] / n).sum() / 2)
            expected.append(column_distance(epsilon, n, size, publisher.cell_counts_.size))
    assert len(distances) >= 20
    # counts below 0 are taken away, which brings a table nearer
    assert 0.8 * np.mean(expected) <= np.mean(distances) <= 1.1 * np.mean(expected)


def test_chosen_columns_are_as_good_as_the_formula_says_in_19_of_20_choices():
    rng, D, T, n, epsilon = np.random.default_rng(0), 30, 3, 4000, 0.5
    y = rng.integers(2, size=n)
    X = (rng.random((n, D)) < 0.5 + np.linspace(0, 0.3, D) * (y[:, None] - 0.5)).astype(int)
    counts = np.abs(X[y == 1].sum(axis=0) - X[y == 0].sum(axis=0))
    reach, missed = selection_reach(epsilon, D, T), 0
    for seed in range(100):
        selector = TopSelector(epsilon, T, method="permute-and-flip", schema=Schema.binary(D), random_state=seed)
        kept = selector.fit(X, y).get_support()
        missed += counts[~kept].max() - counts[kept].min() > reach
    assert missed <= 5
    assert reach < np.ptp(counts)


# ---- lines of a table ------------------------------------------------------------------------------------------------


def test_study_runs_of_a_model_have_accuracies_alone():
    """A model without signal always answers the larger class; its AUC of about 0.5 is no accuracy."""
    frame = uploaded_tables.customers(1000)
    frame["label"] = np.where(np.random.default_rng(0).random(1000) < 0.05, "leaves-by-sea", "stays")
    table = uploaded_table.make(frame, "label", uploaded_tables.SCHEMA, "customers.csv")
    uploaded_table.attach(table)
    try:
        assert study_runs(table.name, 1.0).accuracies.min() > 0.9
    finally:
        uploaded_table.drop(table.name)


def known():
    """Runs as of a table whose larger class has 60 % of the records."""
    accuracies = {0.01: 0.6, 0.1: 0.7, 1.0: 0.9}
    return {epsilon: Runs(np.array([at - 0.02, at, at + 0.02]), (4, 3), 24) for epsilon, at in accuracies.items()}


def test_more_of_an_epsilon_buys_more_of_each_part():
    bought = Bought(Schema.binary(40, n_lower=900), 5000, known())
    less, more = (
        bought.lines(2.0, dict.fromkeys(("selection", "training", "evaluation", "publishing"), e)) for e in (0.1, 0.2)
    )
    assert numbers(more["selection"])[-1] < numbers(less["selection"])[-1]
    assert numbers(more["training"])[0] > numbers(less["training"])[0] == 70.0
    assert numbers(more["evaluation"])[0] < numbers(less["evaluation"])[0]
    assert numbers(more["publishing"])[-1] < numbers(less["publishing"])[-1]
    assert numbers(more["publishing"])[:2] == [2, 40]


def test_an_accuracy_never_falls_with_epsilon_however_its_runs_scatter():
    scattered = {
        0.1: Runs(np.array([0.8]), (), 2),
        0.3: Runs(np.array([0.7]), (), 2),
        1.0: Runs(np.array([0.9]), (), 2),
    }
    bought = Bought(uploaded_tables.SCHEMA, 800, scattered)
    levels = [numbers(bought.lines(1.0, {"training": e})["training"])[0] for e in (0.05, 0.1, 0.2, 0.3, 0.5, 1, 2)]
    assert levels == sorted(levels)
    assert levels[2] == 75.0


def test_a_part_that_is_left_out_buys_nothing_and_what_is_not_known_is_said():
    bought = Bought(uploaded_tables.SCHEMA, 800)
    lines = bought.lines(1.0, {"training": 0.5, "evaluation": 0.5, "publishing": 0.0})
    assert set(lines) == {"training", "evaluation"}
    bought.known = known()
    binary = Bought(Schema.binary(40, n_lower=900), 800, known())
    for of, epsilons in ((bought, {"training": 0.5}), (binary, {"training": 0.5, "selection": 0.0})):
        assert "all columns" not in of.lines(1.0, epsilons)["training"]
    assert "using all columns" in binary.lines(1.0, {"selection": 0.5, "training": 0.5})["training"]
    bought.known = {}
    assert "estimating" in lines["training"]
    bought.waiting = False
    assert "no estimate" in bought.lines(1.0, {"training": 1.0})["training"]


def test_the_lines_follow_a_slider():
    bar = BudgetBar(1.0, lambda: None)
    bar.bought = Bought(uploaded_tables.SCHEMA, 5000, known())
    bar.begin(selection=False)
    before = bar.picture.object
    bar.sliders["training"].value = 80
    assert "Do not publish them" in before
    line = re.search(r"Training <b>0.8</b>: a model with ([\d.]+)", bar.picture.object)
    assert line
    assert line.group(1) not in before
    # of a half, a quarter and a quarter the other two keep a tenth each
    assert "Evaluation <b>0.1</b>: accuracy measured to ±" in bar.picture.object


def test_the_page_says_it_of_its_own_table_and_forgets_it_with_the_mode(session, monkeypatch):
    monkeypatch.setattr("dpml_app.pages.mydata.compute.RUN_EPSILONS", (0.1, 1.0))
    one = session()
    one.upload(csv())
    one.confirm()
    one.use()
    step = one.page.release
    one.do(step.enter)
    assert re.search(r"Training <b>[\d.]+</b>: a model with \d", step.shares.picture.object)
    assert re.search(r"Publishing <b>[\d.]+</b>: a synthetic table with \d of 3 columns", step.shares.picture.object)
    one.do(step.leave)
    assert step.shares.bought is None
