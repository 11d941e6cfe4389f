"""The walk of somebody who has never seen the app: each step by what a person sees, by its name or its role."""

import re

import pytest
from dpml_app.settings import EPSILONS
from each_commit import others_in_full
from playwright.sync_api import expect
from waiting import check_becomes, wait

pytestmark = pytest.mark.browser
SIZES = {"laptop": (1440, 900), "phone": (390, 844)}
WHOLE = "Target accuracy (%)"
# the numbers behind a plot are written down when they are asked for
CURVE = "(rows) => Bokeh.documents[0].get_model_by_name('cost-curve').data.epsilon.length === rows"
# nobody clicks faster than the server goes to where the last click led
ARRIVED = """() => {
  const {address, visited} = Bokeh.documents[0].get_model_by_name("messages")
  return JSON.parse(address).at === JSON.parse(visited).at
}"""


def share(text):
    """Return the number in front of a percent sign."""
    return float(re.search(r"([\d.]+)\s*%", text).group(1))


def calm(page):
    """Wait as a person does, until control and answer agree and stay."""
    slider = page.get_by_role("slider", name="ε", exact=True)
    cost = page.get_by_role("heading", name="Privacy cost at", exact=False)
    told = lambda: (slider.get_attribute("aria-valuetext"), cost.inner_text())  # noqa: E731

    def holds():
        before = told()
        page.wait_for_timeout(1500)
        return told() == before and before[1] == f"Privacy cost at ε = {before[0]}"

    wait(page, holds)


def seen(page):
    """Return what the page says that a person would compare: its question, its control and its answer."""
    slider = page.get_by_role("slider", name="ε", exact=True)
    return (
        page.get_by_role("heading", level=1).inner_text(),
        slider.get_attribute("aria-valuetext"),
        page.get_by_role("heading", name="Privacy cost at", exact=False).inner_text(),
        page.get_by_text(re.compile(r"^Accuracy [\d.]+%, non-private")).inner_text(),
    )


# test_first_use.py walks on a laptop at each commit
@pytest.mark.parametrize("size", others_in_full(SIZES, "phone"))
def test_a_new_user_walks_from_the_first_screen_to_a_lesson_s_end_and_a_link(size, make_app, server, start_browser):
    width, height = SIZES[size]
    page = make_app(server, width=width, height=height).page
    page.goto(server.url)

    # the first screen: a question, its answer, and one control
    expect(page.get_by_role("heading", level=1)).to_have_text("Privacy cost")
    slider = page.get_by_role("slider", name="ε", exact=True)
    slider.wait_for()
    cost = page.get_by_role("heading", name="Privacy cost at ε = 0.1", exact=True)
    cost.wait_for()
    assert share(page.get_by_text(re.compile(r"^Accuracy [\d.]+%, non-private")).inner_text()) < 100
    # the control does what the line above it says: to the right it predicts better
    first = share(page.get_by_text(re.compile(r"^Accuracy [\d.]+%, non-private")).inner_text())
    slider.focus()
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    page.get_by_role("heading", name="Privacy cost at ε = 1", exact=True).wait_for()
    assert share(page.get_by_text(re.compile(r"^Accuracy [\d.]+%, non-private")).inner_text()) > first

    # what ε for 80 %? between the last mean below it and the first above, in the numbers behind the plot
    page.wait_for_function(CURVE, arg=len(EPSILONS))
    page.get_by_role("button", name="Accuracy: numbers and code", exact=True).click()
    table = page.get_by_role("dialog", name="Numbers").get_by_role("table", name="cost-curve", exact=True)
    expect(table.get_by_role("row")).to_have_count(1 + len(EPSILONS))
    rows = [row.get_by_role("cell").all_inner_texts() for row in table.get_by_role("row").all()[1:]]
    below = max(float(row[0]) for row in rows if float(row[1]) < 0.8)
    above = min(float(row[0]) for row in rows if float(row[1]) >= 0.8)
    page.get_by_role("button", name="Close", exact=True).click()
    page.locator("section.shown aside").get_by_text("Advanced", exact=True).click()
    wanted = page.get_by_role("slider", name=WHOLE, exact=True)
    wanted.focus()
    for _ in range(10):
        page.keyboard.press("ArrowLeft")
    expect(wanted).to_have_value("80")
    answer = page.get_by_text(re.compile(r"^ε = [\d.]+ \([\d.]+ to [\d.]+\)$"))
    wait(page, lambda: below <= float(re.search(r"ε = ([\d.]+)", answer.inner_text()).group(1)) <= above)

    # a claim that is broken
    page.get_by_role("link", name="Audit", exact=True).click()
    page.get_by_role("heading", name="Audit", exact=True).wait_for()
    broken = page.get_by_text("Claim violated: not private at any ε.", exact=True)
    broken.wait_for()
    # its words are written anew while draws come in, and stay
    wait(page, lambda: broken.is_visible())

    # a lesson, to its end
    page.get_by_role("link", name="Lessons", exact=True).click()
    lesson = page.get_by_role("region", name="Lesson", exact=True)
    lesson.get_by_role("button", name="What does ε mean?", exact=False).click()
    steps = int(lesson.get_by_text(re.compile(r"^1 of \d+$")).inner_text().split()[-1])
    for step in range(1, steps + 1):
        lesson.get_by_text(f"{step} of {steps}", exact=True).wait_for()
        page.wait_for_function(ARRIVED)
        lesson.get_by_role("group", name="Your answer").get_by_role("button").first.click()
        lesson.get_by_text(re.compile(r"^(Yes\.|It is:)")).wait_for()
        lesson.get_by_role("button", name="Finish" if step == steps else "Next", exact=True).click()
    lesson.get_by_text(re.compile(rf"\d of {steps} correct")).wait_for()
    lesson.get_by_role("button", name="Close the lesson").click()
    lesson.wait_for(state="hidden")
    page.wait_for_function(ARRIVED)

    # a link that somebody else opens
    page.get_by_role("link", name="Privacy cost", exact=True).click()
    page.get_by_role("heading", name="Privacy cost", exact=True).wait_for()
    calm(page)
    slider = page.get_by_role("slider", name="ε", exact=True)
    at = f"{EPSILONS[EPSILONS.index(float(slider.get_attribute('aria-valuetext'))) - 3]:g}"
    slider.focus()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    expect(slider).to_have_attribute("aria-valuetext", at)
    page.get_by_role("heading", name=f"Privacy cost at ε = {at}", exact=True).wait_for()
    wait(page, lambda: f"epsilon={at}" in page.url)
    page.get_by_text(re.compile(r"^Accuracy [\d.]+%, non-private")).wait_for()
    mine = seen(page)
    other = start_browser()
    try:
        elsewhere = other.new_page()
        elsewhere.set_viewport_size({"width": width, "height": height})
        elsewhere.goto(page.url)
        elsewhere.get_by_role("heading", name=mine[2], exact=True).wait_for()
        check_becomes(elsewhere, lambda: seen(elsewhere), mine)
        check_becomes(elsewhere, lambda: elsewhere.url, page.url)
    finally:
        other.close()
