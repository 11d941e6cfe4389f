"""What may be spent, what has been spent, and under which neighbouring relation.

Charges add up (sequential composition, Dwork and Roth 2014, Theorem 3.16). A charge is recorded before any noise is
drawn: a release that fails afterwards has still been paid for, so that the ledger never shows less than was spent.
The ledger is an SQLite table, in memory or, with a ``path``, in a file that several processes may share.
"""

from __future__ import annotations

import math
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pandas as pd

from dpml._validate import check_epsilon, check_number, check_relation
from dpml.exceptions import BudgetExceeded, DpmlError, InvalidParameter, RelationMismatch

__all__ = ["Budget", "charge"]

# Sums such as 0.1 + 0.2 may pass the total by rounding alone: this much is forgiven, relative to the total.
ROUNDING = 1e-12

TABLES = """
CREATE TABLE IF NOT EXISTS total (epsilon REAL, delta REAL, relation TEXT);
CREATE TABLE IF NOT EXISTS charge (
    id INTEGER PRIMARY KEY, label TEXT, part TEXT, epsilon REAL NOT NULL, delta REAL NOT NULL, relation TEXT NOT NULL
);
"""


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
        path lives in this process only and refuses to be pickled.

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
    dpml.exceptions.BudgetExceeded: a charge of ε = 0.5 ... 'part 2' has 0.25 of 0.75 left
    """

    def __init__(
        self,
        epsilon: float,
        delta: float = 0.0,
        relation: str = "add-remove",
        path: str | os.PathLike | None = None,
    ):
        self.epsilon = check_epsilon(epsilon)
        self.delta = check_number(delta, "delta", 0.0, 1.0, open_upper=True)
        self.relation = check_relation(relation)
        self.path = None if path is None else os.path.abspath(os.fspath(path))
        self.part = ""
        self._parent: Budget | None = None
        self._open()

    def _open(self) -> None:
        self._lock = threading.RLock()
        self._memory: sqlite3.Connection | None = None
        if self.path is None:
            self._memory = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        with self._transaction() as ledger:
            for statement in TABLES.split(";"):
                ledger.execute(statement)
            row = ledger.execute("SELECT epsilon, delta, relation FROM total").fetchone()
            mine = (self.epsilon, self.delta, self.relation)
            if row is None:
                ledger.execute("INSERT INTO total VALUES (?, ?, ?)", mine)
            elif row != mine:
                stated = "(epsilon, delta, relation)"
                raise InvalidParameter(stated, mine, f"{row}, as the ledger {self.path} was begun with")

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Hold the ledger alone, across threads and processes, until the block ends; undo it if the block raises."""
        with self._lock:
            ledger = self._memory
            if ledger is None:
                assert self.path is not None
                ledger = sqlite3.connect(self.path, timeout=60, isolation_level=None)
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
                if ledger is not self._memory:
                    ledger.close()

    @property
    def _root(self) -> Budget:
        return self if self._parent is None else self._parent._root

    def spend(self, epsilon: float, delta: float = 0.0, *, label: str = "", relation: str | None = None) -> None:
        """Charge one release, before its noise is drawn.

        Parameters
        ----------
        epsilon, delta : float
            What the release costs.
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
        epsilon = check_epsilon(epsilon)
        delta = check_number(delta, "delta", 0.0, 1.0, open_upper=True)
        if relation is not None and check_relation(relation) != self.relation:
            raise RelationMismatch(f"a cost under {relation} cannot be charged to a budget under {self.relation}")
        with self._root._transaction() as ledger:
            holder: Budget | None = self
            while holder is not None:
                spent = holder._sums(ledger)
                for name, cost, used, total in zip(
                    "εδ", (epsilon, delta), spent, (holder.epsilon, holder.delta), strict=True
                ):
                    if used + cost > total * (1 + ROUNDING):
                        whose = f"{holder.part!r} has" if holder.part else "there is"
                        left = max(total - used, 0.0)
                        raise BudgetExceeded(
                            f"a charge of {name} = {cost:g} is too much: {whose} {left:g} of {total:g} left"
                        )
                holder = holder._parent
            ledger.execute(
                "INSERT INTO charge (label, part, epsilon, delta, relation) VALUES (?, ?, ?, ?, ?)",
                (label, self.part, epsilon, delta, self.relation),
            )

    def _sums(self, ledger: sqlite3.Connection) -> tuple[float, float]:
        rows = ledger.execute("SELECT part, epsilon, delta FROM charge").fetchall()
        mine = [row for row in rows if not self.part or row[0] == self.part or row[0].startswith(self.part + " / ")]
        return math.fsum(row[1] for row in mine), math.fsum(row[2] for row in mine)

    @property
    def spent(self) -> float:
        """ε charged so far, to this budget and its parts."""
        with self._root._transaction() as ledger:
            return self._sums(ledger)[0]

    @property
    def remaining(self) -> float:
        """ε left."""
        return max(self.epsilon - self.spent, 0.0)

    @property
    def ledger(self) -> pd.DataFrame:
        """One row a charge, oldest first: label, part, epsilon, delta, relation."""
        with self._root._transaction() as ledger:
            table = pd.read_sql("SELECT label, part, epsilon, delta, relation FROM charge ORDER BY id", ledger)
        if self.part:
            mine = (table["part"] == self.part) | table["part"].str.startswith(self.part + " / ")
            table = table[mine].reset_index(drop=True)
        return table

    def split(self, *weights: float, **named: float) -> Any:
        """Divide what is left by weights into parts that cannot spend more than their share.

        A part charges the whole budget too, so parts and direct charges together never pass the total.

        Parameters
        ----------
        *weights : float
            Positive weights; parts come back as a list.
        **named : float
            The same with names; parts come back as a dict.

        Returns
        -------
        list of Budget or dict of Budget

        Examples
        --------
        >>> parts = Budget(1.0).split(select=1, train=1)
        >>> parts["select"].epsilon
        0.5
        """
        if bool(weights) == bool(named):
            raise InvalidParameter("weights", weights or named, "either positional or named, at least one")
        names = list(named) if named else [f"part {i + 1}" for i in range(len(weights))]
        values = [
            check_number(w, name, 0.0, open_lower=True)
            for name, w in zip(names, named.values() or weights, strict=True)
        ]
        with self._root._transaction() as ledger:
            used_epsilon, used_delta = self._sums(ledger)
        left, left_delta = self.epsilon - used_epsilon, max(self.delta - used_delta, 0.0)
        if left <= 0:
            raise BudgetExceeded(f"nothing is left to split: {used_epsilon:g} of {self.epsilon:g} is spent")
        total = math.fsum(values)
        parts = [self._child(n, left * v / total, left_delta * v / total) for n, v in zip(names, values, strict=True)]
        return dict(zip(names, parts, strict=True)) if named else parts

    def _child(self, name: str, epsilon: float, delta: float) -> Budget:
        child = object.__new__(Budget)
        child.epsilon, child.delta, child.relation, child.path = epsilon, delta, self.relation, self.path
        child.part = f"{self.part} / {name}" if self.part else name
        child._parent = self
        return child

    def __sklearn_clone__(self) -> Budget:
        """Return the same budget: a cloned estimator spends from the same purse."""
        return self

    def __deepcopy__(self, memo: dict) -> Budget:
        return self

    def __copy__(self) -> Budget:
        return self

    def __getstate__(self) -> dict:
        if self.path is None:
            raise DpmlError(
                "a Budget without a path cannot be pickled: its copy would not share the ledger; give path="
            )
        return {k: v for k, v in self.__dict__.items() if k not in ("_lock", "_memory")}

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state)
        if self._parent is None:
            self._open()

    def __repr__(self) -> str:
        part = f", part={self.part!r}" if self.part else ""
        return f"Budget(epsilon={self.epsilon:g}, delta={self.delta:g}, relation={self.relation!r}{part})"


def charge(budget: Budget | None, relation: str, epsilon: float, delta: float = 0.0, *, label: str) -> None:
    """Charge a release to a budget if one is given."""
    if budget is not None:
        if not isinstance(budget, Budget):
            raise InvalidParameter("budget", budget, "a dpml.budget.Budget or None")
        budget.spend(epsilon, delta, label=label, relation=relation)
