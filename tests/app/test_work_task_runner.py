"""Engines: results in turn, stopped, taken up again, shown once more; and what nothing waits for."""

import asyncio
import threading
from contextlib import nullcontext

import pytest
from dpml_app.work.pool import Task
from dpml_app.work.progress import ButtonLabels
from dpml_app.work.task_runner import DeferredRequest, TaskRunner
from page_alone import pool_here


def square(x):
    return x * x


def refuse(x):
    raise ValueError(f"no {x}")


FOUR = [Task(square, (x,)) for x in range(1, 5)]


class Paced(TaskRunner):
    pace = 0.05
    button_labels = ButtonLabels(stop="Pause", go_on="Go on", stopped="Paused", again="Again")


@pytest.fixture
def pool():
    pool = pool_here()
    yield pool
    pool.stop()


class Told:
    """What an runner tells its page."""

    def __init__(self):
        self.shown, self.failures, self.tasks = [], [], []

    def options(self):
        return {"what": "squares", "spawn": self.spawn, "hold": nullcontext, "show": self.show, "failed": self.fail}

    def spawn(self, work):
        self.tasks.append(asyncio.get_running_loop().create_task(work))

    def show(self, results):
        self.shown.append([task.arguments[0] for task in results])

    def fail(self, what, error):
        self.failures.append((what, str(error)))


async def until(true):
    for _ in range(2000):
        if true():
            return
        await asyncio.sleep(0.005)
    raise TimeoutError


def drive(pool, kind, script):
    """Run a script with an runner; return what it has told."""

    async def main():
        told = Told()
        runner = kind(pool, name="test-runner", **told.options())
        await asyncio.wait_for(script(runner, told), 60)
        runner.stop()
        return told

    return asyncio.run(main())


def test_a_paced_run_shows_one_after_the_other_pauses_and_goes_on_where_it_was(pool):
    async def script(runner, told):
        runner.request(FOUR)
        await until(lambda: len(told.shown) == 2)
        runner._on_button()
        assert not runner.running
        assert (runner.progress.button.label, runner.progress.status.object) == ("Go on", "Paused")
        await asyncio.sleep(0.2)
        assert told.shown == [[1], [2]]
        runner.request(FOUR)  # what is asked for already stays as it is
        await asyncio.sleep(0.2)
        assert told.shown == [[1], [2]]
        runner._on_button()
        await until(lambda: not runner.running)
        # those that have been shown come at once
        assert [x for some in told.shown for x in some if some] == [1, 2, 1, 2, 3, 4]
        assert runner.progress.button.label == "Again"
        told.shown.clear()
        runner._on_button()
        await until(lambda: not runner.running)
        assert [some for some in told.shown if some] == [[1], [2], [3], [4]]

    drive(pool, Paced, script)


def test_what_is_cancelled_stays_so_when_a_card_asks_for_more_until_another_setting_is_chosen(pool):
    async def script(runner, told):
        runner.request(FOUR[:3])
        await until(lambda: len(told.shown) == 1)
        runner._on_button()
        runner.request(FOUR[1:])  # a card was made meanwhile
        await asyncio.sleep(0.2)
        assert told.shown == [[1]]
        assert not runner.running
        assert (runner.progress.button.label, runner.progress.status.object) == ("Go on", "Paused")
        assert [runner.progress.state.data[of][0] for of in ("done", "total")] == [0, 3]
        runner._on_button()
        await until(lambda: not runner.running)
        assert [x for some in told.shown for x in some] == [1, 2, 3, 4]
        runner.request(FOUR[:2])
        await until(lambda: runner.running)
        runner._on_button()
        runner.stop()  # another setting
        runner.request(FOUR)
        await until(lambda: runner.running)

    drive(pool, Paced, script)


def test_a_cancel_that_comes_as_a_run_ends_holds_what_the_same_setting_still_asks_for(pool):
    async def script(runner, told):
        runner.request(FOUR[:1])
        await until(lambda: told.shown == [[1]] and not runner.running)
        runner._on_button()
        assert not runner.running
        runner.request(FOUR[1:])
        await asyncio.sleep(0.2)
        assert told.shown == [[1]]
        assert runner.progress.button.label == "Resume"
        runner._on_button()
        await until(lambda: not runner.running)
        assert [x for some in told.shown for x in some] == [1, 2, 3, 4]

    drive(pool, TaskRunner, script)


def test_what_fails_is_told_and_the_same_request_tries_again(pool):
    async def script(runner, told):
        for times in (1, 2):
            runner.request([Task(refuse, (3,))])
            await until(lambda times=times: len(told.failures) == times)
        assert told.failures == [("Squares", "no 3")] * 2

    drive(pool, TaskRunner, script)


def test_what_the_server_computes_itself_asks_no_worker(pool, monkeypatch):
    class Here(TaskRunner):
        def here(self, task):
            return task.arguments[0] < 3

    asked = []
    submit = pool.submit
    monkeypatch.setattr(pool, "submit", lambda task, **told: (asked.append(task), submit(task, **told))[1])

    async def script(runner, told):
        runner.request(FOUR)
        await until(lambda: not runner.running)
        assert sorted(x for some in told.shown for x in some) == [1, 2, 3, 4]

    drive(pool, Here, script)
    assert asked == FOUR[2:]


GATE = threading.Event()


def slow(x):
    assert GATE.wait(60)
    return -x


def test_what_nothing_waits_for_is_shown_when_it_comes(pool):
    GATE.clear()

    async def main():
        told = Told()
        late = DeferredRequest(pool, **told.options())
        await late.request([Task(square, (5,))])
        assert pool.cache.get(Task(square, (5,)).key) == 25
        assert told.shown == [], "what is there in a moment is read with the rest"
        await late.request([Task(slow, (1,))])
        assert told.shown == []
        GATE.set()
        await until(lambda: told.shown)
        assert told.shown == [[1]]

    asyncio.run(asyncio.wait_for(main(), 60))


def test_a_newer_request_outdates_what_was_to_come(pool):
    GATE.clear()

    async def main():
        told = Told()
        late = DeferredRequest(pool, **told.options())
        await late.request([Task(slow, (2,))])
        newer = asyncio.ensure_future(late.request([Task(slow, (3,))]))
        await asyncio.sleep(0.3)
        GATE.set()
        await newer
        await until(lambda: told.shown)
        await asyncio.sleep(0.1)
        assert told.shown == [[3]]

    asyncio.run(asyncio.wait_for(main(), 60))
