"""The cards and settings of the Train page without a browser: what is drawn, outdated, refused and said."""

from dataclasses import replace

import numpy as np
import pytest
from dpml_app.core.card import IMMEDIATE, WORKER
from dpml_app.core.card_page import _outdated
from dpml_app.pages.train.compute import LINEAR, METHODS, Row, TrainValues, nb_facts, private, why_not
from dpml_app.pages.train.figures import TRUE, AccuracyCard, every_style, share_figure, styles
from dpml_app.pages.train.page import TrainPage
from dpml_app.pages.train.text import dataset_note, headline
from dpml_app.settings import EPSILONS, SWEEP_EPSILONS
from dpml_app.state import Settings


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
    needs = {name for name, style in styles(tuple(METHODS), table, "gaussian-2").items() if "δ = 1/n²" in style.label}
    assert needs == {"smooth", "bun-steinke"}


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
            assert task.arguments[at] == x


def test_only_what_a_setting_touches_is_outdated():
    facts, panel = nb_facts("census"), AccuracyCard()
    before = panel.work(values_of(), facts)
    assert _outdated(before, panel.work(values_of(epsilon=1.0), facts)) == set()
    assert _outdated(before, panel.work(values_of(train_trim=4), facts)) == {"smooth", "published"}
    assert _outdated(before, panel.work(values_of(train_bins=9), facts)) == {"binned"}
    assert _outdated(before, panel.work(values_of(seed=1), facts)) == {"auto", *values_of().train_methods}


def test_bands_hold_ninety_percent_and_fade_until_complete():
    looks = {"binned": every_style()["binned"]}
    figure = share_figure("t", looks, {}, x_range=AccuracyCard().figures[0].plot.x_range)
    figure.restyle(looks)
    draws = np.arange(101) / 100
    figure.show("binned", {2.0: draws, 1.0: draws / 2}, True)
    curve = figure.curves["binned"].data
    assert list(curve["x"]) == [1.0, 2.0]
    np.testing.assert_allclose(
        [curve["mean"], curve["low"], curve["high"]], [[0.25, 0.5], [0.025, 0.05], [0.475, 0.95]]
    )
    figure.outdate("binned")
    assert (len(figure.curves["binned"].data["x"]), len(figure.stale["binned"].data["x"])) == (0, 2)
    figure.show("binned", {1.0: draws}, False)
    assert len(figure.stale["binned"].data["x"]) == 2
    figure.show("binned", {1.0: draws, 2.0: draws}, True)
    assert len(figure.stale["binned"].data["x"]) == 0


def test_series_are_made_when_first_shown_and_keep_their_order():
    looks = every_style()
    first, second, third = list(looks)[:3]
    references = {"majority": ("Majority-class baseline", "dotted")}
    figure = share_figure("t", looks, references, x_range=AccuracyCard().figures[0].plot.x_range)
    assert figure.curves == {}
    keys = len(figure.plot.renderers)
    for chosen in ((third,), (first,), (first, second)):
        figure.restyle({series: looks[series] for series in chosen})
    labels = [
        item.label["value"] if isinstance(item.label, dict) else item.label.value for item in figure.legend.model.items
    ]
    assert labels == [*(looks[series].label for series in (first, second, third)), "Majority-class baseline"]
    assert [item.visible for item in figure.legend.model.items] == [True, True, False, True]
    assert len(figure.plot.renderers) == keys + 3 * (6 + 2)
    assert figure.plot.renderers[:6] == figure.drawn[first]
    # a second time nothing is made
    renderers = list(figure.plot.renderers)
    figure.restyle(looks | {})
    figure.restyle({first: looks[first]})
    assert figure.plot.renderers[: 3 * 6] == renderers[: 3 * 6]


def test_words_state_the_numbers():
    facts = nb_facts("census")
    values = values_of(epsilon=1.0, train_begin=[], train_methods=["binned", "row-bounded", "published"])
    style = every_style()["binned"]
    rows = [Row(style, 0.8, 0.7, 0.9, 0.85), Row(style, 0.9, 0.8, 1.0, 0.95, "∞")]
    text = headline(values, facts, rows).replace("\xa0", " ")
    assert "Best so far at ε = 1: <b>Binned counts, 80.0%</b> (non-private 85.0%)." in text
    assert f"Majority-class baseline: {100 * facts.majority:.1f}%." in text
    assert "lies between" not in text
    assert "4 numeric and 10 other features (84 binary columns)" in dataset_note(facts)
