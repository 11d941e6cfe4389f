"""The page Noise in a browser: releases fall one by one, and points are dragged."""

import numpy as np
import pytest
from dpml_app.pages.noise.compute import decode, preset

from dpml.mechanisms.smooth import smooth_sensitivity

pytestmark = pytest.mark.browser
# where on the screen a point is
WHERE = """(index) => {
  const doc = Bokeh.documents[0]
  const view = Bokeh.index.find_one_by_id(doc.get_model_by_name("noise-line").id)
  const {x, y} = doc.get_model_by_name("noise-points").data
  view.el.scrollIntoView({block: "center"})
  const box = view.el.getBoundingClientRect()
  return [box.x + view.frame.x_scale.compute(x[index]), box.y + view.frame.y_scale.compute(y[index])]
}"""


# how many releases have fallen, of how many, the bar's height and its words
FALLEN = """() => {
  const found = (name) => Bokeh.documents[0].get_model_by_name(name)
  const dots = found("noise-count").renderers.find((r) => !r.data_source.name && r.data_source.data.ratio)
  const {height, text} = found("noise-ratio").data
  return [dots.data_source.data.x.length, found("noise-drops").data.x.length, height[0], text[0]]
}"""


def test_releases_fall_one_by_one_and_at_once_where_motion_is_unwanted(app):
    app.page.emulate_media(reduced_motion="reduce")
    app.enter("noise", "&noise_epsilon=2")
    drawn, ratios = len(app.array("noise-drops", "x")), app.array("noise-drops", "ratio")
    last = max(ratios[-1], 1 / ratios[-1])
    app.check_becomes(lambda: app.page.evaluate(FALLEN)[:3], [drawn, drawn, pytest.approx(np.log(last) / 2)])
    assert app.page.evaluate(FALLEN)[3] == f"{last:.3g} times as likely"
    app.page.emulate_media(reduced_motion="no-preference")
    app.act(lambda app: app.hit("button", "Resample"))
    seen = [app.page.evaluate(FALLEN)[0]]
    while seen[-1] < app.page.evaluate(FALLEN)[1]:
        app.page.wait_for_timeout(100)
        seen.append(app.page.evaluate(FALLEN)[0])
    assert seen == sorted(seen)
    assert len(set(seen)) > 3
    # another ε moves them where they belong, and lets none fall again
    app.act(lambda app: app.push("ε of the noise", "ArrowLeft"))
    fallen, every, height, _ = app.page.evaluate(FALLEN)
    assert fallen == every
    assert 0 <= height <= 1 + 1e-9


# ---- points -----------------------------------------------------------------------------------------------------


def test_dragging_a_point_goes_into_the_link_and_redraws_the_envelope(app):
    app.enter("noise", "&noise_size=10&noise_statistic=median")
    x, y = app.steady(WHERE, 4)
    mouse = app.page.mouse
    mouse.move(x, y)
    mouse.down()
    for step in (10, 40, 80, 120):
        mouse.move(x + step, y + 30)
    app.page.wait_for_function("Bokeh.documents[0].get_model_by_name('noise-points').data.x[4] > 60")
    mouse.up()
    app.page.wait_for_function("new URLSearchParams(location.search).get('noise_points')?.length > 1")
    moved = decode(app.query["noise_points"])
    assert (np.delete(moved, 4) == np.delete(preset("bell", 10), 4)).all()
    assert moved[4] > 60
    exact = smooth_sensitivity("median", moved, 0, 100, 1 / 6, "replace-one")
    app.check_becomes(lambda: app.read("noise-envelope-smooth")["value"][0], pytest.approx(exact))
    # a press beside all points moves none
    mouse.move(x - 200, y)
    mouse.down()
    mouse.move(x - 150, y)
    mouse.move(x - 100, y)
    mouse.up()
    assert app.array("noise-points", "x") == pytest.approx(moved, abs=0.05)
