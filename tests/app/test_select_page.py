"""The Select page in a browser: every control moves what it should, and the browser's numbers are the library's."""

from functools import partial
from operator import methodcaller

import numpy as np
import pytest
from dpml_app.pages.select import compute as own
from dpml_app.pages.select.settings import CALIBRATIONS
from playwright.sync_api import expect

from dpml.datasets import load

pytestmark = pytest.mark.browser
press, choose, pick = (partial(methodcaller, name) for name in ("push", "hit", "pick"))
# where on the screen a figure has a point
WHERE = """([figure, x, y]) => {
  const view = Bokeh.index.find_one_by_id(Bokeh.documents[0].get_model_by_name(figure).id)
  view.el.scrollIntoView({block: "center"})
  const box = view.el.getBoundingClientRect()
  return [box.x + view.frame.x_scale.compute(x), box.y + view.frame.y_scale.compute(y)]
}"""
METHODS = ("mask-count", "mask-mi", "exact", "joint")
FIGURES = {
    "ranked": [f"select-drawn-{kind}" for kind in own.KINDS],
    "mark": [f"select-mark-{kind}" for kind in own.KINDS],
    "feature": ["select-bars"],
    "f1": [f"select-f1-{rule}" for rule in own.RULES],
    "accuracy": [f"select-accuracy-{name}" for name in (*METHODS, "all", "best", "majority", "non_private")],
}
FEW = "&dataset=toy&draws=10&n_features=5"


def figures(app):
    return {name: [app.read(source) for source in sources] for name, sources in FIGURES.items()}


def stands(app, name, wanted):
    """Wait until a line stands where it should."""
    place = "(name) => Bokeh.documents[0].get_model_by_name(name).location"
    app.check_becomes(lambda: app.page.evaluate(place, name), wanted)


def test_browser_draws_what_the_library_computes(app):
    relation = "replace-one"
    query = f"&relation={relation}&epsilon=0.5&selection_share=0.4&select_calibration=published&select_feature=3"
    app.enter(
        "select", f"&dataset=toy&draws=10&n_features=7&seed=2{query}&select_methods=joint.exact&select_threshold=0.25"
    )
    facts = own.facts("toy")
    for kind in own.KINDS:
        drawn = f"select-drawn-{kind}"
        order = app.array(drawn, "index").astype(int)
        assert (np.diff(facts[kind][order]) <= 0).all()
        assert app.array(drawn, "score") == pytest.approx(facts[kind][order])
        for calibration in CALIBRATIONS:
            p = own.inclusion("toy", kind, calibration, relation, 0.2, 7)
            assert app.array(drawn, calibration) == pytest.approx(p[order], abs=1e-9)
        coins = own.coins("toy", kind, "published", relation, 0.2, 7)
        assert app.array(drawn, "coin") == pytest.approx(coins[order], abs=1e-9)
        steps = (facts[kind] - facts[kind].min()) / facts["unit"][kind, relation]
        assert app.array(drawn, "units") == pytest.approx(np.maximum(steps[order], 0.1))
        assert app.array(f"select-mark-{kind}", "coin") == pytest.approx([coins[2]], abs=1e-9)
    stands(app, "select-blind", pytest.approx(7 / 40))
    stands(app, "select-cut", 7.5)
    stands(app, "select-features-marker", 7)


def most_apart(app, figure, x, y):
    """Return the dot that is farthest from any other on the screen: a click hits no other."""
    app.steady(WHERE, [figure, x[0], y[0]])
    at = np.array([app.page.evaluate(WHERE, [figure, *pair]) for pair in zip(x, y, strict=True)])
    apart = np.hypot(*(at[:, None] - at).transpose(2, 0, 1))
    return int((apart + np.diag([np.inf] * len(at))).min(axis=1).argmax())


@pytest.mark.parametrize(
    ("figure", "source", "x", "y"),
    [
        ("select-ranked-mutual_information", "select-drawn-mutual_information", "rank", "range"),
        ("select-coins", "select-drawn-count", "units", "coin"),
    ],
)
def test_click_on_a_dot_shows_the_counts_of_its_feature(app, figure, source, x, y):
    app.enter("select", FEW)
    place = most_apart(app, figure, app.array(source, x), app.array(source, y))
    index = int(app.array(source, "index")[place])
    at = app.steady(WHERE, [figure, app.array(source, x)[place], app.array(source, y)[place]])
    app.act(lambda app: app.page.mouse.click(*at))
    assert int(app.query["select_feature"]) == index + 1
    data = load("toy")
    column = np.asarray(data.X_train[:, index]).ravel()
    counts = [(column[data.y_train == c] == value).sum() for c in (0, 1) for value in (1, 0)]
    assert app.array("select-bars", "records") == pytest.approx(counts)
    assert app.read("select-mark-count")["range"][0] == pytest.approx(
        own.inclusion("toy", "count", "range", "add-remove", 0.05, 5)[index]
    )
    app.wait_for_text(f"{data.feature_names[index]}, column {index + 1} of 40")
    app.wait_for_text("private: for study")


# ---- links --------------------------------------------------------------------------------------------------------


# test_link.py holds the links of all pages
@pytest.mark.full
def test_link_brings_back_every_control(app, make_app, server):
    query = (
        "&dataset=toy&relation=replace-one&epsilon=2&n_features=9&selection_share=0.3&draws=20&seed=7"
        "&select_calibration=per-feature&select_score=mutual_information&select_threshold=0.016&select_row_bound=4"
        "&select_methods=one-shot.iterative&select_feature=12"
    )
    app.enter("select", query)
    wanted = dict(part.split("=", 1) for part in query.strip("&").split("&"))
    assert {k: v for k, v in app.query.items() if k in wanted} == wanted
    assert len(app.array("select-accuracy-iterative", "mean")) == len(own.selector_ladder(40))
    app.act(choose("checkbox", "Exact choice: not private"))
    assert "exact" in app.query["select_methods"]
    again = make_app(server).enter("select", app.search.replace("?page=select", "", 1))
    app.check_becomes(lambda: figures(again), figures(app))
    assert again.query["select_methods"] == "one-shot.iterative.exact"
    # Stoddard et al.'s clusters are of total counts
    assert len(app.array("select-f1-clusters", "mean")) == 0
    app.wait_for_text("total counts only")


def test_pages_share_their_settings_and_a_hidden_one_rests(app):
    app.enter("select", FEW + "&epsilon=1")
    answers = app.read("select-state")
    app.turn("explore")
    app.settle(0)
    assert "dataset=toy" in app.search
    app.press("ε", "ArrowRight")
    app.choose("Census, generated")
    app.press("Number of features", "End")
    assert app.read("select-state") == answers, "a page that is not shown computes nothing"
    explored = app.read("answer-state")
    app.turn("select")
    app.settle(answers["answers"][0])
    assert app.query["epsilon"] == "1.25"
    assert app.alerts == []
    assert len(app.array("select-scores", "count")) == 84
    expect(app.slider("Number of features")).to_have_attribute("aria-valuetext", "84")
    app.act(press("Number of features", "Home"))
    stands(app, "select-cut", 1.5)
    assert app.read("answer-state") == explored
    app.turn("explore")
    app.settle(explored["answers"][0])
