"""The schema that is assumed where none is given: every column is 0 or 1."""

from typing import Any

import numpy as np
import pandas as pd

from dpml.exceptions import InvalidData, InvalidSchema
from dpml.schema.schema import Schema
from dpml.schema.untrusted import read_frame


def resolve_schema(schema: Schema | None, X: Any) -> Schema:
    """Return the given schema, or else the canonical binary schema for the columns of a table.

    Parameters
    ----------
    schema : Schema or None
        The given schema. None takes the canonical binary schema.
    X : array, sparse matrix or DataFrame of shape (n, D)
        The table. Only its number of columns and their names are used, which are public.

    Returns
    -------
    Schema
        Public metadata of the table.

    See Also
    --------
    Schema : States public metadata of a table.
    """
    if schema is not None:
        if not isinstance(schema, Schema):
            raise InvalidSchema("schema", type(schema).__name__, "a dpml.schema.Schema or None")
        return schema
    assumed = _canonical(X)
    object.__setattr__(assumed, "_assumed", True)
    return assumed


def _canonical(X: Any) -> Schema:
    X = read_frame(X)
    if isinstance(X, pd.DataFrame):
        names = [str(c) for c in X.columns]
        if not names:
            raise InvalidData("X has 0 columns: it must have at least 1")
        return Schema.binary(len(names), names)
    if isinstance(X, (list, tuple)):
        # without numpy, which fails at cells that are sequences, or makes a table of them
        first = len(X[0]) if len(X) and isinstance(X[0], (list, tuple, np.ndarray, pd.Series)) else None
        if first is None:
            raise InvalidData("X is a list whose first entry is no record: state a schema, or give records in an array")
        shape: tuple[int, ...] = (len(X), first)
    else:
        shape = X.shape if hasattr(X, "shape") else np.shape(X)
    if len(shape) != 2:
        raise InvalidData(f"X has {len(shape)} dimensions: it must have 2, records and features")
    if shape[1] < 1:
        raise InvalidData("X has 0 columns: it must have at least 1")
    return Schema.binary(shape[1])
