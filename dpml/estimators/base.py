"""Base class of private estimators: their parameters, the steps of a fit, and no exact score of a release.

A fit is check, charge, statistics, release and model, in this order (`PrivateEstimator.fit`). A method defines steps of
its own, but it cannot forget the charge.

A search, a cross-validation or a scorer of scikit-learn publishes exact scores of private records. With
``release=True`` an estimator refuses such callers (`dpml.estimators.callers`).
"""

import inspect
import numbers
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from dpml._docstrings import with_inherited_entries
from dpml._validate import ON_INVALID, as_generator, check_choice, check_epsilon, check_flag, check_relation
from dpml.budget import Budget, Cost, charge_all
from dpml.estimators.callers import REFUSED, SCORERS, WITHHELD, calling_package, refuse, warn_callers
from dpml.estimators.checks import CheckedTable, violations_of, warn_few, warn_violations
from dpml.exceptions import (
    InvalidData,
    InvalidParameter,
    InvalidSchema,
    NoExactScore,
    NoSecureSampler,
    NotPrivate,
    shown,
)
from dpml.mechanisms.private import Private, for_study, number_of
from dpml.mechanisms.secure import check_release
from dpml.schema import Schema, resolve_schema
from dpml.schema.cells import read_frame

# Noise of scale 1e100 hides any table; below an ε of about 1e-150, squares of the noise would overflow
LEAST_EPSILON = 1e-100


@cache
def _flags(kind: type) -> tuple[str, ...]:
    """Return the parameters of an estimator whose default is True or False."""
    parameters = inspect.signature(kind).parameters.items()
    return tuple(name for name, parameter in parameters if isinstance(parameter.default, bool))


class study_only:  # noqa: N801  # a decorator
    """Remove a method from estimators with ``release=True``.

    A scorer of scikit-learn still finds the attribute, because it would report its absence without a reason. Calling
    the attribute then raises the error that gives the reason.

    Parameters
    ----------
    function : callable
        The method, of a class with the parameter ``release``.

    See Also
    --------
    PrivateEstimator : Base of all private estimators.
    """

    def __init__(self, function: Callable):
        self.function = function
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__

    def __get__(self, model: Any, owner: Any = None) -> Any:
        if model is None:
            return self.function
        if getattr(model, "release", False):
            if calling_package((SCORERS,)):
                return _withheld
            raise NoExactScore(f"{type(model).__name__} has no {self.__name__}: {WITHHELD}")
        return self.function.__get__(model, owner)


def _withheld(*arguments: Any, **options: Any) -> Any:
    raise NoExactScore(WITHHELD)


@dataclass(eq=False, repr=False, kw_only=True)
class PrivateEstimator(BaseEstimator):
    """Define the parameters that all private estimators have, and the steps of a fit.

    A method is a subclass. It defines `_costs`, `_statistics`, `_release` and `_model`, and its own checks.

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
        Draw secure noise (`dpml.mechanisms.secure`, the extra ``release``), which forbids `random_state`. A method that
        has no secure sampler raises `NoSecureSampler`.
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

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to private records.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, D)
            The records, and n may be 0. A DataFrame's columns are looked up in the schema by name. Other tables follow
            its order.
        y : array of shape (n,)
            Labels among the schema's classes.

        Returns
        -------
        self
            The fitted estimator.
        """
        X = self._enter(X)
        self._check_common()
        self._check_parameters()
        self._check_claim(self.schema if isinstance(self.schema, Schema) else None)
        schema = self._check_schema(resolve_schema(self.schema, X))
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
        return self._checked_table(records, codes, kept, isinstance(X, pd.DataFrame), rng, count)

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
        for name in _flags(type(self)):  # type: ignore[arg-type]  # a class is hashable
            check_flag(getattr(self, name), name)
        epsilon = getattr(self, "epsilon", None)
        if isinstance(epsilon, numbers.Real) and 0 < epsilon < LEAST_EPSILON:  # type: ignore[operator]
            raise InvalidParameter("epsilon", epsilon, f"at least {LEAST_EPSILON:g}, for finite noise")
        self._refuse(REFUSED)
        if getattr(self, "release", False):
            warn_callers(self)
        schema = getattr(self, "schema", None)
        if getattr(self, "release", False) and isinstance(schema, Schema) and schema.unconfirmed:
            raise InvalidSchema("data_derived", schema.unconfirmed[0], "confirmed by a person before a release")
        if getattr(self, "release", False) and isinstance(schema, Schema):
            for error in schema.ambiguities:
                raise error
        if getattr(self, "release", False) and schema is None and isinstance(X, (list, tuple)):
            # whatever stands first would say for all records how many columns there are
            raise InvalidSchema("schema", None, "given to release a list of records: pass a schema, or an array")
        self.__dict__.pop("feature_names_in_", None)  # from an earlier fit
        return read_frame(X)

    def _check_records(self, schema: Schema, X: Any, y: Any) -> tuple[Any, Any, Schema]:
        """Return checked records, their classes and the schema, as `Schema.check_table` does.

        A release clips, and says nothing of what it finds. For study, clipping warns of what it changes. Fewer records
        than the schema's `n_lower` are told as well, or refused (`_refuses_few`).
        """
        release = getattr(self, "release", False)
        on_invalid = "clip" if release else self.on_invalid
        if not release and on_invalid == "clip":
            warn_violations(for_study(violations_of(schema, Private(X), y), release, "what clipping changes"))
        X, codes, checked_schema = schema.check_table(X, y, on_invalid)
        if not release:
            refuse = self._refuses_few and on_invalid == "raise"
            warn_few(for_study(number_of(Private(codes)), release, "the number of records"), schema, refuse)
        return X, codes, checked_schema

    def _private_records(self, schema: Schema, X: Any, y: Any) -> tuple[Any, Any, Schema]:
        """Return checked records and their classes as private values, and the schema; see `_check_records`.

        The schema is public: it is the given one, without the columns that X does not name.
        """
        X, codes, schema = self._check_records(schema, X, y)
        return Private(X), Private(codes), schema

    def _refuse(self, packages: Iterable[str]) -> None:
        """Raise an error if a release is used from one of these packages of scikit-learn."""
        if getattr(self, "release", False):
            refuse(self, packages)

    def __sklearn_clone__(self):
        # a search clones before it fits, so this refuses before anything is charged
        self._refuse(REFUSED)
        return super().__sklearn_clone__()

    def _ordered(self, X: Any, schema: Schema) -> Any:
        """Return a table with its columns in the order of a fitted schema.

        If `fit` saw no column names (an array and no schema), columns go by position, with scikit-learn's warning.
        """
        self._refuse((SCORERS,))
        X = read_frame(X)
        if not isinstance(X, pd.DataFrame):
            return X
        X = schema.without_ignored(X)
        names = [str(c) for c in X.columns]
        position = {name: i for i, name in enumerate(names)}
        missing = [name for name in schema.feature_names if name not in position]
        nameless = getattr(self, "schema", None) is None and not hasattr(self, "feature_names_in_")
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
