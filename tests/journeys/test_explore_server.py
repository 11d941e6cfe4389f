"""The Explore page in a browser while the server works."""

import pytest

pytestmark = pytest.mark.browser
SWEEPING = "() => globalThis.Bokeh?.documents[0]?.get_model_by_name('sweep-state')?.data.running[0]"


def test_second_slider_answers_while_a_sweep_runs(app):
    app.open("?draws=10")
    app.slider("Runs").focus()
    app.page.keyboard.press("End")
    app.page.wait_for_function(SWEEPING)
    before = app.answers
    app.slider("ε").focus()
    app.page.keyboard.press("ArrowRight")
    app.page.wait_for_function(
        "(n) => Bokeh.documents[0].get_model_by_name('answer-state').data.answers[0] > n", arg=before
    )
    app.check_becomes(lambda: app.read("accuracy-published-now")["epsilon"], [0.125])
    # the sweep goes on: its quickest curve is drawn anew, and the slow ones are not waited for
    app.check_becomes(lambda: len(app.read("accuracy-published")["epsilon"]), 16)
    assert app.query["draws"] == "200"
