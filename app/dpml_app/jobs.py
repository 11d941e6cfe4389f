"""Work that takes long: results kept under their calls, and workers that sessions share in turn."""

import importlib
import os
import pickle
import signal
import threading
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, is_dataclass, replace
from functools import cache, cached_property, wraps
from itertools import chain
from multiprocessing import active_children, get_context, parent_process
from multiprocessing.process import BaseProcess
from typing import Any, ParamSpec, TypeVar
from weakref import WeakSet, WeakValueDictionary

import numpy as np
from cachetools import LRUCache
from threadpoolctl import threadpool_limits

from dpml.exceptions import DpmlError, shown
from dpml.registry import METHODS, Method
from dpml_app import uploaded_table
from dpml_app.serving import log
from dpml_app.serving.limits import WAITING, ServerFull, most

P = ParamSpec("P")
T = TypeVar("T")
K = TypeVar("K")
# imports take longer than most tasks; all pages compute with these
WARM = ("dpml.audit.cases", "dpml.audit", "dpml.studies.accuracy")
# at 15 a worker took 99 s to start beside ten busy processes on two cores, at 5 it took 16 s
NICE = 5
# a task whose worker process ends is computed at most this often
TRIES = 3


@dataclass(frozen=True)
class Task:
    """One call of a module-level function."""

    function: Callable[..., Any]
    arguments: tuple

    @cached_property
    def key(self) -> tuple:
        """The key of its result in a cache."""
        return (self.function.__module__, self.function.__qualname__, *self.arguments)


class Cache:
    """Results under their keys, the last `size` that were used, with read-only arrays. Safe for threads."""

    def __init__(self, size: int = 20_000):
        self._results: LRUCache[tuple, Any] = LRUCache(size)
        self._lock = threading.Lock()
        _CACHES.add(self)

    def get(self, key: tuple) -> Any:
        """Return a result, or None."""
        with self._lock:
            return self._results.get(key)

    def known(self, tasks: Mapping[K, Task]) -> dict[K, Any]:
        """Return the results that are there of several tasks, each under its name."""
        with self._lock:
            return {name: self._results[task.key] for name, task in tasks.items() if task.key in self._results}

    def put(self, key: tuple, value: Any) -> Any:
        """Keep a result and return it, except of a table whose session has ended meanwhile."""
        with self._lock:
            if all(map(uploaded_table.here, uploaded_table.named(key))):
                _lock_arrays(value)
                self._results[key] = value
        return value

    def drop(self, name: str) -> None:
        """Drop all results of a session's table."""
        with self._lock:
            for key in [key for key in self._results if name in uploaded_table.named(key)]:
                del self._results[key]

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return function(*arguments), kept under the key of its task."""
        key = Task(function, arguments).key
        value = self.get(key)
        if value is None:
            with log.timed("server", function):
                value = function(*arguments)
            self.put(key, value)
        return value


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
            key = (*arguments, *sorted(options.items()))
            value: T | None = cache.get(key)
            return cache.put(key, function(*arguments, **options)) if value is None else value

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
    """A task, and the futures of those who ask for it; the result of a plain call is not kept."""

    task: Task
    kept: bool = True
    futures: list[Future] = field(default_factory=list)
    begun: bool = False

    @property
    def wanted(self) -> bool:
        return not self.begun and not all(future.cancelled() for future in self.futures)

    def cancel(self) -> None:
        for future in self.futures:
            future.cancel()


@dataclass(eq=False)
class _Worker:
    """The process of a thread, and the tables that it was given; none where the thread itself computes."""

    executor: ProcessPoolExecutor | None = None
    process: BaseProcess | None = None
    tables: set[str] = field(default_factory=set)


class Pool:
    """Workers that sessions share. A session with many tasks delays another by at most one task.

    `workers`: default: all processors but the one that serves, at most two.
    `each`: the most parts of one session at work at a time.
    `processes`: whether workers are processes; else daemon threads, for which the server does not wait at its end.
    """

    def __init__(self, workers: int | None = None, *, each: int = 99, processes: bool = True):
        self.workers = workers or max(1, min(2, (os.cpu_count() or 2) - 1))
        self.each, self.processes, self.cache = each, processes, Cache()
        self._workers: list[_Worker] = []
        self._asked: WeakValueDictionary[tuple, _Request] = WeakValueDictionary()
        # by session, in the order of their turns
        self._waiting: OrderedDict[Hashable, deque[_Request]] = OrderedDict()
        self._working: Counter[Hashable] = Counter()
        self._changed = threading.Condition()
        self._over = False

    def start(self) -> None:
        """Start the workers without waiting for them."""
        from dpml_app import compat  # not in worker processes, which need no widgets

        with self._changed:
            if self._workers or self._over:
                return
            if self.processes:
                compat.at_exit(self.stop)
            self._workers = [_Worker() for _ in range(self.workers)]
            for worker in self._workers:
                threading.Thread(target=self._work, args=(worker,), daemon=True).start()

    def stop(self) -> None:
        """End the worker processes, whatever they compute, and drop what waits."""
        with self._changed:
            self._over = True
            for request in chain(list(self._asked.values()), *self._waiting.values()):
                request.cancel()
            self._changed.notify_all()
        with _STARTING:
            for worker in self._workers:
                if worker.process is not None and worker.executor is not None:
                    worker.process.kill()
                    worker.executor.shutdown()
                    worker.executor = None

    def submit(self, task: Task, *, owner: Hashable | None = None) -> Future:
        """Return a future of a task's result, to be cancelled when nobody waits for it any more."""
        with self._changed:
            value = self.cache.get(task.key)
            if value is None:
                request = self._asked.get(task.key) or self._asked.setdefault(task.key, _Request(task))
                return self._ask(request, owner)
        future: Future = Future()
        future.set_result(value)
        return future

    def call(self, function: Callable[..., Any], *arguments: Any, owner: Hashable | None = None) -> Future:
        """Return a future of function(*arguments), of any kind, which nobody can cancel once it has begun."""
        with self._changed:
            return self._ask(_Request(Task(function, arguments), kept=False), owner)

    def keep(self, results: Mapping[Task, Any]) -> None:
        """Keep results that were computed elsewhere, such as those that ship."""
        for task, result in results.items():
            if self.cache.get(task.key) is None:
                self.cache.put(task.key, result)

    def forget(self, name: str) -> None:
        """Drop a session's table and all results of it, here and in worker processes."""
        with self._changed:
            forget(name)
            for request in list(self._asked.values()):
                if name in uploaded_table.named(request.task.arguments):
                    request.cancel()
            for worker in self._workers:
                if name in worker.tables and (executor := worker.executor) is not None:
                    worker.tables.discard(name)
                    with suppress(BrokenExecutor):
                        executor.submit(forget, name)

    def _ask(self, request: _Request, owner: Hashable | None) -> Future:
        import panel as pn  # not in worker processes

        future: Future = Future()
        # without a session each call has a turn of its own
        owner = next(who for who in (owner, pn.state.curdoc, future) if who is not None)
        self.start()
        if self._over:
            future.cancel()
            return future
        if not request.begun:
            waiting = self._waiting.get(owner, deque())
            if waiting and len(waiting) >= (allowed := most(WAITING)):
                waiting = deque(one for one in waiting if one.wanted)
                if len(waiting) >= allowed:
                    count = f"{len(waiting):,} computations of this session are waiting"
                    raise ServerFull(f"{count}. At most {allowed:g} may")
            self._waiting[owner] = waiting
            waiting.append(request)
            self._changed.notify()
        request.futures.append(future)
        return future

    def _work(self, worker: _Worker) -> None:
        if self.processes:
            with suppress(WorkerEnded):
                self._in_process(worker, Task(os.getpid, ()))
        else:
            threadpool_limits(1)  # two threads that spin are slower than one where a browser needs processors
        while (taken := self._next()) is not None:
            self._do(worker, *taken)
            del taken  # nothing is kept of a session

    def _next(self) -> tuple[Hashable, _Request] | None:
        """Wait for a request; None at the end of the pool."""
        with self._changed:
            while not self._over:
                if (taken := self._take()) is not None:
                    return taken
                self._changed.wait()
        return None

    def _take(self) -> tuple[Hashable, _Request] | None:
        """Return a request of the session with the fewest parts at work, of equals the one served longest ago."""
        for owner in sorted(self._waiting, key=self._working.__getitem__):
            waiting = self._waiting[owner]
            while waiting and self._working[owner] < self.each:
                request = waiting.popleft()
                if request.wanted and (request.kept or request.futures[0].set_running_or_notify_cancel()):
                    request.begun = True
                    self._working[owner] += 1
                    return owner, request
            if not waiting:
                del self._waiting[owner]
        return None

    def _do(self, worker: _Worker, owner: Hashable, request: _Request) -> None:
        task, value, failure = request.task, None, None
        try:
            with log.timed("worker", task.function) if request.kept else nullcontext():
                value = self._in_process(worker, task) if self.processes else task.function(*task.arguments)
        except BaseException as error:
            failure = error
        with self._changed:
            if request.kept:
                self._asked.pop(task.key, None)
                if value is not None:
                    self.cache.put(task.key, value)
            self._working -= Counter([owner])
            if owner in self._waiting:
                self._waiting.move_to_end(owner)
            self._changed.notify_all()
        for future in request.futures:
            if future.running() or future.set_running_or_notify_cancel():
                future.set_result(value) if failure is None else future.set_exception(failure)

    def _started(self, worker: _Worker) -> ProcessPoolExecutor:
        with _STARTING:
            if self._over:
                raise BrokenExecutor
            if worker.executor is None:
                before, worker.tables = set(active_children()), set()
                worker.executor = ProcessPoolExecutor(1, get_context("spawn"), _begin, (METHODS, WARM))
                worker.executor.submit(os.getpid)
                worker.process = (set(active_children()) - before).pop()
                if hasattr(os, "setpriority") and worker.process.pid:  # the page that is being used comes first
                    os.setpriority(os.PRIO_PROCESS, worker.process.pid, os.getpriority(os.PRIO_PROCESS, 0) + NICE)
            return worker.executor

    def _in_process(self, worker: _Worker, task: Task) -> Any:
        for _ in range(TRIES):
            try:
                executor = self._started(worker)
                with self._changed:
                    for name in filter(uploaded_table.here, uploaded_table.named(task.arguments) - worker.tables):
                        executor.submit(uploaded_table.keep, name, uploaded_table.payload(name))
                        worker.tables.add(name)
                return executor.submit(_compute, pickle.dumps((task.function, task.arguments))).result()
            except BrokenExecutor:
                worker.executor = None
        name, arguments = task.function.__qualname__, shown(task.arguments)
        text = f"a worker process ended each of the {TRIES} times that it computed {name} of {arguments}. "
        raise WorkerEnded(text + "This setting may need more memory than this machine has")


# one process at a time starts, so that each pool knows its own
_STARTING = threading.Lock()
# answers to changes; formulas that take seconds; and what takes up to minutes, one of a session at a time
ANSWERS, FORMULAS, LONG = Pool(3, processes=False), Pool(1, processes=False), Pool(4, each=1, processes=False)


@cache
def pool() -> Pool:
    """Return the worker processes that all pages of this server share."""
    return Pool()
