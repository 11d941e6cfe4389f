"""The page Privacy cost in a browser: the library's numbers, and a slider while workers compute."""

import json
import re

import pytest
from dpml_app.settings import SWEEP_EPSILONS
from waiting import wait

pytestmark = pytest.mark.browser


def test_marker_follows_epsilon_and_zoom_is_kept(app):
    app.open("?dataset=toy&draws=20")
    app.page.evaluate("Bokeh.documents[0].get_model_by_name('roc').y_range.setv({start: 0.7, end: 0.8})")
    app.press("ε", "ArrowRight", "ArrowRight")
    chosen = float(app.query["epsilon"])
    assert chosen == 0.16
    there = "(chosen) => Bokeh.documents[0].get_model_by_name('cost-marker').location === chosen"
    app.page.wait_for_function(there, arg=chosen)
    app.check_becomes(lambda: app.read("cost-hand-now")["epsilon"], [chosen])
    app.wait_for_text("1.18")  # e to the 0.16, never rounded down
    app.press("Threshold percentile", "ArrowRight")
    zoom = app.page.evaluate("(({start, end}) => [start, end])(Bokeh.documents[0].get_model_by_name('roc').y_range)")
    assert zoom == [0.7, 0.8]


# of each lever the model that uses it, and the slider
LEVERS = [
    ("ε", "naive-bayes"),
    ("Number of features", "naive-bayes"),
    ("Budget share for selection", "naive-bayes"),
    ("Threshold percentile", "naive-bayes"),
    ("Regularisation λ", "logistic"),
]


def test_five_levers_are_seen_together_and_move_plot_and_number(make_app, server):
    app = make_app(server, width=1440, height=900)
    app.enter("explore", "&dataset=toy&draws=10")
    plot = app.page.locator("section.shown .first canvas").first.bounding_box()
    assert plot["y"] + plot["height"] <= 900
    inactive = {
        "naive-bayes": "Regularisation λ (Logistic)",
        "logistic": "Threshold percentile (Naive Bayes)",
    }
    for model, reason in inactive.items():
        if model == "logistic":
            app.act(lambda app: app.pick("Model", "Logistic"))
        names = [reason, *(lever for lever, _model in LEVERS if not reason.startswith(lever))]
        assert len(names) == len(LEVERS)
        boxes = [app.slider(name).bounding_box() for name in names]
        assert all(box["y"] + box["height"] <= 900 for box in boxes), boxes
        assert app.slider(reason).is_disabled()
        for lever in (lever for lever, used_by in LEVERS if used_by == model):
            series = "cost-gap" if lever == "ε" else "cost-hand"
            wait(app.page, lambda lever=lever: number(app, lever))
            before = app.written(series), app.written("cost-hand-now"), number(app, lever)
            app.press(lever, "PageUp")

            def changed(lever=lever, series=series, before=before):
                now = app.written(series), app.written("cost-hand-now"), number(app, lever)
                return [bool(a) and a != b for a, b in zip(now, before, strict=True)]

            app.check_becomes(changed, [True, True, True])


def number(app, lever):
    """Return the cost that the page prints, or the custom model's accuracy; None for a moment without it."""
    if lever != "ε":
        found = re.search(r"Custom model ?([\d.]+)%", app.text)
        return found and found[1]
    heading = app.page.get_by_role("heading", name=re.compile("^Privacy cost at ε"))
    return heading.evaluate("(heading) => heading.getRootNode().querySelector('b')?.textContent")


# of a card's place: whether it waits, what is said over it, and the opacity of its figure
WAITING = """(name) => {
  const view = (name) => Bokeh.index.find_one_by_id(Bokeh.documents[0].get_model_by_name(name).id)
  const [place, plot] = [view(`place-explore-${name}`).el, view(name).el]
  const card = [...place.shadowRoot.children].find((part) => getComputedStyle(part).position === "relative")
  const said = getComputedStyle(card, "::after").content
  const opacity = getComputedStyle(plot).opacity
  return [place.classList.contains("waiting"), said.replaceAll('"', ""), Number(opacity)]
}"""

# note of each frame that is painted what WAITING finds, and the curve
NOTE_FRAMES = f"""() => {{
  const shown = {WAITING}
  globalThis.noted = []
  const note = () => {{
    const curve = Bokeh.documents[0].get_model_by_name("cost-hand").data.mean
    const name = Bokeh.documents[0].get_model_by_name("cost-legend").items[2].label.value
    const [last, now] = [noted.at(-1), [...shown("cost"), name, JSON.stringify(Array.from(curve))]]
    if (JSON.stringify(last) !== JSON.stringify(now)) {{ noted.push(now) }}
    requestAnimationFrame(note)
  }}
  note()
}}"""


def test_a_curve_that_waits_is_greyed_and_says_so_once(app):
    app.enter("explore", "&dataset=toy&draws=10&hand_model=logistic")
    rests, waits = [False, "none", 1], [True, "Computing…", 0.4]
    curve_rests, curve_waits = [*rests, "custom model"], [*rests, "custom model: computing…"]
    shown = lambda: app.page.evaluate(WAITING, "cost")  # noqa: E731
    app.check_becomes(shown, rests)
    app.page.evaluate(NOTE_FRAMES)
    app.push("Regularisation λ", "PageDown")
    app.check_becomes(lambda: len({curve for *_state, curve in app.page.evaluate("noted")}), 2)
    app.check_becomes(shown, rests)
    # no frame is empty, and what is drawn is of one setting: the earlier curve until the new one is whole
    noted = app.page.evaluate("noted")
    assert curve_waits in [state for *state, _curve in noted]
    # before the answer at the setting itself the whole card may wait
    assert all(state in (curve_rests, curve_waits) or state[:3] == waits for *state, _curve in noted)
    curves = [json.loads(curve) for *_state, curve in noted]
    assert curves[0] != curves[-1]
    assert all(curve in (curves[0], curves[-1]) for curve in curves)
    assert all(len(curve) == len(SWEEP_EPSILONS) for curve in curves)
    assert app.read("cost-hand-now")["epsilon"] == app.read("cost-gap")["epsilon"] == [0.1]


def test_second_slider_answers_while_a_sweep_runs(app):
    app.open("?draws=10&hand_model=logistic")
    app.slider("Regularisation λ").focus()
    app.page.keyboard.press("ArrowLeft")
    app.page.wait_for_function(
        "() => globalThis.Bokeh?.documents[0]?.get_model_by_name('explore-work')?.data.running[0]"
    )
    app.slider("ε").focus()
    app.page.keyboard.press("ArrowRight")
    app.check_becomes(lambda: app.read("cost-hand-now")["epsilon"], [0.125])
    # the sweep goes on
    app.settle(0)
    assert app.query["reg_lambda"] == "20"
