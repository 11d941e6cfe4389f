"""The Evaluate page in a browser: every control moves what it should, and the browser's curves are the library's."""

from functools import partial
from operator import methodcaller

import numpy as np
import pytest
from dpml_app.evaluate import attack as attacks
from dpml_app.evaluate import compute as own
from dpml_app.evaluate import numbers
from dpml_app.evaluate.settings import CUTS, SIZES
from dpml_app.evaluate.words import SHARE
from dpml_app.settings import SWEEP_EPSILONS
from dpml_app.state import Settings

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


# in this order on one page: what each changes, and the setting in the link
RELEASE = {"live", "numbers", "recall", "calibration", "attack"}
JUDGED = set(FIGURES)
CUT = "Second class is predicted from"
CONTROLS = [
    (press("ε", "ArrowRight"), RELEASE | {"published", "sizes"}, "epsilon"),
    (press(CUT, "ArrowRight"), set(), "evaluate_cut"),
    (choose("radio", "Accuracy"), {"compare"}, "evaluate_metric"),
    (press(CUT, "ArrowRight"), {"compare"}, "evaluate_cut"),
    (pick("B is", "Weakened to about 0.75"), {"compare"}, "evaluate_rival_weakened"),
    (pick("Classifier B", "Naive Bayes"), {"compare"}, "evaluate_rival"),
    (choose("checkbox", "Laplace: not private"), {"published", "errors", "sizes"}, "evaluate_methods"),
    (press("Draws", "ArrowRight"), JUDGED - {"exact", "published", "numbers"}, "draws"),
    (choose("button", "Redraw"), JUDGED - {"exact", "published"}, "seed"),
    (choose("radio", "Replace one record"), JUDGED - {"exact", "published"}, "relation"),
    (pick("A is", "Weakened to about 0.9"), JUDGED - {"published"}, "evaluate_weakened"),
]


def test_each_control_changes_what_it_should_and_nothing_else(app):
    app.enter("evaluate", FEW + "&epsilon=1")
    before, link = figures(app), app.query
    for do, expected, setting in CONTROLS:
        app.act(do)
        after, now = figures(app), app.query
        assert {name for name in before if before[name] != after[name]} == expected, setting
        assert {name for name in Settings.evaluate_names() if link.get(name) != now.get(name)} == {setting}
        before, link = after, now


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_plots_hold_what_the_library_computes(app, relation):
    query = "&dataset=breast_cancer&epsilon=0.5&draws=40&seed=2&evaluate_classifier=logistic&evaluate_weakened=some"
    app.enter(
        "evaluate", f"{query}&relation={relation}&evaluate_methods=histogram.laplace-exact&evaluate_rival_weakened=much"
    )
    key = ("breast_cancer", "logistic", "some")
    for method in ("histogram", "laplace-exact"):
        found = own.curves(method, *key, relation, 0.5, 0, 40, 2)
        for column in ("low", "mid", "high"):
            assert app.array(f"evaluate-roc-{method}", column) == pytest.approx(found[column], abs=1e-9), method
        assert f"{np.median(found['auc']):.3f}" in app.text
        assert f"{np.median(found['error']):.4f}" in app.text
        curve = app.read(f"evaluate-errors-{method}")
        assert curve["epsilon"] == pytest.approx(SWEEP_EPSILONS)
        errors = own.errors(method, *key, relation, SWEEP_EPSILONS[5], 0, 40, 2)
        assert curve["mean"][5] == pytest.approx(np.median(errors))
        sizes = app.read(f"evaluate-sizes-{method}")
        assert sizes["size"] == list(SIZES)
        errors = own.errors(method, *key, relation, 0.5, SIZES[4], 40, 2)
        assert sizes["mean"][4] == pytest.approx(np.median(errors))
    released = own.evaluation(*key, relation, 0.5, 40, 2)
    fpr, tpr, _ = released.roc_curve()
    drawn = app.array("evaluate-roc-histogram-draws", "tpr")
    assert drawn[:17] == pytest.approx(tpr[0])
    assert np.isnan(drawn[17])
    assert app.array("evaluate-roc-histogram-draws", "fpr")[18 * 29 :][:17] == pytest.approx(fpr[29])
    auc, low, _ = numbers.areas(released)
    assert app.array("evaluate-intervals-rows", "value") == pytest.approx(auc)
    assert app.array("evaluate-intervals-rows", "low") == pytest.approx(low)
    assert app.array("evaluate-recall-private", "mid") == pytest.approx(numbers.recall(released)["mid"])
    cells = app.read("evaluate-attack-cells")
    assert len(cells["record"]) == 7 * attacks.ATTACKED
    assert cells["said"][attacks.ATTACKED : 2 * attacks.ATTACKED] == ["right"] * attacks.ATTACKED
    text = app.text
    for figure, (value, _, high) in numbers.intervals(released, 0.0).items():
        for number in (value, high):
            assert (f"{100 * number:.1f}" if figure in SHARE else f"{number:.3f}") in text, figure
    assert "30 of 30 labels are recovered" in text
    gap = own.comparison("roc_auc", *key, "logistic", "much", relation, 0.5, 0.0, 40, 2)["difference"]
    assert f"{np.median(gap):.4f}" in text


def test_slider_moves_the_curves_of_the_bins_in_the_browser(app):
    app.enter("evaluate", FEW + "&epsilon=1")
    # what the server hears comes later: the browser draws at once
    app.slider("ε").focus()
    app.page.keyboard.press("ArrowRight")
    app.page.wait_for_function("Bokeh.documents[0].get_model_by_name('evaluate-errors-marker').location === 1.25")
    found = own.curves("histogram", "toy", "naive-bayes", "none", "add-remove", 1.25, 0, 10, 0)
    app.page.wait_for_function("location.search.includes('epsilon=1.25')")
    assert app.array("evaluate-roc-histogram", "mid") == pytest.approx(found["mid"], abs=1e-9)
    markers = ("errors", "gap", "sure", "success")
    for name in markers:
        where = app.page.evaluate(
            "(name) => Bokeh.documents[0].get_model_by_name(name).location", f"evaluate-{name}-marker"
        )
        assert where == 1.25


# ---- links --------------------------------------------------------------------------------------------------------


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
    assert figures(again) == figures(app)
    assert len(app.array("evaluate-roc-histogram", "mid")) == len(own.GRID)


def test_bad_values_are_said_and_good_ones_kept(app):
    bad = "&evaluate_cut=7&evaluate_weakened=very&evaluate_rival=oracle&evaluate_classifier=logistic"
    app.enter("evaluate", f"&dataset=toy&draws=10&evaluate_methods=luck.histogram{bad}")
    text = " ".join(app.alerts)
    assert "evaluate_cut = 7 is not allowed" in text
    assert "evaluate_weakened = very is not allowed" in text
    assert "evaluate_rival = oracle is not allowed" in text
    assert "evaluate_methods = ['luck', 'histogram'] is not allowed" in text
    assert app.query["evaluate_classifier"] == "logistic"
    assert len(app.array("evaluate-roc-histogram", "mid")) == len(own.GRID)
