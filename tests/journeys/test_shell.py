"""The frame around the pages: the history, links between pages, cards that wait, and a server that goes and comes."""

import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from app_in_browser import WAITING
from playwright.sync_api import expect

pytestmark = pytest.mark.browser
ROOT = Path(__file__).parents[2]
SHOWN = "(name) => document.getElementById('body').dataset.page === name"
EPSILON = "(value) => Bokeh.documents[0].get_model_by_name('cost-marker')?.location === value"
QUICK = "?dataset=toy&draws=10"


def stands_at(app, text):
    """Wait until the slider of ε says this."""
    app.slider("ε").and_(app.page.locator(f'[aria-valuetext="{text}"]')).wait_for()


def test_history_holds_pages_and_not_steps_and_back_and_forward_lead_through_both(app):
    app.open(QUICK)
    page = app.page
    length = page.evaluate("history.length")
    app.press("ε", "ArrowRight", "ArrowRight", "ArrowRight")
    assert app.query["epsilon"] == "0.2"
    assert page.evaluate("history.length") == length, "a step of a slider is no entry"
    assert page.evaluate("Bokeh.documents[0].get_model_by_name('noise-count')") is None, "it is not even made"

    # a link of the navigation keeps what pages share
    app.turn("select")
    app.settle(0)
    assert {name: app.query[name] for name in ("page", "dataset", "draws", "epsilon")} == {
        "page": "select", "dataset": "toy", "draws": "10", "epsilon": "0.2",
    }  # fmt: skip
    assert page.evaluate("history.length") == length + 1
    app.act(lambda app: app.push("ε"))
    assert app.query["epsilon"] == "0.25"
    app.turn("noise")
    app.settle(0)
    before = app.answers
    app.push("ε of the noise", "ArrowLeft")
    app.settle(before)
    assert app.query["noise_epsilon"] == "0.8"
    assert page.evaluate("history.length") == length + 2

    page.go_back()
    page.wait_for_function(SHOWN, arg="select")
    app.page_id = "select"
    assert (app.query["page"], app.query["epsilon"]) == ("select", "0.25")
    page.go_back()
    # the entry of Explore has another ε than the page that was left
    page.wait_for_function(SHOWN, arg="explore")
    app.slider("Number of features").wait_for(state="visible")
    page.wait_for_function(EPSILON, arg=0.2)
    stands_at(app, "0.2")
    page.go_forward()
    page.wait_for_function(SHOWN, arg="select")
    stands_at(app, "0.25")
    page.go_forward()
    page.wait_for_function(SHOWN, arg="noise")
    assert app.query["noise_epsilon"] == "0.8"
    expect(app.slider("ε of the noise")).to_have_attribute("aria-valuetext", "0.8")


def test_cards_below_the_fold_wait_until_they_are_near(make_app, server):
    app = make_app(server, width=1100, height=600)
    app.open(QUICK, wait=False)
    app.wait_for_answer(0)
    waiting = app.page.evaluate(WAITING)
    assert "place-explore-roc" in waiting
    there = "(name) => Bokeh.documents[0].get_model_by_name(name) !== null"
    assert not app.page.evaluate(there, "roc")
    app.scroll()
    app.page.wait_for_function("Bokeh.documents[0].get_model_by_name('roc') !== null")
    app.page.get_by_role("heading", name="Private ROC curve", exact=True).wait_for()
    app.settle(0)
    # what came while the card was not there is drawn
    assert len(app.read("roc-private")["fpr"]) > 0


SWEEPING = "() => globalThis.Bokeh?.documents[0]?.get_model_by_name('explore-work')?.data.running[0]"


def test_a_lost_server_is_said_the_page_comes_back_in_its_state_and_sigterm_ends_a_sweep(make_app, start_server):
    first = start_server()
    app = make_app(first)
    app.forgives = True
    app.open(QUICK)
    app.press("ε", "ArrowRight")
    assert app.query["epsilon"] == "0.125"
    first.process.kill()
    first.process.wait()
    app.page.get_by_text("The connection to the server is lost.").wait_for()
    app.page.wait_for_function("document.querySelector('main').inert")
    hit = "document.elementFromPoint(150, 300)?.closest('main') ?? null"
    assert app.page.evaluate(hit) is None, "no control can be reached"
    second = start_server(port=first.port)
    app.page.wait_for_function("!document.body.classList.contains('lost')")
    app.settle(0)
    assert app.query["epsilon"] == "0.125"
    assert app.query["dataset"] == "toy"
    expect(app.slider("ε")).to_have_attribute("aria-valuetext", "0.125")
    app.open("?draws=10&hand_model=logistic")
    app.push("Regularisation λ", "ArrowLeft")
    app.page.wait_for_function(SWEEPING)
    app.page.goto("about:blank")
    assert second.stop() < 5, "neither server nor workers outlive it"


SESSIONS = """
import gc, sys, threading
from panel.io.server import get_server
from dpml_app.jobs import pool
from dpml_app.shell import Shell

server = get_server(
    {"app": sys.argv[1]}, port=0, start=False, show=False,
    unused_session_lifetime_milliseconds=500, check_unused_sessions_milliseconds=200,
)
server.start()
print(server.port, flush=True)

def alive():
    gc.collect()
    return sum(isinstance(thing, Shell) for thing in gc.get_objects())

def answer():
    for _line in sys.stdin:
        server.io_loop.add_callback(lambda: print(alive(), flush=True))
    server.io_loop.add_callback(server.io_loop.stop)

threading.Thread(target=answer, daemon=True).start()
server.io_loop.start()
pool().stop()
"""


def test_nothing_stays_of_sessions_that_have_ended(browser):
    process = subprocess.Popen(
        [sys.executable, "-c", SESSIONS, str(ROOT / "app" / "main.py")], cwd=ROOT, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip

    def told():
        # the log writes its lines between the numbers
        return int(next(line for line in process.stdout if line.strip().isdigit()))

    def alive():
        process.stdin.write("\n")
        process.stdin.flush()
        return told()

    try:
        url = f"http://localhost:{told()}/app"
        urllib.request.urlopen(f"{url}?page=noise").read()  # the first session, which no browser joins
        for name in ("explore", "noise", "audit", "select"):
            page = browser.new_page()
            page.goto(f"{url}?page={name}&draws=10&audit_draws=1000")
            # the first picture is there before the session is
            page.wait_for_selector("#tools[data-ready]", timeout=120_000)
            page.wait_for_selector("canvas", timeout=120_000)
            assert alive() > 0
            page.close()
        # what is still being computed for a session holds it a moment longer
        deadline = time.monotonic() + 120
        while (left := alive()) and time.monotonic() < deadline:
            time.sleep(1)
        assert left == 0
    finally:
        process.stdin.close()
        process.stdout.close()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()


def test_list_opens_by_keyboard(app):
    app.enter("select")
    page = app.page
    choice = page.get_by_role("combobox", name="Data set")
    for key in ("Enter", " ", "ArrowUp", "ArrowDown"):
        choice.focus()
        page.keyboard.press(key)
        expect(page.get_by_role("menuitem").first).to_be_focused()
        page.keyboard.press("Escape")
        expect(choice).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("menuitem").first).to_be_focused()
    page.keyboard.press("ArrowDown")
    second = page.get_by_role("menuitem").nth(1).inner_text()
    page.keyboard.press("Enter")
    expect(choice).to_have_text(second)
