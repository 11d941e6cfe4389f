"""The Select page in a browser: every control moves what it should, and the browser's numbers are the library's."""

from functools import partial
from operator import methodcaller

import numpy as np
import pytest
from dpml_app.pages.select import compute as own
from playwright.sync_api import expect

from dpml.datasets import load

pytestmark = pytest.mark.browser
press = partial(methodcaller, "push")
# where on the screen a figure has a point
WHERE = """([figure, x, y]) => {
  const view = Bokeh.index.find_one_by_id(Bokeh.documents[0].get_model_by_name(figure).id)
  view.el.scrollIntoView({block: "center"})
  const box = view.el.getBoundingClientRect()
  return [box.x + view.frame.x_scale.compute(x), box.y + view.frame.y_scale.compute(y)]
}"""
AXIS = "() => Bokeh.documents[0].get_model_by_name('select-chosen').below[0].ticker.ticks"
FEW = "&dataset=toy&draws=10&n_features=5"


def stands(app, name, wanted):
    """Wait until a line stands where it should."""
    place = "(name) => Bokeh.documents[0].get_model_by_name(name).location"
    app.check_becomes(lambda: app.page.evaluate(place, name), wanted)


def test_browser_draws_what_the_library_computes_and_each_lever_moves_it(app):
    relation = "replace-one"
    query = f"&relation={relation}&epsilon=0.5&selection_share=0.4&select_calibration=published&select_feature=3"
    app.enter(
        "select", f"&dataset=toy&draws=10&n_features=7&seed=2{query}&select_methods=joint.exact&select_threshold=0.25"
    )
    facts = own.facts("toy")
    for kind in own.KINDS:
        drawn = f"select-drawn-{kind}"
        order = app.array(drawn, "index").astype(int)
        assert (np.diff(facts.scores[kind][order]) <= 0).all()
        assert app.array(drawn, "score") == pytest.approx(facts.scores[kind][order])
        coins = own.coins("toy", kind, "published", relation, 0.2, 7)
        assert app.array(drawn, "coin") == pytest.approx(coins[order], abs=1e-9)
        steps = (facts.scores[kind] - facts.scores[kind].min()) / facts.unit[kind, relation]
        assert app.array(drawn, "units") == pytest.approx(np.maximum(steps[order], 0.1))
        assert app.array(f"select-mark-{kind}", "coin") == pytest.approx([coins[2]], abs=1e-9)
    by_counts = np.argsort(-facts.scores["count"], kind="stable")
    assert app.array("select-rows", "index").tolist() == [*by_counts[:20], -1]
    stands(app, "select-blind", pytest.approx(7 / 40))
    stands(app, "select-cut", 7.5)
    stands(app, "select-accuracy-marker", 7)
    check_rows(app, by_counts, ("published", relation, 0.2, 7), [(20, 40)])

    # each lever moves the rows, and the axis fits them
    app.visit(FEW.replace("n_features=5", "n_features=30"))
    app.settle(0)
    for kind in ("mutual_information", "count"):
        app.act(lambda app, kind=kind: app.hit("radio", {"count": "Counts"}.get(kind, "Mutual information")))
        order = np.argsort(-own.facts("toy").scores[kind], kind="stable")
        check_rows(app, order, ("range", "add-remove", 0.05, 30), [(20, 30), (30, 40)])
        stands(app, "select-cut", 21.5)
    drawn = app.read("select-set")
    app.act(lambda app: app.hit("button", "Resample set"))
    assert app.query["select_draw"] == "1"
    assert app.read("select-set") != drawn
    assert app.page.evaluate(AXIS)[-1] == 1
    app.act(press("Number of features", "Home"))
    # one of 40: all probabilities are below 5 %
    p = max(own.inclusion("toy", kind, "range", "add-remove", 0.05, 1).max() for kind in own.KINDS)
    end = next(end for end in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1) if end >= p)
    assert end < 1
    assert app.page.evaluate(AXIS)[-1] == pytest.approx(end)


# whether the names of rows are wider than their room, and how high a row is beside their letters
NAMES = """() => {
  const plot = Bokeh.documents[0].get_model_by_name("select-chosen")
  const pen = document.createElement("canvas").getContext("2d")
  const {glyph, data_source} = plot.renderers.find((r) => r.glyph.text?.field === "label")
  const size = parseFloat(glyph.text_font_size.value)
  pen.font = `${size}px ${glyph.text_font.value}`
  const widest = Math.max(...data_source.data.label.map((name) => pen.measureText(name).width))
  const row = plot.inner_height / (plot.y_range.start - plot.y_range.end)
  return [size, widest + 8 <= plot.min_border_left, row > size]
}"""


def test_names_of_features_are_whole_and_apart_in_present_where_the_window_keeps_its_width(make_app, server):
    app = make_app(server, width=1280, height=720)
    app.enter("select", FEW, wait=False)
    app.wait_for_answer(0)
    app.wait_for_drawn()
    app.check_becomes(lambda: app.page.evaluate(NAMES), [13, True, True])
    app.page.keyboard.press("p")
    app.check_becomes(lambda: app.page.evaluate(NAMES), [20, True, True])
    app.page.keyboard.press("Escape")
    app.check_becomes(lambda: app.page.evaluate(NAMES), [13, True, True])


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


def most_apart(app, figure, x, y):
    """Return the dot that is farthest from any other on the screen: a click hits no other."""
    app.steady(WHERE, [figure, x[0], y[0]])
    at = np.array([app.page.evaluate(WHERE, [figure, *pair]) for pair in zip(x, y, strict=True)])
    apart = np.hypot(*(at[:, None] - at).transpose(2, 0, 1))
    return int((apart + np.diag([np.inf] * len(at))).min(axis=1).argmax())


DOTS = (
    ("select-chosen", "select-rows", "count", "row"),
    ("select-coins", "select-drawn-count", "units", "coin"),
)


def test_click_on_a_dot_shows_the_counts_of_its_feature(app):
    app.enter("select", FEW)
    data = load("toy")
    for figure, source, x, y in DOTS:
        single = app.array(source, "index") >= 0
        place = most_apart(app, figure, app.array(source, x)[single], app.array(source, y)[single])
        index = int(app.array(source, "index")[place])
        assert app.query["select_feature"] != str(index + 1)
        at = app.steady(WHERE, [figure, app.array(source, x)[place], app.array(source, y)[place]])
        app.act(partial(lambda at, app: app.page.mouse.click(*at), at))
        assert int(app.query["select_feature"]) == index + 1
        column = np.asarray(data.X_train[:, index]).ravel()
        counts = [(column[data.y_train == c] == value).sum() for c in (0, 1) for value in (1, 0)]
        assert app.array("select-bars", "records") == pytest.approx(counts)
        assert app.read("select-mark-count")["coin"][0] == pytest.approx(
            own.coins("toy", "count", "range", "add-remove", 0.05, 5)[index]
        )
        app.wait_for_text(f"{data.feature_names[index]}, column {index + 1} of 40")
    app.wait_for_text("Counts are private: a release would show only the names")


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
    explored = app.read("answer-state")
    app.turn("select")
    app.wait_for_answer(answers["answers"][0])
    assert app.query["epsilon"] == "1.25"
    assert app.alerts == []
    assert len(app.array("select-scores", "count")) == 84
    expect(app.slider("Number of features")).to_have_attribute("aria-valuetext", "84")
    app.push("Number of features", "Home")
    stands(app, "select-cut", 1.5)
    assert app.read("answer-state") == explored
    app.turn("explore")
    app.wait_for_answer(explored["answers"][0])
