"""A class in a browser: a teacher and two visitors, from the link to the end."""

import pytest
from app_server import Server
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from waiting import check_becomes

pytestmark = pytest.mark.browser
LESSON = "what-it-costs"
KEPT = "() => ['localStorage', 'sessionStorage'].map((name) => window[name].getItem('dpml-class'))"
# the browser's one seat is that of the visitor who came last: it is this visitor's again
SEAT = """() => {
  const {code, key} = JSON.parse(Bokeh.documents[0].get_model_by_name("class_state").data.payload[0])
  localStorage.setItem("dpml-class", JSON.stringify({code, key}))
}"""
DOTS = (
    "() => [...document.querySelectorAll('#lesson .options button')].map((b) => b.querySelectorAll('.dots i').length)"
)


@pytest.fixture
def class_server():
    server = Server(DPML_CLASSES="1", DPML_CLASS_VISITORS="2")
    yield server
    server.stop()


def opened(make_app, server, query, width=390, height=844):
    # each visitor has a seat of its own: `make_app` empties what the browser keeps
    app = make_app(server, width=width, height=height).open(query, wait=False)
    app.page.get_by_role("region", name="Lesson", exact=True).wait_for()
    return app.page


def test_a_class_is_asked_before_it_is_told_and_nothing_of_it_stays(make_app, class_server):
    teacher = opened(make_app, class_server, f"?lesson={LESSON}&step=2", 1440, 900)
    teacher.get_by_role("button", name="Open a class", exact=True).click()
    teacher.get_by_text("0 of 0 answered", exact=True).wait_for()
    expect(teacher.locator("#lesson .code svg")).to_be_visible()
    link = teacher.evaluate("document.getElementById('lesson').dataset.link")
    query = link.removeprefix(class_server.url)
    # also the teacher's own address: a reload finds the process that has the class
    check_becomes(teacher, lambda: f"class={link.partition('&class=')[2]}" in teacher.url, True)

    first, second = (opened(make_app, class_server, query) for _ in range(2))
    for visitor in (first, second):
        visitor.get_by_text("2 of 7", exact=True).wait_for()
    teacher.get_by_text("0 of 2 answered", exact=True).wait_for()

    # a guess waits for the class, and the picture stays veiled
    first.locator("[data-option='0']").click()
    first.get_by_text("Your guess is in.", exact=True).wait_for()
    assert first.evaluate("document.body.classList.contains('guessing')")
    assert first.evaluate(DOTS) == [0, 0, 0]
    teacher.get_by_text("1 of 2 answered", exact=True).wait_for()
    second.locator("[data-option='1']").click()
    teacher.get_by_text("2 of 2 answered", exact=True).wait_for()
    teacher.keyboard.press("p")  # on the projector the link of the class is shown, by Present's own picture
    check_becomes(teacher, lambda: teacher.evaluate("document.getElementById('qr').innerHTML.length > 500"), True)
    assert teacher.evaluate("JSON.parse(Bokeh.documents[0].get_model_by_name('messages').asking).of") == link
    teacher.get_by_role("button", name="Reveal", exact=True).click()
    for page in (teacher, first, second):
        check_becomes(page, lambda page=page: page.evaluate(DOTS), [1, 1, 0])
        page.wait_for_function("!document.body.classList.contains('guessing')")
    assert [v["id"] for v in Axe().run(teacher, "#lesson").response["violations"]] == []

    # a step of the teacher takes all along, also a visitor who has gone elsewhere
    first.get_by_role("button", name="Back", exact=True).click()
    first.get_by_text("1 of 7", exact=True).wait_for()
    teacher.get_by_role("button", name="Next", exact=True).click()
    for visitor in (first, second):
        visitor.get_by_text("3 of 7", exact=True).wait_for()

    # a teacher who loads the page anew is the teacher still, a visitor has the seat of before
    second.locator("[data-option='1']").click()
    teacher.get_by_text("1 of 2 answered", exact=True).wait_for()
    teacher.reload()
    teacher.get_by_text("1 of 2 answered", exact=True).wait_for()
    second.evaluate(SEAT)
    second.reload()
    second.locator("[data-option='0']").click()
    second.get_by_text("Your guess is in.", exact=True).wait_for()
    teacher.get_by_text("1 of 2 answered", exact=True).wait_for()

    teacher.get_by_role("button", name="End the class", exact=True).click()
    for page in (teacher, first, second):
        page.get_by_text("The class has ended.", exact=True).wait_for()
        check_becomes(page, lambda page=page: page.evaluate(KEPT), [None, None])
        check_becomes(page, lambda page=page: "class=" in page.url, False)
