"""The Publish page plots what the library computes, and each control changes what it should: read without a browser."""

import numpy as np
import pytest
from dpml_app.pages.publish import compute, curves, main_card, words
from dpml_app.pages.publish.compute import drawn_table
from dpml_app.pages.publish.one_release import release_facts
from dpml_app.shell import Shell

FIGURES = {
    "table": ["publish-cost-table", "publish-models-table"],
    "cells": ["publish-models-cells"],
    "linear": ["publish-models-linear"],
    "gap": ["publish-gap"],
    "drawn": ["publish-marginals"],
    "release": ["publish-grid-taken", "publish-chances-bars", "publish-cells-0"],
    "grids": ["publish-grids-table"],
    "shares": ["publish-shares-table"],
    "columns": ["publish-columns-table"],
    "records": ["publish-records-table"],
    "rivals": ["publish-rivals-pph"],
}
FEW = "&dataset=toy&publish_draws=5&publish_grids=100"
# in this order on one page: what is changed, and which figures that moves
TABLES = {"table", "gap", "grids", "shares", "columns", "records"}
CONTROLS = [
    ({"publish_draw": 2}, {"drawn", "release"}),
    ({"epsilon": 1.25}, {"gap", "drawn", "release", "grids", "shares", "columns", "records"}),
    ({"publish_share": 0.47}, (TABLES - {"shares"}) | {"cells", "drawn", "release"}),
    ({"publish_grids": 300}, (TABLES - {"grids"}) | {"cells", "drawn", "release"}),
    ({"publish_classifier": "logistic"}, TABLES | {"rivals"}),
    ({"seed": 1}, set(FIGURES)),
    ({"relation": "replace-one"}, set(FIGURES)),
    ({"publish_draws": 10}, TABLES | {"cells", "linear"}),
]


def figures(alone):
    return {name: [alone.read(source) for source in sources] for name, sources in FIGURES.items()}


# at each commit two, whose figures are nearly all
@pytest.mark.parametrize(
    "controls", [[CONTROLS[0], CONTROLS[2]], pytest.param(CONTROLS, marks=pytest.mark.full)], ids=["two", "all"]
)
def test_each_control_changes_what_it_should_and_nothing_else(alone, short_curves, controls):
    alone.enter("publish", FEW + "&epsilon=1")
    before, chosen = figures(alone), alone.settings
    for change, expected in controls:
        alone.act(**change)
        after, now = figures(alone), alone.settings
        assert {name for name in before if before[name] != after[name]} == expected, change
        assert {name: now[name] for name in now if chosen[name] != now[name]} == change
        before, chosen = after, now


def test_a_data_set_of_words_is_refused_in_words():
    shell = Shell()
    shell.link({"page": "publish", "dataset": "newsgroup1"})
    sentence = "newsgroup1 is a text, and this page publishes tables: it shows census."
    assert [text for _severity, text in shell.shown._messages.values()] == [sentence]


def test_plots_hold_what_the_library_computes(alone, short_curves):
    epsilons = main_card.SWEEP_EPSILONS
    alone.enter("publish", FEW + "&epsilon=0.63&seed=2&publish_share=0.47&relation=replace-one&publish_classifier=svm")
    key = ("toy", "replace-one")
    table, true = alone.read("publish-cost-table"), compute.on_true_table("toy", "svm")
    assert table["epsilon"] == pytest.approx(epsilons)
    drawn = compute.published(*key, epsilons[2], 100, 0.47, 0, "svm", 5, 2)
    assert table["mean"][2] == pytest.approx(100 * (true - drawn.mean()))
    assert [table["low"][2], table["high"][2]] == pytest.approx(100 * np.quantile(true - drawn, [0.05, 0.95]))
    assert alone.read("publish-models-table")["mean"][2] == pytest.approx(drawn.mean())
    cells = compute.cells(*key, epsilons[2], 100, 0.47, 5, 2)
    assert alone.read("publish-models-cells")["mean"][2] == pytest.approx(cells.mean())
    linear = compute.linear(*key, epsilons[2], 5, 2)
    assert alone.read("publish-models-linear")["mean"][2] == pytest.approx(linear.mean())
    now = compute.published(*key, 0.63, 100, 0.47, 0, "svm", 5, 2)
    assert alone.array("publish-gap", "cost") == pytest.approx([100 * (true - now.mean())])
    assert alone.array("publish-draws", "cost") == pytest.approx(100 * (true - now))
    one = drawn_table(*key, 0.63, 100, 0.47, 2, 0)
    bars = alone.read("publish-marginals")
    assert bars["published"] == [share for shares in one["shares"]["published"] for share in shares]
    assert {c for c, kept in zip(bars["column"], bars["kept"], strict=True) if kept} == {one["names"][0], *one["kept"]}
    for said in (words.percent(float(now.mean())), words.percent(true), words.points(true - now.mean())):
        assert said.replace("\N{NO-BREAK SPACE}", " ") in alone.text.replace("\N{NO-BREAK SPACE}", " ")
    shown = release_facts(*key, 0.63, 100, 0.47, 2)
    assert alone.array("publish-chances-bars", "chance") == pytest.approx(shown["chances"])
    assert alone.read("publish-chances-bars")["name"] == list(shown["names"])
    assert alone.array("publish-cells-1", "noisy") == pytest.approx(shown["noisy"][:, 1])
    assert alone.read("publish-grids-table")["x"] == list(curves.GRIDS)
    assert alone.read("publish-shares-table")["x"] == pytest.approx(curves.SHARE_LADDER)
    drawn = compute.published(*key, 0.63, 100, 0.47, 4, "svm", 5, 2)
    columns = alone.read("publish-columns-table")
    assert columns["mean"][columns["x"].index(4)] == pytest.approx(drawn.mean())
    records = alone.read("publish-records-table")
    assert records["x"] == [100, 300, 1000]
    drawn = compute.published(*key, 0.63, 100, 0.47, 0, "svm", 5, 2, 300)
    assert records["mean"][1] == pytest.approx(drawn.mean())
    rival = compute.rival("diffgen", *key, curves.RIVAL_EPSILONS[1], 100, "svm", 5, 2)["accuracy"]
    assert alone.read("publish-rivals-diffgen")["mean"][1] == pytest.approx(rival.mean())


def test_drawing_again_shows_the_next_of_the_drawn_tables_and_begins_anew_after_the_last(alone, short_curves):
    alone.enter("publish", FEW + "&epsilon=1&publish_draw=4")
    page, shown = alone.page, []
    for _click in range(3):
        shown.append(page.cards["tables"].rows.object)
        alone.act(publish_draw=alone.settings["publish_draw"] % 5 + 1)
    assert ["Published table 4 of 5" in shown[0], "Published table 5 of 5" in shown[1]] == [True, True]
    assert "Published table 1 of 5" in shown[2]
    assert len(set(shown)) == 3
