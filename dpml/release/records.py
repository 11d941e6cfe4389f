"""A private table and its labels, split into records for training and records for evaluation.

A number that is drawn independently for each record decides its set. So a record that is added, removed or replaced
changes one of the two sets, and none of the other records. With a cut at a share of the records, one more record would
move another one to the other set. The costs of training and evaluation are added up all the same (docs/decisions/0049).
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from dpml.exceptions import FactWarning, InvalidData, shown
from dpml.mechanisms import boundary
from dpml.mechanisms.private import Private, for_study, number_of, statistic
from dpml.schema import Schema
from dpml.schema.tables import few
from dpml.schema.untrusted import null_rows, plain_cells, plain_rows, read_frame


@dataclass(frozen=True)
class Records:
    """A private table of any kind, a private label for each record, and the name of the labels' column."""

    X: Any
    y: Any
    label: str

    def __post_init__(self):
        object.__setattr__(self, "X", Private(self.X))
        object.__setattr__(self, "y", Private(self.y))

    def split(self, share: float, rng: np.random.Generator) -> tuple[Records, Records]:
        """Return the records that train and those that evaluate, by a number drawn for each record."""
        drawn = boundary.public_randomness(rng, "random", size=number_of(self.y))
        training, held_out = (_kept(self.X, self.y, drawn, share, below) for below in (False, True))
        return replace(self, X=training[0], y=training[1]), replace(self, X=held_out[0], y=held_out[1])

    def labels(self) -> Any:
        """Return the labels as a column with its name, a private value."""
        return _labels(self.y, self.label)

    @classmethod
    def none(cls, schema: Schema, label: str = "label") -> Records:
        """Return a table without records."""
        columns = {f.name: pd.Series([], dtype=object if f.kind == "categorical" else float) for f in schema.features}
        return cls(pd.DataFrame(columns), np.empty(0, dtype=object), label)


@statistic
def _kept(X: Any, y: NDArray[Any], drawn: NDArray[np.float64], share: float, below: bool) -> tuple[Any, NDArray[Any]]:
    chosen = (drawn < share) == below
    return X.loc[chosen] if isinstance(X, pd.DataFrame) else X[np.flatnonzero(chosen)], y[chosen]


@statistic
def _labels(y: NDArray[Any], name: str) -> pd.Series:
    return pd.Series(y, name=name, dtype=object)


def read_records(schema: Schema, X: Any, y: Any) -> Records:
    """Return a table and its labels (or their column in `X`), or raise for wrong columns or lengths."""
    X = read_frame(X)
    label = y if isinstance(y, str) else getattr(y, "name", None)
    if isinstance(y, str):
        if not isinstance(X, pd.DataFrame) or y not in X.columns:
            raise InvalidData(f"the table must have the label column {shown(y)}")
        y, X = X[y], X.drop(columns=y)
    none = null_rows(X, schema.n_features)
    if none is not None:
        X = plain_rows(X, schema.n_features, "clip")
    if isinstance(X, pd.DataFrame):
        names = [str(c) for c in X.columns]
        missing = [name for name in schema.feature_names if name not in names]
        if missing:
            lack = f"Column {shown(missing[0])} is missing. It has {few(names)}"
            raise InvalidData(f"the table must have every column of the schema. {lack}")
        X = X.reset_index(drop=True).set_axis(pd.Index(names, dtype=object), axis=1)
    elif sparse.issparse(X):
        X = X.tocsr()
    else:
        X = np.asarray(X)
    schema.check_features(X[:0], "clip")  # the columns, which are public
    labels = plain_cells(y)
    if labels.ndim != 1:
        raise InvalidData(f"y must have 1 dimension. Got {labels.ndim}")
    if X.shape[0] != len(labels):
        raise InvalidData("X and y must have the same length")
    if none is not None and none.any():
        labels = labels.astype(object)
        labels[none] = None
    return Records(X, labels, label if isinstance(label, str) else "label")


def part_of(schema: Schema, share: float) -> Schema:
    """Return the schema of a share of the records, whose lower bound on their number shrinks by the same share."""
    return replace(schema, n_rows=None, n_lower=max(math.floor(share * schema.n_lower), 1))


def as_confirmed(schema: Schema) -> Schema:
    """Return a schema without the marks of data-derived facts."""
    return replace(schema, features=tuple(replace(f, data_derived=()) for f in schema.features), data_derived=())


def warn_violations(schema: Schema, records: Records) -> None:
    """Warn of the values that the schema clips and drops, in a simulation only."""
    try:
        X, y = for_study((records.X, records.y), False, "a count of clipped values")
        counts = schema.violations(X, y)
    except Exception:  # such as a table of another shape, which the release clips
        return
    if counts:
        cells = ", ".join(f"{shown(name)}: {count}" for name, count in list(counts.items())[:8])
        warnings.warn(
            f"values outside their domain are clipped, and records without a valid label are dropped ({cells}). Check "
            "their spelling in the schema. A release does the same without a warning",
            FactWarning,
            stacklevel=3,
        )
