"""A worker process: it computes one call at a time, and says in plain words when it has ended in the middle of one."""

import importlib
import math
import os
import pickle
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection
from traceback import format_exc
from typing import Any

from threadpoolctl import threadpool_limits

from dpml.exceptions import DpmlError
from dpml.registry import METHODS, Method

# imports take longer than most tasks; all pages compute with these
WARM = ("dpml.audit.cases", "dpml.audit", "dpml.studies.accuracy")
# at 15 a worker took 99 s to start beside ten busy processes on two cores, at 5 it took 16 s
NICE = 5


class WorkerEnded(DpmlError):
    """A worker process has ended before its answer."""


class InThread:
    """A worker that computes in the thread that feeds it; what it computes cannot be ended."""

    alive = True
    # seconds that are waited for what is being computed when the server ends
    patience = 1.0

    def ready(self) -> None:
        """Give linear algebra one thread: two that spin are slower than one where a browser wants processors."""
        threadpool_limits(1)

    def call(self, function: Callable[..., Any], arguments: tuple) -> Any:
        """Return function(*arguments)."""
        return function(*arguments)

    def end(self) -> None:
        """Go on until what is being computed is there."""


class Worker:
    """A process of its own, started at once and ready seconds later. One thread calls it; any may `end` it."""

    patience = math.inf

    def __init__(self, warm: Sequence[str] = WARM) -> None:
        # spawn: a forked copy of a server with threads and sockets would not be safe
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        # a daemon ends with the server, whatever it computes
        self.process = context.Process(target=_serve, args=(theirs, METHODS, warm), daemon=True)
        self.process.start()
        theirs.close()  # then the pipe ends with the process

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self.process.is_alive()

    def call(self, function: Callable[..., Any], arguments: tuple) -> Any:
        """Return function(*arguments), or raise what it raises; `WorkerEnded` if the process ends meanwhile."""
        try:
            self._pipe.send((function, arguments))
            done, value = self._pipe.recv()
        except (EOFError, OSError) as error:
            raise WorkerEnded("the worker process has ended") from error
        if done:
            return value
        raise value

    def ready(self) -> None:
        """Wait until the process has imported what it needs; `WorkerEnded` if it ends meanwhile."""
        self.call(os.getpid, ())

    def end(self) -> None:
        """End the process at once."""
        self.process.kill()
        self.process.join()


def _serve(pipe: Connection, known: dict[str, dict[str, Method]], warm: Sequence[str]) -> None:
    """Be polite, single-threaded and mortal; load what will be needed; then compute what is asked for."""
    # a terminal's Ctrl-C is for the server, which then ends; the thread below follows it
    import signal

    from dpml_app.serving import log

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    log.silence()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(NICE)  # the page that is being used comes first
    for module in warm:
        importlib.import_module(module)
    for family, entries in known.items():
        for key, entry in entries.items():
            # claims that others registered hold functions, which cannot always be sent; nothing here is said of them
            METHODS[family].setdefault(key, replace(entry, claims=(), numeric_claims=()))
    threadpool_limits(1)
    while True:
        try:
            function, arguments = pipe.recv()
        except EOFError:
            return
        except Exception as error:  # what was asked for cannot be loaded here
            _send(pipe, False, error)
            continue
        try:
            answer = True, function(*arguments)
        except Exception as error:
            error.add_note(format_exc())
            answer = False, error
        _send(pipe, *answer)


def _send(pipe: Connection, done: bool, value: Any) -> None:
    try:
        if not done:
            pickle.loads(pickle.dumps(value))  # some errors can be sent but not received
        pipe.send((done, value))
    except OSError:
        raise
    except Exception as error:
        what = value if not done else error
        pipe.send((False, RuntimeError(f"{type(what).__name__}: {what}")))


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
