"""The plan of a release: the parts that share ε, the charge of each, and the problems of the plan."""

import math
import warnings
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from dpml._validate import (
    as_generator,
    check_choice,
    check_epsilon,
    check_flag,
    check_integer,
    check_number,
    check_relation,
)
from dpml.budget import Budget
from dpml.budget.shares import divide_epsilon
from dpml.exceptions import (
    BudgetExceeded,
    DpmlError,
    InvalidParameter,
    InvalidSchema,
    NotPrivate,
)
from dpml.mechanisms import boundary
from dpml.mechanisms.secure import check_release
from dpml.release.charging import charge_noted, charge_rows
from dpml.release.forecast import Forecasting
from dpml.release.methods import advised, method_named, method_problems
from dpml.release.records import Records, as_confirmed, read_records, warn_violations
from dpml.release.released import Released
from dpml.release.steps import PARTS, RELEASED, Carried, Task, carry_out, stages
from dpml.release.values import COLUMNS
from dpml.schema import Schema
from dpml.selection.plan import plan as selection_plan

SHARES = {"training": 0.8, "evaluation": 0.2}
MOST_RECORDS = 10_000_000
# shares that add up to 1 as people write them may exceed it by rounding
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Plan(Forecasting):
    """Plan the release of a model, an evaluation and a synthetic table from one table, within one ε.

    Four parts can share ε: *selection* chooses columns, *training* fits a classifier, *evaluation* measures it on
    records that did not train it, and *publishing* makes a synthetic table. The plan reads no record. `preview` returns
    the charge of each part, `problems` the obstacles to a release, and `run` makes the release.

    Parameters
    ----------
    schema : Schema
        Public metadata of the table. All of its columns are needed.
    epsilon : float
        Privacy parameter ε of all parts together, finite and > 0.
    shares : mapping of str to float, optional
        Shares of ε for "selection", "training", "evaluation" and "publishing" that add up to 1, or to less: the rest is
        not spent. A part without a share is left out. The default is 0.8 for training and 0.2 for evaluation, because
        the model is used afterwards, and a fifth of ε counts a thousand held-out records well enough.
    n_features : int, optional
        Number of columns that the selection keeps. By default it is the public rule of `dpml.selection.plan`.
    method : str, class or estimator, default="auto"
        The classifier: "auto" (`dpml.classifiers.AutoClassifier`), a class of `dpml.classifiers`, its name, a name in
        the catalogue, or an estimator that is not fitted.
    test_share : float, default=0.3
        Probability in (0, 1) with which each record is held out for the evaluation.
    n_published : int, optional
        Number of records of the synthetic table, at most 10,000,000. By default it is the released number.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        The neighbouring relation of the privacy guarantee.
    max_grids : int, default=10_000
        The largest number of grids that publishing chooses from.
    keep_uniform : bool, default=False
        Whether the synthetic table has the columns that its grid does not tell apart. They are drawn uniformly from
        their public domain, and carry no information. By default they are left out, and named in the README and the
        privacy report.

    Raises
    ------
    InvalidParameter
        For a value that no plan can have. `problems` returns the other obstacles.

    See Also
    --------
    Released : Holds the result of a plan.
    verify : Checks the folder of a release.
    dpml.tables.read_table : Reads the table for a release.

    Notes
    -----
    Privacy: ε = epsilon for all parts together. δ = 0. Relation: `relation`. Sensitivity: that of each part's
    mechanism.

    The charges of all parts add up to at most ε (sequential composition).

    Examples
    --------
    >>> from dpml.schema import Feature
    >>> rng = np.random.default_rng(0)
    >>> table = pd.DataFrame({"age": rng.integers(18, 90, 4000)})
    >>> table["left"] = np.where(table["age"] > 60, "yes", "no")
    >>> schema = Schema((Feature("age", "numeric", lower=18, upper=90),), ("no", "yes"), n_lower=3000)
    >>> plan = Plan(schema, 1.0)
    >>> plan.preview(secure=False)[["part", "epsilon"]].round(6).values.tolist()
    [['training', 0.8], ['evaluation', 0.2]]
    >>> released = plan.run(table, "left", secure=False, random_state=0)
    >>> released.status
    'simulation, not a release'
    >>> released.model.predict(pd.DataFrame({"age": [20, 80]})).tolist()
    ['no', 'yes']
    """

    schema: Schema
    epsilon: float
    _: KW_ONLY
    shares: Mapping[str, float] | None = None
    n_features: int | None = None
    method: Any = "auto"
    test_share: float = 0.3
    n_published: int | None = None
    relation: str = "add-remove"
    max_grids: int = 10_000
    keep_uniform: bool = False
    _method: tuple[str, Any] = field(init=False, repr=False)
    _tried: dict = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self):
        def put(name: str, value: Any) -> None:
            object.__setattr__(self, name, value)  # frozen dataclass

        if not isinstance(self.schema, Schema):
            raise InvalidParameter("schema", type(self.schema).__name__, "a dpml.schema.Schema")
        put("epsilon", check_epsilon(self.epsilon))
        given = SHARES if self.shares is None else self.shares
        if not isinstance(given, Mapping):
            raise InvalidParameter("shares", given, f"a mapping of {', '.join(PARTS)} to shares of ε")
        for part in given:
            check_choice(part, "part in shares", PARTS)
        put("shares", {part: check_number(given.get(part, 0.0), f"share of {part}", 0.0) for part in PARTS})
        check_relation(self.relation)
        put("test_share", check_number(self.test_share, "test_share", 0.0, 1.0, open_lower=True, open_upper=True))
        if self.n_features is not None:
            put("n_features", check_integer(self.n_features, "n_features", 1))
        if self.n_published is not None:
            put("n_published", check_integer(self.n_published, "n_published", 0, MOST_RECORDS))
        put("max_grids", check_integer(self.max_grids, "max_grids", 1))
        check_flag(self.keep_uniform, "keep_uniform")
        put("_method", method_named(self.method))

    # ---- before anything is spent -------------------------------------------------------------------------------

    @property
    def epsilons(self) -> dict[str, float]:
        """ε of each part that has a share. Their exact sum is at most ε where the shares add up to at most 1."""
        kept = {part: share for part, share in self.shares.items() if share > 0}  # type: ignore[union-attr]
        total = math.fsum(kept.values())
        if 1.0 < total <= 1.0 + ROUNDING:
            kept = {part: share / total for part, share in kept.items()}
        if total > 1.0 + ROUNDING:
            return {part: self.epsilon * share for part, share in kept.items()}
        return dict(zip(kept, divide_epsilon(self.epsilon, list(kept.values()), [1] * len(kept)), strict=True))

    def preview(self, secure: bool = True) -> pd.DataFrame:
        """Return the charges that `run` will make, from a trial on a table without records.

        Parameters
        ----------
        secure : bool, default=True
            Whether to draw secure noise for a release, or noise for a simulation, as for `run`.

        Returns
        -------
        DataFrame
            One row for each charge: part, released, epsilon, relation, noise, source. A part that cannot be carried out
            has one row, whose noise names the problem. The noise is that of the trial. A method that chooses its way by
            a noisy value of the records may draw another kind, which the ledger then names.
        """
        rows = list(self._trial(check_flag(secure, "secure"))[0])
        parts = {row["part"] for row in rows}
        for part, epsilon in self.epsilons.items():
            if part not in parts:
                rows.append(
                    {
                        "part": part,
                        "released": RELEASED[part],
                        "epsilon": epsilon,
                        "relation": self.relation,
                        "noise": "not available, see the problems",
                        "source": "",
                    }
                )
        return pd.DataFrame(rows, columns=list(COLUMNS))

    def problems(self, secure: bool = True) -> tuple[DpmlError, ...]:
        """Return the obstacles to carrying out the plan.

        Parameters
        ----------
        secure : bool, default=True
            Whether to plan a release, or a simulation. A simulation may draw any noise, and data-derived facts are no
            obstacle to it.

        Returns
        -------
        tuple of DpmlError
            Empty if the plan may run. `BudgetExceeded` for shares above 1, `InvalidParameter` for parts that do not fit
            together, `InvalidSchema` for data-derived facts and for values that a file cannot tell apart, `NotPrivate`
            for a method that does not hold its ε, `RelationMismatch`, `NoSecureSampler`, and `MissingExtra` without
            OpenDP.
        """
        check_flag(secure, "secure")
        problems: list[DpmlError] = [*self._share_problems()]
        unfit = self._unfit_parts()
        problems += unfit
        marked = self.schema.unconfirmed
        if secure and marked:
            names = ", ".join(marked[:8]) + (", ..." if len(marked) > 8 else "")
            allowed = "confirmed as public by a person. Confirm or replace each entry of the schema"
            problems.append(InvalidSchema("data_derived", names, allowed))
        problems += self.schema.ambiguities
        name, model = self._method
        against = method_problems(name, model, self.relation, secure) if self.shares["training"] else []  # type: ignore
        problems += against
        if secure:
            try:
                check_release()
            except DpmlError as error:
                return (*problems, error)
        failed = self._trial(secure)[1]
        if failed is not None and not (against or unfit):
            problems.append(failed)
        return tuple(problems)

    def _share_problems(self) -> list[DpmlError]:
        shares: Any = self.shares
        total = math.fsum(shares.values())
        problems: list[DpmlError] = []
        if total > 1.0 + ROUNDING:
            problems.append(BudgetExceeded(f"the shares of ε must add up to at most 1. Got {total:.6g}"))
        if not total:
            problems.append(InvalidParameter("shares", "all 0", f"greater than 0 for one of {', '.join(PARTS)}"))
        return problems

    def _unfit_parts(self) -> list[DpmlError]:
        """Return the parts that do not fit the others, or the schema."""
        shares: Any = self.shares
        problems: list[DpmlError] = []
        other = next((f.name for f in self.schema.features if f.kind != "binary"), None)
        if shares["selection"] and other is not None:
            allowed = f"0 for this schema, because column {other!r} is not binary"
            problems.append(InvalidParameter("share of selection", shares["selection"], allowed))
        for part in ("selection", "evaluation"):
            if shares[part] and not shares["training"]:
                allowed = f"greater than 0 if {part} has a share"
                problems.append(InvalidParameter("share of training", 0.0, allowed))
        return problems

    # ---- the trial ----------------------------------------------------------------------------------------------

    def _task(self, schema: Schema) -> Task:
        n_features = self.n_features
        if n_features is None and self.shares["selection"] and schema.is_binary:  # type: ignore[index]
            n_features = selection_plan(schema, self.epsilon, self.relation).n_features
        return Task(
            schema,
            self.epsilons,
            self.relation,
            self._method[1],
            n_features,
            self.test_share,
            self.n_published,
            self.max_grids,
            self.keep_uniform,
        )

    def _trial(self, secure: bool) -> tuple[list[dict[str, Any]], DpmlError | None]:
        """Return the charges of a run on no records, and the error that ends it."""
        if secure not in self._tried:
            self._tried[secure] = self._try_out(secure)
        return self._tried[secure]

    def _try_out(self, secure: bool) -> tuple[list[dict[str, Any]], DpmlError | None]:
        # that facts were read off the data is a problem of its own, which need not hide the others
        schema = as_confirmed(self.schema)
        task = replace(self._task(schema), n_published=0)
        charges: list[dict[str, Any]] = []
        for parts in stages(task.epsilons):
            some = replace(task, epsilons={part: task.epsilons[part] for part in parts})
            try:
                # an observer of an audit sees nothing of it: there are no records
                with boundary.observe(None):
                    rng = None if secure else np.random.default_rng(0)
                    done = carry_out(some, Records.none(schema), secure=secure, rng=rng)
                charges = [*charges, *done.charges]
            except DpmlError as error:
                return charges, advised(error, self._method[0])
            except Exception as error:
                # on no records, so what it says is public
                message = f"{' and '.join(parts)} fails on a table without records: {type(error).__name__}: {error}"
                problem = NotPrivate(f"{message}. A release must succeed on every table")
                problem.__cause__ = error
                return charges, problem
        return charges, None

    # ---- the release --------------------------------------------------------------------------------------------

    def run(
        self, X: Any, y: Any, *, secure: bool = True, random_state: Any = None, budget: Budget | None = None
    ) -> Released:
        """Carry out the plan on private records.

        The release has the values that `preview` lists, and values that follow from them.

        Parameters
        ----------
        X : DataFrame, array, sparse matrix or list of rows
            The private records. Read a file with `dpml.tables.read_table(..., release=True)`, so that no record changes
            how another is read. An entry of a list that is no record is a null record.
        y : str, or array of shape (n,)
            The column of X with the labels, or the labels.
        secure : bool, default=True
            Whether to make a release, with noise from OpenDP. No data set makes it fail, and values outside their
            domain are clipped. False makes a simulation with seeded noise, and marks all of its results.
        random_state : int, Generator, RandomState or None
            Seed of a simulation. A release has none.
        budget : Budget, optional
            Privacy budget that is charged all rows of `preview`, or none of them, before anything is drawn.

        Returns
        -------
        Released
            The released values and their ledger.

        Raises
        ------
        DpmlError
            The first of `problems`. `BudgetExceeded` or `RelationMismatch`, if the budget cannot be charged.
            `InvalidData`, if a column is missing or lengths differ. Nothing is charged then. An exception after the
            charge, also that of Ctrl-C, has a note with the ε that was charged.

        Notes
        -----
        Privacy: ε = epsilon of the plan at most. δ = 0. Relation: that of the plan. Sensitivity: that of each part's
        mechanism.

        All charges are made before the first record is read.
        """
        check_flag(secure, "secure")
        if secure:
            check_release(random_state)
        for problem in self.problems(secure):
            raise problem
        rng = None if secure else as_generator(random_state)
        planned = self._trial(secure)[0]
        with charge_noted(budget, planned), warnings.catch_warnings():
            if secure:
                # a warning, as an exception, may tell something of a cell
                warnings.simplefilter("ignore")
            records = read_records(self.schema, X, y)
            if budget is not None:
                charge_rows(budget, planned, self.relation)
            if not secure:
                warn_violations(self.schema, records)
            done = carry_out(self._task(self.schema), records, secure=secure, rng=rng)
            _check_charges(planned, done)
            facts = {name: getattr(self, name) for name in ("epsilon", "relation", "schema", "test_share")}
            return Released.of(done, secure, method=self._method[0], **facts)


def _check_charges(planned: list[dict[str, Any]], done: Carried) -> None:
    """Refuse a release whose parts charged anything else than on no records: their charges are then no public fact."""
    before, after = ([(row["part"], row["epsilon"]) for row in rows] for rows in (planned, done.charges))
    if before != after:
        raise NotPrivate("a part charged another ε than on an empty table, so its charges depend on the data")
