"""Lessons and terms in a browser: a lesson by keyboard, a step's link, Back, dotted words and help for controls."""

import pytest
from dpml_app.core import link
from dpml_app.lessons import lessons
from playwright.sync_api import expect
from waiting import check_becomes, wait

pytestmark = pytest.mark.browser
NOISE = "noise-that-knows-its-data"
# the element that has the focus, inside shadow roots too
FOCUS = """() => {
  let element = document.activeElement
  while (element.shadowRoot?.activeElement) { element = element.shadowRoot.activeElement }
  return element.getAttribute("aria-label") ?? element.id ?? element.textContent
}"""
ADDRESS = "(query) => location.search === query"
AT = "([lesson, step]) => location.search.includes(`lesson=${lesson}&step=${step}`)"
SETTLED = "(before) => globalThis.Bokeh?.documents?.[0]?.get_model_by_name('noise-state')?.data.answers[0] > before"


def lesson_of(app):
    return app.page.get_by_role("region", name="Lesson", exact=True)


def at(app, step, lesson=NOISE):
    """Wait until the address is that of a step, and its page has answered."""
    app.page.wait_for_function(AT, arg=[lesson, step])
    lesson_of(app).get_by_text(f"{step} of {len(lessons()[lesson].steps)}").wait_for()


def test_a_lesson_is_walked_to_its_end_by_keyboard(make_app, server):
    app = make_app(server, height=900)
    app.enter("noise", "&noise_touched=2", wait=False)
    page, lesson = app.page, lessons()[NOISE]
    page.wait_for_function(SETTLED, arg=0)  # what stands behind "More" is not there
    page.get_by_role("link", name="Lessons", exact=True).focus()
    page.keyboard.press("Enter")
    panel = lesson_of(app)
    entries = panel.get_by_role("listitem").get_by_role("button")
    expect(entries).to_have_count(len(lessons()))
    # the list is a place of its own, and keeps what the page shows
    page.wait_for_function(ADDRESS, arg="?page=noise&noise_touched=2&lessons=1")
    for _ in range(list(lessons()).index(NOISE)):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    for number, step in enumerate(lesson.steps, 1):
        at(app, number)
        right = step.options.index(step.answer)
        chosen = right if number % 2 else (right + 1) % len(step.options)
        told = panel.get_by_text("Yes." if number % 2 else f"It is: {step.answer}.", exact=True)
        expect(told).to_have_count(0)
        page.wait_for_function("document.body.classList.contains('guessing')")
        page.keyboard.press(str(chosen + 1))
        told.wait_for()
        page.wait_for_function("!document.body.classList.contains('guessing')")
        # the first answer counts
        page.keyboard.press(str((chosen + 1) % len(step.options) + 1))
        expect(told).to_have_count(1)
        expect(panel.get_by_role("button", pressed=True)).to_have_count(1)
        given = link.parse(app.search)
        assert given == {"page": step.page, "lesson": NOISE, "step": str(number)}, "all else is at its default"
        page.keyboard.press("ArrowRight")
    # the end leads to the list, where the lesson has its score
    expect(panel.get_by_role("button", name=lesson.title)).to_contain_text("3 of 6 correct")

    # Escape closes, the page stays as the last step left it, and the focus is where it came from
    page.keyboard.press("Escape")
    panel.wait_for(state="hidden")
    page.wait_for_function("() => !location.search.includes('lesson')")
    assert app.query["audit_method"] == "cauchy-theorem-2"
    page.wait_for_function("document.activeElement.id === 'open-lessons'")


def test_a_step_s_link_opens_elsewhere_in_the_same_state(make_app, server):
    first, second = (make_app(server, height=900) for _ in range(2))
    first.page_id = second.page_id = "noise"
    page = first.open(f"?lesson={NOISE}&step=4", wait=False).page
    at(first, 4)
    page.wait_for_function(ADDRESS, arg=f"?page=noise&lesson={NOISE}&step=4")
    # what the reader drags stands beside the step, also where it is the page's default
    first.settle(0)
    first.push("ε of the noise")
    page.wait_for_function(ADDRESS, arg=f"?page=noise&noise_epsilon=1.25&lesson={NOISE}&step=4")
    first.pick("Points", "Bell")
    query = f"?page=noise&noise_epsilon=1.25&noise_preset=bell&lesson={NOISE}&step=4"
    page.wait_for_function(ADDRESS, arg=query)

    at(second.open(query, wait=False), 4)
    second.settle(0)
    assert second.alerts == []
    assert second.search == query
    expect(second.page.get_by_role("combobox", name="Points")).to_have_text("Bell")

    # who opens a link can go on by keyboard at once, and after a click as well; a step is an entry of the history
    panel = lesson_of(second)
    expect(panel.get_by_role("button", name="Open a class")).to_have_count(0)  # the operator has not allowed it
    second.page.keyboard.press("1")
    panel.get_by_text("It is: It grows to 29.4.", exact=True).wait_for()
    panel.get_by_role("button", name="It falls").click()
    second.page.keyboard.press("ArrowLeft")
    at(second, 3)
    second.page.keyboard.press("ArrowLeft")
    at(second, 2)
    second.page.go_back()
    at(second, 3)
    second.page.go_back()
    at(second, 4)
    second.page.wait_for_function(ADDRESS, arg=query)
    # another page keeps the lesson
    second.turn("audit")
    second.page.wait_for_function(ADDRESS, arg=f"?page=audit&lesson={NOISE}&step=4")
    expect(panel).to_be_visible()


def test_terms_help_and_formulas_open_by_keyboard_and_give_the_focus_back(make_app, server):
    app = make_app(server, width=390, height=844).enter("noise", f"&lesson={NOISE}&step=1", wait=False)
    page = app.page
    panel, dialog = lesson_of(app), page.get_by_role("dialog")
    panel.wait_for()
    app.settle(0)
    page.keyboard.press("Tab")
    panel.get_by_role("button", name="Close the lesson").focus()
    page.keyboard.press("1")
    term = panel.get_by_role("button", name="global sensitivity", exact=True)
    term.focus()
    page.keyboard.press("Enter")
    page.get_by_role("dialog", name="global sensitivity", exact=True).wait_for()
    expect(dialog.get_by_role("img")).to_be_visible()
    page.keyboard.press("Escape")
    dialog.wait_for(state="hidden")
    expect(panel).to_be_visible()  # one thing at a time
    expect(term).to_be_focused()

    # a word of a card, inside shadow roots, in the line of its text; a click elsewhere closes
    page.set_viewport_size({"width": 1440, "height": 900})
    check_presented(page, "Smooth sensitivity of points", "Noise size by mechanism")
    page.get_by_role("button", name="Close the lesson").click()
    page.get_by_label("Smooth sensitivity of points: about this plot").click()
    term = page.locator("#about:popover-open [data-term]").first
    assert term.evaluate("t => getComputedStyle(t).display").startswith("inline")
    page.get_by_role("button", name="smooth sensitivity", exact=True).first.click()
    page.get_by_role("dialog", name="smooth sensitivity", exact=True).wait_for()
    page.locator("#home").hover()
    page.mouse.click(5, 890)
    dialog.wait_for(state="hidden")

    # a formula is set by the browser: a fraction is higher than a line of text
    page.get_by_label("Count with and without you: about this plot").click()
    formula = page.get_by_role("math").last
    line = page.locator(".formula p").first.evaluate("p => parseFloat(getComputedStyle(p).lineHeight)")
    wait(page, lambda: formula.bounding_box()["height"] > 1.3 * line)
    app.wait_for_text("Source: Antonova 2016, Theorem 2.2.1.")

    # the key ? at a control says what it trades
    slider = app.slider("ε of the noise")
    slider.focus()
    page.get_by_role("button", name="What it trades: ε of the noise", exact=True).wait_for()
    page.keyboard.press("?")
    page.get_by_role("dialog", name="ε of the noise", exact=True).wait_for()
    expect(dialog).to_contain_text("stronger privacy")
    page.keyboard.press("Escape")
    check_becomes(page, lambda: page.evaluate(FOCUS), "ε of the noise")


def check_presented(page, card, other):
    """The card that a step is about is the one that is presented, and not the page's first."""
    cards = [page.get_by_role("heading", name=name, exact=True) for name in (card, other)]
    page.keyboard.press("p")
    page.get_by_role("heading", level=1).wait_for(state="hidden")
    expect(cards[0]).to_be_visible()
    expect(cards[1]).to_be_hidden()
    page.keyboard.press("Escape")
    page.get_by_role("heading", level=1).wait_for(state="visible")


# of the lesson and the page, whether they overlap; of the control that is marked, whether it is in view
PLACES = """(name) => {
  if (!globalThis.Bokeh?.documents?.[0]) { return [false, false] }
  const lesson = document.getElementById("lesson").getBoundingClientRect()
  const main = document.querySelector("main").getBoundingClientRect()
  const apart = lesson.right <= main.left + 1 || main.bottom <= lesson.top + 1
  const marked = [...Bokeh.documents[0]._all_models.values()]
    .filter((m) => m.css_classes?.includes?.(`setting-${name}`))
    .map((m) => Bokeh.index.find_one_by_id(m.id)?.el).find((el) => el && getComputedStyle(el).outlineStyle === "solid")
  const at = marked?.getBoundingClientRect()
  return [apart, Boolean(at && at.top >= main.top && at.bottom <= main.bottom)]
}"""


def test_a_lesson_stands_beside_its_picture_and_its_control_is_marked_and_in_view(make_app, server):
    app = make_app(server, width=390, height=844).enter("explore", "&lesson=what-it-costs&step=3", wait=False)
    check_becomes(app.page, lambda: app.page.evaluate(PLACES, "epsilon"), [True, True])
    app.page.set_viewport_size({"width": 1440, "height": 900})
    check_becomes(app.page, lambda: app.page.evaluate(PLACES, "epsilon"), [True, True])


# of a picture, whether three quarters of it or more are in view
PICTURE = """(name) => {
  const figure = globalThis.Bokeh?.documents?.[0]?.get_model_by_name(name)
  const at = figure && Bokeh.index.find_one_by_id(figure.id)?.el.getBoundingClientRect()
  const main = document.querySelector("main").getBoundingClientRect()
  return Boolean(at && at.top >= main.top && main.bottom - at.top >= 0.75 * at.height)
}"""


def test_on_a_phone_a_lesson_shows_the_picture_of_a_card_whose_controls_fill_the_view(make_app, server):
    app = make_app(server, width=390, height=844).enter("noise", f"&lesson={NOISE}&step=3", wait=False)
    check_becomes(app.page, lambda: app.page.evaluate(PICTURE, "noise-release"), True)
