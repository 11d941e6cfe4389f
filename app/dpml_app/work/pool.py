"""Long work outside the server: a pool of worker processes, one cache for all pages, and runs that the latest wins.

A run is a list of small chunks; each chunk is a module-level function and its arguments, and its result is kept under
them. Chunks that are asked for twice at a time are computed once. Workers end by themselves when the server does.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from typing import Any

import numpy as np

__all__ = ["Cache", "Chunk", "Pool", "Run", "pool"]

MOST_RESULTS = 20_000
# imports take longer than most chunks; all pages compute with these
WARM = ("dpml.catalogue", "dpml.auditing", "dpml_app.data")


@dataclass(frozen=True)
class Chunk:
    """One call of a module-level function, made in a worker."""

    function: Callable[..., Any]
    arguments: tuple

    @property
    def key(self) -> tuple:
        """What its result is kept under."""
        return (self.function.__module__, self.function.__qualname__, *self.arguments)


def read_only(value: Any) -> Any:
    """Return the value with every array in it locked: cached arrays are shared by all pages."""
    if isinstance(value, np.ndarray):
        value.setflags(write=False)
    elif isinstance(value, dict):
        for part in value.values():
            read_only(part)
    return value


class Cache:
    """Results under their keys; the least recently used goes first. Safe for threads."""

    def __init__(self, size: int = MOST_RESULTS):
        self.size = size
        self._results: OrderedDict[tuple, Any] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: tuple) -> Any:
        """Return a result, or None."""
        with self._lock:
            if key in self._results:
                self._results.move_to_end(key)
            return self._results.get(key)

    def put(self, key: tuple, value: Any) -> Any:
        """Keep a result and return it, its arrays locked."""
        with self._lock:
            self._results[key] = read_only(value)
            self._results.move_to_end(key)
            while len(self._results) > self.size:
                self._results.popitem(last=False)
        return value

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return function(*arguments), kept under the same key as the chunk of that call."""
        key = Chunk(function, arguments).key
        value = self.get(key)
        return self.put(key, function(*arguments)) if value is None else value


def _worker_starts() -> None:
    """Make a worker polite, single-threaded and mortal, and load what it will need."""
    # a terminal's Ctrl-C is for the server, which then ends; the thread below follows it
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(15)  # the page that is being used comes first
    from threadpoolctl import threadpool_limits

    for module in WARM:
        importlib.import_module(module)
    threadpool_limits(1)


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _ready() -> int:
    return os.getpid()


class Pool:
    """Worker processes, started when first used, and the results they have sent.

    Parameters
    ----------
    workers : int, optional
        Default: all processors but the one that serves, at most two.
    cache : Cache, optional

    Attributes
    ----------
    warm : bool
        Whether a worker has started and imported what it needs, which takes seconds.
    """

    def __init__(self, workers: int | None = None, cache: Cache | None = None):
        self.workers = workers or max(1, min(2, (os.cpu_count() or 2) - 1))
        self.cache = cache or Cache()
        self._executor: ProcessPoolExecutor | None = None
        self._flying: dict[tuple, Future] = {}
        self._lock = threading.Lock()
        self.warm = False

    def start(self) -> None:
        """Start and warm the workers without waiting for them."""
        with self._lock:
            if self._executor is None:
                # spawn: a forked copy of a server with threads and sockets would not be safe
                self._executor = ProcessPoolExecutor(
                    self.workers, mp_context=get_context("spawn"), initializer=_worker_starts
                )
                self.warm = False
                for _ in range(self.workers):
                    self._executor.submit(_ready).add_done_callback(self._is_ready)

    def _is_ready(self, future: Future) -> None:
        self.warm = not future.cancelled() and future.exception() is None

    def submit(self, chunk: Chunk) -> Future:
        """Return a future of the chunk's result: kept, on its way, or sent to a worker now."""
        kept = self.cache.get(chunk.key)
        if kept is not None:
            done: Future = Future()
            done.set_result(kept)
            return done
        self.start()
        with self._lock:
            if chunk.key in self._flying:
                return self._flying[chunk.key]
            assert self._executor is not None
            try:
                future = self._executor.submit(chunk.function, *chunk.arguments)
            except (BrokenExecutor, RuntimeError) as error:
                self._executor = None  # the next chunk starts new workers
                future = Future()
                future.set_exception(error)
                return future
            self._flying[chunk.key] = future
        future.add_done_callback(lambda f: self._landed(chunk.key, f))
        return future

    def _landed(self, key: tuple, future: Future) -> None:
        if not future.cancelled() and future.exception() is None:
            self.cache.put(key, future.result())
        with self._lock:
            self._flying.pop(key, None)
            if not future.cancelled() and isinstance(future.exception(), BrokenExecutor):
                self._executor = None

    async def result(self, chunk: Chunk) -> Any:
        """Await a chunk's result."""
        return await asyncio.shield(asyncio.wrap_future(self.submit(chunk)))

    def stop(self) -> None:
        """End the workers; chunks that have not begun are dropped."""
        with self._lock:
            executor, self._executor = self._executor, None
        if executor is not None:
            executor.shutdown(wait=True, cancel_futures=True)


class Run:
    """The chunks of one request, a few at a time, until they are done, cancelled or outdated by another run.

    Parameters
    ----------
    pool : Pool
    chunks : sequence of Chunk
    """

    def __init__(self, pool: Pool, chunks: Sequence[Chunk]):
        self.pool, self.chunks = pool, list(chunks)
        self.cancelled = False
        self.done = 0

    def cancel(self) -> None:
        """Send no further chunk; the few that are with workers are awaited by nobody."""
        self.cancelled = True

    async def results(self):
        """Yield (chunk, result) as they come, in no fixed order; stops early once cancelled."""
        waiting = iter(self.chunks)
        flying: dict[asyncio.Future, Chunk] = {}
        exhausted = False
        while not self.cancelled:
            # one more than there are workers, so that none waits for the server
            while not exhausted and len(flying) <= self.pool.workers:
                chunk = next(waiting, None)
                if chunk is None:
                    exhausted = True
                else:
                    kept = self.pool.cache.get(chunk.key)
                    if kept is not None:
                        self.done += 1
                        yield chunk, kept
                        if self.cancelled:
                            return
                    else:
                        flying[asyncio.wrap_future(self.pool.submit(chunk))] = chunk
            if not flying:
                return
            ready, _ = await asyncio.wait(flying, return_when=asyncio.FIRST_COMPLETED)
            for future in ready:
                chunk = flying.pop(future)
                if self.cancelled:
                    future.exception()  # seen, so that nothing is logged of a result that nobody wants
                    continue
                self.done += 1
                yield chunk, future.result()


_POOL = Pool()


def pool() -> Pool:
    """Return the pool that all pages of this server share."""
    return _POOL
