"""Legends in a browser: each sample is painted whatever happens to its curve, and a click on a name hides the curve."""

import pytest
from each_commit import others_in_full

pytestmark = pytest.mark.browser
# what is opened, and the slider of its ε
VISITS = {
    "explore": ("explore", "&draws=10", "ε"),
    "audit": ("audit", "&audit_draws=1000&audit_method=laplace", "Claimed ε"),
    "noise": ("noise", "&noise_draws=500", "ε of the noise"),
    "plane": ("noise", "&noise_draws=500&noise_dimension=2", "ε of the noise"),
    "select": ("select", "&draws=10", "ε"),
    "train": ("train", "&draws=10", "ε"),
    "linear": ("train", "&draws=10&train_family=linear&dataset=toy&train_linear=l1.output.rule.objective", "ε"),
    "publish": ("publish", "&dataset=toy&publish_draws=5&publish_grids=100", "ε"),
    "weights": ("publish", "&dataset=census&publish_draws=5&publish_grids=100", "ε"),
    "evaluate": ("evaluate", "&draws=10", "ε"),
}
NOISE = ("noise-tails", "noise-rivals", "noise-choices", "noise-scales", "noise-costs", "noise-envelope")
PUBLISH = ("models", "cells", "grids", "shares", "columns", "records", "rivals", "choices", "sensitivity", "time")
LEGENDS = {
    "explore": {"accuracy", "selection", "map"},
    "audit": {"audit-bound"},
    "noise": {"noise-histogram", *NOISE},
    "plane": {"noise-plane", *NOISE},
    "select": {"select-coins", "select-f1", "select-accuracy"},
    "train": {"train-accuracy", "train-best", "train-size", "train-weight", "train-threshold", "train-silenced",
              "train-partition", "train-parameters"},
    "linear": {"train-accuracy", "train-best", "train-size", "train-lambda", "train-weights", "train-tuning"},
    "publish": {f"publish-{name}" for name in PUBLISH},
    "weights": {f"publish-{name}" for name in (*PUBLISH, "weights-query", "weights-penalty", "weights-plane",
                                               "weights-histogram", "weights-machine", "weights-tables",
                                               "weights-taught")},
    "evaluate": {f"evaluate-{name}" for name in ("intervals", "calibration", "errors", "sizes", "gap", "sure",
                                                 "success")},
}  # fmt: skip
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


# test_looks.py holds of every legend that its samples look like what is drawn
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
    other, figure = ("noise", "noise-histogram") if page_id != "noise" else ("audit", "audit-bound")
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
