"""The page Feature selection in a browser: its rows follow every control, and a hidden page rests."""

from functools import partial
from operator import methodcaller

import numpy as np
import pytest
from dpml_app.data.measures import facts as facts_of
from dpml_app.pages.select import compute as own
from playwright.sync_api import expect

pytestmark = pytest.mark.browser
press = partial(methodcaller, "push")
AXIS = "() => Bokeh.documents[0].get_model_by_name('select-chosen').x_range.end"
FEW = "&dataset=toy&draws=10&n_features=5"


def stands(app, name, wanted):
    """Wait until a line stands where it should."""
    place = "(name) => Bokeh.documents[0].get_model_by_name(name).location"
    app.check_becomes(lambda: app.page.evaluate(place, name), wanted)


def test_each_lever_moves_the_rows_to_the_librarys_numbers(app):
    relation = "replace-one"
    query = f"&relation={relation}&epsilon=0.5&selection_share=0.4"
    app.enter("select", f"&dataset=toy&draws=10&n_features=7&seed=2{query}&select_methods=joint.exact")
    by_counts = np.argsort(-facts_of("toy").scores["count"], kind="stable")
    stands(app, "select-blind", pytest.approx(7 / 40))
    stands(app, "select-cut", 7.5)
    stands(app, "select-accuracy-marker", 7)
    check_rows(app, by_counts, (relation, 0.2, 7), [(20, 40)])

    # each lever moves the rows, and the axis fits them
    app.visit(FEW.replace("n_features=5", "n_features=30"))
    app.settle(0)
    for kind in ("mutual_information", "count"):
        app.act(lambda app, kind=kind: app.hit("radio", {"count": "Counts"}.get(kind, "Mutual information")))
        order = np.argsort(-facts_of("toy").scores[kind], kind="stable")
        check_rows(app, order, ("add-remove", 0.05, 30), [(20, 30), (30, 40)])
        stands(app, "select-cut", 21.5)
    assert app.page.evaluate(AXIS) == pytest.approx(1.02)
    app.act(press("Number of features", "Home"))
    # one of 40: all probabilities are below 5 %
    p = max(own.inclusion("toy", kind, "add-remove", 0.05, 1).max() for kind in own.KINDS)
    end = next(end for end in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1) if end >= p)
    assert end < 1
    assert app.page.evaluate(AXIS) == pytest.approx(1.02 * end)


def check_rows(app, order, setting, rest):
    """Wait until the rows are the library's: a feature each, and the rest as means with their range."""
    for kind in own.KINDS:
        p = own.inclusion("toy", kind, *setting)[order]
        parts = [*([one] for one in p[:20]), *(p[start:end] for start, end in rest)]
        for end, of in (("", np.mean), ("_low", np.min), ("_high", np.max)):
            expected = [of(part) for part in parts]
            app.check_becomes(
                lambda end=end, kind=kind: app.array("select-rows", kind + end).tolist(),
                pytest.approx(expected, abs=1e-9),
            )


def choose_census(app):
    app.choose("Census, generated", wait=False)


def test_pages_share_their_settings_and_a_hidden_one_rests(app):
    app.enter("select", FEW + "&epsilon=1")
    answers = app.read("select-state")
    app.turn("explore")
    app.settle(0)
    assert "dataset=toy" in app.search
    # the curves of a page are not waited for: a page that is left ends its work
    for change in (press("ε"), choose_census, press("Number of features", "End")):
        before = app.answers
        change(app)
        app.wait_for_answer(before)
    assert app.read("select-state") == answers, "a page that is not shown computes nothing"
    explored = app.read("explore-state")
    app.turn("select")
    app.wait_for_answer(answers["answers"][0])
    assert app.query["epsilon"] == "1.25"
    assert app.alerts == []
    expect(app.slider("Number of features")).to_have_attribute("aria-valuetext", "84")
    app.push("Number of features", "Home")
    stands(app, "select-cut", 1.5)
    assert app.read("explore-state") == explored
    app.turn("explore")
    app.wait_for_answer(explored["answers"][0])
