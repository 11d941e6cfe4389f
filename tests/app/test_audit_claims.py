"""The check of all claims: when nothing else is computed, and only while the page is shown."""

import asyncio

import pytest
from bokeh.document import Document
from dpml_app.pages.audit.claims import CHECKS
from dpml_app.pages.audit.page import AuditPage
from dpml_app.state import Settings
from dpml_app.work.pool import Pool
from page_alone import Here

from dpml.catalogue import claims


class Answers(Here):
    """Stands in for a worker process: every claim holds by formula, and none has draws."""

    def call(self, function, arguments):
        if function.__name__ == "check_exactly":
            return {"known": True, "passed": True, "epsilon": 1.0}
        return {"known": False, "problem": "no draws"}


@pytest.fixture
def page():
    pool = Pool(1, worker=Answers)
    page = AuditPage(Settings(), pool)
    page.card_slots["claims"].mount()
    page._doc = Document()
    yield page
    page._doc = None
    pool.stop()


def checked(page):
    return page.checks.progress.state.data["done"][0]


def audits(page, running):
    page.work.progress.tell("", 0, 1, running)


def follow(page, steps, ends=True):
    """Check the claims, and meanwhile take these steps, one a polling; return what was checked before each."""

    async def both():
        page.checks.request(CHECKS)
        seen = []
        for step in steps:
            await asyncio.sleep(0.3)
            seen.append(checked(page))
            step()
        while ends and page.checks.running:
            await asyncio.sleep(0.05)
        await asyncio.sleep(0.3)
        return seen

    return asyncio.run(asyncio.wait_for(both(), 120))


def test_claims_wait_until_the_page_is_shown_and_rests(page):
    page.shown = False
    audits(page, True)
    steps = [lambda: setattr(page, "shown", True), lambda: audits(page, False)]
    assert follow(page, steps) == [0, 0]
    assert checked(page) == len(CHECKS) == 2 * len(claims())
    marks = page.cards["claims"].marks
    assert len(marks) == len(claims())
    # by formula first, by draws then
    assert all(exact[0] in ("passed", "wrong") and drawn[0] == "open" for exact, drawn in marks.values())


def test_a_paused_audit_is_no_reason_to_wait(page):
    audits(page, True)
    page.work.progress.cancelled(0, 1)
    follow(page, [])
    assert checked(page) == len(CHECKS)


def test_a_page_that_is_closed_checks_no_further_claim(page):
    page.shown = False
    assert follow(page, [page.stop], ends=False) == [0]
    assert checked(page) == 0
    assert page.cards["claims"].marks == {}
    assert page.pool._asked == {}
