"""A reader's own table, as it stands in a notebook, made what the app's pages compute with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from dpml.exceptions import InvalidData, InvalidParameter
from dpml.schema import Schema
from dpml_app import uploaded_table

HOW = "a dpml.schema.Schema with the public facts of the table: Schema.describe(table) proposes one to complete"


def made(X: Any, y: Any, schema: Any) -> uploaded_table.UploadedTable:
    """Return a table that pages compute with, not yet attached; X is a DataFrame or a matrix in the schema's order."""
    if not isinstance(schema, Schema):
        raise InvalidParameter("schema", schema, HOW)
    if y is None:
        raise InvalidParameter("y", y, "the labels of X")
    if X is None:
        raise InvalidParameter("X", X, "a DataFrame or a matrix with the features")
    frame = _frame(X, schema)
    labels = y.to_numpy() if isinstance(y, pd.Series) else np.asarray(y)
    if labels.ndim != 1:
        raise InvalidData(f"y has shape {labels.shape}: it must be (n,), a label for each record")
    if len(labels) != len(frame):
        raise InvalidData(f"X has {len(frame):,} records and y has {len(labels):,} labels: the two must be equal")
    label = "label"
    while label in frame.columns or label in schema.feature_names:
        label += "_"
    return uploaded_table.make(frame.assign(**{label: labels}).reset_index(drop=True), label, schema, "X")


def _frame(X: Any, schema: Schema) -> pd.DataFrame:
    """Return the schema's columns of X by their names, or by their order where they have none."""
    if isinstance(X, pd.DataFrame):
        missing = [name for name in schema.feature_names if name not in X.columns]
        if missing:
            there = ", ".join(map(str, X.columns[:8]))
            raise InvalidData(f"X has no column {missing[0]!r}, which the schema names; it has {there}")
        return X[list(schema.feature_names)]
    matrix = X.toarray() if sparse.issparse(X) else np.asarray(X)
    if matrix.ndim != 2 or matrix.shape[1] != len(schema.feature_names):
        wanted = len(schema.feature_names)
        raise InvalidData(
            f"X has shape {matrix.shape}: it must be (n, {wanted}), a column for each feature of the schema"
        )
    return pd.DataFrame(matrix, columns=list(schema.feature_names))
