"""The frame on a projector, in the dark, on paper and on a narrow window."""

import re

import pytest
from app_in_browser import ALL_CARDS
from axe_playwright_python.sync_playwright import Axe
from each_commit import others_in_full
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

# of the figures that are in view: the smallest of the sizes in which axes, legends and words are written
SIZES = """() => {
  const sizes = []
  for (const model of Bokeh.documents[0]._all_models.values()) {
    if (model.type !== "Figure" || !Bokeh.index.find_one_by_id(model.id)?.el.checkVisibility()) { continue }
    for (const axis of [...model.left, ...model.below]) {
      for (const name of ["axis_label_text_font_size", "major_label_text_font_size", "label_text_font_size"]) {
        if (axis[name]) { sizes.push(parseFloat(axis[name])) }
      }
    }
    for (const {glyph} of model.renderers) {
      const size = glyph?.text_font_size
      if (size) { sizes.push(parseFloat(size.value ?? size)) }
    }
  }
  return sizes
}"""
# the ground of the main plot of Classifiers, and whether lines are along its axes
MAIN_PLOT = """() => {
  const plot = Bokeh.documents[0].get_model_by_name("train-methods")
  return [plot?.background_fill_color, plot?.below[0].axis_line_alpha]
}"""
# what is done to the page's colours once somebody prints it
ON_PAPER = """() => {
  dispatchEvent(new Event("beforeprint"))
  return getComputedStyle(document.getElementById("body")).filter
}"""
GROUND = "() => getComputedStyle(document.body).backgroundColor"
DARK, LIGHT = "rgb(18, 18, 18)", "rgb(255, 255, 255)"


def opened(make_app, server, query):
    app = make_app(server, width=1280, height=800)
    app.open(query, wait=False)
    app.page.locator("#tools[data-ready]").wait_for()
    return app, app.page


def test_presenting_shows_the_picture_in_large_type_beside_the_risk(make_app, server):
    app, page = opened(make_app, server, "?dataset=toy&draws=10")
    page.wait_for_selector("section.shown .rest canvas", state="attached")
    before = page.evaluate(SIZES)
    assert min(before) < 20
    page.keyboard.press("p")
    page.locator("#qr svg").wait_for()
    app.check_becomes(lambda: [size for size in page.evaluate(SIZES) if size < 20], [])
    risk, dataset = page.get_by_text("guesses membership correctly"), page.get_by_label("Data set")
    expect(risk.first).to_be_visible()
    expect(dataset.first).to_be_hidden()
    assert re.search(r"Only this computer can open\s*(localhost|127)", page.locator("#qr").inner_text())
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.keyboard.press("Escape")
    dataset.first.wait_for(state="visible")
    app.check_becomes(lambda: min(page.evaluate(SIZES)), min(before))


# the cards below the picture that are seen
CARDS_SEEN = """() => [...Bokeh.index.all_views()].filter(({el}) => el?.checkVisibility())
  .map(({model}) => model.name ?? "").filter((name) => /^place-train-(?!advanced)/.test(name))"""


def test_of_the_cards_behind_a_heading_a_lesson_presents_its_own_alone(make_app, server):
    app, page = opened(make_app, server, "?page=train&dataset=toy&draws=10&lesson=whose-error&step=4")
    page.wait_for_selector("section.shown .rest canvas", state="attached")
    page.keyboard.press("p")
    app.check_becomes(lambda: page.evaluate(CARDS_SEEN), ["place-train-threshold"])
    page.keyboard.press("p")
    app.check_becomes(lambda: len(page.evaluate(CARDS_SEEN)) > 1, True)


def test_the_dark_follows_the_system_and_then_the_reader_and_paper_has_the_whole_page_without_the_frame(
    make_app, server
):
    app = make_app(server, width=1280, height=800)
    app.page.emulate_media(color_scheme="dark")
    app.open("?dataset=toy&draws=10", wait=False)
    page = app.page
    app.check_becomes(lambda: page.evaluate(GROUND), DARK)
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate(ON_PAPER).startswith("invert"), "a sheet is light where the page is dark"
    page.emulate_media(media="screen", color_scheme="dark")
    page.get_by_label("Toggle theme").click()
    app.check_becomes(lambda: page.evaluate(GROUND), LIGHT)
    page.reload()
    page.locator("#tools[data-ready]").wait_for()
    page.wait_for_selector("section.shown canvas", state="attached")
    assert page.evaluate(GROUND) == LIGHT
    page.wait_for_selector("section.shown .rest canvas", state="attached")
    page.wait_for_timeout(500)
    width, whole = page.evaluate("[innerWidth, document.getElementById('body').scrollHeight]")
    paper = page.pdf(prefer_css_page_size=True)
    (sheet,) = {tuple(map(float, box.split())) for box in re.findall(rb"/MediaBox ?\[([^\]]*)\]", paper)}
    assert sheet[2] / 0.75 == pytest.approx(width, abs=2), "as wide as the window, so that each figure has its place"
    pages = max(int(n) for n in re.findall(rb"/Count (\d+)", paper))
    # what the header and closed headings take is left out, and a card that would be cut is on the next sheet
    assert 0.8 * whole <= pages * sheet[3] / 0.75 <= 2 * whole + sheet[3] / 0.75
    page.emulate_media(media="print")
    assert page.evaluate(ON_PAPER) == "none"
    for name in ("#tools", "#top nav", "section.shown .more"):
        expect(page.locator(name).first).to_be_hidden()
    assert page.evaluate("getComputedStyle(document.getElementById('body')).overflowY") == "visible"
    page.emulate_media(media="screen")


def test_the_menu_is_one_line_that_scrolls_and_the_keyboard_passes_it_by(make_app, server):
    app, page = opened(make_app, server, "?dataset=toy&draws=10")
    nav, last = page.locator("#top nav"), page.locator("#top nav a").last

    def in_line():
        last.scroll_into_view_if_needed()
        box, inside = last.bounding_box(), nav.bounding_box()
        seen = inside["x"] <= box["x"] <= box["x"] + box["width"] <= inside["x"] + inside["width"] + 1
        return inside["height"] < 60, seen, page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    for width in (1280, 900, 700, 390):
        page.set_viewport_size({"width": width, "height": 800})
        app.check_becomes(in_line, (True, True, True))
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the page")).to_be_focused()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "body"


OPEN_EVERY = """() => {
  const walk = (root) => {
    for (const part of root.querySelectorAll("*")) {
      if (part.tagName === "DETAILS") { part.open = true }
      if (part.shadowRoot) { walk(part.shadowRoot) }
    }
  }
  walk(document)
}"""


# a quick state of pages whose cards have formulas, and a control of a whole number
OPENED = {"select": ("&dataset=toy&draws=10&n_features=5", "Seed"), "noise": ("", "Seed of the noise")}


@pytest.mark.parametrize("name", others_in_full(OPENED, "noise"))
def test_all_that_opens_can_be_used_by_keyboard_and_has_a_name(name, make_app, server):
    query, number = OPENED[name]
    app = make_app(server, width=1280, height=ALL_CARDS)
    app.enter(name, query)
    page = app.page
    page.evaluate(OPEN_EVERY)
    page.get_by_role("button", name=f"{number}: one more").wait_for()
    found = Axe().run(page).response["violations"]
    assert [(node["html"][:120], node["failureSummary"]) for fault in found for node in fault["nodes"]] == []
    # the names of a legend make no page wider than the narrowest phone
    page.set_viewport_size({"width": 320, "height": ALL_CARDS})
    app.check_becomes(lambda: app.widest, 320)


def test_no_choice_is_cut_on_the_narrowest_phone(make_app, server):
    app = make_app(server, width=320, height=ALL_CARDS).enter("explore", "&dataset=toy&draws=10", wait=False)
    choices = app.page.locator(".shown .MuiSelect-select")
    choices.get_by_text("Naive Bayes").wait_for()
    cut = "all => all.filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent)"
    app.check_becomes(lambda: (choices.count() > 1, choices.evaluate_all(cut)), (True, []))


ROW_HEIGHT = """() => {
  const {inner_height, y_range} = Bokeh.documents[0].get_model_by_name("train-methods")
  return inner_height / y_range.factors.length
}"""


def test_names_of_methods_have_room_on_the_lowest_phone(make_app, server):
    app = make_app(server, width=320, height=640).enter("train", "&draws=10", wait=False)
    app.wait_for_answer(0)
    app.wait_for_drawn()
    app.check_becomes(lambda: app.page.evaluate(ROW_HEIGHT) > 24, True)


def test_a_page_visited_later_follows_the_theme(make_app, server):
    app = make_app(server, width=1280, height=800)
    app.page.emulate_media(color_scheme="dark")
    app.enter("noise", wait=False)
    app.wait_for_drawn()
    app.turn("train")
    app.check_becomes(lambda: app.page.evaluate(MAIN_PLOT), ["#121212", 0])
