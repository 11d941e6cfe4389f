"""Checks of a private estimator, for this library's estimators and for your own.

`check_private_estimator` is to privacy what `sklearn.utils.estimator_checks.check_estimator` is to scikit-learn's
conventions. It fits clones of an estimator to small made-up tables and to their neighbours. It needs `fit`, a parameter
``epsilon`` and scikit-learn's ``get_params``. Other parameters of this library, such as ``budget``, are checked where
the estimator has them.
"""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from dpml._validate import check_choice, check_epsilon, check_integer, check_number, check_relation
from dpml.audit import audit_outputs, recorded_cost, recorded_releases
from dpml.budget import Budget
from dpml.exceptions import BudgetExceeded, InvalidData, InvalidParameter, MissingExtra, NoSecureSampler, NotPrivate
from dpml.schema import Feature, Schema

__all__ = ["CHECKS", "check_private_estimator", "expected_failed_checks"]

# A budget that no check exhausts
LARGE = 1e9
# Sizes of the tables whose neighbours the recorder compares
SIZES = (2, 9, 40)
TOLERANCE = 1e-9


class _Skipped(Exception):
    """A check does not apply to an estimator. The message gives the reason."""


def _require(holds: Any, failure: str) -> None:
    """Raise the failure of a check unless its condition holds, also where Python leaves out `assert`."""
    if not holds:
        raise AssertionError(failure)


@dataclass
class _Subject:
    """The estimator under check, its claim, and the table that its clones are fitted to."""

    estimator: Any
    X: Any
    y: Any
    relation: str
    delta: float
    n_fits: int
    confidence: float

    @property
    def parameters(self) -> dict[str, Any]:
        return self.estimator.get_params(deep=False)

    @property
    def epsilon(self) -> float:
        return self.parameters["epsilon"]

    @property
    def schema(self) -> Schema | None:
        return self.parameters.get("schema")

    @property
    def is_private(self) -> bool:
        """False for an estimator that declares its claim wrong."""
        return getattr(self.estimator, "private", True)

    def needs(self, *names: str) -> None:
        """Skip a check of parameters that the estimator does not have."""
        for name in names:
            if name not in self.parameters:
                raise _Skipped(f"no parameter `{name}`")

    def fresh(self, seed: Any = 0, **parameters: Any) -> Any:
        """Return an unfitted clone with a seed where it takes one, and without the caller's budget."""
        if "budget" in self.parameters:
            parameters = {"budget": None, **parameters}
        released = parameters.get("release", self.parameters.get("release", False))
        if "random_state" in self.parameters:
            parameters.setdefault("random_state", None if released else seed)
        return clone(self.estimator).set_params(**parameters)

    def fitted(self, seed: Any = 0, **parameters: Any) -> Any:
        return self.fresh(seed, **parameters).fit(self.X, self.y)

    def needs_seed(self) -> None:
        self.needs("random_state")
        if self.parameters.get("release", False):
            raise _Skipped("a release takes no seed")

    def use(self, model: Any) -> Any:
        """Return the results of a fitted model on public records, as arrays that can be compared."""
        queries = _rows(self.X, np.arange(min(_length(self.X), 10)))
        if hasattr(model, "sample"):
            return np.asarray(model.sample(50, random_state=0), dtype=object)
        methods = [name for name in ("predict", "predict_proba", "transform") if hasattr(model, name)]
        used = [np.asarray(_dense(getattr(model, name)(queries)), dtype=object).ravel() for name in methods]
        if hasattr(model, "get_support"):
            used.append(np.asarray(model.get_support(), dtype=object))
        return np.concatenate(used)

    def records(self) -> list[Any]:
        """Return records at the ends of the domain, each with each class: the ones that change statistics most."""
        features = self.schema.features if self.schema is not None else ()
        if features:
            ends = [_ends(feature) for feature in features]
            rows = [[end[0] for end in ends], [end[-1] for end in ends]]
            rows.append([end[i % len(end)] for i, end in enumerate(ends)])
        else:
            dense = np.asarray(_dense(self.X))
            rows = [dense.min(axis=0), dense.max(axis=0), dense[0]]
        classes = self.schema.classes if self.schema is not None else np.unique(np.asarray(self.y)).tolist()
        return [(row, label) for row in rows for label in (classes[0], classes[-1])]

    def pairs(self, sizes: Sequence[int]) -> Iterator[tuple[Any, Any]]:
        """Yield neighbouring tables (X, y) under the relation. They differ in the last record."""
        records = self.records()
        for n in sizes:
            n = self._allowed_size(min(n, _length(self.X)))
            kept = _rows(self.X, np.arange(n)), list(np.asarray(self.y, dtype=object)[:n])
            sides = [_with_record(*kept, record) for record in records]
            if self.relation == "add-remove":
                yield from ((kept, side) for side in sides)
            else:
                # one label moved, then one record moved from end to end with its label
                yield from zip(sides[::2], sides[1::2], strict=True)
                yield sides[0], sides[3]

    def _allowed_size(self, n: int) -> int:
        """Return the number of common records that the schema's public counts allow."""
        schema = self.schema
        if schema is None:
            return n
        if self.relation == "replace-one" and schema.n_rows is not None:
            return schema.n_rows - 1
        return min(max(n, schema.n_lower), _length(self.X))


# ---- tables ----------------------------------------------------------------------------------------------------------


def _made_up(schema: Schema | None, n: int) -> tuple[Any, Any]:
    """Return records from the domains of a schema, or binary ones, with a first column that predicts the class."""
    rng = np.random.default_rng(0)
    if schema is None:
        y = rng.integers(2, size=n)
        return (rng.random((n, 4)) < np.where(y, 0.7, 0.3)[:, None]).astype(int), y
    codes = rng.integers(len(schema.classes), size=n)
    columns: dict[str, Any] = {}
    for feature in schema.features:
        ends = _ends(feature)
        values = (
            rng.uniform(ends[0], ends[-1], n)
            if feature.kind == "numeric"
            else [ends[i] for i in rng.integers(len(ends), size=n)]
        )
        columns[feature.name] = values
    table = pd.DataFrame(columns)
    if schema.is_binary and schema.row_bound is not None:
        table = table.mask(table.cumsum(axis=1) > schema.row_bound, 0)
    return table, [schema.classes[i] for i in codes]


def _ends(feature: Feature) -> tuple:
    """Return the bounds of a number, or all values of another feature."""
    if feature.kind == "numeric":
        return feature.lower, feature.upper
    return tuple(feature.categories or (0, 1))


def _length(X: Any) -> int:
    return X.shape[0] if hasattr(X, "shape") else len(X)


def _dense(X: Any) -> Any:
    return X.toarray() if sparse.issparse(X) else X


def _rows(X: Any, where: Any) -> Any:
    if isinstance(X, pd.DataFrame):
        return X.iloc[where].reset_index(drop=True)
    return [X[i] for i in where] if isinstance(X, list) else X[where]


def _with_record(X: Any, y: list, record: tuple[Any, Any]) -> tuple[Any, list]:
    """Return a table with one more record at its end. Its columns keep their types."""
    row, label = record
    labels = [*y, label]
    if isinstance(X, pd.DataFrame):
        last = pd.DataFrame([list(row)], columns=X.columns)
        return pd.concat([X, last.astype(X.dtypes.to_dict())], ignore_index=True), labels
    if sparse.issparse(X):
        return sparse.vstack([X, sparse.csr_array(np.atleast_2d(row))], format="csr"), labels
    return np.vstack([np.asarray(X), np.asarray(row)[None]]), labels


def _with_cell(X: Any, cell: Any) -> Any:
    """Return a table whose last record has another value in the first column."""
    changed = pd.DataFrame(_dense(X)).astype(object)
    changed.iloc[-1, 0] = cell
    return changed if isinstance(X, pd.DataFrame) else changed.to_numpy()


def _same(first: Any, second: Any) -> bool:
    return first.shape == second.shape and bool(np.all(first == second))


# ---- scikit-learn's conventions --------------------------------------------------------------------------------------


def check_clone(subject: _Subject) -> None:
    """Check that a clone has equal parameters and the same budget, and that it is not fitted."""
    budget = Budget(LARGE, relation=subject.relation)
    given = subject.fresh(**({"budget": budget} if "budget" in subject.parameters and subject.is_private else {}))
    copied = clone(clone(given))
    before, after = given.get_params(deep=False), copied.get_params(deep=False)
    _require(set(before) == set(after), "a clone has other parameters")
    if before.get("budget") is not None:
        _require(after["budget"] is before["budget"], "a clone spends from a copy of the budget, not from the budget")
    try:
        check_is_fitted(copied)
    except NotFittedError:
        return
    raise AssertionError("the estimator counts as fitted before `fit`")


def check_pickle(subject: _Subject) -> None:
    """Check that a pickled and loaded model gives the same results."""
    model = subject.fitted()
    try:
        copied = pickle.loads(pickle.dumps(model))
    except NotPrivate as reason:
        raise _Skipped(str(reason)) from None
    _needs_fixed_predictions(subject, model)
    _require(_same(subject.use(model), subject.use(copied)), "a pickled model gives other results")


def check_refit(subject: _Subject) -> None:
    """Check that a second fit forgets the first one."""
    subject.needs_seed()
    few = subject._allowed_size(max(_length(subject.X) // 2, 2))
    twice = subject.fresh().fit(_rows(subject.X, np.arange(few)), list(np.asarray(subject.y, dtype=object)[:few]))
    twice.set_params(random_state=0).fit(subject.X, subject.y)
    _needs_fixed_predictions(subject, twice)
    _require(_same(subject.use(twice), subject.use(subject.fitted())), "a second fit depends on the first one")


def check_input_unchanged(subject: _Subject) -> None:
    """Check that a fit does not change its table."""
    X, y = copy.deepcopy(subject.X), copy.deepcopy(subject.y)
    subject.fresh().fit(X, y)
    _require(
        np.array_equal(np.asarray(_dense(X), dtype=object), np.asarray(_dense(subject.X), dtype=object)),
        "`fit` changed X",
    )
    _require(list(y) == list(subject.y), "`fit` changed y")


def check_containers(subject: _Subject) -> None:
    """Check that equal values give equal models in every container and type."""
    subject.needs_seed()
    expected = subject.use(subject.fitted())
    _needs_fixed_predictions(subject, subject.fitted())
    labels = np.empty(len(subject.y), dtype=object)
    labels[:] = list(subject.y)
    series = pd.Series(list(subject.y), index=range(7, 7 + len(subject.y)))
    variants: list[tuple[str, Any, Any]] = [
        ("a list of labels", subject.X, list(subject.y)),
        ("labels as objects", subject.X, labels),
        ("labels as a Series with another index", subject.X, series),
    ]
    X = subject.X
    if isinstance(X, pd.DataFrame):
        moved = X.set_index(pd.Index(range(7, 7 + len(X))))
        variants += [("columns as objects", X.astype(object), subject.y), ("another index", moved, subject.y)]
    elif isinstance(X, np.ndarray):
        variants += [
            ("floats", X.astype(float), subject.y),
            ("Fortran order", np.asfortranarray(X), subject.y),
            ("a view", np.repeat(X, 2, axis=0)[::2], subject.y),
        ]
    for name, table, given in variants:
        try:
            found = subject.use(subject.fresh().fit(table, given))
        except (TypeError, ValueError):  # a container that is refused is not misread
            continue
        _require(_same(found, expected), f"{name} of equal values: another model")


def check_batches(subject: _Subject) -> None:
    """Check that the prediction of a record does not depend on the records beside it."""
    model = subject.fitted()
    if not hasattr(model, "predict"):
        raise _Skipped("no method `predict`")
    _needs_fixed_predictions(subject, model)
    n = min(_length(subject.X), 20)
    for name in ("predict", "predict_proba", "decision_function"):
        if hasattr(model, name):
            whole = np.asarray(getattr(model, name)(_rows(subject.X, np.arange(n))))
            alone = np.concatenate([getattr(model, name)(_rows(subject.X, np.arange(i, i + 1))) for i in range(n)])
            same = np.allclose(whole, alone, rtol=1e-9) if whole.dtype.kind == "f" else np.array_equal(whole, alone)
            _require(same, f"`{name}` of a record depends on the records beside it")


def _needs_fixed_predictions(subject: _Subject, model: Any) -> None:
    """Skip a check if each prediction draws noise."""
    if hasattr(model, "predict") and not hasattr(model, "sample"):
        queries = _rows(subject.X, np.arange(min(_length(subject.X), 50)))
        if not np.array_equal(np.asarray(model.predict(queries)), np.asarray(model.predict(queries))):
            raise _Skipped("each prediction draws noise")


# ---- noise -----------------------------------------------------------------------------------------------------------


def check_seeds(subject: _Subject) -> None:
    """Check that a seed repeats a model, and that other seeds change it."""
    subject.needs_seed()
    _require(_same(subject.use(subject.fitted(3)), subject.use(subject.fitted(3))), "the same seed gives other models")
    # at a small ε, so that noise also changes a choice
    noisy = [subject.fitted(seed, epsilon=subject.epsilon / 100) for seed in range(20)]
    shown = {repr((_learned(model), subject.use(model).tolist())) for model in noisy}
    _require(len(shown) > 1, "20 seeds give the same model: no noise was drawn")


def check_epsilon_values(subject: _Subject) -> None:
    """Check that an ε other than a finite number above 0 is refused before a charge."""
    for value in (0, -1.0, np.nan, np.inf, "1", None):
        budget = Budget(LARGE, subject.delta and 0.5, subject.relation)
        charged = {"budget": budget} if "budget" in subject.parameters and subject.is_private else {}
        try:
            model = subject.fresh(epsilon=value, **charged)
            model = model.fit(subject.X, subject.y)
            if hasattr(model, "predict"):
                model.predict(_rows(subject.X, np.arange(1)))
        except (ValueError, TypeError):
            _require(not len(budget.ledger), f"ε = {value!r} was refused after a charge")
        else:
            raise AssertionError(f"ε = {value!r} was accepted")


# ---- public metadata -------------------------------------------------------------------------------------------------


def check_single_class(subject: _Subject) -> None:
    """Check that `fit` accepts records of a single class, because the presence of a class is private."""
    label = next(iter(subject.y))
    subject.fresh().fit(subject.X, [label] * len(subject.y))


def check_classes(subject: _Subject) -> None:
    """Check that one record with another label does not change the classes of the model."""
    options = {"on_invalid": "clip"} if "on_invalid" in subject.parameters else {}
    model = subject.fitted(**options)
    if not hasattr(model, "classes_"):
        raise _Skipped("no attribute `classes_`")
    present = np.asarray(subject.y).tolist()
    other = max(present) + 1 if isinstance(present[0], (int, float)) else f"{max(map(str, present))}z"
    one = subject.fresh(**options).fit(subject.X, [*present[:-1], other])
    _require(np.array_equal(model.classes_, one.classes_), "one record with another label adds a class to `classes_`")


def check_odd_cells(subject: _Subject) -> None:
    """Check that no cell or label makes `fit` raise with ``on_invalid="clip"``, and otherwise only `InvalidData`."""
    subject.needs("on_invalid")
    for cell in (np.nan, np.inf, -1e300, 1e300, None, "x", ""):
        table = _with_cell(subject.X, cell)
        subject.fresh(on_invalid="clip").fit(table, subject.y)
        with suppress(InvalidData):
            subject.fresh(on_invalid="raise").fit(table, subject.y)
    for label in (None, np.nan, "no class", 7.5):
        labels = np.empty(len(subject.y), dtype=object)
        labels[:] = [*list(subject.y)[:-1], label]
        subject.fresh(on_invalid="clip").fit(subject.X, labels)


# ---- budget and release ----------------------------------------------------------------------------------------------


def check_budget(subject: _Subject) -> None:
    """Check that each fit charges at most its ε, and that a budget with too little left stops it."""
    subject.needs("budget")
    if not subject.is_private:
        try:
            subject.fresh(budget=Budget(LARGE, relation=subject.relation)).fit(subject.X, subject.y)
        except NotPrivate:
            return
        raise AssertionError("the estimator is not private, and it charged a budget")
    claimed = Budget(subject.epsilon, subject.delta, subject.relation)
    queries = _rows(subject.X, np.arange(1))

    def fit(model: Any) -> Any:
        model.fit(subject.X, subject.y)
        if not len(model.budget.ledger) and hasattr(model, "predict"):
            model.predict(queries)  # labels are charged, and not a fit
        return model

    try:
        fit(subject.fresh(budget=claimed))
    except BudgetExceeded as error:
        raise AssertionError(f"a fit charges more than ε = {subject.epsilon:g}: {error}") from None
    _require(len(claimed.ledger), "a fit charged nothing")
    parts = ["epsilon", "delta", "rho"]
    model = fit(subject.fresh(budget=Budget(LARGE, 0.5 if subject.delta else 0.0, subject.relation)))
    once = model.budget.ledger[parts].sum()
    model.fit(subject.X, subject.y)
    if hasattr(model, "predict"):
        model.predict(queries)
    _require(
        np.allclose(model.budget.ledger[parts].sum(), 2 * once), "a second fit did not charge as much as the first"
    )
    other = {"add-remove": "replace-one", "replace-one": "add-remove"}[subject.relation]
    for refusing in (Budget(subject.epsilon / 100, subject.delta, subject.relation), Budget(LARGE, 0.5, other)):
        try:
            fit(subject.fresh(budget=refusing))
        except (BudgetExceeded, ValueError):
            _require(not len(refusing.ledger), "a refused fit charged the budget")
        else:
            raise AssertionError("a fit exceeded its budget, or spent from one of another relation")


def check_release(subject: _Subject) -> None:
    """Check that a release takes no seed, has no exact score and accepts every cell."""
    subject.needs("release")
    try:
        model = subject.fresh(release=True).fit(subject.X, subject.y)
    except MissingExtra as reason:
        raise _Skipped(str(reason)) from None
    except (NoSecureSampler, NotPrivate, NotImplementedError):
        return
    except InvalidParameter as reason:
        raise _Skipped(f"no release at these parameters: {reason}") from None
    _require(not callable(getattr(model, "score", None)), "a release has the exact `score`")
    if "random_state" in subject.parameters:
        try:
            subject.fresh(release=True, random_state=0).fit(subject.X, subject.y)
        except InvalidParameter:
            pass
        else:
            raise AssertionError("a release accepted a seed")
    subject.fresh(release=True).fit(_with_cell(subject.X, 1e300), subject.y)


# ---- neighbours ------------------------------------------------------------------------------------------------------


def check_neighbours(subject: _Subject) -> None:
    """Check that two neighbouring tables differ in their outputs by no more than the claim allows.

    The recorder adds up the exact losses where all noise comes from `dpml.mechanisms`. Otherwise many fits of each
    table are compared.
    """
    if not subject.is_private:
        raise _Skipped("the estimator declares `private = False`")
    data = next(subject.pairs(SIZES[-1:]))[0]
    found = recorded_releases(lambda table: _run(subject, table, None), data, data)
    if any(release.mechanism is not None for release in found):
        _check_recorded(subject)
    else:
        _check_sampled(subject)


def _run(subject: _Subject, table: Any, budget: Budget | None) -> Any:
    """Return a fitted model and its predictions of two public records."""
    options = {"on_invalid": "clip"} if "on_invalid" in subject.parameters else {}
    charged = {"budget": budget} if "budget" in subject.parameters else {}
    model = subject.fresh(**options, **charged).fit(*table)
    if hasattr(model, "sample"):
        return model, model.sample(20)
    if hasattr(model, "predict"):
        return model.predict(_rows(subject.X, np.arange(2)))
    return model


def _check_recorded(subject: _Subject) -> None:
    for data, neighbour in subject.pairs(SIZES):
        budget = Budget(LARGE, subject.delta, subject.relation)
        _run(subject, data, budget)  # the recorder compares refusals, and a refused fit is no evidence

        def call(table: Any) -> Any:
            return _run(subject, table, Budget(LARGE, subject.delta, subject.relation))

        cost = recorded_cost(call, data, neighbour, delta=subject.delta, pasts=1)
        claim = budget.spent if "budget" in subject.parameters else subject.epsilon
        _require(
            cost <= claim * (1 + TOLERANCE),
            f"tables that differ in the record {_last_record(neighbour)} cost ε = {cost:g}, not {claim:g}",
        )


def _last_record(table: tuple[Any, list]) -> str:
    """Return the last record of a table as text."""
    X, y = table
    return f"{np.asarray(_dense(_rows(X, [_length(X) - 1]))).ravel().tolist()} of class {y[-1]!r}"


def _check_sampled(subject: _Subject) -> None:
    pairs = list(subject.pairs(SIZES[-1:]))
    confidence = 1 - (1 - subject.confidence) / (2 * len(pairs))  # two attackers for each pair
    for data, neighbour in pairs:
        sides = []
        for side, table in enumerate((data, neighbour)):
            fits = [_flat(subject.fresh(2 * k + side).fit(*table), subject) for k in range(subject.n_fits)]
            sides.append(fits)
        width = max(len(fit) for fits in sides for fit in fits)
        first, second = (np.array([[len(fit), *fit, *[0.0] * (width - len(fit))] for fit in fits]) for fits in sides)
        for score in (None, _trained_score(first, second)):
            result = audit_outputs(
                first, second, subject.epsilon, delta=subject.delta, confidence=confidence, score=score
            )
            _require(
                result.passed,
                f"fits to tables that differ in the record {_last_record(neighbour)} show an ε of at least "
                f"{result.epsilon_lower:.3g} with {confidence:.1%} confidence, more than the claimed "
                f"{subject.epsilon:g}",
            )


def _trained_score(first: Any, second: Any) -> Callable[[Any], Any]:
    """Return the score of a random forest, trained to tell the first half of two sides' outputs apart.

    It finds events of several numbers, for example a mean inside its bounds together with one count.
    """
    half = len(first) // 2
    model = RandomForestClassifier(min_samples_leaf=20, random_state=0)
    model.fit(np.concatenate([first[:half], second[:half]]), np.repeat([1, 0], half))
    return lambda outputs: model.predict_proba(outputs)[:, 1]


def _learned(model: Any) -> list[Any]:
    """Return the fitted numeric attributes of a model, by scikit-learn's convention, in the order of their names."""
    found = []
    for name in sorted(vars(model)):
        value = vars(model)[name]
        if name.endswith("_") and not name.startswith("_"):
            try:
                value = np.asarray(_dense(value))
            except ValueError:  # parts of several shapes
                continue
            if value.dtype.kind in "bifu":
                found.append(value)
    return found


def _flat(model: Any, subject: _Subject) -> list[float]:
    """Return everything that a fitted model shows, as numbers."""
    parts = [value.astype(float).ravel() for value in _learned(model)]
    if not parts:
        shown = np.asarray(subject.use(model))
        _, codes = np.unique(shown.astype(str), return_inverse=True)
        parts = [shown.astype(float).ravel() if shown.dtype.kind in "bifu" else codes.astype(float)]
    return np.nan_to_num(np.concatenate(parts), nan=-1.0, posinf=1e300, neginf=-1e300).tolist()


_FUNCTIONS: dict[str, Callable[[_Subject], None]] = {
    "clone": check_clone,
    "pickle": check_pickle,
    "refit": check_refit,
    "input-unchanged": check_input_unchanged,
    "containers": check_containers,
    "batches": check_batches,
    "seeds": check_seeds,
    "epsilon": check_epsilon_values,
    "single-class": check_single_class,
    "classes": check_classes,
    "odd-cells": check_odd_cells,
    "budget": check_budget,
    "release": check_release,
    "neighbours": check_neighbours,
}
#: Names of all checks, in the order in which they run.
CHECKS = tuple(_FUNCTIONS)


def check_private_estimator(
    estimator: Any,
    X: Any = None,
    y: Any = None,
    *,
    relation: str | None = None,
    delta: float | None = None,
    checks: Sequence[str] | None = None,
    n_fits: int = 2000,
    confidence: float = 0.95,
    on_fail: str = "raise",
) -> pd.DataFrame:
    """Check that an estimator is private at its ε, and that it keeps this library's conventions.

    Parameters
    ----------
    estimator : estimator
        The unfitted estimator, with a parameter ``epsilon``. It may be of another library. Only clones are fitted.
    X : array-like or DataFrame of shape (n, D), optional
        A public table that suits the estimator, with at least 2 records. By default, 60 records from the domains of the
        estimator's ``schema``, or of 4 binary columns if it has none.
    y : array-like of shape (n,), optional
        Labels of the records, with at least 2 classes. Pass it together with `X`.
    relation : {"add-remove", "replace-one"}, optional
        Neighbouring relation of the claim. By default, the estimator's parameter ``relation``, or "add-remove" if it
        has none.
    delta : float, optional
        The δ of the claim, in [0, 1). By default, the estimator's parameter ``delta``, or 0 if it has none.
    checks : sequence of str, optional
        Names of checks among `CHECKS`. By default, all checks.
    n_fits : int, default=2000
        Number of fits to each table in a sampled comparison of neighbours, at least 4. More fits find smaller
        violations.
    confidence : float, default=0.95
        Probability, in (0, 1), with which all sampled lower bounds on ε hold.
    on_fail : {"raise", "report"}, default="raise"
        Whether the first failure is raised, or all results are returned.

    Returns
    -------
    DataFrame
        One row for each check, with the columns ``check``, ``status`` ("passed", "failed" or "skipped") and ``reason``.

    Raises
    ------
    AssertionError
        If a check fails and `on_fail` is "raise". The message names the estimator, the check and the violation.
    InvalidParameter
        If a parameter is not allowed, or the estimator has no parameter ``epsilon``.

    See Also
    --------
    dpml.audit.recorded_cost : Computes the privacy loss of one call.
    dpml.audit.audit : Audits one mechanism on two neighbours.

    Notes
    -----
    Privacy: ε = none, the result is not private. δ = 0. Relation: `relation`. Sensitivity: not bounded.

    The checks use public tables. Do not pass private records.

    Neighbours differ in one record at an end of the domain, of either class. Where the noise comes from
    `dpml.mechanisms`, the recorder computes the exact loss of each pair and compares it with the charge to the budget,
    or with ε if there is no parameter ``budget``. Otherwise, attackers see the fitted attributes of `n_fits` fits to
    each table, and their success gives a lower bound on ε. A few pairs of neighbours can refute a
    claim, but cannot prove one.

    Examples
    --------
    A classifier that predicts the majority class from noisy counts is private:

    >>> from sklearn.base import BaseEstimator, ClassifierMixin
    >>> from dpml.mechanisms import Laplace
    >>> class MajorityClass(ClassifierMixin, BaseEstimator):
    ...     def __init__(self, epsilon, random_state=None):
    ...         self.epsilon, self.random_state = epsilon, random_state
    ...     def fit(self, X, y):
    ...         counts = np.array([(np.asarray(y) == label).sum() for label in (0, 1)])
    ...         rng = np.random.default_rng(self.random_state)
    ...         self.counts_ = Laplace(self.epsilon).release(counts, rng=rng)
    ...         return self
    ...     def predict(self, X):
    ...         return np.full(len(X), self.counts_.argmax())
    >>> check_private_estimator(MajorityClass(1.0), checks=["seeds", "epsilon", "budget", "neighbours"])
            check   status                 reason
    0       seeds   passed
    1     epsilon   passed
    2      budget  skipped  no parameter `budget`
    3  neighbours   passed

    If a record may replace another one, two counts change, and the same noise costs 2ε:

    >>> check_private_estimator(MajorityClass(1.0), relation="replace-one", checks=["neighbours"])
    Traceback (most recent call last):
    AssertionError: MajorityClass, neighbours: tables that differ in the record [0, 0, 0, 0] of class 1 cost ε = 2, ...
    """
    if "epsilon" not in estimator.get_params(deep=False):
        raise InvalidParameter("estimator", type(estimator).__name__, "an estimator with a parameter `epsilon`")
    parameters = estimator.get_params(deep=False)
    check_epsilon(parameters["epsilon"])
    relation = check_relation(parameters.get("relation", "add-remove") if relation is None else relation)
    delta = (parameters.get("delta") or 0.0) if delta is None else delta
    check_number(delta, "delta", 0.0, 1.0, open_upper=True)
    check_number(confidence, "confidence", 0.0, 1.0, open_lower=True, open_upper=True)
    check_integer(n_fits, "n_fits", 4)
    check_choice(on_fail, "on_fail", ("raise", "report"))
    if (X is None) != (y is None):
        raise InvalidParameter("y", y, "given together with X")
    if X is None:
        X, y = _made_up(parameters.get("schema"), 60)
    subject = _Subject(estimator, X, y, relation, delta, n_fits, confidence)
    names = [check_choice(name, "checks", CHECKS) for name in (CHECKS if checks is None else checks)]
    rows = []
    for name in names:
        status, reason = _result(_FUNCTIONS[name], subject)
        if status == "failed" and on_fail == "raise":
            raise AssertionError(f"{type(estimator).__name__}, {name}: {reason}")
        rows.append((name, status, str(reason)))
    return pd.DataFrame(rows, columns=["check", "status", "reason"])


def _result(check: Callable[[_Subject], None], subject: _Subject) -> tuple[str, str]:
    """Return the status of one check, and the reason of a failure or a skip."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # made-up tables are small, and some of them are odd on purpose
            check(subject)
    except _Skipped as reason:
        return "skipped", str(reason)
    except AssertionError as failure:
        return "failed", str(failure)
    except Exception as error:
        return "failed", f"{type(error).__name__}: {error}"
    return "passed", ""


# ---- scikit-learn's own checks --------------------------------------------------------------------------------------

_MESSAGE = "the error has another message than scikit-learn's"
_LABELS = "the classes are those of the schema, 0 and 1 by default, and labels of the check are others"
_FEW = "the number of records is private, so a table of few or no records can be fitted"
_CLIPPED = "a release may not raise an error for a value of the data, so it is clipped"
# the failures of a classifier that clips what no schema states
_EXPECTED = {
    "check_classifier_data_not_an_array": "a table is an array, a sparse matrix, a DataFrame or a list of records",
    "check_classifiers_classes": _LABELS,
    "check_classifiers_one_label": "whether a class is present is private, so noise may predict the other class",
    "check_classifiers_regression_target": _LABELS,
    "check_classifiers_train": _LABELS,
    "check_complex_data": _CLIPPED,
    "check_dtype_object": _CLIPPED,
    "check_estimator_sparse_array": _LABELS,
    "check_estimator_sparse_matrix": _LABELS,
    "check_estimators_empty_data_messages": _FEW,
    "check_estimators_nan_inf": _CLIPPED,
    "check_fit2d_predict1d": _MESSAGE,
    "check_n_features_in_after_fitting": _MESSAGE,
    "check_requires_y_none": _MESSAGE,
    "check_supervised_y_2d": "labels have one dimension",
    "check_supervised_y_no_nan": _CLIPPED,
}
# and of one that raises an error instead
_WITHOUT_SCHEMA = (
    "check_decision_proba_consistency",
    "check_dict_unchanged",
    "check_dont_overwrite_parameters",
    "check_estimator_sparse_tag",
    "check_estimators_dtypes",
    "check_estimators_fit_returns_self",
    "check_estimators_overwrite_params",
    "check_estimators_pickle",
    "check_f_contiguous_array_estimator",
    "check_fit2d_1feature",
    "check_fit2d_1sample",
    "check_fit_check_is_fitted",
    "check_fit_idempotent",
    "check_fit_score_takes_y",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_n_features_in",
    "check_pipeline_consistency",
    "check_positive_only_tag_during_fit",
    "check_readonly_memmap_input",
)


def expected_failed_checks(estimator: Any) -> dict[str, str]:
    """Return the checks of scikit-learn that a private classifier may fail, with reasons.

    scikit-learn's checks state no public metadata. A classifier without a schema takes all columns as binary and the
    classes as 0 and 1, so with ``on_invalid="raise"`` most tables of the checks raise an error.

    Parameters
    ----------
    estimator : estimator
        A classifier of this library without a schema.

    Returns
    -------
    dict of str to str
        The reason by the name of a check, for `expected_failed_checks` of
        `sklearn.utils.estimator_checks.check_estimator`.

    See Also
    --------
    check_private_estimator : Checks that an estimator is private.

    Examples
    --------
    >>> from dpml.classifiers import BernoulliNB
    >>> expected_failed_checks(BernoulliNB(1.0, on_invalid="clip"))["check_supervised_y_2d"]
    'labels have one dimension'
    """
    if estimator.on_invalid == "clip":
        return dict(_EXPECTED)
    reason = "no schema was given, so a value other than 0 and 1 is an error: pass on_invalid='clip'"
    return {**_EXPECTED, **dict.fromkeys(_WITHOUT_SCHEMA, reason)}
