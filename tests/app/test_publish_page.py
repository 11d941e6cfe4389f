"""The Publish page in a browser: every control moves what it should, and the plots hold the library's numbers."""

from functools import partial
from operator import methodcaller

import numpy as np
import pytest
from dpml_app.publish import compute, words
from dpml_app.publish.curves import RIVAL_EPSILONS
from dpml_app.publish.one_release import look_into
from dpml_app.publish.settings import GRIDS, SHARE_LADDER
from dpml_app.settings import SWEEP_EPSILONS
from dpml_app.state import Settings

pytestmark = pytest.mark.browser
press, choose, pick = (partial(methodcaller, name) for name in ("push", "hit", "pick"))
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
# in this order on one page: what each changes, and the setting in the link
TABLES = {"table", "gap", "grids", "shares", "columns", "records"}
CONTROLS = [
    (press("ε"), {"gap", "release", "grids", "shares", "columns", "records"}, "epsilon"),
    (press("Share of ε for the choice"), (TABLES - {"shares"}) | {"cells", "release"}, "publish_share"),
    (press("Θ, candidate grids"), (TABLES - {"grids"}) | {"cells", "release"}, "publish_grids"),
    (press("Tables drawn"), TABLES | {"cells", "linear"}, "publish_draws"),
    (pick("Learned by", "Logistic regression"), TABLES | {"rivals"}, "publish_classifier"),
    (choose("button", "Redraw"), set(FIGURES), "seed"),
    (choose("radio", "Replace one record"), set(FIGURES), "relation"),
]


def figures(app):
    return {name: [app.read(source) for source in sources] for name, sources in FIGURES.items()}


def test_each_control_changes_what_it_should_and_nothing_else(app):
    app.enter("publish", FEW + "&epsilon=1")
    before, link = figures(app), app.query
    for do, expected, setting in CONTROLS:
        app.act(do)
        after, now = figures(app), app.query
        assert {name for name in before if before[name] != after[name]} == expected, setting
        assert {name for name in Settings.publish_names() if link.get(name) != now.get(name)} == {setting}
        before, link = after, now


def test_plots_hold_what_the_library_computes(app):
    app.enter("publish", FEW + "&epsilon=0.63&seed=2&publish_share=0.47&relation=replace-one&publish_classifier=svm")
    key = ("toy", "replace-one")
    table = app.read("publish-accuracy-table")
    assert table["epsilon"] == pytest.approx(SWEEP_EPSILONS)
    drawn = compute.published(*key, SWEEP_EPSILONS[9], 100, 0.47, 0, "svm", 5, 2)
    assert table["mean"][9] == pytest.approx(drawn.mean())
    assert [table["low"][9], table["high"][9]] == pytest.approx(np.quantile(drawn, [0.05, 0.95]))
    cells = compute.cells(*key, SWEEP_EPSILONS[9], 100, 0.47, 5, 2)
    assert app.read("publish-accuracy-cells")["mean"][9] == pytest.approx(cells.mean())
    linear = compute.linear(*key, SWEEP_EPSILONS[9], 5, 2)
    assert app.read("publish-accuracy-linear")["mean"][9] == pytest.approx(linear.mean())
    now, true = compute.published(*key, 0.63, 100, 0.47, 0, "svm", 5, 2), compute.on_true_table("toy", "svm")
    gap = app.read("publish-gap")
    assert (gap["mean"][0], gap["true"][0]) == (pytest.approx(now.mean()), pytest.approx(true))
    for said in (words.percent(float(now.mean())), words.percent(true), words.points(true - now.mean())):
        assert said.replace("\N{NO-BREAK SPACE}", " ") in app.text.replace("\N{NO-BREAK SPACE}", " ")
    shown = look_into(*key, 0.63, 100, 0.47, 2)
    assert app.array("publish-chances-bars", "chance") == pytest.approx(shown["chances"])
    assert app.read("publish-chances-bars")["name"] == list(shown["names"])
    assert app.array("publish-cells-1", "noisy") == pytest.approx(shown["noisy"][:, 1])
    assert app.read("publish-grids-table")["x"] == list(GRIDS)
    assert app.read("publish-shares-table")["x"] == pytest.approx(SHARE_LADDER)
    drawn = compute.published(*key, 0.63, 100, 0.47, 4, "svm", 5, 2)
    columns = app.read("publish-columns-table")
    assert columns["mean"][columns["x"].index(4)] == pytest.approx(drawn.mean())
    records = app.read("publish-records-table")
    assert records["x"] == [100, 300, 1000]
    drawn = compute.published(*key, 0.63, 100, 0.47, 0, "svm", 5, 2, 300)
    assert records["mean"][1] == pytest.approx(drawn.mean())
    rival = compute.rival("diffgen", *key, RIVAL_EPSILONS[1], 100, "svm", 5, 2)["accuracy"]
    assert app.read("publish-rivals-diffgen")["mean"][1] == pytest.approx(rival.mean())


def test_it_opens_with_what_ships_and_a_data_set_of_words_is_refused_in_words(make_app, server):
    app = make_app(server, width=1440, height=900).enter("publish", "", wait=False)
    app.page.wait_for_selector("section.shown .first canvas")
    app.wait_for_text("publishing costs")
    app.page.goto(app.url + "?page=publish&dataset=newsgroup1")
    app.page.get_by_role("alert").wait_for()
    text = " ".join(app.alerts)
    assert "newsgroup1 has more than 60 columns, and a published table tells few apart: it shows census" in text
    assert "classes" not in text


def test_link_brings_back_every_control(make_app, server):
    query = (
        "&dataset=toy&relation=replace-one&epsilon=2&seed=7&publish_classifier=logistic&publish_grids=10"
        "&publish_share=0.17&publish_draws=5"
    )
    app = make_app(server, width=1440, height=900).enter("publish", query)
    wanted = dict(part.split("=", 1) for part in query.strip("&").split("&"))
    assert {k: v for k, v in app.query.items() if k in wanted} == wanted
    bad = "&publish_grids=7&publish_share=2&publish_classifier=oracle&publish_draws=5"
    app.enter("publish", f"&dataset=toy{bad}", wait=False)
    app.page.get_by_role("alert").wait_for()
    text = " ".join(app.alerts)
    for said in ("publish_grids = 7 is not allowed", "publish_share = 2 is not allowed", "oracle is not allowed"):
        assert said in text
    assert app.query["publish_draws"] == "5"
