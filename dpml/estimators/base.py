"""Base class of private estimators: their parameters, the steps of a fit, and no exact score of a release.

A fit is check, charge, statistics, release and model, in this order (`PrivateEstimator.fit`). A method defines steps of
its own, but it cannot forget the charge.
"""

import inspect
import numbers
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.metrics import accuracy_score

from dpml._docstrings import with_inherited_entries
from dpml._validate import ON_INVALID, as_generator, check_choice, check_epsilon, check_flag, check_relation
from dpml.budget import Budget, Cost, charge_all
from dpml.exceptions import (
    FactWarning,
    InvalidData,
    InvalidParameter,
    InvalidSchema,
    NoExactScore,
    NoSecureSampler,
    NotPrivate,
    shown,
)
from dpml.mechanisms.private import Private, for_study, number_of, statistic
from dpml.mechanisms.secure import check_release
from dpml.parquet import BatchedTable
from dpml.schema import Schema, resolve_schema
from dpml.schema.cells import read_frame

# the classifiers that take a table in batches
READERS = "AutoClassifier, LinearClassifier and BernoulliNB"
# Noise of scale 1e100 hides any table; below an ε of about 1e-150, squares of the noise would overflow
LEAST_EPSILON = 1e-100


@cache
def _flags(kind: type) -> tuple[str, ...]:
    """Return the parameters of an estimator whose default is True or False."""
    parameters = inspect.signature(kind).parameters.items()
    return tuple(name for name, parameter in parameters if isinstance(parameter.default, bool))


def has_exact_score(model: Any) -> bool:
    """Return True for a simulation, and raise `NoExactScore` for a release, for `available_if` around `score`."""
    if model.release:
        raise NoExactScore(
            f"{type(model).__name__} has no score where release=True: an exact score counts private records. Use "
            "dpml.evaluation.private_cross_val_score or dpml.evaluation.release_evaluation for a private score"
        )
    return True


def exact_accuracy(model: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """Return the share of records whose label has the value of the predicted class, as `fit` compares labels."""
    labels, predicted = (model._schema.check_labels(part, "clip") for part in (y, model.predict(X)))
    return float(accuracy_score(labels, predicted, sample_weight=sample_weight))


@dataclass(frozen=True)
class CheckedTable:
    """A table inside the schema's domains, and the parts that a fit needs to release it.

    `X`: the table that `Schema.check_features` returns. `codes`: the class of each record. `schema`: of the table's
    columns. `named`: whether they had names. `rng`: of the estimator's seed. A release may use it too where privacy
    does not rest on secret numbers. `noise`: `rng` or `secure`, for a function that releases. `count`: the number of
    records if it is public (`Schema.public_count`), else None. `in_batches`: whether `X` is read batch by batch.
    """

    X: Any
    codes: Any
    schema: Schema
    named: bool
    relation: str
    rng: np.random.Generator
    noise: dict[str, Any]
    count: int | None = None
    in_batches: bool = False


@dataclass(eq=False, repr=False, kw_only=True)
class PrivateEstimator(BaseEstimator):
    """Define the parameters that all private estimators have, and the steps of a fit.

    A method is a subclass that defines `_costs`, `_statistics`, `_release` and `_model`, and its own checks.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε of one fit, finite and > 0.
    relation : {"add-remove", "replace-one"}
        Neighbouring relation for which the cost holds. It must be the budget's.
    schema : Schema, optional
        Public metadata. None is the canonical binary schema with classes (0, 1) and contribution bound D.
    budget : Budget, optional
        Privacy budget that is charged before anything is computed from the records.
    on_invalid : {"raise", "clip"}
        Treatment of a value outside its domain or a label that is not a class. A release always clips values and drops
        records whose label is not a class, so no data set of the right shape makes it raise.
    release : bool
        Draw secure noise (`dpml.mechanisms.secure`, the extra ``release``), which forbids `random_state` and removes
        the exact `score`. A method that has no secure sampler raises `NoSecureSampler`.
    random_state : int, Generator, RandomState or None
        Seed of the noise, for simulations.

    Attributes
    ----------
    n_features_in_ : int
        Number of features D of the table.
    feature_names_in_ : ndarray of str
        Names of the features, only if the table was a DataFrame.

    Raises
    ------
    InvalidParameter, InvalidSchema
        A parameter, or public metadata of the schema, is not allowed.
    InvalidData
        The table or the labels do not fit the schema.
    BudgetExceeded, RelationMismatch
        The budget has too little left, or is for another relation.
    NotPrivate
        The method takes no budget and has no release with such a schema.
    NoSecureSampler, MissingExtra
        There is no secure noise for a release, or its package is not installed.

    See Also
    --------
    dpml.budget.Budget : Bounds the total ε and δ of all fits.
    dpml.schema.Schema : States public metadata of a table.

    Notes
    -----
    Privacy: ε = epsilon per fit. δ = 0, unless the subclass states another. Relation: `relation`. Sensitivity: that of
    the subclass's release.

    ε covers the released model, and not code around the estimator: a search or a scorer of scikit-learn with
    ``scoring=`` computes exact scores, and calibration or a step of a Pipeline learns from the records without noise.
    """

    epsilon: float = field(kw_only=False)
    relation: str = "add-remove"
    schema: Schema | None = None
    budget: Budget | None = None
    on_invalid: str = "raise"
    release: bool = False
    random_state: Any = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.__doc__:
            cls.__doc__ = with_inherited_entries(cls)

    def fit(self, X: Any, y: Any = None, **refused: Any) -> Self:
        """Fit to private records.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, D), or ParquetTable or BatchTable
            The records, and n may be 0. A DataFrame's columns are looked up in the schema by name. Other tables follow
            its order. `AutoClassifier`, `LinearClassifier` and `BernoulliNB` also accept a
            `dpml.parquet.ParquetTable` or `dpml.parquet.BatchTable`, which they read in batches. The model equals that
            of the same records in memory with columns in the schema's order (see the classifier). Its schema is used if
            the estimator has none.
        y : array of shape (n,)
            Labels among the schema's classes. A table that is read in batches contains them.
        **refused : object
            No other argument is allowed. `sample_weight` raises an error that gives the reason.

        Returns
        -------
        self
            The fitted estimator.
        """
        refuse_arguments(self, refused)
        if isinstance(X, BatchedTable) and y is not None:
            raise InvalidParameter("y", type(y).__name__, f"None for a {type(X).__name__}, which contains the labels")
        X = self._enter(X)
        self._check_common()
        self._check_parameters()
        stated = self._stated_schema(X)
        self._check_claim(stated if isinstance(stated, Schema) else None)
        schema = self._check_schema(resolve_schema(stated, X))
        return self._fit_checked(self._check_table(X, y, schema))

    def _fit_checked(self, table: CheckedTable) -> Self:
        """Charge the budget, then compute statistics, release them, and learn from what was released."""
        self._charge(self._costs(table.schema))
        statistics = self._statistics(table)
        released = self._release(statistics, table)
        self._learned_facts(table.schema, table.named)
        self._model(released, table)
        return self

    # ---- what a method defines --------------------------------------------------------------------------------------

    # False for a method that is kept as published although its privacy claim is wrong
    private: ClassVar[bool] = True
    # True for a method whose rules need `n_lower` records: where an invalid value is an error, fewer are one too
    _refuses_few: ClassVar[bool] = False
    # True for a method whose statistics are read in batches
    _takes_batches: ClassVar[bool] = False

    def _check_parameters(self) -> None:
        """Check the method's own parameters."""

    def _check_schema(self, schema: Schema) -> Schema:
        """Check whether the method takes such features, and return the schema that it uses."""
        return schema

    def _not_private(self, schema: Schema | None) -> str | None:
        """Return why no budget can pay for the method with these features; None where one can."""
        if self.private:
            return None
        return f"{type(self).__name__} is not private at its published ε: use it in a simulation, without a budget"

    def _no_sampler(self) -> str | None:
        """Return why the method has no secure sampler at these settings; None where it has one."""
        return None

    def _costs(self, schema: Schema) -> Mapping[str, Cost]:
        """Return the cost of each part of a fit by the label of its charge: its ε, or arguments of `Budget.spend`."""
        raise NotImplementedError

    def _statistics(self, table: CheckedTable) -> Any:
        """Return exact functions of the private records; if choices come first, the records themselves."""
        return table.X

    def _release(self, statistics: Any, table: CheckedTable) -> Any:
        """Return noisy values. A method without this step releases nothing in a fit."""
        return statistics

    def _model(self, released: Any, table: CheckedTable) -> None:
        """Set the learned attributes, from released values and public facts."""
        raise NotImplementedError

    # ---- the steps --------------------------------------------------------------------------------------------------

    def _charge(self, costs: Mapping[str, Cost]) -> None:
        if not costs and type(self)._release is not PrivateEstimator._release:
            raise NotPrivate(f"{type(self).__name__} releases something and states no cost")
        if costs:
            charge_all(self.budget, self.relation, costs)

    def _check_common(self) -> None:
        check_epsilon(self.epsilon)
        check_choice(self.on_invalid, "on_invalid", ON_INVALID)
        check_relation(self.relation)
        if not isinstance(self.random_state, np.random.RandomState):  # which gives other numbers the second time
            as_generator(self.random_state)

    def _check_claim(self, schema: Schema | None) -> None:
        """Check that what is charged or released is private, and that a release has secure noise."""
        reason = self._not_private(schema)
        if reason and (self.release or self.budget is not None):
            raise NotPrivate(reason)
        if self.release:
            if reason := self._no_sampler():
                raise NoSecureSampler(reason)
            check_release(self.random_state)

    def _check_table(self, X: Any, y: Any, schema: Schema) -> CheckedTable:
        """Return the records as private values, and what a fit releases them with."""
        rng = as_generator(self.random_state)
        records, codes, kept = self._private_records(schema, X, y)
        count = schema.public_count(X, self.relation)
        named = isinstance(X, (pd.DataFrame, BatchedTable))
        table = self._checked_table(records, codes, kept, named, rng, count)
        return replace(table, in_batches=isinstance(X, BatchedTable))

    def _checked_table(
        self, X: Any, codes: Any, schema: Schema, named: bool, rng: np.random.Generator, count: int | None = None
    ) -> CheckedTable:
        noise: dict[str, Any] = {"secure": True} if self.release else {"rng": rng}
        return CheckedTable(X, codes, schema, named, self.relation, rng, noise, count)

    def _learned_facts(self, schema: Schema, named: bool) -> None:
        """Keep the public facts of a fit."""
        self._schema: Schema = schema
        self.n_features_in_ = schema.n_features
        if named:
            self.feature_names_in_ = np.asarray(schema.feature_names, dtype=object)

    def _enter(self, X: Any) -> Any:
        """Make the checks that start every `fit`, and return the table, with its column names if it has any."""
        if isinstance(X, BatchedTable) and not self._takes_batches:
            allowed = f"a table in memory for {type(self).__name__}. {READERS} read files"
            raise InvalidParameter("X", type(X).__name__, allowed)
        for name in _flags(type(self)):  # type: ignore[arg-type]  # a class is hashable
            check_flag(getattr(self, name), name)
        epsilon = self.epsilon
        if isinstance(epsilon, numbers.Real) and 0 < epsilon < LEAST_EPSILON:
            raise InvalidParameter("epsilon", epsilon, f"at least {LEAST_EPSILON:g}, for finite noise")
        schema = self._stated_schema(X)
        if self.release and isinstance(schema, Schema):
            if schema.unconfirmed:
                raise InvalidSchema("data_derived", schema.unconfirmed[0], "confirmed by a person before a release")
            for error in schema.ambiguities:
                raise error
        if self.release and schema is None and isinstance(X, (list, tuple)):
            # whatever stands first would say for all records how many columns there are
            raise InvalidSchema("schema", None, "given to release a list of records: pass a schema, or an array")
        self.__dict__.pop("feature_names_in_", None)  # from an earlier fit
        return read_frame(X)

    def _stated_schema(self, X: Any) -> Any:
        """Return the schema of the estimator, or else that of files."""
        return X.facts if self.schema is None and isinstance(X, BatchedTable) else self.schema

    def _check_records(self, schema: Schema, X: Any, y: Any) -> tuple[Any, Any, Schema]:
        """Return checked records, their classes and the schema, as `Schema.check_table` does.

        A release clips without a warning. A simulation warns of clipped values and of fewer records than `n_lower`, or
        refuses them (`_refuses_few`).
        """
        on_invalid = "clip" if self.release else self.on_invalid
        if isinstance(X, BatchedTable):
            X = X.stating(schema, on_invalid)
        if not self.release and on_invalid == "clip":
            _warn_clipped(for_study(_violations(schema, Private(X), y), self.release, "what clipping changes"))
        if isinstance(X, BatchedTable):
            codes, checked_schema = X.codes(), schema
            X.read_again()
        else:
            X, codes, checked_schema = schema.check_table(X, y, on_invalid)
        if not self.release:
            n = for_study(number_of(Private(codes)), self.release, "the number of records")
            _warn_few(n, schema, self._refuses_few and on_invalid == "raise")
        return X, codes, checked_schema

    def _private_records(self, schema: Schema, X: Any, y: Any) -> tuple[Any, Any, Schema]:
        """Return checked records and their classes as private values, and the schema; see `_check_records`.

        The schema is public: it is the given one, without the columns that X does not name.
        """
        X, codes, schema = self._check_records(schema, X, y)
        return Private(X), Private(codes), schema

    def _ordered(self, X: Any, schema: Schema) -> Any:
        """Return a table with its columns in the order of a fitted schema.

        If `fit` saw no column names (an array and no schema), columns go by position, with scikit-learn's warning.
        """
        X = read_frame(X)
        if not isinstance(X, pd.DataFrame):
            return X
        X = schema.without_ignored(X)
        names = [str(c) for c in X.columns]
        position = {name: i for i, name in enumerate(names)}
        missing = [name for name in schema.feature_names if name not in position]
        nameless = self.schema is None and not hasattr(self, "feature_names_in_")
        if missing and nameless:
            if len(names) != schema.n_features:
                raise InvalidData(f"X has {len(names)} columns: the model was fitted with {schema.n_features}")
            warnings.warn(
                f"X has feature names, but {type(self).__name__} was fitted without feature names", stacklevel=4
            )
            return X.set_axis(schema.feature_names, axis=1)
        if missing:
            raise InvalidData(f"column {shown(missing[0])} is missing: the model was fitted with it")
        if len(names) == schema.n_features:  # with extra columns, the schema's check raises an error
            X = X.iloc[:, [position[name] for name in schema.feature_names]]
        return X


def refuse_arguments(model: Any, given: Mapping[str, Any]) -> None:
    """Raise for any further argument of `fit`, for `sample_weight` with the reason.

    A parameter `sample_weight` would tell scikit-learn's ensembles that they may draw their samples by weights.
    """
    name = type(model).__name__
    for other in given:
        if other != "sample_weight":
            raise TypeError(f"{name}.fit() got an unexpected keyword argument {other!r}")
    if given.get("sample_weight") is not None:
        reason = "a record of weight w would change what is released w times as much, and the noise covers weight 1"
        raise InvalidParameter("sample_weight", type(given["sample_weight"]).__name__, f"None for {name}: {reason}")


# ---- checks and warnings --------------------------------------------------------------------------------------------


@statistic
def _violations(schema: Schema, X: Any, y: Any) -> dict[str, int]:
    """Return `Schema.violations`, or none for a table that cannot be read, for which later checks raise the error."""
    try:
        return X.violations() if isinstance(X, BatchedTable) else schema.violations(X, y)
    except Exception:  # no table, or labels of another number
        return {}


def _warn_clipped(violations: dict[str, int]) -> None:
    """Warn, in a simulation, of the values that clipping changes."""
    if violations:
        listed = ", ".join(f"{shown(name)}: {count}" for name, count in list(violations.items())[:8])
        warn(
            f"on_invalid = 'clip' replaces values outside their domain and drops labels that are no class ({listed}): "
            "check how they are spelt in the schema"
        )


def _warn_few(n: int, schema: Schema, refuse: bool) -> None:
    """Warn, in a simulation, or with `refuse` raise an error, where records are fewer than the schema states."""
    if n >= (schema.n_lower or 1):
        return
    message = f"X has {n} records: the schema's n_lower is {schema.n_lower}"
    remedy = (
        "For a training set of K-fold cross-validation, pass schema.for_folds(K). Otherwise, state a smaller n_lower"
    )
    if refuse:
        raise InvalidData(f"{message}. {remedy}")
    warn(f"{message}, and public rules take that many for granted. {remedy}")


def warn(message: str, category: type[FactWarning] = FactWarning) -> None:
    """Warn at the line of the user's call, outside this library and scikit-learn."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(("dpml.", "sklearn.", "joblib.")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def check_binary(schema: Schema) -> Schema:
    """Return a schema, or raise an error that names a feature that is not binary."""
    other = next((f.name for f in schema.features if f.kind != "binary"), None)
    if other is not None:
        raise InvalidParameter("schema", f"feature {other!r} that is not binary", "binary in every feature")
    return schema
