"""The plan of a release: the parts that share ε, the charge of each, the problems of the plan, and its execution."""

import math
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
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
from dpml.exceptions import BudgetExceeded, DpmlError, InvalidParameter, InvalidSchema, NotPrivate, RelationMismatch
from dpml.mechanisms import boundary
from dpml.mechanisms.secure import check_release
from dpml.release.folder import DEMONSTRATION, RELEASE
from dpml.release.forecast import Forecast, forecast
from dpml.release.methods import advised, method_named, method_problems
from dpml.release.records import Records, as_confirmed, read_records, warn_violations
from dpml.release.released import COLUMNS, Released, measures
from dpml.release.steps import PARTS, RELEASED, Carried, Task, carry_out, stages
from dpml.schema import Schema
from dpml.selection.plan import plan as selection_plan

NOT_RELEASED = ", but nothing was released. Another call is charged again"
SHARES = {"training": 0.8, "evaluation": 0.2}
MOST_RECORDS = 10_000_000
# shares that add up to 1 as people write them may exceed it by rounding
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Plan:
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
        Whether to keep the columns that the grid of the synthetic table does not distinguish. They are drawn uniformly
        from their public domain, and carry no information. By default they are left out, and named in the README and
        the privacy report.

    Raises
    ------
    InvalidParameter
        For a value that no plan can have. `problems` returns the other obstacles.

    See Also
    --------
    Released : Holds the result of a plan.
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
    _trials: dict = field(default_factory=dict, init=False, repr=False)

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
            One row for each charge: part, released, epsilon, relation, noise, source. A part that fails has one row,
            whose noise refers to the problems. A method that a noisy value of the records steers may draw another kind
            of noise than in the trial. The ledger then names it.
        """
        rows = list(self._trial(check_flag(secure, "secure"))[0])
        parts = {row["part"] for row in rows}
        for part, epsilon in self.epsilons.items():
            if part not in parts:
                values = part, RELEASED[part], epsilon, self.relation, "not available, see the problems", ""
                rows.append(dict(zip(COLUMNS, values, strict=True)))
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
        shares: Any = self.shares
        total = math.fsum(shares.values())
        problems: list[DpmlError] = []
        if total > 1.0 + ROUNDING:
            problems.append(BudgetExceeded(f"the shares of ε must add up to at most 1. Got {total:.6g}"))
        if not total:
            problems.append(InvalidParameter("shares", "all 0", f"greater than 0 for one of {', '.join(PARTS)}"))
        unfit: list[DpmlError] = []
        other = next((f.name for f in self.schema.features if f.kind != "binary"), None)
        if shares["selection"] and other is not None:
            allowed = f"0 for this schema, because column {other!r} is not binary"
            unfit.append(InvalidParameter("share of selection", shares["selection"], allowed))
        for part in ("selection", "evaluation"):
            if shares[part] and not shares["training"]:
                unfit.append(InvalidParameter("share of training", 0.0, f"greater than 0 if {part} has a share"))
        problems += unfit
        marked = self.schema.unconfirmed
        if secure and marked:
            names = ", ".join(marked[:8]) + (", ..." if len(marked) > 8 else "")
            allowed = "confirmed as public by a person. Confirm or replace each entry of the schema"
            problems.append(InvalidSchema("data_derived", names, allowed))
        problems += self.schema.ambiguities
        against = method_problems(*self._method, self.relation, secure) if shares["training"] else []
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
        if secure not in self._trials:
            self._trials[secure] = self._run_empty(secure)
        return self._trials[secure]

    def _run_empty(self, secure: bool) -> tuple[list[dict[str, Any]], DpmlError | None]:
        """Run all parts on a table without records."""
        # data-derived facts are a problem of their own, and need not hide others
        schema = as_confirmed(self.schema)
        task = replace(self._task(schema), n_published=0)
        charges: list[dict[str, Any]] = []
        for parts in stages(task.epsilons):
            some = replace(task, epsilons={part: task.epsilons[part] for part in parts})
            try:
                # the observer of an audit sees no trial
                with boundary.observe(None):
                    rng = None if secure else np.random.default_rng(0)
                    done = carry_out(some, Records.none(schema), secure=secure, rng=rng)
                charges = [*charges, *done.charges]
            except DpmlError as error:
                return charges, advised(error, self._method[0])
            except Exception as error:
                # the message is public, because there are no records
                message = f"{' and '.join(parts)} fails on a table without records: {type(error).__name__}: {error}"
                problem = NotPrivate(f"{message}. A release must succeed on every table")
                problem.__cause__ = error
                return charges, problem
        return charges, None

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
        with _charge_noted(budget, planned), warnings.catch_warnings():
            if secure:
                # a warning that is raised as an exception may reveal a cell
                warnings.simplefilter("ignore")
            records = read_records(self.schema, X, y)
            if budget is not None:
                _charge(budget, planned, self.relation)
            if not secure:
                warn_violations(self.schema, records)
            done = carry_out(self._task(self.schema), records, secure=secure, rng=rng)
            before, after = ([(row["part"], row["epsilon"]) for row in rows] for rows in (planned, done.charges))
            if before != after:
                raise NotPrivate("a part charged another ε than on an empty table, so its charges depend on the data")
            return self._released(done, RELEASE if secure else DEMONSTRATION)

    def _released(self, done: Carried, status: str) -> Released:
        """Return the values of a task that was carried out, marked with the status."""
        if done.model is not None:
            done.model.status_ = status
        if done.table is not None and status == DEMONSTRATION:
            # no schema has this column, so nobody mistakes the table for a published one
            done.table[DEMONSTRATION] = ""
        return Released(
            done.model,
            done.table,
            None if done.histogram is None else measures(done.histogram, done.areas),
            done.histogram,
            done.areas,
            pd.DataFrame(done.charges, columns=list(COLUMNS)),
            self.epsilon,
            self.relation,
            self.schema,
            self._method[0],
            self.test_share,
            status,
            done.uniform,
        )

    def forecast(self, X: Any, y: Any, *, random_state: Any = 0) -> Forecast:
        """Return measures of the planned model on the exact records, and warnings, for the table's owner alone.

        The model is trained with noise for simulations on at most 5,000 records, at an ε that loses as much to noise,
        and measured on records held out. Up to 3,000 records are cross-validated. A warning names a model that is no
        better than the majority-class baseline, each column that predicts the label alone, and each column of which
        half of the values, or of the labels a tenth, are missing or outside the stated domain.

        Parameters
        ----------
        X : DataFrame, array, sparse matrix or list of rows
            The private records.
        y : str, or array of shape (n,)
            The column of X with the labels, or the labels.
        random_state : int, Generator, RandomState or None, default=0
            Seed of the folds and the noise.

        Returns
        -------
        Forecast
            The measures and the warnings, which are private.

        Raises
        ------
        DpmlError
            The first of the `problems` of a simulation. `InvalidData`, if a column is missing or lengths differ.

        Notes
        -----
        The forecast has no privacy guarantee. Do not publish any part of it. No release has a part of it. A person who
        changes or stops a plan because of it makes a choice that depends on the data.

        Examples
        --------
        >>> from dpml.schema import Feature
        >>> table = pd.DataFrame({"paid": [0, 1] * 200, "left": ["no", "yes"] * 200})
        >>> found = Plan(Schema((Feature("paid"),), ("no", "yes"), n_lower=300), 1.0).forecast(table, "left")
        >>> found.accuracy, found.auc, [(each.kind, each.column) for each in found.warnings]
        (1.0, 1.0, [('leak', 'paid')])
        """
        for problem in self.problems(secure=False):
            raise problem
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            records = read_records(self.schema, X, y)
        return forecast(self._task(self.schema), records, self._method[0], as_generator(random_state))


@contextmanager
def _charge_noted(budget: Any, planned: list[dict[str, Any]]) -> Iterator[None]:
    """Return a context in which every exception after the charge gets a note with its ε."""
    before = budget.charges_made if isinstance(budget, Budget) else 0
    try:
        yield
    except BaseException as error:
        if isinstance(budget, Budget) and budget.charges_made > before:
            error.add_note(charged_words(math.fsum(row["epsilon"] for row in planned), budget) + NOT_RELEASED)
        raise


def charged_words(epsilon: float, budget: Budget) -> str:
    """Return the ε that was charged, and where to."""
    return f"ε = {epsilon:.6g} was charged to {'the budget' if budget.path is None else repr(budget.path)}"


def _charge(budget: Any, planned: list[dict[str, Any]], relation: str) -> None:
    """Charge all rows to a budget, or none."""
    if not isinstance(budget, Budget):
        raise InvalidParameter("budget", budget, "a dpml.budget.Budget or None")
    if budget.relation != relation:
        message = f"the plan and its budget must have the same relation. Got {relation!r} and {budget.relation!r}"
        raise RelationMismatch(message)
    labels: dict[str, float] = {}
    for row in planned:
        label = f"{row['part']}: {row['released']}"
        # two charges of one name are two charges
        labels[label if label not in labels else f"{label} ({len(labels) + 1})"] = row["epsilon"]
    budget.spend_all(labels, relation=relation)
