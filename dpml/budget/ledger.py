"""The ledger of a budget: exact running totals of its charges, and entries that live in one process.

Every double is an integer times 2^-1074, so sums of charges are stored as integers in that unit and are never rounded.
A chain of checksums ties the totals to their entries.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import signal
import threading
import uuid
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from dpml.exceptions import DpmlError

# the smallest double is 2^-1074
PLACES = 1074
UNIT = 1 << PLACES

# exact (ε, δ, ρ), each in units of 2^-1074
ExactCost = tuple[int, int, int]
# (total, part) of the largest disjoint parts, in falling order; one list for each of ε, δ, ρ
Largest = tuple[list[tuple[int, str]], ...]


def exact(number: float) -> int:
    """Return a finite double in units of 2^-1074."""
    numerator, denominator = number.as_integer_ratio()
    return numerator << (PLACES + 1 - denominator.bit_length())


def nearest(total: int) -> float:
    """Return the double nearest to an exact total."""
    try:
        return total / UNIT
    except OverflowError:
        return math.inf


def up(total: int) -> float:
    """Return the smallest double that is not below an exact total."""
    number = nearest(total)
    return math.nextafter(number, math.inf) if number < math.inf and exact(number) < total else number


def down(total: int) -> float:
    """Return the largest double that is not above an exact total."""
    number = nearest(total)
    return math.nextafter(number, -math.inf) if number == math.inf or exact(number) > total else number


def chain_hash(chain: bytes, text: bytes) -> bytes:
    """Return the checksum of all entries so far and this text."""
    return hashlib.blake2b(chain + text, digest_size=32).digest()


@dataclass
class Part:
    """A part of a budget: its parent, the set of disjoint parts that it belongs to, and its cost so far.

    `begun` is its cost after the first charge of ρ. The rest at that time sets the order of the conversion.
    """

    parent: str | None = None
    group: str | None = None
    total: ExactCost = (0, 0, 0)
    begun: ExactCost | None = None


class RunningTotals:
    """The totals of a ledger's entries. Each entry is read once.

    An entry is the JSON text of a charge or of a new part. Adding an entry takes a few integer additions for the
    charged part and each of its ancestors, however many entries there are.
    """

    def __init__(self, begun: bytes, relation: str):
        self.chain = chain_hash(b"", begun)
        self.count = 0
        self.charges: list[dict[str, Any]] = []
        self.parts: dict[str, Part] = {"": Part()}
        self.groups: dict[str, Largest] = {}
        # adding or removing a record changes one of the disjoint parts; replacing a record can change two
        self.touched = 1 if relation == "add-remove" else 2

    @staticmethod
    def text(entry: dict[str, Any]) -> bytes:
        """Return an entry as the text that is stored and enters the checksum."""
        return json.dumps(entry, separators=(",", ":")).encode()

    def add(self, text: bytes) -> None:
        """Add the next entry to the totals."""
        entry = json.loads(text)
        if "parent" in entry:
            self._add_part(entry)
        else:
            cost = exact(entry["epsilon"]), exact(entry["delta"]), exact(entry["rho"])
            totals, groups = self.after(entry["part"], cost)
            for part, total in totals.items():
                charged = self.parts[part]
                charged.total = total
                if charged.begun is None and total[2]:
                    charged.begun = total
            self.groups.update(groups)
            self.charges.append(entry)
        self.chain = chain_hash(self.chain, text)
        self.count += 1

    def _add_part(self, entry: dict[str, Any]) -> None:
        part, parent, group = entry["part"], entry["parent"], entry["disjoint"]
        if part in self.parts or parent not in self.parts:
            raise ValueError(f"part {part!r} comes twice, or before its parent")
        self.parts[part] = Part(parent, group)
        if group is not None:
            self.groups.setdefault(group, ([], [], []))

    def after(self, part: str, cost: ExactCost) -> tuple[dict[str, ExactCost], dict[str, Largest]]:
        """Return the new totals, and the new largest disjoint parts, after a charge to a part."""
        totals: dict[str, ExactCost] = {}
        groups: dict[str, Largest] = {}
        holder: str | None = part
        while holder is not None:
            charged = self.parts[holder]
            totals[holder] = _plus(charged.total, cost)
            if charged.group is not None:
                old = self.groups[charged.group]
                new = self._largest(old, holder, totals[holder])
                groups[charged.group] = new
                # each of ε, δ, ρ separately: never less than the cost of any one pair of parts
                cost = _minus(_sums(new), _sums(old))
            holder = charged.parent
        return totals, groups

    def _largest(self, old: Largest, part: str, total: ExactCost) -> Largest:
        """Keep the parts with the largest totals. Totals only grow, so a dropped part matters again only if charged."""
        return tuple(
            sorted([pair for pair in column if pair[1] != part] + [(value, part)], reverse=True)[: self.touched]
            for column, value in zip(old, total, strict=True)
        )

    def below(self, part: str) -> Iterable[dict[str, Any]]:
        """Return the charges to a part and to its descendants, oldest first."""
        inside = {part: True}

        def is_inside(holder: str) -> bool:
            if holder not in inside:
                parent = self.parts[holder].parent
                inside[holder] = parent is not None and is_inside(parent)
            return inside[holder]

        return [charge for charge in self.charges if is_inside(charge["part"])]


def _plus(one: ExactCost, other: ExactCost) -> ExactCost:
    return one[0] + other[0], one[1] + other[1], one[2] + other[2]


def _minus(one: ExactCost, other: ExactCost) -> ExactCost:
    return one[0] - other[0], one[1] - other[1], one[2] - other[2]


def _sums(largest: Largest) -> ExactCost:
    epsilon, delta, rho = (sum(value for value, _ in column) for column in largest)
    return epsilon, delta, rho


# ---- a ledger in one process ----------------------------------------------------------------------------------------


class Terms(NamedTuple):
    """The facts that a ledger is started with."""

    epsilon: float
    delta: float
    relation: str


Check = Callable[[RunningTotals], None]


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
    def read(self) -> Iterator[RunningTotals]:
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


@contextmanager
def delay_signals() -> Iterator[None]:
    """Return a context in which Ctrl-C and SIGTERM wait until its end. Only the main thread receives signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    # None: a handler that Python cannot put back
    handlers = {each: handler for each, handler in handlers.items() if handler not in (None, signal.SIG_IGN)}
    received: list[int] = []
    try:
        for each in handlers:
            signal.signal(each, lambda number, _frame: received.append(number))
        yield
    finally:
        for each, handler in handlers.items():
            signal.signal(each, handler)
        for number in dict.fromkeys(received):
            signal.raise_signal(number)
