"""Candidates of a search: their parameters, the checks that they keep their ε, and the records for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline

from dpml.estimators.inner_budget import spending_steps
from dpml.exceptions import InvalidParameter
from dpml.mechanisms.private import number_of, public_number, statistic
from dpml.schema import Schema

NEEDED = ("epsilon", "relation", "budget", "random_state")
# the search sets these, so no candidate may
OWN = ("epsilon", "relation", "schema", "budget", "on_invalid", "release", "random_state")


class Records:
    """Checked records, and selection of a part of them.

    Where the number of given records is public (replace-one), `kept` marks the records that remain. A part is
    then chosen among the given records, and its public number counts those that were dropped. So neither the number
    that remains nor the part of a later record reveals a record that was dropped. Under add/remove `kept` is None.

    The table, the classes, the labels and `kept` are private, and so is the number of records under add/remove.
    """

    def __init__(self, X: Any, codes: Any, labels: Any, schema: Schema, kept: Any = None):
        self.X, self.codes, self.labels, self.schema, self.kept = X, codes, labels, schema, kept

    @property
    def number(self) -> Any:
        """The number of records to choose parts from."""
        return number_of(self.codes) if self.kept is None else public_number(self.kept, "replace-one")

    def where(self, mask: Any) -> Records:
        """Return the records of a part. `mask` has an entry for each of the records to choose from.

        It is private under add/remove, and public like the records' number where `kept` is given.
        """
        # a part has a random number of records, so the schema's bounds on their number do not hold for it
        given = None if self.kept is None else int(mask.sum()) or None
        schema = replace(self.schema, n_rows=given, n_lower=1)
        kept, inside = (None, mask) if self.kept is None else (rows_of(self.kept, mask), rows_of(mask, self.kept))
        X, codes, labels = (rows_of(part, inside) for part in (self.X, self.codes, self.labels))
        return Records(X, codes, labels, schema, kept)


@statistic
def rows_of(values: Any, which: Any) -> Any:
    """Return the rows, or the entries, at some positions or where a mask is true."""
    return values[which]


@statistic
def with_names(X: Any, schema: Schema) -> pd.DataFrame:
    """Return a table with named columns, so that a step of a Pipeline knows which columns the last step kept."""
    return pd.DataFrame(X if isinstance(X, np.ndarray) else X.toarray(), columns=schema.feature_names)


def correct_predictions(model: Any, validation: Records) -> Any:
    """Return the number of correct predictions of a model, a private statistic."""
    return _correct(model, validation.X, validation.labels)


@statistic
def _correct(model: Any, X: Any, labels: Any) -> int:
    return int((model.predict(X) == labels).sum()) if len(labels) else 0


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
