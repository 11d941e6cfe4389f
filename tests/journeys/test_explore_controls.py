"""The Explore page in a browser: what follows a slider, what is kept, and what a link brings back."""

import pytest

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
