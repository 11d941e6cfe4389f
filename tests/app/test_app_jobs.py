"""The pool, its cache, and runs of which the latest wins."""

import asyncio
import os
import signal
import threading
import time
from concurrent.futures import BrokenExecutor, Future

import numpy as np
import pytest
from dpml_app import data
from dpml_app.work.pool import Cache, Chunk, Pool, Run


class Executor:
    """Stands in for the worker processes: one thread a call, and it counts them."""

    def __init__(self, seconds=0.0):
        self.seconds, self.calls = seconds, []

    def submit(self, function, *arguments):
        self.calls.append(arguments)
        future = Future()

        def work():
            time.sleep(self.seconds)
            try:
                future.set_result(function(*arguments))
            except Exception as error:
                future.set_exception(error)

        threading.Thread(target=work).start()
        return future


def square(x):
    return np.array([x * x])


def fail(x):
    raise ValueError(f"no {x}")


def pool_of(seconds=0.0, workers=2):
    pool = Pool(workers)
    pool._executor = Executor(seconds)
    return pool, pool._executor


async def collect(run):
    return {chunk.arguments[0]: int(result[0]) async for chunk, result in run.results()}


def test_cache_keeps_the_recent_and_locks_arrays():
    cache = Cache(2)
    array = cache.put(("a",), np.zeros(2))
    cache.put(("b",), {"x": np.zeros(1)})
    assert not array.flags.writeable
    assert not cache.get(("b",))["x"].flags.writeable
    cache.get(("a",))
    cache.put(("c",), 1)
    assert cache.get(("b",)) is None
    assert cache.get(("a",)) is array


def test_call_shares_its_key_with_the_chunk():
    cache = Cache()
    value = cache.call(square, 3)
    assert cache.get(Chunk(square, (3,)).key) is value
    assert cache.call(square, 3) is value


def test_chunk_asked_for_twice_is_computed_once():
    pool, executor = pool_of(0.05)
    first, second = pool.submit(Chunk(square, (4,))), pool.submit(Chunk(square, (4,)))
    assert first.result(5) is second.result(5)
    assert executor.calls == [(4,)]
    assert pool.submit(Chunk(square, (4,))).result(5) is first.result()
    assert executor.calls == [(4,)]


def test_run_yields_every_chunk_once():
    pool, executor = pool_of()
    pool.cache.put(Chunk(square, (2,)).key, square(2))
    run = Run(pool, [Chunk(square, (i,)) for i in range(6)])
    assert asyncio.run(collect(run)) == {i: i * i for i in range(6)}
    assert run.done == 6
    assert sorted(executor.calls) == [(0,), (1,), (3,), (4,), (5,)]


def test_cancelled_run_sends_no_further_chunk():
    pool, executor = pool_of(0.02)
    run = Run(pool, [Chunk(square, (i,)) for i in range(50)])

    async def some():
        seen = 0
        async for _ in run.results():
            seen += 1
            if seen == 3:
                run.cancel()
        return seen

    assert asyncio.run(some()) == 3
    assert len(executor.calls) <= 3 + pool.workers + 1


def test_failed_chunk_is_raised_and_not_kept():
    pool, _ = pool_of()
    chunk = Chunk(fail, (1,))
    with pytest.raises(ValueError, match="no 1"):
        asyncio.run(collect(Run(pool, [chunk])))
    assert pool.cache.get(chunk.key) is None
    assert pool._flying == {}


def test_real_workers_compute_and_end():
    pool = Pool(1)
    arguments = ("toy", "count", "add-remove", 1.0, (5, 0.5, 65), 10, 0)
    try:
        value = pool.submit(Chunk(data.accuracy, arguments)).result(60)
        assert pool.warm
        assert value == pytest.approx(data.accuracy(*arguments), abs=0)
        workers = list(pool._executor._processes.values())
        assert [w.is_alive() for w in workers] == [True]
    finally:
        pool.stop()
    assert [w.is_alive() for w in workers] == [False]


def test_pool_recovers_from_a_worker_that_is_killed():
    pool = Pool(1)
    try:
        pool.submit(Chunk(os.getpid, ())).result(60)
        (worker,) = pool._executor._processes
        future = pool.submit(Chunk(time.sleep, (30,)))
        os.kill(worker, signal.SIGKILL)
        with pytest.raises(BrokenExecutor):
            future.result(20)
        assert pool.submit(Chunk(abs, (-3,))).result(60) == 3
    finally:
        pool.stop()
