"""The server's own threads: they answer changes at once, and take turns among the sessions."""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from threadpoolctl import threadpool_limits

from dpml_app.work.fair_queue import FairQueue, Priority, session

# so long may what is being computed go on when the server ends
LAST_SECONDS = 1.0


class Threads:
    """A few threads, started when first used; the end of the server drops what waits, and does not wait for them.

    Parameters
    ----------
    name : str
    number : int

    Examples
    --------
    >>> threads = Threads("doctest", 1)
    >>> threads.submit(divmod, 7, 3).result()
    (2, 1)
    >>> threads.stop()
    """

    def __init__(self, name: str, number: int):
        self.name, self.number = name, number
        self._threads: list[threading.Thread] = []
        self._queue: FairQueue[tuple[Future, Callable[..., Any], tuple]] = FairQueue()
        self._changed = threading.Condition()
        self._stopped = False

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future:
        """Return a future of function(*arguments); the session that asks has its turn among the others.

        `ServerFull` if too much of that session waits.
        """
        future: Future = Future()
        with self._changed:
            if self._stopped:
                future.cancel()
                return future
            if not self._threads:
                atexit.register(self.stop)
                # daemons: the interpreter waits for other threads, however long they compute
                self._threads = [
                    threading.Thread(target=self._work, name=f"{self.name}-{i}", daemon=True)
                    for i in range(self.number)
                ]
                for thread in self._threads:
                    thread.start()
            owner = next(who for who in (session(), future) if who is not None)
            self._queue.check(owner, self._wanted)
            self._queue.put((future, function, arguments), owner=owner, priority=Priority.IMMEDIATE)
            self._changed.notify()
        return future

    def stop(self) -> None:
        """Drop what waits, and give what is being computed a moment."""
        atexit.unregister(self.stop)
        with self._changed:
            self._stopped = True
            while (waiting := self._queue.take()) is not None:
                waiting[0].cancel()
            self._changed.notify_all()
        until = time.monotonic() + LAST_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))

    def _work(self) -> None:
        # one thread of linear algebra each: two that spin are slower than one where a browser wants processors
        threadpool_limits(1)
        while True:
            with self._changed:
                while (taken := self._queue.take(self._wanted)) is None and not self._stopped:
                    self._changed.wait()
            if taken is None:
                return
            self._answer(*taken)
            del taken  # a thread that waits keeps nothing of a session that has ended

    @staticmethod
    def _wanted(waiting: tuple[Future, Callable[..., Any], tuple]) -> bool:
        return not waiting[0].cancelled()

    @staticmethod
    def _answer(future: Future, function: Callable[..., Any], arguments: tuple) -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            answer = function(*arguments)
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(answer)


ANSWERS = Threads("answers", 3)
# a formula may take seconds, and nothing waits for it
FORMULAS = Threads("formula", 1)
