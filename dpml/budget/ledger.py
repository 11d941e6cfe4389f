"""The entries of a budget that live in one process; what happens to them when it is copied or forks."""

from __future__ import annotations

import os
import threading
import uuid
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from dpml.budget.book import Book
from dpml.exceptions import DpmlError

__all__ = ["FORKING", "Ledger", "Terms"]

Check = Callable[[Book], None]


class Terms(NamedTuple):
    """What a ledger is begun with."""

    epsilon: float
    delta: float
    relation: str


class Ledger:
    """Entries that live in this process and end with it."""

    path: str | None = None

    def __init__(self, terms: Terms, key: str):
        self.terms = terms
        self.key = key
        self._lock = threading.RLock()
        self._process: int | None = os.getpid()
        self._book = Book(key.encode(), terms.relation)
        with FORKING:
            _forked.add(self)

    @classmethod
    def begin(cls, terms: Terms) -> Ledger:
        """Begin a ledger that this process finds again when it is unpickled here."""
        ledger = cls(terms, uuid.uuid4().hex)
        _living[ledger.key] = ledger
        return ledger

    @contextmanager
    def _mine(self) -> Iterator[None]:
        if self._process != os.getpid():
            raise DpmlError(
                "a Budget without a path belongs to the process that made it, and cannot be read or spent from in "
                "another one (as with n_jobs=2): give Budget(..., path=...) a file that the processes share"
            )
        with self._lock:
            yield

    @contextmanager
    def look(self) -> Iterator[Book]:
        """Hold the entries as they are now."""
        with self._mine():
            yield self._book

    def record(self, entries: list[dict[str, Any]], check: Check | None = None) -> None:
        """Take in new entries, all or none, unless the check raises."""
        with self._mine():
            if check is not None:
                check(self._book)
            for entry in entries:
                self._book.add(Book.text(entry))

    def __reduce__(self) -> tuple:
        return _same_ledger, (self.terms, self.key)


_living: weakref.WeakValueDictionary[str, Ledger] = weakref.WeakValueDictionary()
_forked: weakref.WeakSet[Ledger] = weakref.WeakSet()
# held while the process forks, and while a ledger comes into being
FORKING = threading.RLock()
_held: list[Ledger] = []


def _same_ledger(terms: Terms, key: str) -> Ledger:
    """Return the ledger of this process with that key; in another process, one that refuses all."""
    found = _living.get(key)
    if found is None:
        found = Ledger(terms, key)
        found._process = None
        _living[key] = found
    return found


def _before_fork() -> None:
    """Let no charge be half done while the process forks: SQLite and the books would be copied in the middle of it."""
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
