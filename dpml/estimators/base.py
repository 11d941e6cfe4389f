"""Base class of private estimators: checks of flags and ε, tables with column names, and no exact score of a release.

A search, a cross-validation or a scorer of scikit-learn publishes exact scores of private records. An estimator cannot
know how its predictions are used, but it can see its callers: ``sklearn.model_selection`` clones and fits it, and
``sklearn.metrics`` scores its predictions. With ``release=True`` it refuses calls from both, recognised by module name.
"""

from __future__ import annotations

import inspect
import numbers
import sys
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import pandas as pd
from sklearn.base import BaseEstimator

from dpml._validate import check_flag
from dpml.exceptions import FactWarning, InvalidData, InvalidParameter, InvalidSchema, NoExactScore, shown
from dpml.mechanisms.private import Private, for_study, number_of, statistic
from dpml.schema import Schema
from dpml.schema.untrusted import read_frame

__all__ = ["LEAST_EPSILON", "PrivateEstimator", "study_only"]

# Noise of scale 1e100 hides any table; below an ε of about 1e-150, squares of the noise would overflow
LEAST_EPSILON = 1e-100

SEARCHES, SCORERS = "sklearn.model_selection", "sklearn.metrics"
WITHHELD = (
    "an exact score is not available where release=True: it counts private records; "
    "dpml.evaluation.private_cross_val_score and dpml.evaluation.release_evaluation publish a private one"
)


@cache
def _flags(kind: type) -> tuple[str, ...]:
    """Return the parameters of an estimator whose default is True or False."""
    parameters = inspect.signature(kind).parameters.items()
    return tuple(name for name, parameter in parameters if isinstance(parameter.default, bool))


def _called_from(package: str) -> bool:
    """Return whether any caller on the stack is in a package."""
    frame = sys._getframe(2)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name == package or name.startswith(package + "."):
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


class study_only:  # noqa: N801  # a decorator
    """Decorator that removes a method from estimators with ``release=True``.

    A scorer of scikit-learn still finds the attribute, because it would report its absence without a reason. Calling
    the attribute then raises the error that gives the reason.
    """

    def __init__(self, function: Callable):
        self.function = function
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__

    def __get__(self, model: Any, owner: Any = None) -> Any:
        if model is None:
            return self.function
        if getattr(model, "release", False):
            if _called_from(SCORERS):
                return _withheld
            raise NoExactScore(f"{type(model).__name__} has no {self.__name__}: {WITHHELD}")
        return self.function.__get__(model, owner)


def _withheld(*arguments: Any, **options: Any) -> Any:
    raise NoExactScore(WITHHELD)


class PrivateEstimator(BaseEstimator):
    """Base of all private estimators."""

    def _enter(self, X: Any) -> Any:
        """Make the checks that start every `fit`, and return the table, with its column names if it has any."""
        for name in _flags(type(self)):  # type: ignore[arg-type]  # a class is hashable
            check_flag(getattr(self, name), name)
        epsilon = getattr(self, "epsilon", None)
        if isinstance(epsilon, numbers.Real) and 0 < epsilon < LEAST_EPSILON:  # type: ignore[operator]
            raise InvalidParameter("epsilon", epsilon, f"at least {LEAST_EPSILON:g}, for finite noise")
        self._refuse(SEARCHES)
        schema = getattr(self, "schema", None)
        if getattr(self, "release", False) and isinstance(schema, Schema) and schema.unconfirmed:
            raise InvalidSchema("data_derived", schema.unconfirmed[0], "confirmed by a person before a release")
        if getattr(self, "release", False) and schema is None and isinstance(X, (list, tuple)):
            # whatever stands first would say for all records how many columns there are
            raise InvalidSchema("schema", None, "stated where a list of records is released; an array needs none")
        self.__dict__.pop("feature_names_in_", None)  # from an earlier fit
        return read_frame(X)

    def _check_records(self, schema: Schema, X: Any, y: Any, few: str = "clip") -> tuple[Any, Any, Schema]:
        """Return checked records, their classes and the schema, as `Schema.check_table` does.

        A release clips, and says nothing of what it finds. For study, clipping warns of what it changes. Fewer records
        than the schema's `n_lower` are told as well, or with ``few="raise"`` refused.
        """
        release = getattr(self, "release", False)
        on_invalid = "clip" if release else self.on_invalid
        if not release and on_invalid == "clip":
            _warn_violations(for_study(_violations(schema, Private(X), y), release, "what clipping changes"))
        X, codes, found = schema.check_table(X, y, on_invalid)
        if not release:
            self._tell_few(for_study(number_of(Private(codes)), release, "the number of records"), schema, few)
        return X, codes, found

    def _tell_few(self, n: int, schema: Schema, few: str) -> None:
        if n >= (schema.n_lower or 1):
            return
        message = f"X has {n} records: the schema's n_lower is {schema.n_lower}"
        if few == "raise":
            raise InvalidData(message)
        warnings.warn(f"{message}, and public rules take that many for granted", FactWarning, stacklevel=5)

    def _private_records(self, schema: Schema, X: Any, y: Any, few: str = "clip") -> tuple[Any, Any, Schema]:
        """Return checked records and their classes as private values, and the schema; see `_check_records`.

        The schema is public: it is the given one, without the columns that X does not name.
        """
        X, codes, schema = self._check_records(schema, X, y, few)
        return Private(X), Private(codes), schema

    def _refuse(self, package: str) -> None:
        if getattr(self, "release", False) and _called_from(package):
            raise NoExactScore(f"scikit-learn cannot search over {type(self).__name__}: {WITHHELD}")

    def __sklearn_clone__(self):
        # a search clones before it fits, so this refuses before anything is charged
        self._refuse(SEARCHES)
        return super().__sklearn_clone__()

    def _ordered(self, X: Any, schema: Schema) -> Any:
        """Return a table with its columns in the order of a fitted schema.

        If `fit` saw no column names (an array and no schema), columns go by position, with scikit-learn's warning.
        """
        self._refuse(SCORERS)
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


@statistic
def _violations(schema: Schema, X: Any, y: Any) -> dict[str, int]:
    try:
        return schema.violations(X, y)
    except Exception:  # no table, or labels of another number: the checks that follow say so
        return {}


def _warn_violations(violations: dict[str, int]) -> None:
    """Warn, for study, of what clipping changes."""
    if violations:
        listed = ", ".join(f"{shown(name)}: {count}" for name, count in list(violations.items())[:8])
        warnings.warn(
            f"on_invalid = 'clip' replaces values outside their domain and drops labels that are no class ({listed}): "
            "check how they are spelt in the schema",
            FactWarning,
            stacklevel=5,
        )
