"""The Audit page in a browser: it shows what the library computes, and every control moves what it should."""

import re

import pytest
from dpml_app.pages.audit import compute
from playwright.sync_api import expect
from waiting import wait

from dpml.catalogue import CATALOGUE, claims

pytestmark = pytest.mark.browser
FEW = "&audit_draws=1000"
# of each row of the table of claims, the name of its button and its two marks
MARKS = """(rows) => rows.map((row) =>
  [row.querySelector("button").ariaLabel, [...row.querySelectorAll("td.mark")].map((cell) => cell.innerText)])"""
# so many claims by formula are waited for
FIRST = 10


def opened(app, query=""):
    return app.enter("audit", FEW + query)


def act(app, what):
    """Do something that starts a new audit and wait for its end."""
    app.act(lambda _app: what())


def data(app):
    names = ("audit-region", "audit-roc", "audit-bounds", "audit-outputs")
    return {name: app.read(name) for name in names}


def span(app, name):
    return app.page.evaluate(
        "(name) => { const s = Bokeh.documents[0].get_model_by_name(name); return [s.location, s.visible] }", name
    )


def test_link_opens_the_page_with_threshold_testing_caught(app):
    opened(app, "&audit_method=private-threshold-testing")
    app.wait_for_text("Broken: not private at any ε.")
    app.wait_for_text("The catalogue says: not private")
    app.wait_for_text("Stoddard et al. 2014, Algorithm 2")
    app.page.wait_for_function("Bokeh.documents[0].get_model_by_name('audit-beyond').text.includes('infinite')")
    app.check_becomes(lambda: span(app, "audit-exact")[1], False)
    lower = app.array("audit-bounds", "lower")
    assert lower[-1] > 1
    # the attacker leaves the region: some output is impossible with D'
    assert app.page.evaluate("Bokeh.documents[0].get_model_by_name('accuracy') === null"), "Explore is not even made"


def test_a_method_is_found_by_typing_and_chosen_by_keyboard(app):
    opened(app, "&audit_method=laplace")
    page = app.page
    search = page.get_by_role("combobox", name="Method to audit")
    search.focus()
    expect(search).to_have_value("Laplace mechanism")
    page.keyboard.press("ArrowDown")
    options = page.get_by_role("listbox", name="Method to audit").get_by_role("option")
    expect(options).to_have_count(len(CATALOGUE))
    # every word, in any order, also of the family and the source
    page.keyboard.type("zafarani classifiers")
    expected = [e for e in CATALOGUE.values() if "Zafarani" in e.citation and e.family == "classifier"]
    assert expected
    expect(options).to_have_count(len(expected))
    found = options.all_inner_texts()
    expect(search).to_have_attribute("aria-expanded", "true")
    expect(search).to_have_attribute("aria-activedescendant", re.compile("."))
    first = page.locator("#" + search.get_attribute("aria-activedescendant"))
    expect(first).to_have_text(found[0])
    page.get_by_role("status").get_by_text(f"{len(found)} of {len(CATALOGUE)} methods", exact=True).wait_for()
    # Escape takes it back
    page.keyboard.press("Escape")
    expect(search).to_have_value("Laplace mechanism")
    expect(search).to_have_attribute("aria-expanded", "false")
    page.keyboard.type("geometric ghosh")
    app.check_becomes(lambda: options.all_inner_texts()[:1], ["Two-sided geometric mechanism"])
    act(app, lambda: page.keyboard.press("Enter"))
    assert app.query["audit_method"] == "geometric"
    expect(search).to_have_value("Two-sided geometric mechanism")
    page.keyboard.type("no such words")
    page.get_by_text("No method has these words", exact=True).wait_for()
    page.keyboard.press("Enter")
    expect(search).to_have_value("Two-sided geometric mechanism")


def test_table_edited_by_hand_changes_the_outcome(app):
    opened(app, "&audit_method=mask-count&audit_relation=replace-one&audit_neighbours=table")
    # what is exact is not waited for by an answer
    wait(app.page, lambda: (span(app, "audit-exact")[0] or 0) > 0.2)
    app.check_becomes(lambda: app.read("audit-outputs")["label"], ["a b", "a c", "b c", "a d", "b d", "c d"])
    # the new record, class yes with a and b, becomes the one it replaces
    act(app, lambda: app.page.get_by_role("button", name="New record, class yes", exact=True).click())
    assert app.query["audit_record"] == "nab"
    app.check_becomes(lambda: span(app, "audit-exact"), [0, True])
    assert (app.array("audit-bounds", "lower") == 0).all()
    app.wait_for_text("their exact cost is ε = 0")
    act(app, lambda: app.page.get_by_role("button", name="Record 1, feature d", exact=True).click())
    assert app.query["audit_table"] == "nabd.nb.yc.yac"
    wait(app.page, lambda: (span(app, "audit-exact")[0] or 0) > 0)
    act(app, lambda: app.page.get_by_role("button", name="Add a record", exact=True).click())
    assert app.query["audit_table"] == "nabd.nb.yc.yac.n"
    act(app, lambda: app.page.get_by_role("button", name="Remove record 2", exact=True).click())
    assert app.query["audit_table"] == "nabd.yc.yac.n"
    act(app, lambda: app.page.get_by_role("radio", name="Replace record 3", exact=True).check())
    assert app.query["audit_replaced"] == "3"


def test_pause_holds_the_draws_and_go_on_ends_them(app):
    app.enter("audit", "&audit_method=noisy-cut&audit_draws=100000&audit_seed=77", wait=False)
    app.page.wait_for_selector("section.shown")
    app.open_all()
    app.page.wait_for_function(
        "globalThis.Bokeh?.documents?.[0]?.get_model_by_name('audit-bounds')?.data.draws.length > 1"
    )
    app.page.get_by_role("button", name="Pause", exact=True).click()
    app.page.get_by_role("button", name="Go on", exact=True).wait_for()
    app.page.wait_for_function("!Bokeh.documents[0].get_model_by_name('audit-work').data.running[0]")
    held = app.read("audit-bounds")["draws"]
    app.page.wait_for_timeout(500)
    assert app.read("audit-bounds")["draws"] == held
    assert len(held) < len(compute.LADDER)
    app.page.get_by_role("button", name="Go on", exact=True).click()
    app.page.get_by_role("button", name="Start again", exact=True).wait_for()
    app.check_becomes(lambda: app.read("audit-bounds")["draws"], list(compute.LADDER))
    assert app.array("audit-bounds", "lower")[-1] > 1
    app.wait_for_text("Broken: with 95 % confidence")


def test_catalogue_has_all_claims_and_their_marks(app):
    opened(app)
    rows = app.page.get_by_role("row")
    rows.first.wait_for()
    wait(app.page, lambda: rows.count() >= len(claims()) + 1)
    # by formula first; checks of all claims take minutes, and test_audit_computations.py makes them
    app.page.wait_for_function(
        "(n) => Bokeh.documents[0].get_model_by_name('audit-checks').data.done[0] >= n", arg=FIRST
    )
    cells = lambda: dict(app.page.locator("tbody tr:has(td.mark)").evaluate_all(MARKS))  # noqa: E731
    app.check_becomes(lambda: cells()["Audit Laplace mechanism, replace one"][0], "✓ 1")
    app.check_becomes(lambda: cells()["Audit NoisyCut, add or remove one"][0], "–")
    cells = cells()
    assert len(cells) == len(claims())
    assert not any("!" in mark for pair in cells.values() for mark in pair)
    act(app, lambda: app.page.get_by_role("button", name="Audit Laplace mechanism, replace one", exact=True).click())
    assert (app.query["audit_method"], app.query["audit_relation"]) == ("laplace", "replace-one")


LINK = {
    "audit_method": "mask-mutual_information",
    "audit_epsilon": "2",
    "audit_relation": "replace-one",
    "audit_neighbours": "table",
    "audit_table": "nab.yc.y.nd",
    "audit_record": "yabcd",
    "audit_replaced": "2",
    "audit_draws": "1600",
    "audit_confidence": "0.99",
    "audit_seed": "12",
}


# test_link.py holds the links of all pages
@pytest.mark.full
def test_link_brings_everything_back(app, make_app, server):
    app.enter("audit", "".join(f"&{k}={v}" for k, v in LINK.items()))
    assert {name: app.query[name] for name in LINK} == LINK
    assert app.query["page"] == "audit"
    again = make_app(server).enter("audit", app.search.replace("?page=audit", "", 1))
    app.check_becomes(lambda: data(again), data(app))
    assert again.query == app.query


# test_shell.py holds the way from page to page and back
@pytest.mark.full
def test_navigation_keeps_both_pages(app):
    app.open("?draws=10&dataset=toy&audit_draws=1000")
    explored = app.everything()
    assert app.page.evaluate("Bokeh.documents[0].get_model_by_name('audit-roc') === null")
    app.turn("audit")
    app.settle(0)
    assert app.query["page"] == "audit"
    # the controls follow their page a moment later
    app.slider("Claimed ε").wait_for(state="visible")
    app.slider("Number of features").wait_for(state="hidden")
    app.turn("explore")
    app.slider("Number of features").wait_for(state="visible")
    app.slider("Claimed ε").wait_for(state="hidden")
    assert app.query["page"] == "explore"
    assert app.everything() == explored
    app.press("ε", "ArrowRight")
    assert app.everything() != explored
