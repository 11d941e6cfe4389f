"""What may be spent, what has been spent, and under which neighbouring relation.

Charges add up (sequential composition, Dwork and Roth 2014, Theorem 3.16; 000 Theorem 2.3.2), except between parts of
the data that no record shares (parallel composition). A charge is recorded before any noise is drawn: a release that
fails afterwards has still been paid for, so the ledger never shows less than was spent. The ledger is an SQLite
database, in memory or, with a ``path``, in a file that several processes may share.
"""

from __future__ import annotations

import json
import math
import os
import sqlite3
import threading
import uuid
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pandas as pd

from dpml._validate import check_epsilon, check_integer, check_number, check_relation
from dpml.exceptions import BudgetExceeded, DpmlError, InvalidParameter, MissingExtra, RelationMismatch

__all__ = ["Budget", "charge", "zcdp_epsilon"]

# Sums such as 0.1 + 0.2 may pass the total by rounding alone: this much is forgiven, relative to the total.
ROUNDING = 1e-12

TABLES = """
CREATE TABLE IF NOT EXISTS total (epsilon REAL, delta REAL, relation TEXT);
CREATE TABLE IF NOT EXISTS part (id TEXT PRIMARY KEY, parent TEXT, disjoint TEXT);
CREATE TABLE IF NOT EXISTS charge (
    id INTEGER PRIMARY KEY, label TEXT, part TEXT, part_id TEXT NOT NULL,
    epsilon REAL NOT NULL, delta REAL NOT NULL, rho REAL NOT NULL, relation TEXT NOT NULL
);
"""


def zcdp_epsilon(rho: float, delta: float) -> float:
    """Return the ε for which ρ-zero-concentrated differential privacy gives (ε, δ), by the `dp-accounting` package.

    Parameters
    ----------
    rho : float
        ρ >= 0.
    delta : float
        δ in (0, 1).

    Raises
    ------
    MissingExtra
        Without the extra ``accounting``.

    Notes
    -----
    Never above ρ + 2·sqrt(ρ·log(1/δ)) (Bun and Steinke 2016, Proposition 1.3).
    """
    rho = check_number(rho, "rho", 0.0)
    delta = check_number(delta, "delta", 0.0, 1.0, open_lower=True, open_upper=True)
    if rho == 0:
        return 0.0
    try:
        from dp_accounting import ZCDpEvent
        from dp_accounting.rdp import RdpAccountant
    except ImportError as error:
        raise MissingExtra('zCDP needs the package dp-accounting: pip install "dpml[accounting]"') from error
    simple = rho + 2 * math.sqrt(rho * math.log(1 / delta))
    return min(simple, float(RdpAccountant().compose(ZCDpEvent(rho)).get_epsilon(delta)))


class Budget:
    """A total of ε and δ under one neighbouring relation, and the ledger of what was charged to it.

    Parameters
    ----------
    epsilon : float
        The total ε, finite and > 0.
    delta : float
        The total δ in [0, 1); 0 is pure differential privacy.
    relation : {"add-remove", "replace-one"}
        Data sets that differ by one record more or less, or by one record's content.
    path : path-like, optional
        A file that keeps the ledger, so that processes can share it and a crash loses nothing. A budget without a
        path lives in this process only: it refuses to be pickled, and a forked process cannot spend from it.

    Notes
    -----
    scikit-learn's ``clone``, ``copy`` and ``deepcopy`` return the same budget, so every fit of a search is charged.

    Examples
    --------
    >>> budget = Budget(1.0)
    >>> select, train = budget.split(1, 3)
    >>> train.epsilon
    0.75
    >>> train.spend(0.5, label="naive Bayes")
    >>> budget.remaining
    0.5
    >>> train.spend(0.5)
    Traceback (most recent call last):
    ...
    dpml.exceptions.BudgetExceeded: a charge of ε = 0.5 is too much: 'part 2' has 0.25 of 0.75 left
    """

    def __init__(
        self,
        epsilon: float,
        delta: float = 0.0,
        relation: str = "add-remove",
        path: str | os.PathLike | None = None,
    ):
        self._epsilon = check_epsilon(epsilon)
        self._delta = check_number(delta, "delta", 0.0, 1.0, open_upper=True)
        self._relation = check_relation(relation)
        self._path = None if path is None else os.path.abspath(os.fspath(path))
        self._part, self._id = "", ""
        self._parent: Budget | None = None
        self._open()

    epsilon = property(lambda self: self._epsilon, doc="The total ε.")
    delta = property(lambda self: self._delta, doc="The total δ.")
    relation = property(lambda self: self._relation, doc="The neighbouring relation.")
    path = property(lambda self: self._path, doc="The file of the ledger, or None.")
    part = property(lambda self: self._part, doc="The name of this part of a larger budget; empty for a whole one.")

    # ---- the ledger -------------------------------------------------------------------------------------------

    def _open(self) -> None:
        self._lock = threading.RLock()
        self._memory: sqlite3.Connection | None = None
        self._process = os.getpid()
        if self._path is None:
            self._memory = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
            weakref.finalize(self, self._memory.close)
        with self._transaction() as ledger:
            for statement in TABLES.split(";"):
                ledger.execute(statement)
            row = ledger.execute("SELECT epsilon, delta, relation FROM total").fetchone()
            mine = (self._epsilon, self._delta, self._relation)
            if row is None:
                ledger.execute("INSERT INTO total VALUES (?, ?, ?)", mine)
            elif row != mine:
                stated = "(epsilon, delta, relation)"
                raise InvalidParameter(stated, mine, f"{row}, as the ledger {self._path} was begun with")

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Hold the ledger alone, across threads and processes, until the block ends; undo it if the block raises."""
        root = self._root
        if root._memory is not None and root._process != os.getpid():
            raise DpmlError("a Budget without a path belongs to the process that made it; give path= to share one")
        with root._lock:
            ledger = root._memory
            if ledger is None:
                ledger = sqlite3.connect(str(root._path), timeout=60, isolation_level=None)
                ledger.execute("PRAGMA synchronous = FULL")
            try:
                ledger.execute("BEGIN IMMEDIATE")
                try:
                    yield ledger
                except BaseException:
                    ledger.execute("ROLLBACK")
                    raise
                ledger.execute("COMMIT")
            finally:
                if ledger is not root._memory:
                    ledger.close()

    @property
    def _root(self) -> Budget:
        return self if self._parent is None else self._parent._root

    def _cost(self, ledger: sqlite3.Connection) -> tuple[float, float]:
        """Return (ε, δ) charged to this budget and its parts, disjoint parts by the largest."""
        rows = ledger.execute("SELECT part_id, epsilon, delta, rho FROM charge").fetchall()
        parts = ledger.execute("SELECT id, parent, disjoint FROM part").fetchall()
        # adding or removing a record touches one of disjoint parts, moving it from one to another two
        touched = 1 if self._relation == "add-remove" else 2

        def total(part: str) -> tuple[float, float, float]:
            sums = [tuple(row[1:]) for row in rows if row[0] == part]
            groups: dict[str, list] = {}
            for child, parent, disjoint in parts:
                if parent == part:
                    sums.append(total(child)) if disjoint is None else groups.setdefault(disjoint, []).append(
                        total(child)
                    )
            for group in groups.values():
                # coordinate by coordinate: never less than any one pair of parts costs
                columns = zip(*group, strict=True)
                sums.append(tuple(math.fsum(sorted(column)[-touched:]) for column in columns))
            epsilon, delta, rho = (math.fsum(column) for column in zip(*sums, strict=True)) if sums else (0.0, 0.0, 0.0)
            return epsilon, delta, rho

        epsilon, delta, rho = total(self._id)
        if rho:
            left = self._delta - delta
            epsilon = epsilon + zcdp_epsilon(rho, left) if left > 0 else math.inf
            delta = self._delta
        return epsilon, delta

    # ---- spending ---------------------------------------------------------------------------------------------

    def spend(
        self,
        epsilon: float = 0.0,
        delta: float = 0.0,
        *,
        rho: float = 0.0,
        label: str = "",
        relation: str | None = None,
    ) -> None:
        """Charge one release, before its noise is drawn.

        Parameters
        ----------
        epsilon, delta : float
            What the release costs.
        rho : float
            What it costs in zero-concentrated privacy instead; all such charges are converted together, at the δ that
            the budget's other charges leave (needs the extra ``accounting``).
        label : str
            What is released, for the ledger.
        relation : str, optional
            The relation for which the cost holds; it must be the budget's.

        Raises
        ------
        BudgetExceeded
            If the charge is more than what is left, of this budget or of one it is a part of. Nothing is charged.
        RelationMismatch
            If the cost is stated for the other relation.
        """
        delta = check_number(delta, "delta", 0.0, 1.0, open_upper=True)
        rho = check_number(rho, "rho", 0.0)
        epsilon = check_number(epsilon, "epsilon", 0.0) if delta or rho else check_epsilon(epsilon)
        if relation is not None and check_relation(relation) != self._relation:
            raise RelationMismatch(f"a cost under {relation} cannot be charged to a budget under {self._relation}")
        with self._transaction() as ledger:
            before = [(holder, holder._cost(ledger)) for holder in self._lineage()]
            ledger.execute(
                "INSERT INTO charge (label, part, part_id, epsilon, delta, rho, relation) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (str(label), self._part, self._id, epsilon, delta, rho, self._relation),
            )
            for holder, spent in before:
                # an exception undoes the transaction, the charge with it
                holder._check(spent, holder._cost(ledger), {"ε": epsilon, "δ": delta, "ρ": rho})

    def _lineage(self) -> Iterator[Budget]:
        holder: Budget | None = self
        while holder is not None:
            yield holder
            holder = holder._parent

    def _check(self, spent: tuple[float, float], cost: tuple[float, float], asked: dict[str, float]) -> None:
        for name, used, after, total in zip("εδ", spent, cost, (self._epsilon, self._delta), strict=True):
            if after - total > max(total * ROUNDING, 1e-300):
                symbol = name if asked[name] else "ρ"
                whose = f"{self._part!r} has" if self._part else "there is"
                left = max(total - used, 0.0)
                unit = f" of {name}" if symbol == "ρ" else ""
                raise BudgetExceeded(
                    f"a charge of {symbol} = {asked[symbol]:g} is too much: {whose} {left:g} of {total:g}{unit} left"
                )

    @property
    def spent(self) -> float:
        """ε charged so far, to this budget and its parts."""
        with self._transaction() as ledger:
            return self._cost(ledger)[0]

    @property
    def remaining(self) -> float:
        """ε left."""
        return max(self._epsilon - self.spent, 0.0)

    @property
    def ledger(self) -> pd.DataFrame:
        """One row a charge, oldest first: label, part, epsilon, delta, rho, relation."""
        with self._transaction() as ledger:
            table = pd.read_sql("SELECT * FROM charge ORDER BY id", ledger)
            parts = dict(ledger.execute("SELECT id, parent FROM part").fetchall())

        def below(part: str | None) -> bool:
            while part is not None and part != self._id:
                part = parts.get(part)
            return part is not None

        mine = table[[below(part) for part in table["part_id"]]] if self._id else table
        return mine[["label", "part", "epsilon", "delta", "rho", "relation"]].reset_index(drop=True)

    def to_json(self) -> str:
        """Return the totals, what is spent and the ledger as JSON text."""
        facts = {"epsilon": self._epsilon, "delta": self._delta, "relation": self._relation, "spent": self.spent}
        return json.dumps({**facts, "charges": self.ledger.to_dict(orient="records")}, ensure_ascii=False, indent=2)

    # ---- parts ------------------------------------------------------------------------------------------------

    def split(self, *weights: float, locked: dict[str, float] | None = None, **named: float) -> Any:
        """Divide what is left into parts that cannot spend more than their share.

        A part charges the whole budget too, so parts and direct charges together never pass the total.

        Parameters
        ----------
        *weights : float
            Positive weights; parts come back as a list.
        locked : dict of str to float, optional
            Parts with a fixed ε of their own, taken first; the weights share the rest. They come back by name.
        **named : float
            Weights with names; parts come back as a dict.

        Returns
        -------
        list of Budget or dict of Budget

        Examples
        --------
        >>> parts = Budget(1.0).split(locked={"evaluate": 0.2}, select=1, train=1)
        >>> {name: part.epsilon for name, part in parts.items()}
        {'evaluate': 0.2, 'select': 0.4, 'train': 0.4}
        """
        if bool(weights) == bool(named or locked):
            raise InvalidParameter("weights", weights or named, "either positional or named, at least one")
        names = list(named) if not weights else [f"part {i + 1}" for i in range(len(weights))]
        shares = [
            check_number(w, name, 0.0, open_lower=True)
            for name, w in zip(names, named.values() or weights, strict=True)
        ]
        fixed = {name: check_epsilon(value, name) for name, value in (locked or {}).items()}
        with self._transaction() as ledger:
            used, used_delta = self._cost(ledger)
        left, left_delta = self._epsilon - used - math.fsum(fixed.values()), max(self._delta - used_delta, 0.0)
        if left < -self._epsilon * ROUNDING or (names and left <= 0):
            raise BudgetExceeded(f"nothing is left to split: {self._epsilon - left:g} of {self._epsilon:g} is taken")
        largest = max(shares, default=1.0)
        total = math.fsum(w / largest for w in shares)
        parts = {name: self._child(name, value, 0.0) for name, value in fixed.items()}
        for name, w in zip(names, shares, strict=True):
            share = w / largest / total
            parts[name] = self._child(name, left * share, left_delta * share)
        return list(parts.values()) if weights else parts

    def disjoint(self, *names: str) -> dict[str, Budget]:
        """Return one part for each of several disjoint sets of records: together they cost what the dearest costs.

        Parallel composition: which set a record belongs to must be a public rule of the record itself. Adding or
        removing a record touches one set, so the largest total counts; replacing it may move it from one set to
        another, so the two largest do.

        Examples
        --------
        >>> budget = Budget(1.0)
        >>> halves = budget.disjoint("left", "right")
        >>> halves["left"].spend(0.6)
        >>> halves["right"].spend(0.8)
        >>> budget.spent
        0.8
        """
        if len(set(names)) < 2 or len(set(names)) < len(names):
            raise InvalidParameter("names", names, "at least two, all different")
        group = uuid.uuid4().hex
        return {name: self._child(name, self._epsilon, self._delta, disjoint=group) for name in names}

    def _child(self, name: str, epsilon: float, delta: float, disjoint: str | None = None) -> Budget:
        child = object.__new__(Budget)
        child._epsilon, child._delta, child._relation, child._path = epsilon, delta, self._relation, self._path
        child._part = f"{self._part} / {name}" if self._part else name
        child._parent, child._id = self, uuid.uuid4().hex
        with self._transaction() as ledger:
            ledger.execute("INSERT INTO part VALUES (?, ?, ?)", (child._id, self._id, disjoint))
        return child

    def for_group(self, size: int) -> tuple[float, float]:
        """Return the (ε, δ) that this budget guarantees to a group of records that are present or absent together.

        kε, and δ·(e^(kε) - 1)/(e^ε - 1) (Dwork and Roth 2014, Theorem 2.2; Vadhan 2017, Lemma 2.2).
        """
        k = check_integer(size, "size", 1)
        epsilon = k * self._epsilon
        growth = math.exp((k - 1) * self._epsilon) * -math.expm1(-epsilon) / -math.expm1(-self._epsilon)
        return epsilon, min(self._delta * growth, 1.0)

    # ---- copies -----------------------------------------------------------------------------------------------

    def __sklearn_clone__(self) -> Budget:
        """Return the same budget: a cloned estimator spends from the same purse."""
        return self

    def __deepcopy__(self, memo: dict) -> Budget:
        return self

    def __copy__(self) -> Budget:
        return self

    def __getstate__(self) -> dict:
        if self._path is None:
            raise DpmlError(
                "a Budget without a path cannot be pickled: its copy would not share the ledger; give path="
            )
        return {k: v for k, v in self.__dict__.items() if k not in ("_lock", "_memory", "_process")}

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state)
        if self._parent is None:
            self._open()

    def __repr__(self) -> str:
        part = f", part={self._part!r}" if self._part else ""
        return f"Budget(epsilon={self._epsilon:g}, delta={self._delta:g}, relation={self._relation!r}{part})"


def charge(
    budget: Budget | None, relation: str, epsilon: float, delta: float = 0.0, *, rho: float = 0.0, label: str
) -> None:
    """Charge a release to a budget if one is given."""
    if budget is not None:
        if not isinstance(budget, Budget):
            raise InvalidParameter("budget", budget, "a dpml.budget.Budget or None")
        budget.spend(epsilon, delta, rho=rho, label=label, relation=relation)
