"""The Publish page plots what the library computes, and each control changes what it should: read without a browser."""

import numpy as np
import pytest
from bokeh.models import Text
from dpml_app.pages.publish import compute, curves, main_card, words
from dpml_app.pages.publish.figures import AccuracyFigure
from dpml_app.pages.publish.one_release import release_facts
from dpml_app.shell import Shell

FIGURES = {
    "table": ["publish-accuracy-table"],
    "cells": ["publish-accuracy-cells"],
    "linear": ["publish-accuracy-linear"],
    "gap": ["publish-gap"],
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
    ({"epsilon": 1.25}, {"gap", "release", "grids", "shares", "columns", "records"}),
    ({"publish_share": 0.47}, (TABLES - {"shares"}) | {"cells", "release"}),
    ({"publish_grids": 300}, (TABLES - {"grids"}) | {"cells", "release"}),
    ({"publish_classifier": "logistic"}, TABLES | {"rivals"}),
    ({"seed": 1}, set(FIGURES)),
    ({"relation": "replace-one"}, set(FIGURES)),
    ({"publish_draws": 10}, TABLES | {"cells", "linear"}),
]


def figures(alone):
    return {name: [alone.read(source) for source in sources] for name, sources in FIGURES.items()}


# at each commit the first two, whose figures are nearly all
@pytest.mark.parametrize("controls", [CONTROLS[:2], pytest.param(CONTROLS, marks=pytest.mark.full)], ids=["two", "all"])
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
    sentence = "newsgroup1 has more than 60 columns, and a published table tells few apart: it shows census."
    assert [text for _severity, text in shell.shown._messages.values()] == [sentence]


def test_plots_hold_what_the_library_computes(alone, short_curves):
    epsilons = main_card.SWEEP_EPSILONS
    alone.enter("publish", FEW + "&epsilon=0.63&seed=2&publish_share=0.47&relation=replace-one&publish_classifier=svm")
    key = ("toy", "replace-one")
    table = alone.read("publish-accuracy-table")
    assert table["epsilon"] == pytest.approx(epsilons)
    drawn = compute.published(*key, epsilons[2], 100, 0.47, 0, "svm", 5, 2)
    assert table["mean"][2] == pytest.approx(drawn.mean())
    assert [table["low"][2], table["high"][2]] == pytest.approx(np.quantile(drawn, [0.05, 0.95]))
    cells = compute.cells(*key, epsilons[2], 100, 0.47, 5, 2)
    assert alone.read("publish-accuracy-cells")["mean"][2] == pytest.approx(cells.mean())
    linear = compute.linear(*key, epsilons[2], 5, 2)
    assert alone.read("publish-accuracy-linear")["mean"][2] == pytest.approx(linear.mean())
    now, true = compute.published(*key, 0.63, 100, 0.47, 0, "svm", 5, 2), compute.on_true_table("toy", "svm")
    gap = alone.read("publish-gap")
    assert (gap["mean"][0], gap["true"][0]) == (pytest.approx(now.mean()), pytest.approx(true))
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


def test_the_words_of_the_gap_stand_above_every_curve_in_a_room_of_their_own():
    shown = AccuracyFigure()
    shown.levels["true"].location = 0.9
    shown.curves["table"].data = {"epsilon": [0.1, 1], "mean": [0.5, 0.8], "low": [0.4, 0.7], "high": [0.6, 0.85]}
    shown.fit()
    (words,) = [r.glyph for r in shown.plot.renderers if isinstance(r.glyph, Text)]
    assert (words.y, words.text_baseline) == ("true", "bottom")
    # a picture of a phone is 340 high: words of 19 and their distance need a fourteenth of it
    shares = shown.plot.y_range
    assert (shares.end - 0.9) / (shares.end - shares.start) > 1 / 14
