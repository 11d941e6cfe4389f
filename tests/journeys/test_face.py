"""The first screen of each page: its title, one question, one large plot, few words, few tab stops."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from dpml_app import page_list
from each_commit import others_in_full
from playwright.sync_api import expect
from waiting import wait

pytestmark = pytest.mark.browser
# of each page that has a picture: a quick state, a setting that its link keeps, and the name of a slider
PAGES = {
    "explore": ("&dataset=toy&draws=10", "n_features", "ε"),
    "audit": ("&audit_draws=1000&audit_method=mask-count", "audit_seed", "Claimed ε"),
    "noise": ("&noise_size=200", "noise_seed", "ε of the noise"),
    "select": ("&dataset=toy&draws=10&n_features=5", "seed", "ε"),
    "train": ("&draws=10&train_methods=binned.row-bounded", "seed", "ε"),
    "publish": ("&dataset=toy&publish_draws=5&publish_grids=10", "seed", "ε"),
    "evaluate": ("&dataset=toy&draws=10&evaluate_methods=histogram.laplace", "seed", "ε"),
}
# of each page as it is first met, so little work that what is looked at next need not wait for it
FEW = "&draws=10&audit_draws=1000&publish_draws=5&publish_grids=10"
# so high that every card is near the view
ALL_CARDS = 6000
# most words before "More", also on the first page with its levers and the eight words of its legend, and most tab stops
WORDS, FIRST_WORDS, STOPS = 120, 145, 42
# a picture that leaves room for the verdict, which is seen without scrolling
LOWER = {"audit": 0.2}
LEVERS = ("Number of features", "Budget share for selection", "Threshold percentile")
SEEN = """() => {
  const words = [], stops = []
  const shown = (node) => {
    const {display, visibility, contentVisibility} = getComputedStyle(node)
    return display !== "none" && visibility !== "hidden" && contentVisibility !== "hidden"
  }
  const walk = (node, section) => {
    if (node.nodeType === Node.TEXT_NODE) { if (section) { words.push(node.data) } return }
    if (node.nodeType !== Node.ELEMENT_NODE || !shown(node)) { return }
    // the cells of a table that is drawn are a picture of it
    if (["SCRIPT", "STYLE", "CANVAS", "TD"].includes(node.nodeName)) { return }
    if (node.getAttribute("aria-hidden") === "true") { return }
    if (node.tabIndex >= 0 && !node.disabled && node.getClientRects().length > 0) {
      stops.push(node.outerHTML.slice(0, 80))
    }
    if (node.matches("details.more")) { return }
    const closed = node.nodeName === "DETAILS" && !node.open
    const inside = closed ? node.querySelectorAll(":scope > summary") : node.childNodes
    for (const child of [...(node.shadowRoot?.childNodes ?? []), ...inside]) {
      walk(child, section || node.matches("section.shown"))
    }
  }
  walk(document.body, false)
  return {words: words.join(" ").split(/\\s+/).filter((word) => /[\\p{L}\\p{N}]/u.test(word)), stops}
}"""
# the picture that answers the page's question: its figures and tables together
MAIN_CARD = """() => {
  const parts = []
  const find = (node) => {
    const drawn = (node.nodeName === "CANVAS" && node.width > 50) || node.nodeName === "TABLE"
    if (drawn) { parts.push(node.getBoundingClientRect()) }
    for (const child of [...(node.shadowRoot?.children ?? []), ...node.children]) { find(child) }
  }
  find(document.querySelector("section.shown .first"))
  const [left, top] = ["left", "top"].map((side) => Math.min(...parts.map((part) => part[side])))
  const [right, bottom] = ["right", "bottom"].map((side) => Math.max(...parts.map((part) => part[side])))
  return [(right - left) / innerWidth, (bottom - top) / innerHeight, bottom]
}"""

# where figures are, and how large their plots, if they are shown
FIGURES = """() => [...Bokeh.documents[0]._all_models.values()].flatMap((model) => {
  const el = model.type === "Figure" && Bokeh.index.find_one_by_id(model.id)?.el
  if (!el || el.getClientRects().length === 0) { return [] }
  const {left, right} = el.getBoundingClientRect()
  return [[model.name, left, right, model.inner_width, model.inner_height]]
})"""
# all that is plotted
DATA = """() => Object.fromEntries([...Bokeh.documents[0]._all_models.values()]
  .filter((model) => model.type === "ColumnDataSource" && model.name)
  .map((model) => [model.name, Object.fromEntries(Object.entries(model.data).map(([k, v]) => [k, Array.from(v)]))]))"""
VALUES = "(sliders) => sliders.map((slider) => slider.getAttribute('aria-valuetext'))"


# the label of the gap is inside the frame
LABEL_INSIDE = """() => {
  const [plot, gap] = ["cost", "cost-gap"].map((name) => Bokeh.documents[0].get_model_by_name(name))
  const {epsilon, best, text, align, off} = gap.data
  const {inner_width: wide, inner_height: tall, x_range: x, y_range: y} = plot
  if (text.length !== 1) { return false }
  const long = 9 * text[0].length
  const at = wide * Math.log(epsilon[0] / x.start) / Math.log(x.end / x.start)
  const left = at + off[0] - (align[0] === "right" ? long : 0)
  return left >= 0 && left + long <= wide && tall * (y.end - best[0]) / (y.end - y.start) > 20
}"""


# test_walk.py opens on a phone; each other page has a file of tests in a browser
@pytest.mark.parametrize("name", others_in_full(PAGES, "explore", "train", "publish"))
def test_a_page_has_one_question_one_large_picture_few_words_on_a_laptop_a_phone_and_in_the_dark(
    make_app, server, name
):
    quick, kept, slider = PAGES[name]
    app = make_app(server, width=1440, height=900)
    app.enter(name, FEW, wait=False)
    page = app.page
    page.wait_for_function(
        """() => JSON.parse(globalThis.Bokeh?.documents?.[0]?.get_model_by_name("messages")?.waiting ?? "null")
            ?.every((name) => document.querySelector("section.shown .more") !== null)"""
    )
    if name != "select":  # whose other card is behind More
        page.wait_for_selector("section.shown .rest canvas", state="attached")
    app.wait_for_answer(0)
    app.wait_for_drawn()
    # progress stands only while something is computed
    expect(page.get_by_role("button", name="Cancel", exact=True)).to_have_count(0, timeout=60_000)
    hold(app)
    # wide and high enough, and no scrolling for the picture; it is fitted to the window once it is there
    least = LOWER.get(name, 0.5)
    fits = lambda wide, high, bottom: [wide >= 0.6, high >= least, bottom <= 900]  # noqa: E731
    app.check_becomes(lambda: fits(*page.evaluate(MAIN_CARD)), [True, True, True])
    check_what_is_written(app)
    if name == "explore":
        # all levers are seen without scrolling
        boxes = [app.slider(lever).bounding_box() for lever in LEVERS]
        assert all(box["y"] + box["height"] <= 900 for box in boxes), boxes
    # another state, with a fault: what is right in it is kept
    before = app.answers
    app.visit(f"{quick}&{kept}=5&epsilon=7&colour=red")
    app.settle(before)
    assert app.query[kept] == "5"
    check_names(app, slider)
    check_phone(app, slider)
    if name == "explore":
        page.wait_for_function(LABEL_INSIDE)
    check_dark(app)


def check_names(app, slider):
    """Every control has a name that is read out, and every card a heading."""
    page = app.page
    app.slider(slider).wait_for(state="visible")
    for role in ("slider", "radio", "checkbox", "combobox", "spinbutton"):
        expect(page.get_by_role(role, name="", exact=True)).to_have_count(0)
    values = lambda: page.get_by_role("slider").evaluate_all(VALUES)  # noqa: E731
    wait(page, lambda: len(values()) >= 2 and all(values()))
    wait(page, lambda: page.get_by_role("heading", level=2).count() >= 2 + len(page_list.PAGES[app.page_id].details))


def check_phone(app, slider):
    """Nothing is wider than a phone, and plots are large enough on it; what is wrong in a link is said there."""
    page = app.page
    page.set_viewport_size({"width": 390, "height": 844})
    app.check_becomes(lambda: max(app.widest, 390), 390)

    def misplaced():
        return [f for f in page.evaluate(FIGURES) if f[1] < 0 or f[2] > 390 or not (f[3] > 180 and f[4] > 100)]

    app.check_becomes(misplaced, [])
    assert len(page.evaluate(FIGURES)) > len(page_list.PAGES[app.page_id].details)
    expect(app.slider(slider)).to_be_visible()
    app.wait_for_alerts("epsilon = 7 is not allowed: it must be one of 0.01", "colour: unknown setting")


def check_dark(app):
    """The dark keeps the data, and what the browser draws itself is dark, too."""
    before = app.steady(DATA, None)
    app.turn_dark(app.page.evaluate(FIGURES)[0][0])
    app.check_becomes(lambda: app.page.evaluate("getComputedStyle(document.documentElement).colorScheme"), "dark")
    app.check_becomes(lambda: app.page.evaluate(DATA), before)


def test_the_page_without_a_picture_has_one_question_and_few_words_on_a_laptop_and_a_phone(make_app, server):
    app = make_app(server, width=1440, height=900)
    app.enter("mydata", wait=False)
    page = app.page
    expect(page.locator("section.shown input[type=file]").first).to_be_visible()
    hold(app)
    app = make_app(server, width=390, height=844)
    app.enter("mydata", "&epsilon=7&colour=red")
    app.open_all()
    page = app.page
    expect(page.get_by_role("button", name="Remove the table")).to_be_visible()
    assert app.widest <= 390
    alert = page.get_by_role("alert").filter(has_text="epsilon = 7 is not allowed: it must be one of 0.01")
    expect(alert).to_contain_text("colour: unknown setting")
    for role in ("slider", "radio", "checkbox", "combobox", "spinbutton", "button"):
        expect(page.get_by_role(role, name="", exact=True)).to_have_count(0)
    expect(page.get_by_role("heading", level=1)).to_have_count(1)


def hold(app):
    """Hold what is true of every page: one question, few words and stops, its place among the links, and no barrier."""
    page = app.page
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    expect(page.get_by_role("heading", level=1)).to_have_text(page_list.PAGES[app.page_id].title)
    expect(page.locator("section.shown .question")).to_have_text(re.compile(r"\?$"))
    seen = app.steady(SEEN, None)
    most = FIRST_WORDS if app.page_id == "explore" else WORDS
    assert len(seen["words"]) <= most, " ".join(seen["words"])
    assert len(seen["stops"]) <= STOPS, seen["stops"]
    links = [link.inner_text() for link in page.locator("#top nav a").all()]
    expect(page.locator("#top nav a[aria-current=page]")).to_have_count(1)
    assert links == [kind.title for kind in page_list.PAGES.values()]
    grave = [v for v in Axe().run(page).response["violations"] if v["impact"] in ("serious", "critical")]
    assert [(v["id"], [node["html"][:120] for node in v["nodes"]]) for v in grave] == []


@pytest.mark.parametrize("width", [1440, 1280])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_navigation_shows_every_title_in_full(make_app, server, width, dark):
    app = make_app(server, width=width, height=900)
    app.enter("mydata", wait=False)
    page = app.page
    if dark:
        page.get_by_label("Toggle theme").click()
        app.check_becomes(lambda: page.evaluate("getComputedStyle(document.documentElement).colorScheme"), "dark")
    page.wait_for_function("""() => {
      const nav = document.querySelector("#top nav").getBoundingClientRect()
      return [...document.querySelectorAll("#top nav a")].every((link) => {
        const {left, right} = link.getBoundingClientRect()
        return left >= nav.left && right <= nav.right + 0.5
      })
    }""")


def test_the_marker_can_be_dragged_and_the_slider_follows(app):
    app.open("?dataset=toy&draws=10")
    means = app.array("cost-curve", "mean")
    app.open_all()
    app.push("Target accuracy (%)", "ArrowLeft")
    app.check_becomes(lambda: app.query["wanted"], "84.5")
    reached = app.read("cost-curve")["epsilon"][int((means >= 0.845).argmax())]
    app.check_becomes(lambda: float(app.query["epsilon"]), reached)
    app.page.wait_for_function(f"Bokeh.documents[0].get_model_by_name('cost-marker').location === {reached}")
    app.settle(0)
    before = app.answers
    app.page.evaluate("Bokeh.documents[0].get_model_by_name('cost-marker').location = 0.093")
    app.settle(before)
    assert app.query["epsilon"] == "0.1"
    expect(app.slider("ε")).to_have_attribute("aria-valuetext", "0.1")
    app.page.wait_for_function("Bokeh.documents[0].get_model_by_name('cost-marker').location === 0.1")
    place = app.read("cost-curve")["epsilon"].index(0.1)
    app.check_becomes(lambda: app.read("cost-gap")["mean"], [app.array("cost-curve", "mean")[place]])
    app.check_becomes(lambda: len(app.read("cost-dots")["accuracy"]), 20)


TOOLS = """() => {
  const found = []
  const walk = (root) => {
    for (const part of root.querySelectorAll("*")) {
      if (part.tabIndex >= 0) { found.push(part.className) }
      if (part.shadowRoot) { walk(part.shadowRoot) }
    }
  }
  let plots = 0
  for (const model of Bokeh.documents[0]._all_models.values()) {
    const view = model.type === "Figure" && Bokeh.index.find_one_by_id(model.id)
    if (view?.el?.shadowRoot) { plots += 1; walk(view.el.shadowRoot) }
  }
  return [plots, found]
}"""


def test_plots_are_walked_through_once_and_new_ones_leave_the_tab_order_too(make_app, server):
    app = make_app(server, width=1440, height=900)
    app.enter("noise", "", wait=False)
    page = app.page
    page.wait_for_selector("section.shown .rest canvas", state="attached")
    app.wait_for_drawn()
    page.evaluate("""() => {
      globalThis.walks = 0
      const [every, all] = [ShadowRoot.prototype.querySelectorAll, Bokeh.index.all_views]
      ShadowRoot.prototype.querySelectorAll = function(what) { walks += what === "*"; return every.call(this, what) }
      Bokeh.index.all_views = function() { walks += 1; return all.call(this) }
    }""")

    # a plot that has just come is walked through; a page that looked at all of them each second would never rest
    def rests():
        walks = page.evaluate("walks")
        page.wait_for_timeout(2500)
        return page.evaluate("walks") == walks

    app.check_becomes(rests, True)
    before = page.evaluate(TOOLS)[0]
    app.open_all()
    page.locator("section.shown details.more").scroll_into_view_if_needed()
    page.wait_for_function(f"(before) => ({TOOLS})()[0] > before", arg=before)
    page.wait_for_function(f"() => ({TOOLS})()[1].length === 0")
    # the picture follows the window
    page.set_viewport_size({"width": 1440, "height": 700})
    height = """() => {
      const plot = Bokeh.documents[0].get_model_by_name("noise-count")
      return Bokeh.index.find_one_by_id(plot.id).el.offsetHeight
    }"""
    app.check_becomes(lambda: page.evaluate(height), 406)


OFFERED = """() => {
  const names = []
  const walk = (node) => {
    if (node.dataset?.plots !== undefined) { names.push(...node.dataset.plots.split(" ")) }
    for (const child of [...(node.shadowRoot?.children ?? []), ...node.children]) { walk(child) }
  }
  walk(document.querySelector("section.shown"))
  return names
}"""
# of every figure: its name, the room at its right, and the fonts of what is written on it besides its axes
WRITTEN_ON = """() => [...Bokeh.documents[0]._all_models.values()].filter((m) => m.type === "Figure")
  .filter((plot) => [...plot.below, ...plot.left].some((axis) => axis.visible)).map((plot) => {
  const texts = plot.renderers.filter((r) => r.glyph?.type === "Text").map((r) => r.glyph.text_font.value)
  const parts = [...plot.center, ...plot.left]
  const labels = parts.filter((m) => m.type === "Label").map((m) => m.text_font)
  const groups = parts.filter((m) => m.group_text_font).filter(() => Array.isArray(plot.y_range.factors?.[0]))
  return [plot.name, plot.min_border_right, [...texts, ...labels, ...groups.map((m) => m.group_text_font)]]
})"""
# where the words of headings and of the sentences of their cards begin
LEFTS = """() => {
  const heads = []
  const left = (node) => {
    const walk = document.createTreeWalker(node, NodeFilter.SHOW_TEXT)
    for (let text; (text = walk.nextNode());) {
      const range = document.createRange()
      range.selectNodeContents(text)
      const {width, left} = range.getBoundingClientRect()
      if (text.data.trim() && width > 0) { return left }
    }
  }
  const walk = (node) => {
    if (node.matches?.(".head h2")) { heads.push(left(node)) }
    for (const child of [...(node.shadowRoot?.children ?? []), ...node.children]) { walk(child) }
  }
  walk(document.querySelector("section.shown"))
  const readouts = [...Bokeh.documents[0]._all_models.values()].filter((m) => /-readout$/.test(m.name ?? ""))
    .map((m) => Bokeh.index.find_one_by_id(m.id)?.el).filter((el) => el?.checkVisibility())
    .map((el) => left(el.shadowRoot ?? el)).filter((x) => x !== undefined)
  return [heads, readouts]
}"""


def check_what_is_written(app):
    """In all cards of the page it has one font, stands under its title and touches no edge."""
    page = app.page
    app.height = ALL_CARDS
    page.set_viewport_size({"width": 1440, "height": ALL_CARDS})
    app.settle(0, working=False)
    app.wait_for_drawn()
    app.check_becomes(lambda: [figure for figure in page.evaluate(WRITTEN_ON) if figure[1] < 18], [])
    figures = page.evaluate(WRITTEN_ON)
    assert len(figures) > len(page_list.PAGES[app.page_id].details)
    assert {font for figure in figures for font in figure[2]} <= {"Roboto, Helvetica, Arial, sans-serif"}
    if app.page_id not in ("explore", "audit"):  # their cards have their sentences with their numbers
        page.wait_for_function(f"({LEFTS})()[1].length > 0")

    # each sentence begins where some title does
    def elsewhere():
        heads, readouts = page.evaluate(LEFTS)
        return [x for x in readouts if min(abs(x - head) for head in heads) > 1]

    app.check_becomes(elsewhere, [])
    # every plot can be kept
    app.check_becomes(lambda: {figure[0] for figure in figures} - set(page.evaluate(OFFERED)), set())
