"""Cells as the schema spells them, each read by itself: "1", 1 and 1.0 are the same category or label.

Whoever reads a file gives a column one type. A single cell that is no number then turns every other cell of its column
from 1 to "1", and a schema that states 1 would know none of them: one record would change all others, which no ε
accounts for. So a cell is compared by its value, whatever the column became.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from dpml.exceptions import InvalidSchema
from dpml.schema import Schema
from dpml.schema.untrusted import plain_cells, read_frame, spelling_key


def _has_numbers(stated: Sequence) -> bool:
    return any(isinstance(spelling_key(value), float) for value in stated)


def check_categories_differ(schema: Schema) -> list[InvalidSchema]:
    """Return a refusal for each list of values in which two differ in their spelling alone."""
    listed = {f"categories of {f.name!r}": f.categories or () for f in schema.features if f.kind == "categorical"}
    refusals = []
    for name, stated in {**listed, "classes": schema.classes}.items():
        if len({spelling_key(value) for value in stated}) < len(stated):
            allowed = "values that differ as numbers, too: a file may give 01 as 1"
            refusals.append(InvalidSchema(name, stated, allowed))
    return refusals


def normalised(cells: Any, stated: Sequence) -> NDArray[Any]:
    """Return cells with each value that the schema states as the schema spells it."""
    given = plain_cells(cells)
    if given.ndim != 1 or not _has_numbers(stated):
        return given
    known = {spelling_key(value): value for value in stated}
    values = np.empty(len(given), dtype=object)
    for i, value in enumerate(given.tolist() if given.dtype != object else given):
        values[i] = _spelled(value, known)
    return values


def _spelled(value: Any, known: dict) -> Any:
    try:
        return known.get(spelling_key(value), value)
    except Exception:  # an object that has no hash, or raises anything
        return value


def needs_normalising(schema: Schema) -> list[str]:
    """Return the columns whose categories can be spelt in more than one way."""
    return [f.name for f in schema.features if f.kind == "categorical" and _has_numbers(f.categories or ())]


@dataclass(eq=False, repr=False)
class CellNormalizer(TransformerMixin, BaseEstimator):
    """A step of a model: cells of a table as the schema spells them. It learns nothing.

    Parameters
    ----------
    schema : Schema
    """

    schema: Schema

    def fit(self, X: Any, y: Any = None) -> Self:
        """Return the step: there is nothing to learn."""
        return self

    def transform(self, X: Any) -> Any:
        """Return a table with named columns, with its cells as the schema spells them; another kind unchanged."""
        X = read_frame(X)
        names = needs_normalising(self.schema)
        if not isinstance(X, pd.DataFrame) or not names:
            return X
        categories = {f.name: f.categories or () for f in self.schema.features}
        columns = [
            pd.Series(normalised(X.iloc[:, i], categories[str(name)]), index=X.index, dtype=object)
            if str(name) in names
            else X.iloc[:, i]
            for i, name in enumerate(X.columns)
        ]
        return pd.concat(columns, axis=1).set_axis(X.columns, axis=1)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags
