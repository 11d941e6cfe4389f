"""The page Audit in a browser: methods are found by typing, claims clicked."""

import pytest
from dpml_app.pages.audit import compute
from playwright.sync_api import expect

pytestmark = pytest.mark.browser
FEW = "&audit_draws=1000"
# where a dot of the wall is on the screen
DOT = """(place) => {
  const plot = Bokeh.documents[0].get_model_by_name("audit-claims"), view = Bokeh.index.find_one_by_id(plot.id)
  const {x, y} = Bokeh.documents[0].get_model_by_name("audit-wall").data, box = view.el.getBoundingClientRect()
  return [box.x + view.frame.x_scale.compute(x[place]), box.y + view.frame.y_scale.compute(y[place])]
}"""


def opened(app, query=""):
    return app.enter("audit", FEW + query)


def act(app, what):
    """Do something that starts a new audit and wait for its end."""
    app.act(lambda _app: what())


def test_a_method_is_found_by_typing_and_chosen_by_keyboard(app):
    opened(app, "&audit_method=laplace")
    page = app.page
    search = page.get_by_role("combobox", name="Method (✗: claim violated)")
    expect(search).to_have_value("Laplace mechanism")
    search.fill("geometric")
    options = page.get_by_role("option")
    app.check_becomes(lambda: options.all_inner_texts()[:1], ["Two-sided geometric mechanism"])
    page.keyboard.press("ArrowDown")
    act(app, lambda: page.keyboard.press("Enter"))
    assert app.query["audit_method"] == "geometric"
    expect(search).to_have_value("Two-sided geometric mechanism")


def test_a_click_on_the_wall_opens_the_verdict_of_that_claim(app):
    opened(app)
    place = [claim.method for claim in compute.claims()].index("class-sums-by-width")
    where = app.page.evaluate(DOT, place)
    act(app, lambda: app.page.mouse.click(*where))
    claim = compute.claims()[place]
    assert app.query["audit_method"] == claim.method
    assert app.query["audit_relation"] == claim.relation
    assert float(app.query["audit_epsilon"]) == claim.claimed
    app.wait_for_text(f"the actual ε on these neighbours is {claim.shown:.3g}")
    # it is read without scrolling, above the evidence
    heading = app.page.get_by_role("heading", name="Claim violated").bounding_box()
    assert heading["y"] + heading["height"] < app.page.viewport_size["height"]
