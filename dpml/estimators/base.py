"""The door that all private estimators share: flags, the smallest ε, named tables, and no exact score of a release.

A search, a cross-validation or a scorer of scikit-learn publishes exact scores of private records. An estimator cannot
see what becomes of its predictions, but it can see who asks: it is cloned and fitted by ``sklearn.model_selection``,
and its predictions are scored by ``sklearn.metrics``. With ``release=True`` it refuses both, by name.
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
from dpml.exceptions import InvalidData, InvalidParameter, NoExactScore, shown
from dpml.schema import Schema
from dpml.schema.untrusted import read_frame

__all__ = ["LEAST_EPSILON", "PrivateEstimator", "study_only"]

# Noise of scale 1e100 drowns any table; from about 1e-150 on the squares of noise are no finite floats any more
LEAST_EPSILON = 1e-100

SEARCHES, SCORERS = "sklearn.model_selection", "sklearn.metrics"
WITHHELD = (
    "an exact score is not available where release=True: it counts private records; "
    "dpml.evaluation.private_cross_val_score and dpml.evaluation.release_evaluation publish a private one"
)


@cache
def _flags(kind: type) -> tuple[str, ...]:
    """Return the parameters of an estimator that are true or false by default."""
    parameters = inspect.signature(kind).parameters.items()
    return tuple(name for name, parameter in parameters if isinstance(parameter.default, bool))


def _called_from(package: str) -> bool:
    """Return whether some caller's module is in a package."""
    frame = sys._getframe(2)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name == package or name.startswith(package + "."):
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


class study_only:  # noqa: N801  # a decorator
    """Make a method one that a release does not have: it is no attribute of it.

    A scorer of scikit-learn still finds it, for it would only say that there is none and not why; the call says why.
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
        """Check what every `fit` checks first, and return the table, with its names if it has any."""
        for name in _flags(type(self)):  # type: ignore[arg-type]  # a class is hashable
            check_flag(getattr(self, name), name)
        epsilon = getattr(self, "epsilon", None)
        if isinstance(epsilon, numbers.Real) and 0 < epsilon < LEAST_EPSILON:  # type: ignore[operator]
            raise InvalidParameter("epsilon", epsilon, f"at least {LEAST_EPSILON:g}, for finite noise")
        self._refuse(SEARCHES)
        self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
        return read_frame(X)

    def _refuse(self, package: str) -> None:
        if getattr(self, "release", False) and _called_from(package):
            raise NoExactScore(f"{type(self).__name__} is not searched by scikit-learn: {WITHHELD}")

    def __sklearn_clone__(self):
        # a search clones before it fits, so it refuses before anything is charged
        self._refuse(SEARCHES)
        return super().__sklearn_clone__()

    def _ordered(self, X: Any, schema: Schema) -> Any:
        """Return a table with its columns in the order of a fitted schema.

        Columns that nobody named at `fit` (an array, and no schema) are taken by position, with scikit-learn's warning.
        """
        self._refuse(SCORERS)
        X = read_frame(X)
        if not isinstance(X, pd.DataFrame):
            return X
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
        if len(names) == schema.n_features:  # a column that is no feature is an error, in the schema's check
            X = X.iloc[:, [position[name] for name in schema.feature_names]]
        return X
