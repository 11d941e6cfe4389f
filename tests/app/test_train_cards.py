"""The cards and settings of the Train page without a browser: what is drawn, outdated, refused and said."""

from dataclasses import replace

import numpy as np
import pytest
from dpml_app.core.card import CHOSEN, IMMEDIATE, WORKER
from dpml_app.data.default_study import default_runs
from dpml_app.pages.train.compute import (
    METHODS,
    Row,
    TrainValues,
    chosen,
    measured,
    private,
    train_facts,
    why_not,
)
from dpml_app.pages.train.figures import PLAIN, AccuracyCard, LambdaCard, MethodsCard, styles
from dpml_app.pages.train.page import TrainPage
from dpml_app.pages.train.text import dataset_note, headline
from dpml_app.state import Settings
from dpml_app.views.curve import curve_table


def values_of(**changes):
    settings = Settings()
    settings.param.update(**changes)
    return TrainValues.of(settings)


def test_what_is_not_private_is_marked_and_dashed():
    table, categories = train_facts("census"), replace(train_facts("toy"), numeric=0, categorical=21, table=True)
    looks = styles(METHODS, table)
    marked = {name for name, style in looks.items() if "not private" in style.label}
    assert marked == {"vaidya", "published"}
    assert {name for name, style in looks.items() if style.dash == "dashed"} == marked
    assert {name for name in METHODS if not private(name, categories)} == {"published"}
    assert styles(("vaidya",), categories)["vaidya"].label.endswith("stated ε")


def test_methods_that_do_not_apply_say_why():
    table = train_facts("census")
    assert "same as global" in why_not("bun-steinke", replace(table, numeric=0))
    alone, binary = values_of(train_methods=["binned"]), replace(table, table=False)
    assert AccuracyCard().refusal(alone, table) == ""
    assert (
        AccuracyCard().refusal(alone, binary)
        == MethodsCard().refusal(alone, binary)
        == "Binned counts (needs a table)."
    )


@pytest.mark.parametrize("panel", TrainPage.kinds)
def test_every_task_depends_on_plain_values_and_the_server_waits_for_none_that_is_slow(panel):
    work = panel().work(values_of(train_methods=list(METHODS)), train_facts("census"))
    assert work
    for (_series, place), task in work.items():
        assert hash(task) is not None
        assert task.arguments[0] == "census"
        if place == IMMEDIATE:
            assert not METHODS[task.arguments[1]].anew
        elif panel is AccuracyCard and place != WORKER:
            assert task.arguments[2 if task.function is default_runs else 3] == place


def touched(before, now):
    """Return the series of which a task is new, but for those at the chosen setting."""
    old, new = ({(place, task) for place, task in work.items() if place[1] not in CHOSEN} for work in (before, now))
    return {place[0] for place, _task in old ^ new}


def test_only_what_a_setting_touches_is_computed_again():
    facts, panel, linear = train_facts("census"), AccuracyCard(), {"train_methods": ["auto", "objective", "output"]}
    before = panel.work(values_of(), facts)
    assert touched(before, panel.work(values_of(epsilon=1.0), facts)) == set()
    assert touched(before, panel.work(values_of(threshold_percentile=70), facts)) == {"algorithm-1"}
    lambdas = panel.work(values_of(**linear), facts), panel.work(values_of(train_lambda=1.0, **linear), facts)
    assert touched(*lambdas) == {"objective", "output"}
    assert touched(before, panel.work(values_of(seed=1), facts)) == set(values_of().train_methods)


@pytest.mark.parametrize("methods", [["auto", "binned"], ["binned"]])
def test_the_legend_names_the_known_levels(methods):
    facts, panel, values = train_facts("census"), AccuracyCard(), values_of(train_methods=methods)
    work = panel.work(values, facts)
    panel.show(values, facts, {place: {"accuracy": np.array([0.7, 0.8])} for place in work}, work)
    named = {item.label.value for item in panel.figure.plot.legend[0].items}
    assert {style.label for style in styles(chosen(values, facts), facts).values()} < named
    assert ("Non-private" in named) == ("auto" in methods)


def test_a_chosen_lambda_is_a_point_of_the_curves_and_the_public_rule_is_not():
    facts, panel = train_facts("toy"), LambdaCard()
    for reg_lambda, marked in ((5.0, 5.0), (0.0, None)):
        values = values_of(dataset="toy", train_lambda=reg_lambda, draws=10)
        work = panel.work(values, facts)
        results = {place: task.function(*task.arguments) for place, task in work.items() if place[1] in (*CHOSEN, 1.0)}
        panel.show(values, facts, results, work)
        assert panel.figure.marker.location == marked
        task = measured("objective", values, values.epsilon)
        mean = task.function(*task.arguments)["accuracy"].mean()
        curve = panel.figure.sources["objective"].data
        assert dict(zip(curve["reg_lambda"], curve["mean"], strict=True)).get(5.0) == (mean if marked else None)
        assert f"{100 * mean:.1f}" in panel.readout(values, facts, results)
        # without noise the same methods are one
        assert len(results[PLAIN, 1.0]["accuracy"]) == 1
    assert "not private" in panel.caption


def test_bands_hold_ninety_percent():
    draws = np.arange(101) / 100
    curve = curve_table({2.0: draws, 1.0: draws / 2}, "binned")
    assert curve["x"] == [1.0, 2.0]
    np.testing.assert_allclose(
        [curve["mean"], curve["low"], curve["high"]], [[0.25, 0.5], [0.025, 0.05], [0.475, 0.95]]
    )


def test_earlier_curves_stay_and_other_methods_are_drawn_on_the_same_plot():
    values, facts, card = values_of(train_methods=["binned"]), train_facts("census"), AccuracyCard()
    work = card.work(values, facts)
    results = {place: {"accuracy": np.array([0.7, 0.8])} for place in list(work)[:3]}
    assert card.greyed({}, work, True)
    card.show(values, facts, results, work)
    first = card.plots[0]
    table = first.select_one({"name": "train-accuracy-binned"}).data
    assert table["mean"].tolist() == pytest.approx([0.75] * 3)
    card.show(replace(values, seed=1), facts, {}, work)
    assert len(table["mean"]) == 3, "what was there stays"
    card.show(values_of(train_methods=["global", "binned"]), facts, {}, work)
    assert card.pane.object is card.plots[0] is first
    labels = [item.label.value for item in card.figure.legend.model.items]
    assert labels[-2:] == [METHODS[name].look.label for name in ("binned", "global")]


def test_words_state_the_numbers():
    facts = train_facts("census")
    values = values_of(epsilon=1.0, train_methods=["binned", "row-bounded", "published"])
    style = METHODS["binned"].look
    rows = [Row(style, 0.8, 0.7, 0.9, 0.85), Row(style, 0.9, 0.8, 1.0, 0.95, "∞")]
    text = headline(values, facts, rows).replace("\xa0", " ")
    assert "Best so far at ε = 1: <b>Binned counts, 80.0%</b> (non-private 85.0%)." in text
    assert f"Majority-class baseline: {100 * facts.majority:.1f}%." in text
    assert "4 numeric and 10 other features (84 binary columns)" in dataset_note(facts)
