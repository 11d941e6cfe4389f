"""Few names stand at their curves; in a legend each sample is painted whatever happens, and a click hides its curve."""

import io

import pytest
from bokeh.models import Legend
from dpml_app.core.card_page import CardPage
from dpml_app.drawing.legend import MOST_AT_ENDS
from dpml_app.page_list import PAGES
from dpml_app.state import Settings
from each_commit import others_in_full
from page_alone import pool_here
from PIL import Image

# legends of five names or fewer, and why these are not at the ends of curves
NOT_AT_ENDS = {
    "selection": "marks in rows, and their names would stand on other rows",
    "map": "marks on a map",
    "noise-histogram": "bars and a curve, which end together",
    "noise-plane": "dots",
    "train-best": "marks on a map",
    "audit-one-run": "marks in rows",
    "evaluate-intervals": "intervals in rows",
}
# what is opened, and the slider of its ε
VISITS = {
    "explore": ("explore", "&draws=10", "ε"),
    "noise": ("noise", "&noise_draws=500", "ε of the noise"),
    "plane": ("noise", "&noise_draws=500&noise_dimension=2", "ε of the noise"),
    "select": ("select", "&draws=10", "ε"),
    "train": ("train", "&draws=10", "ε"),
    "linear": ("train", "&draws=10&train_family=linear&dataset=toy&train_linear=l1.output.rule.objective", "ε"),
    "publish": ("publish", "&dataset=toy&publish_draws=5&publish_grids=100", "ε"),
    "evaluate": ("evaluate", "&draws=10", "ε"),
}
# those that a wide page shows: more than five names, or named above
LEGENDS = {
    "explore": {"accuracy", "selection", "map"},
    "noise": {"noise-histogram", "noise-envelope"},
    "plane": {"noise-plane", "noise-envelope"},
    "select": {"select-f1", "select-accuracy"},
    "train": {f"train-{name}" for name in ("accuracy", "best")},
    "linear": {f"train-{name}" for name in ("accuracy", "best", "lambda")},
    "publish": set(),
    "evaluate": {f"evaluate-{name}" for name in ("intervals", "success")},
}
# a sample of a thin dotted line has some twenty pixels
LEAST = 12
LEGEND_VIEWS = """() => [...Bokeh.documents[0]._all_models.values()]
  .filter((model) => model.type === "Figure")
  .map((model) => [model, Bokeh.index.find_one_by_id(model.id)])
  .filter(([_model, view]) => view?.el.checkVisibility())
  .flatMap(([model, view]) =>
    model.below.filter((m) => m.type === "Legend" && m.visible).map((m) => [model, view.views.find_one(m)]))
"""
# each legend's labels, each with the number of pixels of its sample that are not empty; what is asked for is painted
# with the second frame
SAMPLES = f"""async () => {{
  for (let i = 0; i < 3; i++) {{ await new Promise(requestAnimationFrame) }}
  const paper = document.createElement("canvas").getContext("2d", {{willReadFrequently: true}})
  const painted = (canvas) => {{
    const {{width, height}} = canvas
    Object.assign(paper.canvas, {{width, height}})
    paper.drawImage(canvas, 0, 0)
    const {{data}} = paper.getImageData(0, 0, width, height)
    return data.filter((value, i) => i % 4 === 3 && value > 0).length
  }}
  const legends = ({LEGEND_VIEWS})()
  return Object.fromEntries(legends.map(([model, legend]) =>
    [model.name, legend.entries.map(({{label, glyph}}) => [label, painted(glyph.canvas)])]))
}}"""


# what is hidden after a click on each name, and what is after a second one
HIDDEN = f"""async () => {{
  const found = {{}}
  for (const [model, legend] of ({LEGEND_VIEWS})()) {{
    if (legend.model.click_policy !== "hide") {{ continue }}
    const all = [...model.renderers, ...model.center]
    const samples = new Set(legend.model.items.flatMap((item) => item.renderers))
    const seen = all.filter((m) => !samples.has(m) && m.visible)
    const click = async (i) => {{
      legend.entries[i].el.dispatchEvent(new PointerEvent("pointerdown"))
      await new Promise(requestAnimationFrame)
      return seen.filter((m) => !m.visible).length
    }}
    found[model.name] = []
    for (let i = 0; i < legend.entries.length; i++) {{
      found[model.name].push([legend.entries[i].label, await click(i), await click(i)])
    }}
  }}
  return found
}}"""


def mount(app, expected):
    """Wait until the figures of all cards are there."""
    app.page.wait_for_selector("section.shown")
    app.open_all()
    there = "(names) => names.every((name) => globalThis.Bokeh?.documents?.[0]?.get_model_by_name(name))"
    app.page.wait_for_function(there, arg=sorted(expected))


def check(app, expected, when):
    """Wait until each legend has names, and each name its sample."""

    def faults():
        found = app.page.evaluate(SAMPLES)
        none = [name for name, entries in found.items() if not entries]
        empty = [(name, label) for name, entries in found.items() for label, pixels in entries if pixels < LEAST]
        return when, set(found), none, empty

    app.check_becomes(faults, (when, expected, [], []))


@pytest.mark.parametrize("page_id", [name for name, page in PAGES.items() if issubclass(page, CardPage)])
def test_no_legend_has_five_names_or_fewer_but_those_with_a_reason(page_id):
    page = PAGES[page_id](Settings(), pool_here())
    plots = [plot for kind in page.kinds for plot in page.make(kind).plots]
    shown = {plot.name: legend for plot in plots for legend in plot.select(Legend) if legend.visible}
    few = {name for name, legend in shown.items() if len(legend.items) <= MOST_AT_ENDS}
    assert few == NOT_AT_ENDS.keys() & {plot.name for plot in plots}


# test_looks.py holds of every legend that its samples look like what is drawn
@pytest.mark.browser
@pytest.mark.parametrize("visit", others_in_full(VISITS, "explore"))
def test_each_sample_is_painted_whatever_happens(make_app, server, visit):
    # so high that every card is there
    page_id, query, epsilon = VISITS[visit]
    app = make_app(server, height=9000).enter(page_id, query, wait=False)
    mount(app, LEGENDS[visit])
    # what published data teach takes long, and the legends are there before
    wait = app.wait_for_answer if page_id == "publish" else app.settle
    wait(0)
    check(app, LEGENDS[visit], "after load")
    before = app.answers
    app.slider(epsilon).focus()
    for _ in range(10):
        app.page.keyboard.press("ArrowRight")
    wait(before)
    check(app, LEGENDS[visit], "after ten steps of ε")
    other, figure = ("noise", "noise-histogram") if page_id != "noise" else ("select", "select-f1")
    for page, there in ((other, {figure}), (page_id, LEGENDS[visit])):
        app.page.locator(f"nav a[data-page={page}]").click()
        app.page.locator(f"#body[data-page={page}]").wait_for()
        mount(app, there)
    check(app, LEGENDS[visit], "after a visit of another page")
    for name, entries in app.page.evaluate(HIDDEN).items():
        for label, hidden, again in entries:
            assert hidden > 0, (name, label)
            assert again == 0, (name, label)
    check(app, LEGENDS[visit], "after clicks on each name")


# where the names of noise's curves stand beyond the last of their points, and the curves' last points in sight
ENDS = """(name) => {
  const all = Bokeh.documents[0], plot = all.get_model_by_name(name), names = all.get_model_by_name(`${name}-names`)
  const view = Bokeh.index.find_one_by_id(plot?.id)
  if (!view?.frame) { return null }
  const {x, y, text, down} = names.data
  const place = (i) => Math.round(view.frame.y_scale.compute(y[i]) + down[i])
  return {
    legend: plot.below.some((one) => one.type === "Legend" && one.visible),
    names: text.flatMap((one, i) => one ? [[one, x[i], y[i], place(i)]] : []),
    room: plot.outer_width - plot.inner_width,
  }
}"""


@pytest.mark.browser
def test_names_stand_at_the_ends_of_their_curves_where_they_have_room_and_else_in_a_legend(make_app, server):
    app = make_app(server, height=9000).enter("noise", "&noise_draws=500", wait=False)
    mount(app, {"noise-scales"})
    app.check_becomes(lambda: len((app.page.evaluate(ENDS, "noise-scales") or {"names": []})["names"]), 3)
    shown = app.page.evaluate(ENDS, "noise-scales")
    assert not shown["legend"]
    # of ε = 10, at the right: Theorem 2's scale is 6/ε, Algorithm 1's √2/ε, and the exact one is far below
    (theorem, algorithm, exact) = shown["names"]
    assert theorem[0] == "6/ε, Theorem 2"
    assert theorem[1:3] == pytest.approx([10, 0.6], rel=0.01)
    assert algorithm[2] == pytest.approx(2**0.5 / 10, rel=0.01)
    assert exact[2] < algorithm[2]
    # none covers another
    assert algorithm[3] - theorem[3] >= 17 <= exact[3] - algorithm[3]
    app.page.set_viewport_size({"width": 390, "height": 9000})
    app.check_becomes(lambda: app.page.evaluate(ENDS, "noise-scales")["legend"], True)
    narrow = app.page.evaluate(ENDS, "noise-scales")
    assert narrow["names"] == []
    assert narrow["room"] < shown["room"]


@pytest.mark.browser
def test_no_part_of_a_name_stays_where_it_was_painted_before_there_was_room_for_it(make_app, server):
    app = make_app(server, height=900).enter("train", wait=False)
    app.page.wait_for_function("() => Bokeh.documents[0]?.get_model_by_name('train-methods-rows')?.data.y.length > 3")
    app.page.wait_for_timeout(1000)
    box = app.page.locator(".bk-Figure").first.bounding_box()
    edge = {"x": box["x"] - 1, "y": box["y"] + 80, "width": 4, "height": box["height"] - 90}
    picture = Image.open(io.BytesIO(app.page.screenshot(clip=edge))).convert("L")
    assert picture.getextrema()[0] > 200
