"""The pool: tasks in their turn, and workers that compute, end, and are replaced."""

import asyncio
import os
import signal
import threading
import time
import weakref
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import worker_calls
from dpml_app.pages.explore.compute import custom_accuracy
from dpml_app.work import worker
from dpml_app.work.fair_queue import Priority
from dpml_app.work.pool import TRIES, Pool, Task
from dpml_app.work.worker import WorkerEnded
from page_alone import Here

# for events, not for speed: a busy machine may need minutes
LONG = 120
# a worker that imports only what it is asked for: one that has ended is not waited for
COLD = partial(worker.Worker, warm=())


class InProcess(Here):
    """Stands in for a worker process: computes in the pool's own thread, once it may."""

    def __init__(self, may=None):
        self.may, self.calls = may, []

    def call(self, function, arguments):
        self.calls.append(arguments[0])
        if self.may is not None:
            assert self.may.wait(LONG)
        return super().call(function, arguments)

    def end(self):
        super().end()
        if self.may is not None:
            self.may.set()


def square(x):
    return np.array([x * x])


def fail(x):
    raise ValueError(f"no {x}")


@pytest.fixture
def make_pool():
    """Return a function that makes a pool; at the end it is stopped."""
    pools = []

    def make(workers=1, **options):
        pools.append(Pool(workers, **options))
        return pools[-1]

    yield make
    for pool in pools:
        pool.stop()


@pytest.fixture
def held(make_pool):
    """Return a pool of one worker that is busy until `may` is set, and that worker."""
    stand_in = InProcess(threading.Event())
    pool = make_pool(worker=lambda: stand_in)
    pool.submit(Task(square, (0,)))
    until(lambda: stand_in.calls == [0])
    return pool, stand_in


def until(condition):
    end = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


def order(held, asked):
    """Return in which order a worker computes what is asked for while it is busy: (number, owner, priority) each."""
    pool, stand_in = held
    futures = [pool.submit(Task(square, (x,)), owner=owner, priority=priority) for x, owner, priority in asked]
    stand_in.may.set()
    assert [int(future.result(LONG)[0]) for future in futures] == [x * x for x, *_ in asked]
    return stand_in.calls[1:]


# ---- whose turn it is -----------------------------------------------------------------------------------------------


def test_task_asked_for_twice_is_computed_once(held):
    pool, stand_in = held
    first, second = pool.submit(Task(square, (4,))), pool.submit(Task(square, (4,)))
    stand_in.may.set()
    assert first.result(LONG) is second.result(LONG)
    assert pool.submit(Task(square, (4,))).result(LONG) is first.result()
    assert stand_in.calls == [0, 4]
    assert pool._asked == {}


def test_one_that_floods_makes_others_wait_for_one_task(held):
    flood = [(x, "flood", Priority.CURVES) for x in range(100, 200)]
    others = [(x, f"session {x}", Priority.CURVES) for x in range(1, 26)]
    found = order(held, flood + others)
    assert found[:27] == [100, *range(1, 26), 101]


def test_answers_at_the_current_setting_go_first(held):
    asked = [
        (1, "a", Priority.IDLE),
        (2, "a", Priority.CURVES),
        (3, "b", Priority.CURVES),
        (4, "c", Priority.IMMEDIATE),
    ]
    assert order(held, asked) == [4, 2, 3, 1]


def test_an_awaited_result_is_an_answer(held):
    pool, stand_in = held
    curve = pool.submit(Task(square, (1,)))

    async def both():
        answer = asyncio.ensure_future(pool.result(Task(square, (2,))))
        await asyncio.sleep(0)
        stand_in.may.set()
        return await answer

    assert int(asyncio.run(both())[0]) == 4
    assert int(curve.result(LONG)[0]) == 1
    assert stand_in.calls == [0, 2, 1]


def test_what_nobody_waits_for_is_not_computed(held):
    pool, stand_in = held
    tasks = [Task(square, (x,)) for x in (1, 2, 3)]
    one, two, three = (pool.submit(task, owner="a") for task in tasks)
    also_two = pool.submit(tasks[1], owner="b")
    assert one.cancel()
    assert two.cancel()
    stand_in.may.set()
    assert int(also_two.result(LONG)[0]) == 4
    assert int(three.result(LONG)[0]) == 9
    assert sorted(stand_in.calls) == [0, 2, 3]
    assert pool._asked == {}
    assert int(pool.submit(tasks[0]).result(LONG)[0]) == 1


def test_failed_task_is_raised_and_not_kept(make_pool):
    pool = make_pool(worker=InProcess)
    task = Task(fail, (1,))
    with pytest.raises(ValueError, match="no 1"):
        pool.submit(task).result(LONG)
    assert pool.cache.get(task.key) is None
    assert pool._asked == {}


def test_a_pool_that_waits_keeps_nothing_of_who_has_asked(make_pool):
    class Session:
        pass

    pool, session = make_pool(worker=InProcess), Session()
    gone = weakref.ref(session)
    pool.submit(Task(square, (1,)), owner=session).result(LONG)
    until(lambda: pool._asked == {})
    del session
    until(lambda: gone() is None)


def test_stop_drops_what_waits_and_the_next_one_starts_anew(held):
    pool, stand_in = held
    waiting = pool.submit(Task(square, (5,)))
    pool.stop()
    assert waiting.cancelled()
    assert stand_in.calls == [0]
    stand_in.alive = True
    assert int(pool.submit(Task(square, (6,))).result(LONG)[0]) == 36


def test_workers_that_never_start_are_said_and_tried_again(make_pool):
    class Broken(InProcess):
        def ready(self):
            made.append(self)
            if len(made) <= TRIES:
                raise WorkerEnded("gone")

    made = []
    pool = make_pool(worker=Broken)
    with pytest.raises(WorkerEnded, match=f"no worker process starts: {TRIES} ended before they were ready"):
        pool.submit(Task(square, (3,))).result(LONG)
    assert not pool.warm
    assert int(pool.submit(Task(square, (3,))).result(LONG)[0]) == 9
    assert pool.warm


# ---- real workers ---------------------------------------------------------------------------------------------------


def processes(pool):
    return [worker_thread.worker.process for worker_thread in pool._worker_threads]


def test_real_workers_compute_and_end(make_pool):
    pool = make_pool()
    arguments = ("toy", "add-remove", 1.0, "naive-bayes", "count", (5, 0.5, 65), 10, 0)
    value = pool.submit(Task(custom_accuracy, arguments)).result(LONG)
    assert pool.warm
    assert value == pytest.approx(custom_accuracy(*arguments), abs=0)
    workers = processes(pool)
    assert [w.is_alive() for w in workers] == [True]
    pool.stop()
    assert [w.is_alive() for w in workers] == [False]
    assert not pool.warm


def test_what_a_real_worker_cannot_do_comes_back_in_words(make_pool):
    pool = make_pool(worker=COLD)
    pid = pool.submit(Task(os.getpid, ())).result(LONG)
    with pytest.raises(FileNotFoundError, match="nowhere") as found:
        pool.submit(Task(os.stat, ("/nowhere",))).result(LONG)
    assert "Traceback" in found.value.__notes__[0]
    with pytest.raises(RuntimeError, match="pickle"):
        pool.submit(Task(worker_calls.unsendable, ())).result(LONG)
    # not kept under its key any more, so asked again: the same worker goes on
    pool.cache = type(pool.cache)()
    assert pool.submit(Task(os.getpid, ())).result(LONG) == pid


def test_task_whose_worker_is_killed_is_asked_for_again(make_pool, tmp_path):
    pool, path = make_pool(worker=COLD), tmp_path / "calls"
    future = pool.submit(Task(worker_calls.linger_once, (path,)))
    also = pool.submit(Task(worker_calls.linger_once, (path,)))
    after = pool.submit(Task(abs, (-3,)))
    until(path.exists)
    (killed,) = processes(pool)
    os.kill(killed.pid, signal.SIGKILL)
    assert [future.result(LONG), also.result(LONG), after.result(LONG)] == [2, 2, 3]
    assert processes(pool)[0].pid != killed.pid


def test_task_that_always_ends_its_worker_is_reported_and_others_are_computed(make_pool, tmp_path):
    pool, path = make_pool(worker=COLD), tmp_path / "calls"
    bad = pool.submit(Task(worker_calls.end_always, (path,)), owner="a")
    good = [pool.submit(Task(abs, (-x,)), owner="b") for x in range(1, 5)]
    with pytest.raises(WorkerEnded, match=f"each of the {TRIES} times that it computed end_always of") as found:
        bad.result(LONG)
    assert "Broken" not in str(found.value)
    assert [future.result(LONG) for future in good] == [1, 2, 3, 4]
    assert path.stat().st_size == TRIES


def test_a_death_is_not_laid_at_the_boundary_of_another_worker(make_pool, tmp_path):
    pool = make_pool(2, worker=COLD)
    bad = pool.submit(Task(worker_calls.end_always, (tmp_path / "bad",)))
    once = [pool.submit(Task(worker_calls.end_once, (tmp_path / f"once {i}", i))) for i in range(1, 3)]
    with pytest.raises(WorkerEnded):
        bad.result(LONG)
    assert [future.result(LONG) for future in once] == [1, 2]


def test_worker_killed_while_it_has_nothing_to_do_is_replaced(make_pool):
    pool = make_pool(worker=COLD)
    pool.submit(Task(os.getpid, ())).result(LONG)
    (killed,) = processes(pool)
    os.kill(killed.pid, signal.SIGKILL)
    until(lambda: processes(pool)[0].pid != killed.pid and pool.warm)
    assert pool.submit(Task(abs, (-3,))).result(LONG) == 3


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="reads /proc")
def test_worker_is_polite(make_pool):
    pool = make_pool(worker=COLD)
    pid = pool.submit(Task(os.getpid, ())).result(LONG)
    assert os.getpriority(os.PRIO_PROCESS, pid) == min(19, os.getpriority(os.PRIO_PROCESS, 0) + worker.NICE)
