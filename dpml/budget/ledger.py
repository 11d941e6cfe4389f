"""The ledger of a budget that lives in one process, and its behaviour under copying and forking."""

from __future__ import annotations

import os
import threading
import uuid
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from dpml.budget.running_totals import RunningTotals
from dpml.exceptions import DpmlError

Check = Callable[[RunningTotals], None]


class Terms(NamedTuple):
    """The facts that a ledger is started with."""

    epsilon: float
    delta: float
    relation: str


class Ledger:
    """Entries that live in this process and end with it."""

    path: str | None = None

    def __init__(self, terms: Terms, key: str):
        self.terms = terms
        self.key = key
        # charges that this process made through this object
        self.charges_made = 0
        self._lock = threading.RLock()
        self._process: int | None = os.getpid()
        self._totals = RunningTotals(key.encode(), terms.relation)
        with FORKING:
            _forked.add(self)

    @classmethod
    def begin(cls, terms: Terms) -> Ledger:
        """Start a ledger. Unpickling it in this process gives the same object."""
        ledger = cls(terms, uuid.uuid4().hex)
        _living[ledger.key] = ledger
        return ledger

    @contextmanager
    def _mine(self) -> Iterator[None]:
        if self._process != os.getpid():
            raise DpmlError(
                "a Budget without a path belongs to the process that made it, and cannot be read or spent from in "
                "another process (as with n_jobs=2): give Budget(..., path=...) a file that the processes share"
            )
        with self._lock:
            yield

    @contextmanager
    def look(self) -> Iterator[RunningTotals]:
        """Return a context that holds the current entries still."""
        with self._mine():
            yield self._totals

    def record(self, entries: list[dict[str, Any]], check: Check | None = None) -> None:
        """Add all new entries, or none if the check raises."""
        with self._mine():
            if check is not None:
                check(self._totals)
            for entry in entries:
                self._totals.add(RunningTotals.text(entry))

    def __reduce__(self) -> tuple:
        return _same_ledger, (self.terms, self.key)


_living: weakref.WeakValueDictionary[str, Ledger] = weakref.WeakValueDictionary()
_forked: weakref.WeakSet[Ledger] = weakref.WeakSet()
# held while the process forks and while a ledger is made
FORKING = threading.RLock()
_held: list[Ledger] = []


def _same_ledger(terms: Terms, key: str) -> Ledger:
    """Return this process's ledger with that key; in another process, a ledger that refuses every use."""
    ledger = _living.get(key)
    if ledger is None:
        ledger = Ledger(terms, key)
        ledger._process = None
        _living[key] = ledger
    return ledger


def _before_fork() -> None:
    """Let running charges finish before a fork, which would copy SQLite and the books half changed."""
    FORKING.acquire()
    _held[:] = list(_forked)
    for ledger in _held:
        ledger._lock.acquire()


def _after_fork() -> None:
    for ledger in _held:
        ledger._lock.release()
    _held.clear()
    FORKING.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
