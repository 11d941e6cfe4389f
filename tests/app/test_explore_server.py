"""The page on a phone and in the dark, jobs that are cancelled, data that are missing, a server that is told to end."""

import sys

import pytest

pytestmark = pytest.mark.browser
SWEEPING = "() => globalThis.Bokeh?.documents[0]?.get_model_by_name('sweep-state')?.data.running[0]"


def test_second_slider_answers_while_a_sweep_runs(app):
    app.open("?draws=10")
    app.slider("Draws").focus()
    app.page.keyboard.press("End")
    app.page.wait_for_function(SWEEPING)
    before = app.answers
    app.slider("ε").focus()
    app.page.keyboard.press("ArrowRight")
    app.page.wait_for_function(
        "(n) => Bokeh.documents[0].get_model_by_name('answer-state').data.answers[0] > n", arg=before
    )
    app.check_becomes(lambda: app.read("accuracy-published-now")["epsilon"], [0.125])
    app.settle(before)
    assert app.query["draws"] == "200"
    assert len(app.read("accuracy-published")["epsilon"]) == 16


def test_outdated_curve_is_faded_until_it_is_replaced(app):
    app.open("?dataset=toy&draws=10&seed=31")  # nothing of which is kept yet
    old = app.read("accuracy-published")
    before = app.answers
    # every change is looked at: the sweep does not last
    app.page.evaluate(
        """() => {
          const doc = Bokeh.documents[0]
          const [stale, curve] = ["-stale", ""].map((end) => doc.get_model_by_name(`accuracy-logistic${end}`))
          globalThis.faded = false
          stale.connect(stale.properties.data.change, () => {
            globalThis.faded ||= stale.data.epsilon.length === 16 && curve.data.epsilon.length < 16
          })
          curve.connect(curve.properties.data.change, () => {
            globalThis.faded ||= stale.data.epsilon.length === 16 && curve.data.epsilon.length < 16
          })
        }"""
    )
    app.slider("Draws").focus()
    app.page.keyboard.press("End")
    app.settle(before)
    assert app.page.evaluate("globalThis.faded")
    assert len(app.read("accuracy-logistic")["epsilon"]) == 16
    assert app.read("accuracy-published-stale")["epsilon"] == []
    assert app.read("accuracy-published") != old


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_sigterm_ends_server_and_workers_while_a_sweep_runs(make_app, start_server):
    server = start_server()
    app = make_app(server).open("?draws=10")
    app.slider("Draws").focus()
    app.page.keyboard.press("End")
    app.page.wait_for_function(SWEEPING)
    app.page.goto("about:blank")
    assert server.stop() < 5
