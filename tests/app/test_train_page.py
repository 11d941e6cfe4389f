"""The Train page in a browser: names stay in sight at each width, and ε is moved on the map."""

import pytest

pytestmark = pytest.mark.browser
TOY = "&dataset=toy&draws=10&train_begin=none"
# of each name of a row, where it begins and ends in the figure, and the figure's width; and the lines through names
NAMES = """() => {
  const model = (name) => Bokeh.documents[0].get_model_by_name(name)
  const view = Bokeh.index.find_one_by_id(model("train-methods").id)
  const glyph = view.model.renderers.map((r) => r.glyph).find((g) => g.text?.field === "method")
  const pen = document.createElement("canvas").getContext("2d")
  pen.font = `${glyph.text_font_size.value} Roboto, Helvetica, Arial, sans-serif`
  const at = view.frame.bbox.left + glyph.x_offset.value, left = glyph.text_align.value === "left"
  const names = Array.from(model("train-methods-rows").data.method, (name) => pen.measureText(name).width)
  const x = view.frame.x_scale
  const {x0, x1} = model("train-methods-strikes").data
  return {
    names: names.map((long) => left ? [at, at + long] : [at - long, at]),
    wide: view.bbox.width,
    strikes: Array.from(x0, (from, i) => [x.compute(from), x.compute(x1[i])]),
    broken: Array.from(model("train-methods-rows").data.broken, (text) => text !== "as claimed"),
  }
}"""
AT = """() => {
  const model = (name) => Bokeh.documents[0].get_model_by_name(name)
  const view = Bokeh.index.find_one_by_id(model("train-best").id), {frame} = view
  const {left, top} = view.el.getBoundingClientRect()
  const x = (epsilon) => left + frame.x_scale.compute(epsilon)
  return {y: top + frame.bbox.top + frame.bbox.height / 2, from: x(model("train-best-marker").location), to: x(1)}
}"""


@pytest.mark.parametrize("width", [320, 390, 768, 1440])
def test_names_are_in_sight_and_those_of_what_is_not_private_are_struck_through(app, width):
    app.page.set_viewport_size({"width": width, "height": 844})
    app.enter("train", TOY)
    app.page.wait_for_function(f"() => ({NAMES})().strikes.length === 1")
    app.page.wait_for_timeout(300)
    seen = app.page.evaluate(NAMES)
    assert len(seen["names"]) == 6
    assert all(0 <= start < end <= seen["wide"] for start, end in seen["names"])
    (struck,) = (name for name, broken in zip(seen["names"], seen["broken"], strict=True) if broken)
    assert seen["strikes"][0] == pytest.approx(struck, abs=2)


def test_the_marker_of_the_map_is_dragged_to_another_epsilon(app):
    app.enter("train", TOY)
    app.page.locator("[aria-label^='Which is best at which ε?']").scroll_into_view_if_needed()
    app.page.wait_for_function("() => Bokeh.documents[0].get_model_by_name('train-best-cells')?.data.mean.length > 0")
    app.page.wait_for_timeout(500)
    at = app.page.evaluate(AT)
    mouse = app.page.mouse
    mouse.move(at["from"], at["y"])
    mouse.down()
    for step in range(1, 11):
        mouse.move(at["from"] + step * (at["to"] - at["from"]) / 10, at["y"])
    mouse.up()
    app.page.wait_for_function("() => new URL(location).searchParams.get('epsilon') === '1'")
    app.page.wait_for_function("() => Bokeh.documents[0].get_model_by_name('train-best-marker').location === 1")
