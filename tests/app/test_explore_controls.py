"""The Explore page in a browser: what follows a slider, what is kept, and what a link brings back."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser
QUERY = "?dataset=toy&draws=20"


def test_marker_follows_epsilon_and_zoom_is_kept(app):
    app.open(QUERY)
    app.page.evaluate("Bokeh.documents[0].get_model_by_name('accuracy').y_range.setv({start: 0.7, end: 0.8})")
    app.press("ε", "ArrowRight", "ArrowRight")
    chosen = float(app.query["epsilon"])
    assert chosen == 0.16
    there = "(chosen) => Bokeh.documents[0].get_model_by_name('accuracy-marker').location === chosen"
    app.page.wait_for_function(there, arg=chosen)
    app.check_becomes(lambda: app.read("map-current"), {"epsilon": [chosen], "n_features": [20]})
    app.wait_for_text("At ε = 0.16")
    app.wait_for_text("1.18")  # e to the 0.16, never rounded down
    app.press("Threshold percentile", "ArrowRight")
    zoom = app.page.evaluate(
        "(({start, end}) => [start, end])(Bokeh.documents[0].get_model_by_name('accuracy').y_range)"
    )
    assert zoom == [0.7, 0.8]


# ---- links ------------------------------------------------------------------------------------------------------

LINK = {
    "dataset": "toy",
    "relation": "replace-one",
    "epsilon": "2.5",
    "reg_lambda": "5",
    "threshold_percentile": "80",
    "n_features": "7",
    "selection_share": "0.3",
    "row_bound": "4",
    "draws": "30",
    "hand_model": "logistic",
    "map_score": "mutual_information",
}


def test_link_brings_back_controls_and_data(app, make_app, server):
    app.open("?" + "&".join(f"{k}={v}" for k, v in LINK.items()))
    assert {name: app.query[name] for name in LINK} == LINK
    for label, value in (("ε", "2.5"), ("Number of features", "7"), ("Row bound", "4"), ("Draws", "30")):
        expect(app.slider(label)).to_have_attribute("aria-valuetext", value)
    expect(app.page.get_by_role("radio", name="Replace one record", exact=True)).to_be_checked()
    again = make_app(server).open(app.search)
    app.check_becomes(again.everything, app.everything())
    assert again.query == app.query
