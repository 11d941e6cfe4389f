"""Work that takes long: results that are kept, workers that sessions share in turn, and the requests of a page."""

import asyncio
import importlib
import os
import pickle
import signal
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Hashable, Mapping
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, is_dataclass, replace
from functools import cache, wraps
from multiprocessing import active_children, get_context, parent_process
from multiprocessing.process import BaseProcess
from queue import SimpleQueue
from typing import Any, NamedTuple, ParamSpec, TypeVar
from weakref import WeakSet, WeakValueDictionary

import numpy as np
from cachetools import LRUCache
from threadpoolctl import threadpool_limits

from dpml.exceptions import DpmlError, shown
from dpml.registry import METHODS, Method
from dpml_app import uploaded_table
from dpml_app.serving import log

P = ParamSpec("P")
T = TypeVar("T")
K = TypeVar("K")
# imports take longer than most tasks; all pages compute with these
WARM = ("dpml.audit.cases", "dpml.audit", "dpml.studies.accuracy")
# at 15 a worker took 99 s to start beside ten busy processes on two cores, at 5 it took 16 s
NICE = 5
# a task whose worker process ends is computed at most this often
TRIES = 3
# seconds between results that are shown
FLUSH_EVERY = 0.25
# of all caches and pools: a request may wait in two pools, and its result is kept before another asks
_LOCK = threading.RLock()
CANCELLED = "Cancelled. Faded or missing curves do not belong to this setting."


class Task(NamedTuple):
    """One call of a module-level function, and the key of its result."""

    function: Callable[..., Any]
    arguments: tuple


class Cache:
    """The last `size` results that were used, by their tasks, with read-only arrays. Safe for threads."""

    def __init__(self, size: int = 20_000):
        self._results: LRUCache[Task, Any] = LRUCache(size)
        _CACHES.add(self)

    def get(self, task: Task) -> Any:
        """Return a result, or None."""
        with _LOCK:
            return self._results.get(task)

    def known(self, tasks: Mapping[K, Task]) -> dict[K, Any]:
        """Return the results that are there of several tasks, each under its name."""
        with _LOCK:
            return {name: self._results[task] for name, task in tasks.items() if task in self._results}

    def put(self, task: Task, value: Any) -> Any:
        """Keep a result and return it, except of a table whose session has ended meanwhile."""
        with _LOCK:
            if all(map(uploaded_table.here, uploaded_table.named(task))):
                _lock_arrays(value)
                self._results[task] = value
        return value

    def drop(self, name: str) -> None:
        """Drop all results of a session's table."""
        with _LOCK:
            for task in [task for task in self._results if name in uploaded_table.named(task)]:
                del self._results[task]


_CACHES: WeakSet[Cache] = WeakSet()


def _lock_arrays(value: Any) -> None:
    """Make the arrays of a value read-only: pages share them."""
    if isinstance(value, np.ndarray):
        value.setflags(write=False)
    elif isinstance(value, dict) or is_dataclass(value):
        for part in (value if isinstance(value, dict) else vars(value)).values():
            _lock_arrays(part)


def kept(size: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Keep the last `size` results of a function under its arguments."""

    def keep(function: Callable[P, T]) -> Callable[P, T]:
        cache = Cache(size)

        @wraps(function)
        def call(*arguments: P.args, **options: P.kwargs) -> T:
            task = Task(function, (*arguments, *sorted(options.items())))
            value: T | None = cache.get(task)
            return cache.put(task, function(*arguments, **options)) if value is None else value

        return call

    return keep


def forget(name: str) -> None:
    """Drop a session's table, and all results of it in this process."""
    uploaded_table.drop(name)
    for each in list(_CACHES):
        each.drop(name)


class WorkerEnded(DpmlError):
    """A worker process has ended before its answer."""


def _begin(known: dict[str, dict[str, Method]], modules: tuple[str, ...]) -> None:
    """Ready a worker process, which ignores Ctrl-C, as that ends the server, and ends with the server."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    log.silence()
    threading.Thread(target=_end_with, args=(parent_process(),), daemon=True).start()
    for module in modules:
        importlib.import_module(module)
    for family, entries in known.items():
        for key, entry in entries.items():
            METHODS[family].setdefault(key, replace(entry, claims=(), numeric_claims=()))
    threadpool_limits(1)


def _end_with(server: BaseProcess) -> None:
    server.join()
    os._exit(1)


def _compute(call: bytes) -> Any:
    """Return the result of a call in a worker process."""
    try:
        function, arguments = pickle.loads(call)
        return function(*arguments)
    except Exception as error:
        try:
            pickle.loads(pickle.dumps(error))  # some errors can be sent but not received
        except Exception:
            raise RuntimeError(f"{type(error).__name__}: {error}") from error
        raise


@dataclass(eq=False)
class _Request:
    """A task, the pool that keeps its result, if any, and the futures of those who wait for it."""

    task: Task
    keeper: "Pool | None" = None
    futures: list[Future] = field(default_factory=list)
    begun: bool = False

    @property
    def wanted(self) -> bool:
        return not self.begun and not all(future.cancelled() for future in self.futures)

    def cancel(self) -> None:
        for future in self.futures:
            future.cancel()


@dataclass(eq=False)
class _Line:
    """What a session waits for, and a semaphore of how much more of it may be at work."""

    free: threading.Semaphore
    waiting: deque[_Request] = field(default_factory=deque)

    def first(self) -> _Request | None:
        """Return the first request that somebody waits for; drop those before it."""
        while self.waiting and not self.waiting[0].wanted:
            self.waiting.popleft()
        return self.waiting[0] if self.waiting else None


@dataclass(eq=False)
class _Worker:
    """An executor of one process, the process, and the tables that it was given."""

    executor: ProcessPoolExecutor | None = None
    process: Any = None
    tables: set[str] = field(default_factory=set)


class Pool:
    """Workers that sessions share in turn: one with many tasks delays another by as many as it may have at work.

    `workers`: default: all processors but the one that serves, at most two.
    `each`: the most tasks of one session at work at a time; default: as many as there are workers.
    `processes`: whether workers are processes; else daemon threads, for which the server does not wait at its end.
    """

    def __init__(self, workers: int | None = None, *, each: int | None = None, processes: bool = True):
        self.workers = workers or max(1, min(2, (os.cpu_count() or 2) - 1))
        self.each, self.processes, self.cache = each or self.workers, processes, Cache()
        self._workers: list[_Worker] = []
        self._asked: WeakValueDictionary[Task, _Request] = WeakValueDictionary()
        self._lines: WeakValueDictionary[Hashable, _Line] = WeakValueDictionary()
        # lines in the order of their turns; None ends a worker
        self._turns: SimpleQueue[_Line | None] = SimpleQueue()
        self._over = False

    def start(self) -> None:
        """Start the workers without waiting for them."""
        with _LOCK:
            if self._workers or self._over:
                return
            if self.processes:
                from dpml_app import compat  # not in worker processes, which need no widgets

                compat.at_exit(self.stop)
            self._workers = [_Worker() for _ in range(self.workers)]
            for worker in self._workers:
                threading.Thread(target=self._work, args=(worker,), daemon=True).start()

    def stop(self) -> None:
        """End the worker processes, whatever they compute, and drop what waits."""
        with _LOCK:
            self._over = True
            for request in (*self._asked.values(), *(one for line in self._lines.values() for one in line.waiting)):
                request.cancel()
            for _ in self._workers:
                self._turns.put(None)
            started = [(worker.process, worker.executor) for worker in self._workers if worker.executor is not None]
        for process, executor in started:
            process.kill()
            executor.shutdown()

    def submit(self, task: Task, *, owner: Hashable = None, by: "Pool | None" = None) -> Future:
        """Return a future of a task's result, to be cancelled when nobody waits for it any more.

        The result is kept, and shared with all who ask while it is computed: here, or by the workers of another pool.
        """
        with _LOCK:
            if (value := self.cache.get(task)) is None:
                request = self._asked.get(task) or self._asked.setdefault(task, _Request(task, self))
                return (by or self)._ask(request, owner)
        future: Future = Future()
        future.set_result(value)
        return future

    def call(self, function: Callable[..., Any], *arguments: Any, owner: Hashable = None) -> Future:
        """Return a future of function(*arguments), of any kind, which nobody can cancel once it has begun."""
        with _LOCK:
            return self._ask(_Request(Task(function, arguments)), owner)

    def forget(self, name: str) -> None:
        """Drop a session's table and all results of it, here and in worker processes."""
        with _LOCK:
            forget(name)
            for request in self._asked.values():
                if name in uploaded_table.named(request.task):
                    request.cancel()
            for worker in self._workers:
                if name in worker.tables and worker.executor is not None:
                    worker.tables.discard(name)
                    with suppress(BrokenExecutor):
                        worker.executor.submit(forget, name)

    def _ask(self, request: _Request, owner: Hashable) -> Future:
        """Have a request wait in the line of its session; without one it has a line of its own."""
        future: Future = Future()
        request.futures.append(future)
        self.start()
        if self._over:
            future.cancel()
        elif not request.begun:
            line = _Line(threading.Semaphore(self.each))
            line = self._lines.setdefault(future if owner is None else owner, line)
            line.first()
            line.waiting.append(request)
            if line.free.acquire(blocking=False):
                self._turns.put(line)
        return future

    def _work(self, worker: _Worker) -> None:
        threadpool_limits(1)  # two threads that spin are slower than one where a browser needs processors
        if self.processes:
            with suppress(Exception):
                self._in_process(worker, Task(os.getpid, ()))
        while (line := self._turns.get()) is not None:
            with _LOCK:
                if (request := line.first()) is not None:
                    # one that is not kept can no longer be cancelled
                    request.begun = request.keeper is not None or request.futures[0].set_running_or_notify_cancel()
            if request is not None and request.begun:
                self._do(worker, request)
            with _LOCK:
                if line.first() is not None:
                    self._turns.put(line)
                else:
                    line.free.release()
            del line, request  # nothing is kept of a session

    def _do(self, worker: _Worker, request: _Request) -> None:
        task, keeper, value, failure = request.task, request.keeper, None, None
        try:
            with log.timed("worker" if self is keeper else "server", task.function) if keeper else nullcontext():
                value = self._in_process(worker, task) if self.processes else task.function(*task.arguments)
        except BaseException as error:
            failure = error
        with _LOCK:
            if keeper is not None:
                keeper._asked.pop(task, None)
                if value is not None:
                    keeper.cache.put(task, value)
        for future in request.futures:
            if future.running() or future.set_running_or_notify_cancel():
                future.set_result(value) if failure is None else future.set_exception(failure)

    def _in_process(self, worker: _Worker, task: Task) -> Any:
        for _ in range(TRIES):
            try:
                with _LOCK:
                    if self._over:
                        break
                    if (executor := worker.executor) is None:
                        before, worker.tables = set(active_children()), set()
                        executor = ProcessPoolExecutor(1, get_context("spawn"), _begin, (METHODS, WARM))
                        executor.submit(os.getpid)
                        worker.executor, worker.process = executor, (set(active_children()) - before).pop()
                        if hasattr(os, "nice"):  # the page that is being used comes first
                            os.setpriority(os.PRIO_PROCESS, worker.process.pid, os.nice(0) + NICE)
                    for name in filter(uploaded_table.here, uploaded_table.named(task) - worker.tables):
                        executor.submit(uploaded_table.keep, name, uploaded_table.payload(name))
                        worker.tables.add(name)
                return executor.submit(_compute, pickle.dumps(tuple(task))).result()
            except BrokenExecutor:
                worker.executor = None
        name, arguments = task.function.__qualname__, shown(task.arguments)
        text = f"a worker process ended each of the {TRIES} times that it computed {name} of {arguments}. "
        raise WorkerEnded(text + "This setting may need more memory than this machine has")


# answers to changes; formulas that take seconds; and what takes up to minutes, one of a session at a time
ANSWERS, FORMULAS, LONG = Pool(3, processes=False), Pool(1, processes=False), Pool(4, each=1, processes=False)


@cache
def pool() -> Pool:
    """Return the worker processes that all pages of this server share."""
    return Pool()


def seen(done: asyncio.Future) -> None:
    """Look at the error of a future, as asyncio logs one that nobody waits for any more."""
    if not done.cancelled():
        done.exception()


def awaitable(future: Future) -> asyncio.Future:
    """Return a future of asyncio, whose error is not logged."""
    coming = asyncio.wrap_future(future)
    coming.add_done_callback(seen)
    return coming


@dataclass(eq=False)
class TaskRunner:
    """The tasks that a page asks for: its latest request wins."""

    pool: Pool
    # the session, whose pages share its turns
    owner: Hashable
    # what is computed, for the status line
    what: str
    # starts a coroutine in the context of the page's document
    spawn: Callable[[Coroutine], None]
    # returns the context within which all changes are one message
    hold: Callable[[], AbstractContextManager[None]]
    # takes results as they come, by task, inside a hold
    show: Callable[[Mapping[Task, Any]], None]
    # takes what failed, in words, and the exception, inside a hold, once the runner has stopped
    failed: Callable[[str, BaseException], None]
    # takes a status, the numbers of results and tasks, whether more come, and what a button does instead of a cancel
    tell: Callable[..., None]
    running: bool = False
    # what was asked for last; None: nothing, so that the next request starts whatever it asks for
    _tasks: list[Task] | None = None
    _futures: list[Future] = field(default_factory=list)
    _generation: int = 0
    _done: int = 0
    _cancelled: bool = False

    def stop(self, why: str = "") -> None:
        """Compute no more, and say why; the next request starts."""
        self._outdate()
        self._tasks, self._done, self._cancelled = None, 0, False
        if why:
            self._say(why)

    def request(self, tasks: list[Task]) -> None:
        """Compute these, in this order, instead of the last request, unless it was the same.

        What a person has cancelled stays so, until `stop`.
        """
        if self._tasks != tasks:
            self._outdate()
            self._tasks, self._done = tasks, 0
            self._cancel() if tasks and self._cancelled else self._start()

    def press(self) -> None:
        """Cancel a run, or resume it."""
        with self.hold():  # in a notebook a click may come in another thread than results
            if self.running:
                self._cancel()
            elif self._tasks is not None and not self._cancelled:
                self._cancelled = True  # it ended while the click was on its way: what its setting still asks for stays
            else:
                self._cancelled = False
                self._start()

    def fail(self, what: str, error: BaseException) -> None:
        """Compute no more, and report an error; the next request tries again."""
        with self.hold():
            self.stop("Stopped by an error")
            self.failed(what, error)

    def _outdate(self) -> None:
        self._generation += 1
        for future in self._futures:
            future.cancel()

    def _cancel(self) -> None:
        self._outdate()
        self._cancelled = True
        self._say(CANCELLED, label="Resume")

    def _start(self) -> None:
        tasks, self._done = self._tasks or [], 0
        self._futures = [self.pool.submit(task, owner=self.owner) for task in tasks]
        self._say()
        if tasks:
            self.spawn(self._follow(self._generation, dict(zip(self._futures, tasks, strict=True))))

    async def _follow(self, generation: int, asked: dict[Future, Task]) -> None:
        """Show results as they come, until there is a newer request."""
        coming = {awaitable(future): task for future, task in asked.items()}
        try:
            while coming:
                await asyncio.wait(coming, timeout=FLUSH_EVERY, return_when=asyncio.FIRST_EXCEPTION)
                if generation != self._generation:
                    return
                if arrived := {coming.pop(each): each.result() for each in list(coming) if each.done()}:
                    self._done += len(arrived)
                    with self.hold():
                        self.show(arrived)
                        if generation == self._generation:  # showing may have changed what there is to ask for
                            self._say()
        except Exception as error:
            if generation == self._generation:
                self.fail(self.what.capitalize(), error)

    def _say(self, text: str = "", label: str = "") -> None:
        """Show a text, or else how many results are there."""
        total = len(self._tasks or [])
        self.running = not text and self._done < total
        text = f"Computing {self.what}: {self._done} of {total}" if self.running else text
        self.tell(text, self._done, total, running=self.running, label=label)
