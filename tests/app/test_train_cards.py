"""The cards and settings of the Train page without a browser: what is drawn, outdated, refused and said."""

from dataclasses import replace

import numpy as np
import pytest
from dpml_app.core.card import IMMEDIATE, WORKER
from dpml_app.data.default_study import default_runs
from dpml_app.pages.train.compute import (
    EVERY,
    LINEAR,
    METHODS,
    Row,
    TrainValues,
    chosen,
    nb_facts,
    private,
    why_not,
)
from dpml_app.pages.train.figures import NOISY, TRUE, AccuracyCard, styles
from dpml_app.pages.train.page import TrainPage
from dpml_app.pages.train.text import dataset_note, headline
from dpml_app.settings import EPSILONS, SWEEP_EPSILONS
from dpml_app.state import Settings
from dpml_app.views.curve import curve_table
from train_linear import touched


def values_of(**changes):
    settings = Settings()
    settings.param.update(**changes)
    return TrainValues.of(settings)


def test_what_is_not_private_is_marked_and_dashed():
    table, categories = nb_facts("census"), replace(nb_facts("toy"), numeric=0, categorical=21, table=True)
    looks = styles(tuple(METHODS), table)
    marked = {name for name, style in looks.items() if "not private" in style.label}
    assert marked == {"vaidya", "published"}
    assert {name for name, style in looks.items() if style.dash == "dashed"} == marked
    assert {name for name in METHODS if not private(name, categories)} == {"published"}
    assert styles(("vaidya",), categories)["vaidya"].label.endswith("stated ε")


def test_vaidya_is_drawn_at_what_it_pays_as_well():
    facts = replace(nb_facts("toy"), numeric=0, categorical=21)
    work = AccuracyCard().work(values_of(train_methods=["vaidya"]), facts)
    paid = {x: task for (series, x), task in work.items() if series == TRUE}
    assert sorted(paid) == [pytest.approx(21 * e + 1) for e in SWEEP_EPSILONS if 21 * e + 1 <= EPSILONS[-1]]
    assert all(task in work.values() and task.arguments[3] == pytest.approx((x - 1) / 21) for x, task in paid.items())


def test_cards_that_do_not_apply_say_why():
    values, table = values_of(), nb_facts("census")
    three = replace(table, classes=("a", "b", "c"))
    assert "3" in AccuracyCard().refusal(replace(values, train_measure="auc"), three)
    assert AccuracyCard().refusal(values, three) == ""
    assert "same as global" in why_not("bun-steinke", replace(table, numeric=0))


@pytest.mark.parametrize("panel", TrainPage.kinds)
def test_every_task_depends_on_plain_values_and_its_place_is_its_setting(panel):
    values, facts = (
        values_of(train_family="both", train_methods=list(METHODS), train_linear=list(LINEAR)),
        nb_facts("census"),
    )
    work = panel().work(values, facts)
    assert work
    assert all(hash(task.key) is not None and task.arguments[0] == "census" for task in work.values())
    at = {"accuracy": 3, "threshold": 3}.get(panel.name)
    for (series, x), task in work.items():
        if at and x not in (IMMEDIATE, WORKER) and series != TRUE:
            assert task.arguments[2 if task.function is default_runs else at] == x


def test_only_what_a_setting_touches_is_computed_again():
    facts, panel = nb_facts("census"), AccuracyCard()
    before = panel.work(values_of(), facts)
    assert touched(before, panel.work(values_of(epsilon=1.0), facts)) == set()
    assert touched(before, panel.work(values_of(train_trim=4), facts)) == {"smooth", "published"}
    linear = {"train_family": "linear"}
    before_linear = panel.work(values_of(**linear), facts)
    assert touched(before_linear, panel.work(values_of(train_lambda=1.0, **linear), facts)) == set(NOISY)
    assert touched(before, panel.work(values_of(seed=1), facts)) == {"auto", *values_of().train_methods}


@pytest.mark.parametrize("family", ["naive-bayes", "linear"])
def test_the_legend_names_the_known_levels(family):
    facts, panel = nb_facts("census"), AccuracyCard()
    if family == "linear":
        facts = replace(facts, accuracy={**facts.accuracy, "logistic": 0.8})
    values = values_of(train_family=family)
    work = panel.work(values, facts)
    panel.prepare(values, facts, {})
    panel.show({place: {"accuracy": np.array([0.7, 0.8])} for place in work}, work)
    named = {item.label.value for item in panel.figure.plot.legend[0].items}
    assert {style.label for style in styles(chosen(values, facts), facts).values()} < named
    assert ("Non-private, logistic" in named) == (family == "linear")
    assert "Non-private, binary" in named


def test_bands_hold_ninety_percent():
    draws = np.arange(101) / 100
    curve = curve_table({2.0: draws, 1.0: draws / 2}, "binned")
    assert curve["x"] == [1.0, 2.0]
    np.testing.assert_allclose(
        [curve["mean"], curve["low"], curve["high"]], [[0.25, 0.5], [0.025, 0.05], [0.475, 0.95]]
    )


def test_earlier_curves_stay_and_other_methods_are_drawn_on_the_same_plot():
    values, facts, card = values_of(train_begin=[], train_methods=["binned"]), nb_facts("census"), AccuracyCard()
    work = card.work(values, facts)
    results = {place: {"accuracy": np.array([0.7, 0.8])} for place in list(work)[:3]}
    card.prepare(values, facts, {})
    assert card.greyed({}, work, True)
    card.show(results, work)
    first = card.plots[0]
    table = first.select_one({"name": "train-accuracy-binned"}).data
    assert table["mean"].tolist() == pytest.approx([0.75] * 3)
    card.prepare(replace(values, seed=1), facts, {})
    card.show({}, work)
    assert len(table["mean"]) == 3, "what was there stays"
    card.prepare(values_of(train_begin=[], train_methods=["global", "binned"]), facts, {})
    assert card.pane.object is card.plots[0] is first
    labels = [item.label.value for item in card.figure.legend.model.items]
    assert labels[-2:] == [EVERY[name].look.label for name in ("binned", "global")]


def test_words_state_the_numbers():
    facts = nb_facts("census")
    values = values_of(epsilon=1.0, train_begin=[], train_methods=["binned", "row-bounded", "published"])
    style = EVERY["binned"].look
    rows = [Row(style, 0.8, 0.7, 0.9, 0.85), Row(style, 0.9, 0.8, 1.0, 0.95, "∞")]
    text = headline(values, facts, rows).replace("\xa0", " ")
    assert "Best so far at ε = 1: <b>Binned counts, 80.0%</b> (non-private 85.0%)." in text
    assert f"Majority-class baseline: {100 * facts.majority:.1f}%." in text
    assert "lies between" not in text
    assert "4 numeric and 10 other features (84 binary columns)" in dataset_note(facts)
