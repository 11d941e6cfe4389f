"""The page Audit in a browser: methods are found by typing, tables edited, samples paused, claims clicked."""

import pytest
from dpml_app.pages.audit import compute
from playwright.sync_api import expect
from waiting import wait

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


def span(app, name):
    return app.page.evaluate(
        "(name) => { const s = Bokeh.documents[0].get_model_by_name(name); return [s.location, s.visible] }", name
    )


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


def test_table_edited_by_hand_changes_the_outcome(app):
    opened(app, "&audit_method=mask-count&audit_relation=replace-one&audit_neighbours=table")
    # what is exact is not waited for by an answer
    wait(app.page, lambda: max(app.read("audit-bound-exact")["y"], default=0) > 0.2)
    app.check_becomes(lambda: app.read("audit-output-first")["label"], ["a b", "a c", "b c", "a d", "b d", "c d"])
    # the new record, class yes with a and b, becomes the one it replaces
    act(app, lambda: app.page.get_by_role("button", name="New record, class yes", exact=True).click())
    assert app.query["audit_record"] == "nab"
    app.check_becomes(lambda: app.read("audit-bound-exact")["y"], [0, 0])
    assert (app.array("audit-bound-bounds", "mean") == 0).all()
    app.wait_for_text("the actual ε is 0")
    act(app, lambda: app.page.get_by_role("button", name="Record 1, feature d", exact=True).click())
    assert app.query["audit_table"] == "nabd.nb.yc.yac"
    wait(app.page, lambda: max(app.read("audit-bound-exact")["y"], default=0) > 0)
    act(app, lambda: app.page.get_by_role("button", name="Add record", exact=True).click())
    assert app.query["audit_table"] == "nabd.nb.yc.yac.n"
    act(app, lambda: app.page.get_by_role("button", name="Remove record 2", exact=True).click())
    assert app.query["audit_table"] == "nabd.yc.yac.n"
    act(app, lambda: app.page.get_by_role("radio", name="Replace record 3", exact=True).check())
    assert app.query["audit_replaced"] == "3"


def test_pause_holds_the_draws_and_go_on_ends_them(app):
    # samples that take seconds, so that "Pause" comes before the last of them
    app.enter("audit", "&audit_method=published-roc-laplace&audit_draws=100000&audit_seed=77", wait=False)
    app.page.wait_for_selector("section.shown")
    app.open_all()
    app.page.wait_for_function(
        "globalThis.Bokeh?.documents?.[0]?.get_model_by_name('audit-bound-bounds')?.data.draws.length > 1"
    )
    app.page.get_by_role("button", name="Pause", exact=True).click()
    app.page.get_by_role("button", name="Resume", exact=True).wait_for()
    app.page.wait_for_function("!Bokeh.documents[0].get_model_by_name('audit-work').data.running[0]")
    held = app.read("audit-bound-bounds")["draws"]
    app.page.wait_for_timeout(500)
    assert app.read("audit-bound-bounds")["draws"] == held
    assert len(held) < len(compute.LADDER)
    app.page.get_by_role("button", name="Resume", exact=True).click()
    app.page.get_by_role("button", name="Restart", exact=True).wait_for()
    app.check_becomes(lambda: app.read("audit-bound-bounds")["draws"], list(compute.LADDER))
    app.wait_for_text("Claim violated: ")


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
