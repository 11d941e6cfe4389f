"""Tables and labels checked cell by cell against public metadata. `Schema` supplies it, and adds it to errors."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from dpml.exceptions import InvalidData, InvalidSchema, shown
from dpml.schema.feature import Feature, show_value
from dpml.schema.untrusted import frame_of, plain_cells, plain_numbers, plain_positions, plain_rows, read_frame


def checked_dense(features: Sequence[Feature], X: Any, on_invalid: str) -> np.ndarray:
    """Return a table of binary features as numbers, each inside its domain."""
    plain = isinstance(X, np.ndarray) or all(dtype.kind in "biuf" for dtype in X.dtypes)
    # columns that are not all numbers are read one by one: pandas turns a missing integer into -2^63
    cells = X.to_numpy() if plain and isinstance(X, pd.DataFrame) else X
    if plain and cells.dtype.kind in "biuf":
        values = cells.astype(float, copy=False)
    else:
        frame = X if isinstance(X, pd.DataFrame) else frame_of(X)
        columns = [f.clean(frame.iloc[:, i], on_invalid) for i, f in enumerate(features)]
        return np.column_stack(columns)
    if not values.size or not ((values == 0) | (values == 1)).all():
        bad = np.flatnonzero(~((values == 0) | (values == 1)).all(axis=0))
        values = values.copy()
        for i in bad:
            values[:, i] = features[int(i)].clean(values[:, i], on_invalid)
    return values


def checked_sparse(features: Sequence[Feature], X: Any, on_invalid: str) -> sparse.csr_array:
    """Return a sparse table of binary features without stored zeros, each value inside its domain."""
    if X.dtype.kind == "c":
        X = X.tocoo(copy=True)
        X.data = plain_numbers(X.data)  # as in a dense table, a value with an imaginary part becomes NaN
    values = sparse.csr_array(X, dtype=float, copy=False)
    if not values.has_canonical_format:
        values = values.copy()
        values.sum_duplicates()
    bad = (values.data != 1) & (values.data != 0)
    if bad.any():
        if on_invalid == "raise":
            first = int(values.indices[np.flatnonzero(bad)[0]])
            features[first].clean(values.data[bad][:1], "raise")
        # a missing value follows the rule of its column; other values go to the nearest of 0 and 1
        values = values.copy()
        for i in np.unique(values.indices[bad]):
            cells = bad & (values.indices == i)
            values.data[cells] = features[int(i)].clean(values.data[cells], on_invalid)
    if values.nnz and not values.data.all():
        values = values.copy()
        values.eliminate_zeros()
    return values


def checked_column(feature: Feature, column: pd.Series, on_invalid: str) -> Any:
    """Return a column inside its domain, with categories as a pandas Categorical, looked up only once."""
    if feature.kind != "categorical":
        return feature.clean(column, on_invalid)
    return pd.Categorical.from_codes(feature.positions(column, on_invalid), list(feature.categories or ()))


def rows_of(rows: Sequence, n_features: int, on_invalid: str = "raise") -> np.ndarray:
    """Return a list of records as an array, of numbers where all cells are: NumPy makes texts of all where one is."""
    try:
        array = np.asarray(rows)
    except Exception:  # some cells are sequences and others are not, or one raises anything
        return plain_rows(rows, n_features, on_invalid)
    numbers = array.dtype.kind in "biuf" and array.ndim == 2 and array.size
    if numbers and (on_invalid == "raise" or array.shape[1] == n_features):
        return array
    return plain_rows(rows, n_features, on_invalid)


def counts_outside(features: Sequence[Feature], X: Any) -> dict[str, int]:
    """Return the number of values of each feature outside its domain, without those of a sparse table."""
    X = read_frame(X)
    if sparse.issparse(X):
        return {}
    if isinstance(X, pd.DataFrame):
        columns = {str(c): X.iloc[:, i] for i, c in enumerate(X.columns)}
    else:
        cells = plain_rows(X, len(features), "clip") if isinstance(X, (list, tuple)) else np.asarray(X)
        columns = {f.name: cells[:, i] for i, f in enumerate(features)}
    return {f.name: f.count_outside(columns[f.name]) for f in features if f.name in columns}


def checked_labels(classes: tuple, y: Any, on_invalid: str, hint: str = "") -> np.ndarray:
    """Return the position of each label among the classes, or -1. The error's message ends with `hint`."""
    listed = y if on_invalid == "raise" and isinstance(y, (list, tuple)) else ()
    if any(isinstance(label, (list, tuple, np.ndarray)) for label in listed):
        raise InvalidData("y has 2 dimensions: it must have 1")
    codes = plain_positions(y, classes)
    if on_invalid == "raise" and (codes < 0).any():
        label = plain_cells(y)[int((codes < 0).argmax())]
        hint = hint or _encoding_hint(label, classes)
        raise InvalidData(f"y has the label {show_value(label)}: it must be one of {few(list(classes))}{hint}")
    return codes


def _encoding_hint(label: Any, classes: tuple) -> str:
    """Return the way on for a label that may be a code, put in place of a class before the fit; else nothing."""
    whole = isinstance(label, (int, np.integer)) and not isinstance(label, bool)
    if not whole or not 0 <= label < len(classes):
        return ""
    codes = tuple(range(len(classes)))
    rest = "" if len(classes) == 2 else ", or (0, 1) where each fit sees two classes"
    return (
        ". VotingClassifier, OneVsRestClassifier, cross_val_predict and others of scikit-learn fit to codes of the "
        f"labels, from 0: for them, pass schema=dataclasses.replace(schema, classes={codes}){rest}"
    )


def few(values: list) -> str:
    """Return the first of these, as an error shows them."""
    text = ", ".join(map(shown, values[:6]))
    return text + (f", ... ({len(values)} in all)" if len(values) > 6 else "")


def ignored_names(names: Any, position: Mapping[str, int]) -> tuple[str, ...]:
    """Return the columns that a schema leaves out, or raise where one of them is a feature."""
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise InvalidSchema("ignored", names, "a sequence of column names")
    both = [name for name in names if name in position]
    if both:
        raise InvalidSchema("ignored", both[0], "no feature of the schema")
    return tuple(names)
