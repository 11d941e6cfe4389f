"""Runs: every task once, in turns with other runs, until they are cancelled or left."""

import asyncio
import os
import signal
import threading
from functools import partial

import numpy as np
import pytest
import worker_calls
from dpml_app.work.fair_queue import Priority
from dpml_app.work.pool import Pool, Task
from dpml_app.work.run import Run
from dpml_app.work.worker import Worker
from page_alone import Here


class Counted(Here):
    """Stands in for a worker process, and tells what it was asked for."""

    def __init__(self, calls):
        self.calls = calls

    def call(self, function, arguments):
        self.calls.append(arguments[0])
        return super().call(function, arguments)


def square(x):
    return np.array([x * x])


def wait_for(event, x):
    assert event.wait(120)
    return x


def fail(x):
    raise ValueError(f"no {x}")


@pytest.fixture
def calls():
    return []


@pytest.fixture
def pool(calls):
    pool = Pool(1, worker=lambda: Counted(calls))
    yield pool
    pool.stop()


async def collect(run):
    return {task.arguments[0]: int(result[0]) async for task, result in run.results()}


def test_run_yields_every_task_once(pool, calls):
    pool.cache.put(Task(square, (2,)).key, square(2))
    run = Run(pool, [Task(square, (i,)) for i in range(6)])
    assert asyncio.run(collect(run)) == {i: i * i for i in range(6)}
    assert run.done == 6
    assert sorted(calls) == [0, 1, 3, 4, 5]


def test_cancelled_run_sends_no_further_task(pool, calls):
    run = Run(pool, [Task(square, (i,)) for i in range(50)])

    async def some():
        seen = 0
        async for _ in run.results():
            seen += 1
            if seen == 3:
                run.cancel()
        return seen

    assert asyncio.run(some()) == 3
    assert len(calls) <= 3 + pool.workers + 1


def test_cancelled_run_ends_although_its_task_is_being_computed(pool):
    may = threading.Event()
    run = Run(pool, [Task(wait_for, (may, i)) for i in range(3)])

    async def cancelled():
        following = asyncio.ensure_future(collect(run))
        await asyncio.sleep(0)
        run.cancel()
        return await following

    assert asyncio.run(cancelled()) == {}
    may.set()


def test_run_pauses_while_its_next_result_is_not_asked_for(pool, calls):
    run = Run(pool, [Task(square, (i,)) for i in range(20)], priority=Priority.IDLE)

    async def slowly():
        results = run.results()
        await anext(results)
        while len(calls) < 1 + pool.workers:
            await asyncio.sleep(0)
        # another's task that is computed after all that this run has asked for
        await pool.result(Task(square, (100,)), owner="other", priority=Priority.IDLE)
        asked = list(calls)
        await results.aclose()
        return asked

    assert len(asyncio.run(slowly())) <= 1 + pool.workers + 1 + 1


def test_run_that_is_left_is_asked_for_no_more(pool, calls):
    run = Run(pool, [Task(square, (i,)) for i in range(20)])

    async def leave():
        results = run.results()
        await anext(results)
        await results.aclose()

    asyncio.run(leave())
    assert run._flying == {}
    pool.submit(Task(square, (100,))).result(120)
    assert len(calls) <= 1 + pool.workers + 1 + 1


def test_runs_take_turns(pool, calls):
    may = threading.Event()

    async def both():
        # the worker is busy until all runs wait
        first = asyncio.ensure_future(pool.result(Task(wait_for, (may, 0))))
        ranges = (range(100, 140), range(200, 203))
        runs = [asyncio.ensure_future(collect(Run(pool, [Task(square, (i,)) for i in r]))) for r in ranges]
        await asyncio.sleep(0)
        while len(pool._asked) < 1 + 2 * 2:
            await asyncio.sleep(0)
        may.set()
        await first
        return await asyncio.gather(*runs)

    long, short = asyncio.run(both())
    assert (len(long), len(short)) == (40, 3)
    # not behind the forty
    assert max(calls.index(i) for i in (200, 201, 202)) < 15


def test_owner_is_who_is_named_or_the_run_itself(pool):
    assert Run(pool, [], owner="me").owner == "me"
    run = Run(pool, [])
    assert run.owner is run


def test_failed_task_is_raised(pool):
    with pytest.raises(ValueError, match="no 1"):
        asyncio.run(collect(Run(pool, [Task(fail, (1,)), Task(square, (2,))])))


def test_run_completes_by_itself_when_its_worker_is_killed(tmp_path):
    pool, path = Pool(1, worker=partial(Worker, warm=())), tmp_path / "calls"
    tasks = [Task(abs, (-1,)), Task(worker_calls.linger_once, (path,)), *(Task(abs, (-x,)) for x in range(2, 6))]

    async def everything(run):
        return {task: result async for task, result in run.results()}

    async def several():
        # all sessions that wait get their results, and those of the task that they share
        runs = [asyncio.ensure_future(everything(Run(pool, tasks))) for _ in range(3)]
        while not path.exists():
            await asyncio.sleep(0.01)
        os.kill(pool._worker_threads[0].worker.process.pid, signal.SIGKILL)
        return await asyncio.wait_for(asyncio.gather(*runs), 120)

    try:
        found = asyncio.run(several())
    finally:
        pool.stop()
    assert found == [dict(zip(tasks, [1, 2, 2, 3, 4, 5], strict=True))] * 3
