"""A release that is cancelled, or whose session ends: what is charged stays charged, and nothing is shown."""

import asyncio
import json
import threading

import pytest
from dpml_app.pages.mydata import release as releases
from dpml_app.pages.mydata.stopping import CancellationToken, Stopped
from own_session import csv, release, say

from dpml.mechanisms.interruption import checkpoint
from dpml.release import plan as plans


def test_it_is_gone_when_the_session_ends_also_while_it_runs(ready, monkeypatch):
    one = ready()
    step = one.page.release
    release(one)
    begun, go_on = threading.Event(), threading.Event()
    usual = releases.run

    def slow(*arguments):
        begun.set()
        assert go_on.wait(60)
        return usual(*arguments)

    monkeypatch.setattr(releases, "run", slow)
    say(one, sure=True)
    page = one.page

    async def end():
        step.start()
        while not begun.is_set():
            await asyncio.sleep(0.01)
        one.shell.stop()
        assert step.done == []
        assert step.files._files == {}
        go_on.set()
        while page._tasks:
            await asyncio.sleep(0.01)

    one.loop.run_until_complete(asyncio.wait_for(end(), 120))
    assert step.done == []
    assert step.files._files == {}
    assert step.budget is None


class Gate:
    """A release waits here until it is let go; what came of it is kept."""

    def __init__(self):
        self.begun, self.go_on, self.ends = threading.Event(), threading.Event(), []

    def before(self, function):
        """Return a function that waits, and then does what another does."""

        def gated(*arguments, **options):
            self.begun.set()
            assert self.go_on.wait(60)
            try:
                result = function(*arguments, **options)
            except BaseException as error:
                self.ends.append(type(error).__name__)
                raise
            self.ends.append("whole")
            return result

        return gated

    def after(self, function):
        """Return a function that does what another does, and then waits."""

        def gated(*arguments, **options):
            result = function(*arguments, **options)
            self.begun.set()
            assert self.go_on.wait(60)
            self.ends.append("whole")
            return result

        return gated


def cancel(one, gate):
    """Release, cancel while it waits at a gate, and let it go."""
    step = one.page.release
    say(one, sure=True)

    async def press():
        step.start()
        while not gate.begun.is_set():
            await asyncio.sleep(0.01)
        assert not step.cancel.disabled
        for _ in range(2):
            step.cancel.param.trigger("clicks")
        assert step.cancel.disabled
        gate.go_on.set()

    one.run(press)
    assert step.cancel.disabled
    assert not step.running
    assert step.bar.object == ""
    assert step.done == []


@pytest.mark.parametrize("place", ["first draw", "last file"])
def test_a_release_that_is_cancelled_once_it_has_begun_is_spent_and_shows_nothing(ready, monkeypatch, place):
    """Its charges are made before its first draw, and a refund would need a proof that nothing was learned."""
    one, gate = ready(), Gate()
    step = one.page.release
    with monkeypatch.context() as changed:
        if place == "first draw":
            changed.setattr(plans, "carry_out", gate.before(plans.carry_out))
        else:
            changed.setattr(releases, "run", gate.after(releases.run))
        cancel(one, gate)
    # plans are tried out afterwards, on no records
    assert gate.ends[0] == ("Stopped" if place == "first draw" else "whole")
    assert "Cancelled after the charge: <b>ε = 0.5</b> was charged" in step.said.object
    assert step.budget.spent == pytest.approx(0.5)
    assert "0 releases in this session. Privacy budget ε = 1: <b>0.5</b> spent" in step.spent.object
    # what is spent is seen, and nothing else
    assert step.after.visible
    assert step.files.names == ["release-session-ledger.json"]
    assert json.loads(step.files._files["release-session-ledger.json"])["spent"] == pytest.approx(0.5)
    # and the next one takes what is left
    release(one)
    assert len(step.done) == 1
    assert step.budget.spent == pytest.approx(1.0)


def test_a_release_that_is_cancelled_before_it_begins_is_free(ready, monkeypatch):
    """It waits for that of another session; the one in front goes on."""
    first, second, gate = ready(), ready(seed=1), Gate()
    step = second.page.release
    say(second, sure=True)
    with monkeypatch.context() as changed:
        changed.setattr(releases, "run", gate.before(releases.run))
        front = releases.LONG.call(gate.before(dict), owner="releases")

        async def press():
            step.start()
            while not gate.begun.is_set() or step._task is None:
                await asyncio.sleep(0.01)
            step.cancel.param.trigger("clicks")
            while step.running:
                await asyncio.sleep(0.01)
            assert not front.done()
            gate.go_on.set()

        second.run(press)
        assert front.result(60) == {}
    assert gate.ends == ["whole"]
    assert "Cancelled. Nothing was charged." in step.said.object
    # the total of a session is fixed by its first charge
    assert step.budget is None
    assert not step.total.disabled
    assert step.before.visible
    release(second)
    assert len(step.done) == 1
    assert step.budget.spent == pytest.approx(0.5)
    assert first.page.release.budget is None


def test_a_cancel_that_comes_between_the_click_and_the_thread_is_heard_before_any_charge(ready):
    one = ready()
    step = one.page.release
    say(one, sure=True)

    def both():
        step.start()
        step.stop()

    one.do(both)
    assert "Cancelled. Nothing was charged." in step.said.object
    assert step.done == []
    assert step.budget is None


def test_a_tab_that_closes_while_its_file_is_read_leaves_no_fault_and_no_table(session):
    one = session()
    page = one.page

    async def closed():
        reading = asyncio.create_task(page._read("table.csv", csv(0)))
        await asyncio.sleep(0)
        page.stop()
        page.state.data = {}  # as the document leaves it that is let go
        await reading

    one.run(closed)
    assert page.draft is None


def test_a_release_that_is_cancelled_ends_at_a_checkpoint_between_two_draws():
    token, passed = CancellationToken(), []

    def work():
        with token.cancellable():
            checkpoint()
            passed.append("before")
            token.ask()
            checkpoint()
            passed.append("after")

    with pytest.raises(Stopped):
        work()
    checkpoint()
    assert passed == ["before"]
