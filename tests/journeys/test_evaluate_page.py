"""The Evaluate page in a browser: its curves are the library's, also before the server has heard of a slider."""

import pytest
from dpml_app.pages.evaluate import compute as own

pytestmark = pytest.mark.browser


def test_browser_draws_the_curves_of_a_release_and_of_the_next_epsilon(app):
    app.enter("evaluate", "&evaluate_tested=0&dataset=toy&draws=40&seed=2&evaluate_methods=histogram.laplace&epsilon=1")
    key = ("toy", own.ALL, "add-remove")
    fpr, tpr, _ = own.evaluation(*key, 1, 40, 2).roc_curve()
    found = own.band(fpr, tpr)
    for column in ("low", "mid", "high"):
        assert app.array("evaluate-roc-band", column) == pytest.approx(found[column], abs=1e-9)
    assert app.array("evaluate-roc-release", "fpr") == pytest.approx(fpr[0])
    assert app.array("evaluate-roc-release", "tpr") == pytest.approx(tpr[0])
    # what the server hears comes later: the browser draws at once
    app.push("ε")
    app.page.wait_for_function("location.search.includes('epsilon=1.25')")
    found = own.band(*own.evaluation(*key, 1.25, 40, 2).roc_curve()[:2])
    middle = lambda: app.array("evaluate-roc-band", "mid").tolist()  # noqa: E731
    app.check_becomes(middle, pytest.approx(found["mid"].tolist(), abs=1e-9))
    for name in ("errors", "success"):
        there = "(name) => Bokeh.documents[0].get_model_by_name(name).location === 1.25"
        app.page.wait_for_function(there, arg=f"evaluate-{name}-marker")
