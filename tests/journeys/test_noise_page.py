"""The Noise page in a browser: every control moves what it should, and the browser's numbers are the library's."""

from pathlib import Path

import numpy as np
import pytest
from dpml_app.pages.noise.points import decode, preset

from dpml.mechanisms.smooth import (
    global_sensitivity,
    local_sensitivity,
    sensitivity_envelope,
    smooth_sensitivity,
    statistic,
)
from dpml.mechanisms.smooth.admissible import cauchy_scale

pytestmark = pytest.mark.browser
ROOT = Path(__file__).parents[2]
# where on the screen a point is
WHERE = """(index) => {
  const doc = Bokeh.documents[0]
  const view = Bokeh.index.find_one_by_id(doc.get_model_by_name("noise-line").id)
  const {x, y} = doc.get_model_by_name("noise-points").data
  view.el.scrollIntoView({block: "center"})
  const box = view.el.getBoundingClientRect()
  return [box.x + view.frame.x_scale.compute(x[index]), box.y + view.frame.y_scale.compute(y[index])]
}"""
FIGURES = {
    "histogram": ["noise-bars", "noise-exact"],
    "plane": ["noise-grid", "noise-dots", "noise-contours"],
    "tails": ["noise-tails-bound", "noise-tails-exact", "noise-tails-own", "noise-tails-here"],
    "rivals": [f"noise-rivals-{n}" for n in ("laplace", "geometric", "staircase", "gaussian", "best")],
    "choices": [f"noise-choices-{n}" for n in ("exponential", "flip", "noisy-max", "best")],
    "markers": ["noise-rivals-here", "noise-choices-here", "noise-scales-here", "noise-costs-here"],
    "points": ["noise-points"],
    "envelope": ["noise-terms", "noise-best", "noise-local", "noise-smooth", "noise-global"],
    "release": ["noise-intervals"],
    "draws": ["noise-releases"],
    "calibrations": [f"noise-{f}-{n}" for f in ("scales", "costs") for n in ("exact", "algorithm-1", "theorem-2")],
}


def figures(app):
    return {name: [app.read(source) for source in sources] for name, sources in FIGURES.items()}


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


def check_envelope(app, kind, x, beta, relation, trim):
    """What the browser has drawn of these points is what Python computes, to 1e-9."""
    arguments = (kind, x, 0, 100, beta, relation, trim)
    whole = global_sensitivity(kind, 0, 100, n=len(x), relation=relation, trim=trim)
    exact = sensitivity_envelope(*arguments, distances=len(x) + 1)
    for column, values in (("sensitivity", exact.sensitivity), ("term", exact.terms)):
        drawn = np.nan_to_num(app.array("noise-terms", column)) * whole
        assert drawn == pytest.approx(values, rel=1e-9, abs=1e-12)
    assert app.array("noise-smooth", "value")[0] == pytest.approx(smooth_sensitivity(*arguments), rel=1e-9)
    local = local_sensitivity(kind, x, 0, 100, relation, trim)
    assert app.array("noise-local", "value")[0] == pytest.approx(local, rel=1e-9, abs=1e-12)
    assert app.array("noise-global", "value")[0] == pytest.approx(whole, rel=1e-9)
    value = lambda: app.page.evaluate("Bokeh.documents[0].get_model_by_name('noise-value').location")  # noqa: E731
    app.check_becomes(value, pytest.approx(statistic(kind, x, 0, 100, trim), rel=1e-9))


# test_kernels_are_python_s_on_many_samples has the other statistics
def test_envelope_and_releases_are_python_s(app):
    start, size, trim, epsilon = "clumps", 200, 3, 0.1
    query = f"&noise_statistic=trimmed_mean&noise_relation=replace-one&noise_preset={start}&noise_size={size}"
    app.enter("noise", f"{query}&noise_trim={trim}&noise_epsilon={epsilon:g}")
    x = preset(start, size)
    check_envelope(app, "trimmed_mean", x, epsilon / 6, "replace-one", trim)
    # the width of 90 % of releases
    widths = app.array("noise-intervals", "most_high") - app.array("noise-intervals", "most_low")
    smooth = smooth_sensitivity("trimmed_mean", x, 0, 100, epsilon / 6, "replace-one", trim)
    whole = global_sensitivity("trimmed_mean", 0, 100, n=size, relation="replace-one", trim=trim)
    cauchy = 2 * np.tan(0.45 * np.pi) * cauchy_scale(epsilon, epsilon / 6) * smooth
    assert widths == pytest.approx([cauchy, 2 * np.log(10) * whole / epsilon], rel=1e-9)


def test_kernels_are_python_s_on_many_samples(app):
    rng = np.random.default_rng(0)
    cases = []
    for n in (1, 2, 3, 5, 8, 23, 200):
        for kind in ("mean", "trimmed_mean", "variance", "median"):
            for relation in ("add-remove", "replace-one"):
                for beta in (0.001, 0.1, 2.0):
                    for tied in (False, True):
                        low, high = (0, 100) if tied else (-3.5, 8)
                        x = rng.choice(np.linspace(low, high, 4), n) if tied else rng.uniform(low, high, n)
                        cases.append([kind, x.tolist(), low, high, beta, relation, int(rng.integers(0, n // 2 + 2))])
    kernels = (ROOT / "app/dpml_app/pages/noise/kernels.js").read_text(encoding="utf-8")
    app.page.goto("about:blank")
    found = app.page.evaluate(f"(cases) => {{ {kernels}; return cases.map((c) => sensitivities(...c)) }}", cases)
    for case, got in zip(cases, found, strict=True):
        kind, x, low, high, _beta, relation, trim = case
        assert got["smooth"] == pytest.approx(smooth_sensitivity(*case), rel=1e-9, abs=1e-12)
        assert got["local"] == pytest.approx(local_sensitivity(kind, x, low, high, relation, trim), rel=1e-9, abs=1e-12)
        assert got["value"] == pytest.approx(statistic(kind, x, low, high, trim), rel=1e-9, abs=1e-12)
        whole = global_sensitivity(kind, low, high, len(x), relation, trim)
        assert got["global"] == pytest.approx(whole, rel=1e-9)
        envelope = sensitivity_envelope(*case, distances=len(x) + 1)
        assert got["A"] == pytest.approx(envelope.sensitivity.tolist(), rel=1e-9, abs=1e-12)
    scales = app.page.evaluate(f"(pairs) => {{ {kernels}; return pairs.map((p) => cauchy_scale(...p)) }}", PAIRS)
    assert scales == pytest.approx([cauchy_scale(*pair) for pair in PAIRS], rel=1e-9)


PAIRS = [[e, share * e] for e in (0.01, 0.3, 1, 10) for share in (0.02, 1 / 6, 0.9)]


def test_dragging_a_point_redraws_the_envelope_and_goes_into_the_link(app):
    app.enter("noise", "&noise_size=10&noise_statistic=median")
    before = figures(app)
    x, y = app.steady(WHERE, 4)
    mouse = app.page.mouse
    mouse.move(x, y)
    mouse.down()
    for step in (10, 40, 80, 120):
        mouse.move(x + step, y + 30)
    app.page.wait_for_function("Bokeh.documents[0].get_model_by_name('noise-points').data.x[4] > 60")
    moved = {"points", "envelope", "release", "draws"}

    def others():
        during = figures(app)
        return {name for name in before if before[name] != during[name]}

    app.check_becomes(others, moved)
    assert app.query.get("noise_points", "") == "", "the server hears of it when the drag has ended"
    mouse.up()
    app.page.wait_for_function("new URLSearchParams(location.search).get('noise_points')?.length > 1")
    dragged = app.array("noise-points", "x")
    assert (np.delete(dragged, 4) == np.delete(preset("bell", 10), 4)).all()
    assert dragged[4] > 60
    assert decode(app.query["noise_points"]) == pytest.approx(dragged)
    check_envelope(app, "median", dragged, 1 / 6, "replace-one", 0)
    # a press beside all points moves none
    mouse.move(x - 200, y)
    mouse.down()
    mouse.move(x - 150, y)
    mouse.move(x - 100, y)
    mouse.up()
    assert app.array("noise-points", "x") == pytest.approx(dragged)
