"""Legends: each sample is painted whatever happens."""

import pytest
from app_in_browser import PAGE_SOURCES
from each_commit import others_in_full

pytestmark = pytest.mark.browser
# a sample of a thin dotted line has about twenty pixels
LEAST = 12
LEGEND_VIEWS = """() => [...Bokeh.documents[0]._all_models.values()]
  .filter((model) => model.type === "Figure")
  .map((model) => [model, Bokeh.index.find_one_by_id(model.id)])
  .filter(([_model, view]) => view?.el.checkVisibility())
  .flatMap(([model, view]) =>
    model.below.filter((m) => m.type === "Legend" && m.visible).map((m) => [model, view.views.find_one(m)]))
"""
# the labels of each legend, each with the number of painted pixels of its sample; a change is painted with the second
# frame
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


# the boxes of each plot's legends on the page, and whether all are within the plot
BOXES = f"""() => {{
  const boxes = (root) => [...root.children].flatMap((part) =>
    part.className.includes?.("bk-Legend") ? [part.getBoundingClientRect()] : boxes(part.shadowRoot ?? part))
  return Object.fromEntries(({LEGEND_VIEWS})().filter(([, {{model}}]) => model.items.length).map(([model, legend]) => {{
    const {{left, right, bottom}} = legend.plot_view.el.getBoundingClientRect()
    const found = boxes(legend.plot_view.el.shadowRoot).filter((box) => box.width > 0)
    const inside = found.every((box) => box.left >= left && box.right <= right && box.bottom <= bottom + 4)
    return [model.name, [found.length, inside]]
  }}))
}}"""


def check(app, when):
    """Wait until each legend has names, and each name a painted sample."""

    def faults():
        found = app.page.evaluate(SAMPLES)
        none = [name for name, entries in found.items() if not entries]
        empty = [(name, label) for name, entries in found.items() for label, pixels in entries if pixels < LEAST]
        return when, len(found) > 0, none, empty

    app.check_becomes(faults, (when, True, [], []))


@pytest.mark.parametrize(("page_id", "epsilon"), [("noise", "ε of the noise"), ("select", "ε")])
def test_samples_are_painted_after_each_change(make_app, server, page_id, epsilon):
    # so high that every card is there
    app = make_app(server, height=9000).enter(page_id, "&draws=10", wait=False)
    app.page.wait_for_selector("section.shown")
    app.open_all()
    app.settle(0)
    check(app, "after load")
    before = app.answers
    app.slider(epsilon).focus()
    for _ in range(10):
        app.page.keyboard.press("ArrowRight")
    app.settle(before)
    check(app, "after ten steps of ε")


# width and height of what is painted of a sample
EXTENT = f"""([of, label]) => {{
  const [, legend] = ({LEGEND_VIEWS})().find(([model]) => model.name === of)
  const {{canvas}} = legend.entries.find((entry) => entry.label === label).glyph
  const paper = document.createElement("canvas").getContext("2d")
  Object.assign(paper.canvas, {{width: canvas.width, height: canvas.height}})
  paper.drawImage(canvas, 0, 0)
  const {{data}} = paper.getImageData(0, 0, canvas.width, canvas.height)
  const at = [...data.keys()].filter((i) => i % 4 === 3 && data[i] > 0).map((i) => (i - 3) / 4)
  const extent = (places) => Math.max(...places) - Math.min(...places) + 1
  return [extent(at.map((i) => i % canvas.width)), extent(at.map((i) => Math.floor(i / canvas.width)))]
}}"""


def test_sample_without_noise_is_upright_as_in_the_plot(make_app, server):
    app = make_app(server).enter("train", "&dataset=toy&draws=10")
    check(app, "after load")
    width, height = app.page.evaluate(EXTENT, ["train-methods", "without noise"])
    assert height > 2 * width


# on a phone plots have the least room
@pytest.mark.parametrize("page_id", others_in_full([name for name in PAGE_SOURCES if name != "mydata"], "evaluate"))
def test_each_legend_is_drawn_once_and_within_its_plot(make_app, server, page_id):
    query = "&dataset=toy&draws=10&publish_draws=10&audit_draws=1000"
    app = make_app(server, width=390, height=9000).enter(page_id, query)

    def faults():
        found = app.page.evaluate(BOXES)
        return len(found) > 0, {name: seen for name, seen in found.items() if seen != [1, True]}

    app.check_becomes(faults, (True, {}))
