"""A total of ε and δ that releases are charged to.

Charges add up (sequential composition, Dwork and Roth 2014, Theorem 3.16; Antonova 2016, Theorem 2.3.2), except between
disjoint parts of the data (parallel composition). A charge is recorded before any noise is drawn. A release that fails
afterwards stays charged, so the ledger never shows less than was spent.
"""

from __future__ import annotations

import functools
import json
import math
import os
import uuid
import weakref
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from dpml._validate import check_epsilon, check_integer, check_number, check_relation
from dpml.budget.conversion import Conversion
from dpml.budget.file import FileLedger, ledger_path
from dpml.budget.ledger import (
    ExactCost,
    Ledger,
    Part,
    RunningTotals,
    Terms,
    delay_signals,
    down,
    exact,
    nearest,
    up,
)
from dpml.exceptions import BudgetExceeded, InvalidParameter, RelationMismatch

if TYPE_CHECKING:
    import pandas as pd

# Sums such as 0.1 + 0.2 may exceed the total by rounding alone: a relative excess of 1/ROUNDING is allowed.
ROUNDING = 10**12
# larger than any double
INFINITE = exact(math.ldexp(1.0, 1023)) * 4
# of the costs of a charge
SYMBOLS = {"ε": "epsilon", "δ": "delta", "ρ": "rho"}


class Budget:
    """Bound the total ε and δ of all releases from one data set, and keep a ledger of the charges.

    Parameters
    ----------
    epsilon : float
        The total ε, finite and > 0.
    delta : float, default=0.0
        The total δ in [0, 1). The value 0 is pure differential privacy.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        The neighbouring relation. Neighbouring data sets differ by one added or removed record, or by the content of
        one record.
    path : path-like, optional
        File for the ledger, so that processes can share it and a crash loses nothing. ``~`` is the home folder. A
        budget without a path belongs to this process: another one, such as a worker of ``n_jobs=2``, cannot use it.
    must_exist : bool, default=False
        Whether to raise an error, instead of starting a new ledger, if the file does not exist.

    Raises
    ------
    LedgerError
        The file was truncated, changed or removed, or is not a ledger (`LedgerDamaged`), cannot be opened, locked or
        written (`LedgerUnavailable`), or has an earlier format (`LedgerOutdated`). Every use of the budget can raise
        it. Then nothing is charged and nothing released.
    InvalidParameter
        The ledger was started with other totals or another relation.

    See Also
    --------
    charge : Charges a release to a budget if one is given.
    zcdp_epsilon : Converts zero-concentrated privacy to (ε, δ).

    Notes
    -----
    Privacy: no data is read.

    scikit-learn's ``clone``, ``copy`` and ``deepcopy`` return the same budget, so every fit of a search is charged.

    A ledger never shows less than was spent. The whole file is checked when it is opened, and its new charges are
    checked before each use. A charge is on disk before `spend` returns. Charges are added without rounding, and `spent`
    is the double nearest to their sum.

    A new budget cannot detect that an older copy of the whole file was restored, or, without ``must_exist=True``, that
    the file was removed. The checksums detect damage, not forgery.

    References
    ----------
    - Dwork and Roth (2014), Theorem 3.16, sequential composition.
    - Antonova (2016), Theorem 2.3.2.

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
        *,
        must_exist: bool = False,
    ):
        self._epsilon = check_epsilon(epsilon)
        self._delta = check_number(delta, "delta", 0.0, 1.0, open_upper=True)
        self._relation = check_relation(relation)
        self._path = ledger_path(path)
        if not isinstance(must_exist, bool) or (must_exist and self._path is None):
            raise InvalidParameter("must_exist", must_exist, "True or False, and False without a path")
        self._part, self._id = "", ""
        self._parent: Budget | None = None
        terms = Terms(self._epsilon, self._delta, self._relation)
        self._ledger: Ledger
        self._ledger = Ledger.begin(terms) if self._path is None else FileLedger.open(terms, self._path, must_exist)
        _living[self._address] = self

    epsilon = property(lambda self: self._epsilon, doc="The total ε.")
    delta = property(lambda self: self._delta, doc="The total δ.")
    relation = property(lambda self: self._relation, doc="The neighbouring relation.")
    path = property(lambda self: self._path, doc="The file of the ledger, or None.")
    part = property(
        lambda self: self._part, doc="The name of this part of a larger budget, or an empty text for a whole budget."
    )

    @property
    def _address(self) -> tuple[str, str, str]:
        return self._ledger.key, self._path or "", self._id

    def _cost(self, total: ExactCost, begun: ExactCost | None) -> tuple[int, int]:
        """Return the exact (ε, δ) of a total. ρ is converted with what was left when its charges had begun."""
        epsilon, delta, rho = total
        if rho:
            epsilon_then, delta_then, _ = begun or total
            left = down(exact(self._epsilon) - epsilon_then), down(exact(self._delta) - delta_then)
            converted = _conversion(*left).epsilon(up(rho)) if min(left) > 0 else math.inf
            epsilon = epsilon + exact(converted) if converted < math.inf else INFINITE
            delta += exact(self._delta) - delta_then
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
        epsilon, delta : float, default=0.0
            ExactCost of the release.
        rho : float, default=0.0
            Its cost in zero-concentrated differential privacy instead. All such charges are converted together. The
            first one takes all δ that is left, and fixes the order α of the conversion at which the most ρ fits into
            the ε that is left. Therefore make charges in ε before, or to another part.
        label : str, default=""
            Name of the release, for the ledger.
        relation : str, optional
            The relation under which the cost holds. It must be the budget's.

        Raises
        ------
        BudgetExceeded
            If the charge exceeds the rest of this budget or of a budget that it is a part of. Nothing is charged.
        RelationMismatch
            If the cost is stated for the other relation.

        Notes
        -----
        ρ costs ε = αρ + c. The constant c is charged once, with the first ρ. It is large where the budget is large for
        a ρ: the first fit of ε = 1 and δ = 1e-5 spends 1.21 of ε = 2 and 23.1 of ε = 100, and each further one 0.045 of
        ε = 100. A smaller ε for the same ρ would hold only if nobody chose later charges by what was released.
        """
        delta = check_number(delta, "delta", 0.0, 1.0, open_upper=True)
        rho = check_number(rho, "rho", 0.0)
        epsilon = check_number(epsilon, "epsilon", 0.0) if delta or rho else check_epsilon(epsilon)
        # -0.0 is 0.0
        cost = {"epsilon": epsilon + 0.0, "delta": delta + 0.0, "rho": rho + 0.0}
        self._charge([{"label": str(label), **cost}], relation)

    def spend_all(self, costs: Mapping[str, float], *, relation: str | None = None) -> None:
        """Charge several releases before the first of them is drawn: all of them, or none.

        Parameters
        ----------
        costs : mapping of str to float
            The ε of each release by its label. Each gets a row of its own in the ledger.
        relation : str, optional
            The relation under which the costs hold. It must be the budget's.

        Raises
        ------
        BudgetExceeded
            If the sum exceeds the rest of this budget or of a budget that it is a part of. Nothing is charged.
        RelationMismatch
            If the costs are stated for the other relation.

        Examples
        --------
        >>> budget = Budget(1.0)
        >>> budget.spend_all({"choice": 0.25, "counts": 0.5})
        >>> budget.ledger["epsilon"].tolist()
        [0.25, 0.5]
        """
        epsilons = {str(label): check_epsilon(epsilon) for label, epsilon in costs.items()}
        rows = [{"label": label, "epsilon": epsilon, "delta": 0.0, "rho": 0.0} for label, epsilon in epsilons.items()]
        self._charge(rows, relation)

    def _charge(self, rows: list[dict[str, Any]], relation: str | None) -> None:
        """Record charges in the ledger: all of them, or none if this budget or one that holds it has too little."""
        if relation is not None and check_relation(relation) != self._relation:
            raise RelationMismatch(f"a cost under {relation} cannot be charged to a budget under {self._relation}")
        costs = {symbol: [row[key] for row in rows] for symbol, key in SYMBOLS.items()}

        def check(totals: RunningTotals) -> None:
            epsilon, delta, rho = (sum(map(exact, values)) for values in costs.values())
            after, _ = totals.after(self._id, (epsilon, delta, rho))
            asked = {symbol: math.fsum(values) for symbol, values in costs.items()}
            for holder in self._lineage():
                holder._check(totals.parts[holder._id], after[holder._id], asked)

        with delay_signals():
            self._ledger.record([{"part": self._id, "name": self._part, **row} for row in rows], check)
            self._ledger.charges_made += len(rows)

    def _lineage(self) -> Iterator[Budget]:
        holder: Budget | None = self
        while holder is not None:
            yield holder
            holder = holder._parent

    def _check(self, before: Part, after: ExactCost, asked: dict[str, float]) -> None:
        totals = self._epsilon, self._delta
        for i, (name, cost, total) in enumerate(zip("εδ", self._cost(after, before.begun), totals, strict=True)):
            if (cost - exact(total)) * ROUNDING > exact(total):
                symbol = name if asked[name] else "ρ"
                whose = f"{self._part!r} has" if self._part else "there is"
                left = max(total - nearest(self._cost(before.total, before.begun)[i]), 0.0)
                unit = f" of {name}" if symbol == "ρ" else ""
                raise BudgetExceeded(
                    f"a charge of {symbol} = {asked[symbol]:g} is too much: {whose} {left:g} of {total:g}{unit} left"
                )

    @property
    def charges_made(self) -> int:
        """Number of charges that this object and its parts made in this process."""
        return self._ledger.charges_made

    @property
    def spent(self) -> float:
        """ε charged so far to this budget and its parts."""
        return nearest(self._spent()[0])

    def _spent(self) -> tuple[int, int]:
        with self._ledger.read() as totals:
            part = totals.parts[self._id]
            total, begun = part.total, part.begun
        return self._cost(total, begun)

    @property
    def remaining(self) -> float:
        """ε left."""
        return nearest(max(exact(self._epsilon) - self._spent()[0], 0))

    @property
    def ledger(self) -> pd.DataFrame:
        """One row for each charge, oldest first: label, part, epsilon, delta, rho, relation."""
        import pandas as pd  # a process that only charges needs no table

        with self._ledger.read() as totals:
            charges = list(totals.below(self._id))
        names = {"label": "label", "part": "name", "epsilon": "epsilon", "delta": "delta", "rho": "rho"}
        # Arrow's texts, which pandas takes where they are installed, cannot hold every label
        rows = {column: [charge[key] for charge in charges] for column, key in names.items()}
        table = pd.DataFrame({column: pd.Series(values, dtype=object) for column, values in rows.items()})
        table["relation"] = pd.Series([self._relation] * len(table), dtype=object)
        return table.astype(dict.fromkeys(["epsilon", "delta", "rho"], float))

    def to_json(self) -> str:
        """Return the totals, the ε and δ spent, and the ledger as JSON text.

        Returns
        -------
        str
            JSON text of one object.
        """
        facts = {"epsilon": self._epsilon, "delta": self._delta, "relation": self._relation, "spent": self.spent}
        return json.dumps({**facts, "charges": self.ledger.to_dict(orient="records")}, ensure_ascii=False, indent=2)

    # ---- parts ------------------------------------------------------------------------------------------------

    def split(self, *weights: float, locked: dict[str, float] | None = None, **named: float) -> Any:
        """Divide the rest of the budget into parts that cannot spend more than their share.

        A charge to a part is also a charge to the whole budget, so parts and direct charges never exceed the total.

        Parameters
        ----------
        *weights : float
            Positive weights. The result is then a list.
        locked : dict of str to float, optional
            Named parts with a fixed ε, which are taken first. The named weights divide the rest.
        **named : float
            Named positive weights. The result is then a dict.

        Returns
        -------
        list of Budget or dict of Budget
            The parts, in the order of the weights or by their names.

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
        used, used_delta = map(nearest, self._spent())
        left, left_delta = self._epsilon - used - math.fsum(fixed.values()), max(self._delta - used_delta, 0.0)
        if left * ROUNDING < -self._epsilon or (names and left <= 0):
            raise BudgetExceeded(f"nothing is left to split: {self._epsilon - left:g} of {self._epsilon:g} is taken")
        largest = max(shares, default=1.0)
        total = math.fsum(w / largest for w in shares)
        totals = {name: (value, 0.0) for name, value in fixed.items()}
        for name, w in zip(names, shares, strict=True):
            share = w / largest / total
            totals[name] = left * share, left_delta * share
        parts = self._children(totals)
        return list(parts.values()) if weights else parts

    def disjoint(self, *names: str) -> dict[str, Budget]:
        """Return one part for each of several disjoint sets of records, with parallel composition between them.

        A public rule must give the set of a record from the record alone.

        Parameters
        ----------
        *names : str
            Name of each set.

        Returns
        -------
        dict of str to Budget
            The part of each set, with the total ε and δ of this budget.

        Notes
        -----
        Adding or removing a record changes one set, so under add/remove the cost is the largest total of a set.
        Replacing a record may move it from one set to another, so under replace-one the cost is the sum of the two
        largest totals.

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
        return self._children(dict.fromkeys(names, (self._epsilon, self._delta)), group)

    def _children(self, totals: dict[str, tuple[float, float]], disjoint: str | None = None) -> dict[str, Budget]:
        parts = {}
        for name, (epsilon, delta) in totals.items():
            child = object.__new__(Budget)
            child.__dict__.update(self.__dict__, _epsilon=epsilon, _delta=delta, _parent=self, _id=uuid.uuid4().hex)
            child._part = f"{self._part} / {name}" if self._part else name
            parts[name] = child
        self._ledger.record([{"part": child._id, "parent": self._id, "disjoint": disjoint} for child in parts.values()])
        for child in parts.values():
            _living[child._address] = child
        return parts

    def for_group(self, size: int) -> tuple[float, float]:
        """Return the (ε, δ) that this budget guarantees to a group of records that change together.

        Parameters
        ----------
        size : int
            Number k of records in the group, at least 1.

        Returns
        -------
        tuple of float
            The group's ε and δ, which are kε and δ·(e^(kε) - 1)/(e^ε - 1).

        References
        ----------
        - Dwork and Roth (2014), Theorem 2.2.
        - Vadhan (2017), Lemma 2.2.
        """
        k = check_integer(size, "size", 1)
        epsilon = k * self._epsilon
        growth = math.exp((k - 1) * self._epsilon) * -math.expm1(-epsilon) / -math.expm1(-self._epsilon)
        return epsilon, min(self._delta * growth, 1.0)

    # ---- copies -----------------------------------------------------------------------------------------------

    def __sklearn_clone__(self) -> Budget:
        """Return the same budget: a cloned estimator spends from it too."""
        return self

    def __deepcopy__(self, memo: dict) -> Budget:
        return self

    def __copy__(self) -> Budget:
        return self

    def __reduce__(self) -> tuple:
        return _same_budget, (self._address, self.__dict__)

    def __repr__(self) -> str:
        part = f", part={self._part!r}" if self._part else ""
        return f"Budget(epsilon={self._epsilon:g}, delta={self._delta:g}, relation={self._relation!r}{part})"


# the same few are asked for at each charge
_conversion = functools.lru_cache(256)(Conversion.within)
# the budgets of this process by ledger and part
_living: weakref.WeakValueDictionary[tuple[str, str, str], Budget] = weakref.WeakValueDictionary()


def _same_budget(address: tuple[str, str, str], state: dict[str, Any]) -> Budget:
    """Return the pickled budget if it lives in this process, otherwise a new one on the same ledger."""
    budget = _living.get(address)
    if budget is None:
        budget = object.__new__(Budget)
        budget.__dict__.update(state)
        _living[address] = budget
    return budget


# ---- charges of a release -------------------------------------------------------------------------------------------

# an ε, or arguments of `Budget.spend`
Cost = float | Mapping[str, float]


def charge(
    budget: Budget | None, relation: str, epsilon: float, delta: float = 0.0, *, rho: float = 0.0, label: str
) -> None:
    """Charge a release to a budget if one is given.

    Parameters
    ----------
    budget : Budget or None
        The budget. None charges nothing.
    relation : {"add-remove", "replace-one"}
        The relation under which the cost holds. It must be the budget's.
    epsilon : float
        Cost ε of the release.
    delta : float, default=0.0
        Cost δ of the release.
    rho : float, default=0.0
        Cost in zero-concentrated differential privacy instead.
    label : str
        Name of the release, for the ledger.

    See Also
    --------
    Budget : Bounds the total ε and δ.
    charge_all : Charges all parts of a release.

    Notes
    -----
    Privacy: no data is read.
    """
    if budget is not None:
        _checked(budget).spend(epsilon, delta, rho=rho, label=label, relation=relation)


def charge_all(budget: Budget | None, relation: str, costs: Mapping[str, Cost]) -> None:
    """Charge all parts of a release by their labels, or none of them, if a budget is given.

    Parameters
    ----------
    budget : Budget or None
        The budget. None charges nothing.
    relation : {"add-remove", "replace-one"}
        The relation under which the costs hold. It must be the budget's.
    costs : mapping of str to float or dict
        The ε of each part by its label. A part that is the only one may state arguments of `Budget.spend`.

    See Also
    --------
    Budget : Bounds the total ε and δ.
    charge : Charges one release.
    """
    if budget is None:
        return
    [(label, cost), *others] = costs.items()
    if others:
        _checked(budget).spend_all(cast(Mapping[str, float], costs), relation=relation)
    else:
        spent = cost if isinstance(cost, Mapping) else {"epsilon": cost}
        _checked(budget).spend(**spent, label=label, relation=relation)


def _checked(budget: Budget) -> Budget:
    if not isinstance(budget, Budget):
        raise InvalidParameter("budget", budget, "a dpml.budget.Budget or None")
    return budget
