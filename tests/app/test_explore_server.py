"""The page on a phone and in the dark, jobs that are cancelled, data that are missing, a server that is told to end."""

import sys

import pytest

pytestmark = pytest.mark.browser
SWEEPING = "() => globalThis.Bokeh?.documents[0]?.get_model_by_name('sweep-state')?.data.running[0]"
WIDGETS = (
    "ε",
    "Features selected, T",
    "Share of ε for selection",
    "Threshold percentile",
    "Row bound",
    "λ, logistic regression",
    "Draws",
)


def test_phone_has_a_closed_drawer_and_no_sideways_scroll(make_app, server):
    app = make_app(server, width=390, height=844).open("?draws=10")
    page = app.page
    assert app.widest <= 390
    app.slider("ε").wait_for(state="hidden")  # it slides out
    boxes = page.evaluate(
        """() => ["accuracy", "roc", "selection", "map"].map((name) => {
          const model = Bokeh.documents[0].get_model_by_name(name)
          const {left, right} = Bokeh.index.find_one_by_id(model.id).el.getBoundingClientRect()
          return [left, right]
        })"""
    )
    assert all(left >= 0 and right <= 390 for left, right in boxes)
    page.get_by_label("Open drawer").click()
    app.slider("ε").wait_for(state="visible")
    assert app.read("roc-exact")["fpr"]


def test_every_control_has_a_name_and_sliders_take_the_keyboard(app):
    app.open("?draws=10")
    for name in WIDGETS:
        slider = app.slider(name)
        assert slider.get_attribute("aria-valuetext")
        slider.focus()
        assert app.page.evaluate("document.activeElement.shadowRoot !== undefined")
    nameless = app.page.get_by_role("slider", name="", exact=True).count()
    assert nameless == 0
    assert app.page.get_by_role("radio", name="Add or remove one record", exact=True).is_checked()
    assert app.page.get_by_role("spinbutton").or_(app.page.get_by_label("Seed")).count() >= 1
    headings = app.page.get_by_role("heading", level=2).all_inner_texts()
    assert len(headings) == 4


def test_dark_theme_keeps_the_data(app):
    app.open("?draws=10")
    before = app.everything()
    app.page.get_by_label("Toggle theme").click()
    app.page.wait_for_function(
        "Bokeh.documents[0].get_model_by_name('accuracy').background_fill_color.toLowerCase() !== '#fff'"
    )
    assert app.everything() == before
    app.press("ε", "ArrowRight")
    assert app.read("accuracy-count-now") != before["accuracy-count-now"]


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
    assert app.read("accuracy-published-now")["epsilon"] == [0.125]
    app.settle(before)
    assert app.query["draws"] == "200"
    assert len(app.read("accuracy-published")["epsilon"]) == 16


def test_cancel_stops_a_sweep_and_resume_completes_it(app):
    app.open("?draws=190&seed=97", wait=False)
    app.page.wait_for_function(SWEEPING)
    app.page.get_by_role("button", name="Cancel", exact=True).click()
    app.page.wait_for_function(f"!({SWEEPING})()")
    state = app.read("sweep-state")
    app.page.wait_for_timeout(700)
    assert app.read("sweep-state") == state
    assert state["done"][0] < state["total"][0]
    lengths = [len(app.read(f"accuracy-{m}")["epsilon"]) for m in ("published", "logistic")]
    assert min(lengths) < 16
    assert "Cancelled" in app.text
    app.page.get_by_role("button", name="Resume", exact=True).click()
    app.page.wait_for_function(SWEEPING)
    app.settle(0)
    assert len(app.read("accuracy-logistic")["epsilon"]) == 16
    assert all(v is not None for v in app.read("map-cells")["accuracy"])


def test_outdated_curve_is_faded_until_it_is_replaced(app):
    app.open("?draws=10")
    old = app.read("accuracy-published")
    app.slider("Draws").focus()
    app.page.keyboard.press("End")
    # looked at in every frame: the sweep does not last
    app.page.wait_for_function(
        """() => {
          const doc = Bokeh.documents[0]
          const length = (name) => doc.get_model_by_name(name).data.epsilon.length
          return length("accuracy-logistic-stale") === 16 && length("accuracy-logistic") < 16
        }"""
    )
    app.settle(1)
    assert len(app.read("accuracy-logistic")["epsilon"]) == 16
    assert app.read("accuracy-published-stale")["epsilon"] == []
    assert app.read("accuracy-published") != old


def test_missing_data_are_said_and_another_set_still_works(make_app, start_server, tmp_path):
    nowhere = "http://127.0.0.1:9"  # no download, whatever network there is
    proxies = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), nowhere)
    server = start_server(DPML_DATA=str(tmp_path), no_proxy="localhost", **proxies)
    app = make_app(server).open("?draws=10")
    app.choose("Adult: income", wait=False)
    app.page.get_by_role("alert").wait_for()
    text = " ".join(app.alerts)
    assert "adult.data" in text
    assert str(tmp_path) in text
    assert "DPML_DATA" in text
    assert app.read("accuracy-published")["epsilon"] == []
    assert app.read("map-cells")["accuracy"] == []
    assert app.read("roc-exact")["fpr"] == []
    before = app.answers
    app.choose("Toy, generated (no file)", wait=False)
    app.settle(before)
    assert app.alerts == []
    assert len(app.read("accuracy-published")["epsilon"]) == 16


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_sigterm_ends_server_and_workers_while_a_sweep_runs(make_app, start_server):
    server = start_server()
    app = make_app(server).open("?draws=10")
    app.slider("Draws").focus()
    app.page.keyboard.press("End")
    app.page.wait_for_function(SWEEPING)
    app.page.goto("about:blank")
    assert server.stop() < 5
