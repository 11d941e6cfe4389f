"""Candidates of a search: their parameters, the checks that they keep their ε, and the records for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline

from dpml.estimators.purse import spending_steps
from dpml.exceptions import InvalidParameter
from dpml.schema import Schema

__all__ = ["Records", "candidate_list", "check_private", "correct_predictions", "with_names"]

NEEDED = ("epsilon", "relation", "budget", "random_state")
# the search sets these, so no candidate may
OWN = ("epsilon", "relation", "schema", "budget", "on_invalid", "release", "random_state")


class Records:
    """Checked records, and selection of a part of them."""

    def __init__(self, X: Any, codes: NDArray[np.intp], labels: NDArray, schema: Schema):
        self.X, self.codes, self.labels, self.schema = X, codes, labels, schema

    def where(self, mask: NDArray[np.bool_]) -> Records:
        # a part has a random number of records, so the schema's bounds on their number do not hold for it
        schema = replace(self.schema, n_rows=None, n_lower=1)
        return Records(self.X[mask], self.codes[mask], self.labels[mask], schema)


def with_names(X: Any, schema: Schema) -> pd.DataFrame:
    """Return a table with named columns, so that a step of a Pipeline knows which columns the last step kept."""
    return pd.DataFrame(X if isinstance(X, np.ndarray) else X.toarray(), columns=schema.feature_names)


def correct_predictions(model: Any, validation: Records) -> int:
    """Return the number of correct predictions of a model. Exact: not private."""
    return int((model.predict(validation.X) == validation.labels).sum()) if len(validation.codes) else 0


def candidate_list(candidates: Any) -> list[dict[str, Any]]:
    grid = candidates if isinstance(candidates, Mapping) else None
    try:
        listed = [dict(c) for c in (candidates if grid is None else ParameterGrid(dict(grid)))]
    except (TypeError, ValueError):
        listed = []
    if not listed or (grid is not None and not grid):
        raise InvalidParameter("candidates", candidates, "a list of dicts of parameters, or a dict of lists of values")
    return listed


def check_private(estimator: Any, candidates: list[dict[str, Any]]) -> None:
    spending_steps(estimator, NEEDED)
    for candidate in candidates:
        for name in candidate:
            last = str(name).rpartition("__")[2]
            if last in OWN and not (last == "epsilon" and isinstance(estimator, Pipeline)):
                raise InvalidParameter("candidates", candidate, f"without {name}, which the search sets itself")
        try:
            model = clone(estimator).set_params(**candidate)
        except (TypeError, ValueError) as error:
            raise InvalidParameter("candidates", candidate, f"parameters of {type(estimator).__name__}") from error
        spending_steps(model, NEEDED)
