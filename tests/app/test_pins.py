"""Pins: a setting and the numbers that were shown for it, kept beside the one that is shown now."""

import asyncio
import json
import re
from dataclasses import dataclass
from itertools import count

import pytest
from dpml_app import page_list
from dpml_app.core.card import Answer, Number
from dpml_app.core.pins import MOST, Pins, in_words
from dpml_app.jobs import Pool
from dpml_app.settings import PageValues
from dpml_app.shell import Shell
from dpml_app.state import Settings
from playwright.sync_api import expect

PAGES = [page for page in page_list.PAGES.values() if page.can_pin()]


def answer(value):
    return Answer((Number("right", f"{value:g}", "a to b"), Number("exact", "7")), "90% of runs")


@dataclass(frozen=True)
class Chosen(PageValues):
    epsilon: float
    relation: str


def pins_of(settings):
    """Return pins whose answer is ten times ε."""
    return Pins(settings, lambda: Chosen.of(settings), lambda: answer(10 * settings.epsilon))


def test_a_pin_keeps_what_was_shown_beside_what_is_shown_now():
    settings = Settings(epsilon=0.1)
    pins = pins_of(settings)
    assert pins.table() == {"names": [], "rows": [], "within": ""}
    assert pins.pin() == "Pinned as pin 1."
    settings.epsilon = 0.5
    pins.follow()
    table = pins.table()
    assert table["names"] == ["Pin 1"]
    assert table["within"] == "90% of runs"
    # the relation is the same, and is left out
    assert table["rows"] == [
        {"what": "ε", "cells": ["0.1", "0.5"]},
        {"what": "right", "cells": ["1 (a to b)", "5 (a to b)"]},
        {"what": "exact", "cells": ["7", "7"]},
    ]


def test_the_same_setting_is_pinned_once_and_no_more_than_three_are():
    settings = Settings(epsilon=0.1)
    pins = pins_of(settings)
    for epsilon in (0.1, 0.2, 0.4):
        settings.epsilon = epsilon
        pins.pin()
    assert pins.pin() == "This setting is already pin 3."
    settings.epsilon = 1.0
    assert pins.pin() == "You have 3 pins. Remove one first."
    assert len(pins.kept) == MOST
    pins.remove(1)
    assert [pin.values.epsilon for pin in pins.kept] == [0.1, 0.4]
    assert pins.pin() == "Pinned as pin 3."


def test_a_pin_is_shown_again_by_its_settings():
    settings = Settings(epsilon=0.1, relation="replace-one")
    pins = pins_of(settings)
    pins.pin()
    settings.param.update(epsilon=2.0, relation="add-remove")
    pins.load(0)
    assert (settings.epsilon, settings.relation) == (0.1, "replace-one")


def test_what_is_not_answered_yet_is_pinned_once_it_is():
    settings, known = Settings(epsilon=0.1), []
    pins = Pins(settings, lambda: {"epsilon": settings.epsilon}, lambda: known[-1] if known else None)
    assert pins.pin() == "This setting will be pinned when its results are ready."
    assert pins.kept == []
    known.append(answer(0.8))
    pins.follow()
    assert pins.kept[0].answer is known[0]
    pins.follow()
    assert len(pins.kept) == 1


def test_settings_are_said_as_their_controls_say_them():
    settings = Settings()
    assert in_words(settings, "dataset", "adult") == "Adult: income"
    assert in_words(settings, "evaluate_methods", ("histogram",)) == "16 noisy bins"
    assert in_words(settings, "evaluate_methods", ()) == "none"
    assert in_words(settings, "reg_lambda", 50.0) == "50"
    assert in_words(settings, "draws", 50) == "50"


@pytest.mark.parametrize("kind", PAGES)
def test_each_page_with_an_answer_pins_the_numbers_that_its_picture_shows(kind):
    assert kind.can_pin()
    page = kind(Settings(dataset="toy", epsilon=1.0, draws=10), Pool(1))
    facts = asyncio.run(page_facts(page, "toy"))
    page._values, page._facts = page.values(), facts
    main_card = page.cards[page.main_card]
    main_card.lay_out(facts)
    work = main_card.work(page._values, facts)
    results = {place: task.function(*task.arguments) for place, task in work.items() if place[1] in ("now", "soon")}
    for place, result in results.items():
        page.pool.cache.put(work[place], result)
    main_card.prepare(page._values, facts, results)
    main_card.show(results, work)
    assert page.pins.pin() == "Pinned as pin 1."
    said = main_card.readout(page._values, facts, results) + page.words(page._values, facts, {page.main_card: results})
    said = re.sub(r"<[^>]*>", "", said)
    numbers = page.pins.kept[0].answer.numbers
    assert numbers
    for number in numbers:
        assert number.value.split(" of ")[0] in said, number
    # another setting does not change what is pinned
    page.settings.epsilon = 0.1
    assert page._to_pin() is None
    page.pins.follow()
    assert page.pins.kept[0].answer.numbers == numbers
    row = next(row for row in page.pins.table()["rows"] if row["what"] == numbers[-1].what)
    assert row["cells"][1] == "–", "what is not answered yet has no number"


async def page_facts(page, name):
    found = type(page).__module__.split(".")[1]
    if found in ("explore", "evaluate", "publish", "select", "train"):
        page._call = lambda function, *arguments: as_is(function(*arguments))
    assert page.settings.dataset == name
    return await page.facts(page.values())


async def as_is(value):
    return value


def test_the_browser_asks_and_is_told():
    shell = Shell()
    shell.link({"dataset": "toy", "epsilon": "1"})
    page = shell.shown
    facts = asyncio.run(page_facts(page, "toy"))
    page._values, page._facts = page.values(), facts

    serials = count()

    def ask(what, of=""):
        shell.messages.asking = json.dumps({"what": what, "of": of, "serial": next(serials)})
        return json.loads(shell.messages.answered)["said"]

    assert ask("pin") == "Pinned as pin 1."
    told = json.loads(shell.messages.pins)
    assert told["page"] == "explore"
    assert re.findall(r'data-act="(\w+ \d)" aria-label="([^"]+)"', told["html"]) == [
        ("load 0", "Show pin 1"),
        ("remove 0", "Remove pin 1"),
    ]
    shell.settings.epsilon = 0.1
    assert ask("load", "0") == ""
    assert shell.settings.epsilon == 1.0
    for at in ("5", 0.5, "nonsense"):
        ask("remove", at)
        assert len(page.pins.kept) == 1
    ask("remove", "0")
    assert json.loads(shell.messages.pins)["html"] == ""
    assert "pin" not in shell.address["query"]


@pytest.mark.browser
def test_two_settings_are_pinned_compared_shown_again_and_removed_by_keyboard(make_app, server):
    app = make_app(server, width=1440, height=900)
    page = app.page
    # the button stands there before the page's script does, and what is clicked then is not lost
    page.goto(f"{app.url}?dataset=toy&draws=10", wait_until="commit")
    page.locator("#pin").click()
    said = page.locator("section.shown aside").get_by_text(re.compile(r"^Accuracy [\d.]+%, non-private"))
    said.wait_for()
    pin = page.get_by_role("button", name="Pin", exact=True)
    table = page.get_by_role("table", name="Pinned")
    table.get_by_role("columnheader", name="Pin 1").wait_for()
    shown = said.inner_text()
    mean = shown.split(",")[0].removeprefix("Accuracy ")
    first = table.get_by_role("row", name="accuracy, default classifier").get_by_role("cell").first
    expect(first).to_have_text(re.compile(f"^{re.escape(mean)}"))
    # keys as fast as a person repeats them: none of them is taken back
    app.slider("ε").focus()
    for _ in range(8):
        page.keyboard.press("ArrowLeft")
    row = table.get_by_role("row", name="ε", exact=False).first
    page.wait_for_function("() => document.querySelector('.pins tbody tr td:last-child')?.textContent === '0.016'")
    app.page.wait_for_timeout(1500)
    expect(app.slider("ε")).to_have_attribute("aria-valuetext", "0.016")
    expect(row.get_by_role("cell")).to_have_text(["0.1", "0.016"])
    pin.focus()
    page.keyboard.press("Enter")
    table.get_by_role("columnheader", name="Pin 2").wait_for()
    again = page.get_by_role("button", name="Show pin 1")
    again.focus()
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('.pins tbody tr td:last-child')?.textContent === '0.1'")
    expect(said).to_have_text(shown)
    expect(again).to_be_focused()
    page.get_by_role("button", name="Remove pin 2").focus()
    page.keyboard.press("Enter")
    table.get_by_role("columnheader", name="Pin 2").wait_for(state="detached")
    expect(page.get_by_role("button", name="Show pin 1")).to_be_focused()
    page.get_by_role("button", name="Remove pin 1").focus()
    page.keyboard.press("Enter")
    table.wait_for(state="hidden")
    expect(pin).to_be_focused()
    assert "pin" not in app.search
