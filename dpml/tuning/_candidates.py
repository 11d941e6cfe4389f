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
    """Checked records, and selection of a part of them.

    Where the number of given records is public (replace-one), `kept` says of each of them whether it remains. A part is
    then chosen among the given records, and its public number counts those that were dropped. So neither the number
    that remains nor the part of a later record tells of a record that was dropped. Under add/remove `kept` is None.
    """

    def __init__(
        self,
        X: Any,
        codes: NDArray[np.intp],
        labels: NDArray,
        schema: Schema,
        kept: NDArray[np.bool_] | None = None,
    ):
        self.X, self.codes, self.labels, self.schema, self.kept = X, codes, labels, schema, kept

    def __len__(self) -> int:
        """Return the number of records to choose parts from."""
        return len(self.codes) if self.kept is None else len(self.kept)

    def where(self, mask: NDArray[np.bool_]) -> Records:
        """Return the records of a part; `mask` has an entry for each of the records to choose from."""
        # a part has a random number of records, so the schema's bounds on their number do not hold for it
        given = None if self.kept is None else int(mask.sum()) or None
        schema = replace(self.schema, n_rows=given, n_lower=1)
        kept, inside = (None, mask) if self.kept is None else (self.kept[mask], mask[self.kept])
        return Records(self.X[inside], self.codes[inside], self.labels[inside], schema, kept)


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
