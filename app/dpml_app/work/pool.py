"""Work that all sessions share, a few tasks at a time and each in its turn: in worker processes, or in threads.

A task is a module-level function and its arguments; its result is kept under them. Tasks that are asked for twice at
a time are computed once. A worker that ends is replaced, and what it was computing is asked for again.
"""

import asyncio
import atexit
import math
import os
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from dpml.exceptions import shown
from dpml_app.serving import log
from dpml_app.work.cache import Cache, key_of
from dpml_app.work.fair_queue import FairQueue, Priority, session
from dpml_app.work.worker import InThread, Worker, WorkerEnded

# so often is a task asked for whose worker ends, and so often is a worker started that never gets ready
TRIES = 3
# how soon a worker is missed that ended while it had nothing to do
POLL_SECONDS = 1.0


@dataclass(frozen=True)
class Task:
    """One call of a module-level function, made in a worker."""

    function: Callable[..., Any]
    arguments: tuple

    @cached_property
    def key(self) -> tuple:
        """What its result is kept under."""
        return key_of(self.function, self.arguments)


def _parts(arguments: tuple) -> Iterator[Any]:
    """Yield what a call names, also inside tuples."""
    for each in arguments:
        yield from _parts(each) if isinstance(each, tuple) else (each,)


@dataclass(eq=False)
class _Request:
    """A task that is asked for, and those who wait for it, each with their place."""

    task: Task
    # what it is asked for under while it is on its way, and whether its result is kept
    key: Hashable
    kept: bool = True
    callers: dict[Future, tuple[Hashable, Priority]] = field(default_factory=dict)
    tries: int = 0
    sent: bool = False


@dataclass(frozen=True)
class Attachment:
    """What a worker needs for the tasks that name it: how it is given to the worker, and how it is taken back."""

    give: Task
    detach: Task


@dataclass(eq=False)
class _WorkerThread:
    """A thread of the server, and the worker that it feeds, which may be the thread itself.

    `attached` are the names of what its worker has been given, `to_detach` what it must give back.
    """

    worker: Any = None
    attached: set[str] = field(default_factory=set)
    to_detach: list[Task] = field(default_factory=list)
    thread: threading.Thread | None = None
    ready: bool = False
    ended: bool = False


class Pool:
    """Workers, started when first used, and the results they have sent.

    A worker is given its next task when it has answered the last one, so whoever asks waits for one task of each
    other session, not for all that they have asked for.

    `workers`: default: all processors but the one that serves, at most two.
    `worker`: makes a worker: what has `ready`, `call`, `end` and `alive` as `Worker` has.
    """

    def __init__(self, workers: int | None = None, cache: Cache | None = None, *, worker: Callable[[], Any] = Worker):
        self.workers = workers or max(1, min(2, (os.cpu_count() or 2) - 1))
        self.cache = cache or Cache()
        self._make = worker
        self._worker_threads: list[_WorkerThread] = []
        self._asked: dict[Hashable, _Request] = {}
        self._queue: FairQueue[tuple[Future, _Request]] = FairQueue()
        self._changed = threading.Condition()
        self._attachments: dict[str, Attachment] = {}
        self._over = False

    @property
    def warm(self) -> bool:
        """Whether a worker has started and imported what it needs, which takes seconds."""
        return any(worker_thread.ready for worker_thread in self._worker_threads)

    def start(self) -> None:
        """Start and warm the workers without waiting for them."""
        with self._changed:
            if self._worker_threads or self._over:
                return
            atexit.register(self._end)  # or workers would be replaced while the server ends
            self._worker_threads = [_WorkerThread() for _ in range(self.workers)]
            for worker_thread in self._worker_threads:
                # a daemon: the server ends without waiting for a task
                worker_thread.thread = threading.Thread(
                    target=self._work, args=(worker_thread,), name="worker's worker_thread", daemon=True
                )
                worker_thread.thread.start()

    def submit(self, task: Task, *, owner: Hashable | None = None, priority: Priority = Priority.CURVES) -> Future:
        """Return a future of the task's result: kept, on its way, or waiting for its turn.

        The owner is the session that asks unless another is named; `ServerFull` if too much of it waits. Cancel the
        future when nobody waits for it any more.
        """
        future: Future = Future()
        with self._changed:
            kept = self.cache.get(task.key)
            if kept is None:
                self._ask(future, self._asked.get(task.key) or _Request(task, task.key), owner, priority)
        if kept is None:
            self.start()
        else:
            future.set_result(kept)
        return future

    def call(self, function: Callable[..., Any], *arguments: Any, owner: Hashable | None = None) -> Future:
        """Return a future of function(*arguments), of whatever kind they are: each call is made, and none is kept.

        The owner is the session that asks unless another is named. Once it is being computed it cannot be cancelled
        any more.
        """
        future: Future = Future()
        with self._changed:
            self._ask(future, _Request(Task(function, arguments), future, kept=False), owner, Priority.IMMEDIATE)
        self.start()
        return future

    def _ask(self, future: Future, request: _Request, owner: Hashable | None, priority: Priority) -> None:
        if self._over:
            future.cancel()
            return
        # what nobody owns has a turn of its own
        owner = next(who for who in (owner, session(), future) if who is not None)
        self._queue.check(owner, lambda waiting: not waiting[0].cancelled())
        self._asked[request.key] = request
        request.callers[future] = owner, priority
        if not request.sent:
            self._queue.put((future, request), owner=owner, priority=priority)
            self._changed.notify()

    def keep(self, results: Mapping[Task, Any]) -> None:
        """Keep results that were computed elsewhere, such as those that ship."""
        for task, result in results.items():
            if self.cache.get(task.key) is None:
                self.cache.put(task.key, result)

    def attach(self, name: str, attachment: Attachment) -> None:
        """Give each worker something before the first task that names it."""
        with self._changed:
            self._attachments[name] = attachment

    def detach(self, name: str) -> None:
        """Drop every result that names it, compute no more of them, and have each worker drop it."""
        with self._changed:
            attachment = self._attachments.pop(name, None)
            self.cache.drop(name)
            for request in self._asked.values():
                if name in _parts(request.task.arguments):
                    for future in request.callers:
                        future.cancel()
            if attachment is not None:
                for worker_thread in self._worker_threads:
                    if name in worker_thread.attached:
                        worker_thread.attached.discard(name)
                        worker_thread.to_detach.append(attachment.detach)
            self._changed.notify_all()

    async def result(
        self, task: Task, *, owner: Hashable | None = None, priority: Priority = Priority.IMMEDIATE
    ) -> Any:
        """Await a task's result."""
        return await asyncio.wrap_future(self.submit(task, owner=owner, priority=priority))

    def stop(self) -> None:
        """End the workers, whatever they compute, and drop what waits; the next one who asks starts anew."""
        atexit.unregister(self._end)
        with self._changed:
            worker_threads, self._worker_threads = self._worker_threads, []
            for worker_thread in worker_threads:
                worker_thread.ended = True
            callers = [future for request in self._asked.values() for future in request.callers]
            self._asked, self._queue = {}, FairQueue()
            self._changed.notify_all()
        for future in callers:
            future.cancel()
        begun = time.monotonic()
        for worker_thread in worker_threads:
            # one that is just being started is ended as soon as it is there
            while worker_thread.thread is not None and worker_thread.thread.is_alive():
                if worker_thread.worker is not None:
                    worker_thread.worker.end()
                worker_thread.thread.join(0.1)
                if time.monotonic() - begun > getattr(worker_thread.worker, "patience", math.inf):
                    break

    def _end(self) -> None:
        """Stop for good: nobody can be answered any more."""
        self._over = True
        self.stop()

    # ---- in the threads that feed the workers ------------------------------------------------------------------------

    def _work(self, worker_thread: _WorkerThread) -> None:
        """Give a worker one task after the other; start another when it ends."""
        in_vain = 0
        while not worker_thread.ended and in_vain < TRIES:
            try:
                worker_thread.worker, worker_thread.attached, worker_thread.to_detach = self._make(), set(), []
                worker_thread.worker.ready()
            except (WorkerEnded, OSError):
                in_vain += 1
            else:
                in_vain, worker_thread.ready = 0, True
                while self._feed(worker_thread):
                    pass
                worker_thread.ready = False
            if worker_thread.worker is not None:
                worker_thread.worker.end()
        self._give_up(worker_thread)

    def _feed(self, worker_thread: _WorkerThread) -> bool:
        """Wait for a request and have it computed; False once the worker has ended."""
        request = self._next(worker_thread)
        if request is None:
            return False
        try:
            self._give(worker_thread, request.task)
            with log.timed("worker", request.task.function) if request.kept else nullcontext():
                value = worker_thread.worker.call(request.task.function, request.task.arguments)
        except WorkerEnded:
            if not worker_thread.ended:
                self._lost(request)
            return False
        except BaseException as error:
            self._land(request, error=error)
        else:
            self._land(request, value)
        return True

    def _give(self, worker_thread: _WorkerThread, task: Task) -> None:
        """Give a worker what a task names and it has not been given yet."""
        if not self._attachments:
            return
        with self._changed:
            named = self._attachments.keys() & _parts(task.arguments)
            missing = [self._attachments[name].give for name in named - worker_thread.attached]
            worker_thread.attached |= named
        for give in missing:
            worker_thread.worker.call(give.function, give.arguments)

    def _next(self, worker_thread: _WorkerThread) -> _Request | None:
        """Wait for a request; None once the worker has ended. What must be given back goes first."""
        with self._changed:
            while not worker_thread.ended and worker_thread.worker.alive:
                if worker_thread.to_detach:
                    task = worker_thread.to_detach.pop(0)
                    return _Request(task, task.key, sent=True)
                taken = self._queue.take(self._wanted)
                if taken is None:
                    self._changed.wait(POLL_SECONDS)
                    continue
                future, request = taken
                request.sent = True
                if request.kept or future.running() or future.set_running_or_notify_cancel():
                    return request
        return None

    def _wanted(self, taken: tuple[Future, _Request]) -> bool:
        future, request = taken
        if request.sent:
            return False
        if not future.cancelled():
            return True
        request.callers.pop(future, None)
        if not request.callers and self._asked.get(request.key) is request:
            del self._asked[request.key]
        return False

    def _lost(self, request: _Request) -> None:
        """Ask again for a task whose worker has ended, but not for ever."""
        request.tries += 1
        if request.tries >= TRIES:
            name, arguments = request.task.function.__qualname__, shown(request.task.arguments)
            text = f"a worker process ended each of the {TRIES} times that it computed {name} of {arguments}. "
            self._land(request, error=WorkerEnded(text + "This setting may need more memory than this machine has"))
            return
        with self._changed:
            request.sent = False
            for future, (owner, priority) in request.callers.items():
                self._queue.put_back((future, request), owner=owner, priority=priority)
            self._changed.notify()

    def _land(self, request: _Request, value: Any = None, error: BaseException | None = None) -> None:
        with self._changed:
            if value is not None and request.kept:
                self.cache.put(request.task.key, value)
            if self._asked.get(request.key) is request:
                del self._asked[request.key]
        for future in request.callers:
            if not future.running() and not future.set_running_or_notify_cancel():
                continue
            if error is None:
                future.set_result(value)
            else:
                future.set_exception(error)

    def _give_up(self, worker_thread: _WorkerThread) -> None:
        """Tell all who wait that no worker starts; the next one who asks makes another attempt."""
        with self._changed:
            if worker_thread.ended:
                return
            self._worker_threads.remove(worker_thread)
            if self._worker_threads:  # the others go on
                return
            requests, self._asked, self._queue = list(self._asked.values()), {}, FairQueue()
        error = WorkerEnded(f"no worker process starts: {TRIES} ended before they were ready")
        for request in requests:
            self._land(request, error=error)


_POOL = Pool(cache=Cache())
# they answer changes at once, in the server
ANSWERS = Pool(3, worker=InThread)
# a formula may take seconds, and nothing waits for it
FORMULAS = Pool(1, worker=InThread)


def pool() -> Pool:
    """Return the pool that all pages of this server share."""
    return _POOL
