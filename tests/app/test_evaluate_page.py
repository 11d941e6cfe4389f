"""The Evaluate page in a browser: every control moves what it should, and the browser's curves are the library's."""

from functools import partial
from operator import methodcaller

import numpy as np
import pytest
from dpml_app.pages.evaluate import compute as own
from dpml_app.pages.evaluate.settings import CUTS

pytestmark = pytest.mark.browser
press, choose, pick = (partial(methodcaller, name) for name in ("push", "hit", "pick"))
FIGURES = {
    "live": ["evaluate-roc-histogram", "evaluate-roc-histogram-draws"],
    "exact": ["evaluate-roc-exact"],
    "published": ["evaluate-roc-laplace"],
    "numbers": ["evaluate-intervals-rows"],
    "recall": ["evaluate-recall-private"],
    "calibration": ["evaluate-calibration-private"],
    "errors": ["evaluate-errors-histogram", "evaluate-errors-laplace"],
    "sizes": ["evaluate-sizes-histogram", "evaluate-sizes-laplace"],
    "compare": ["evaluate-gap-difference", "evaluate-sure-probability"],
    "attack": ["evaluate-attack-cells"],
    "success": ["evaluate-success-counts", "evaluate-success-curve"],
}
FEW = "&dataset=toy&draws=10&evaluate_methods=histogram.laplace"


def figures(app):
    return {name: [app.read(source) for source in sources] for name, sources in FIGURES.items()}


def test_browser_draws_the_curves_of_a_release(app):
    app.enter("evaluate", "&dataset=breast_cancer&epsilon=0.5&draws=40&seed=2&evaluate_classifier=logistic")
    key, relation = ("breast_cancer", "logistic", "none"), "add-remove"
    found = own.curves("histogram", *key, relation, 0.5, 0, 40, 2)
    for column in ("low", "mid", "high"):
        assert app.array("evaluate-roc-histogram", column) == pytest.approx(found[column], abs=1e-9)
    released = own.evaluation(*key, relation, 0.5, 40, 2)
    fpr, tpr, _ = released.roc_curve()
    drawn = app.array("evaluate-roc-histogram-draws", "tpr")
    assert drawn[:17] == pytest.approx(tpr[0])
    assert np.isnan(drawn[17])
    assert app.array("evaluate-roc-histogram-draws", "fpr")[18 * 29 :][:17] == pytest.approx(fpr[29])


def test_slider_moves_the_curves_of_the_bins_in_the_browser(app):
    app.enter("evaluate", FEW + "&epsilon=1")
    # what the server hears comes later: the browser draws at once
    app.slider("ε").focus()
    app.page.keyboard.press("ArrowRight")
    app.page.wait_for_function("Bokeh.documents[0].get_model_by_name('evaluate-errors-marker').location === 1.25")
    found = own.curves("histogram", "toy", "naive-bayes", "none", "add-remove", 1.25, 0, 10, 0)
    app.page.wait_for_function("location.search.includes('epsilon=1.25')")
    drawn = lambda: app.array("evaluate-roc-histogram", "mid").tolist()  # noqa: E731
    app.check_becomes(drawn, pytest.approx(found["mid"].tolist(), abs=1e-9))
    markers = ("errors", "gap", "sure", "success")
    for name in markers:
        there = "(name) => Bokeh.documents[0].get_model_by_name(name).location === 1.25"
        app.page.wait_for_function(there, arg=f"evaluate-{name}-marker")


# ---- links --------------------------------------------------------------------------------------------------------


# test_link.py holds the links of all pages
@pytest.mark.full
def test_link_brings_back_every_control(app, make_app, server):
    query = (
        "&dataset=toy&relation=replace-one&epsilon=2&draws=20&seed=7&evaluate_classifier=logistic"
        "&evaluate_weakened=much&evaluate_rival=naive-bayes&evaluate_rival_weakened=some&evaluate_metric=accuracy"
        f"&evaluate_methods=fixed-space-exact.laplace-exact&evaluate_cut={CUTS[4]}"
    )
    app.enter("evaluate", query)
    wanted = dict(part.split("=", 1) for part in query.strip("&").split("&"))
    assert {k: v for k, v in app.query.items() if k in wanted} == wanted
    assert app.array("evaluate-roc-fixed-space-exact", "mid").size == len(own.GRID)
    assert app.read("evaluate-roc-histogram")["fpr"] == []
    app.act(choose("checkbox", "16 noisy bins"))
    assert "histogram" in app.query["evaluate_methods"]
    again = make_app(server).enter("evaluate", app.search.replace("?page=evaluate", "", 1))
    app.check_becomes(lambda: figures(again), figures(app))
    assert len(app.array("evaluate-roc-histogram", "mid")) == len(own.GRID)
