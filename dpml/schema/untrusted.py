"""Reading of records such that no data can make a release fail, because an exception would reveal something about them.

Each cell and each label is read by itself. numpy.asarray does not do that: one text label among integers turns all
labels into text. A single record could then make every other record invalid, which no sensitivity accounts for. A cell
that is not a number becomes NaN, which a `dpml.schema.Schema` clips. A label that is not a class becomes -1, and its
record is dropped.
"""

import math
import numbers
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from itertools import repeat
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from dpml.exceptions import InvalidData

TRUTH = {"true": 1.0, "false": 0.0}


def frame_of(X: np.ndarray, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Return an array as a frame that keeps its cells: pandas looks for times and texts, and some cells raise then."""
    return pd.DataFrame(X, columns=columns, dtype=object if X.dtype.kind in "OU" else None)


def is_null(value: Any) -> bool:
    """Return whether a cell says that there is no value: None, NaN of any type, NA and NaT."""
    if value is None or value is pd.NA or value is pd.NaT or value is np.ma.masked:
        return True
    if isinstance(value, float):
        return float.__ne__(value, value)  # a subclass may define its own
    if isinstance(value, Decimal):
        return value.is_nan()
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(value))
    return isinstance(value, (complex, np.inexact)) and bool(np.isnan(value))


def read_frame(X: Any) -> Any:
    """Return a table with named columns, of any library, as a pandas DataFrame, and anything else unchanged.

    Other tables than pandas' (of Polars or Arrow, for example) are recognised by their column names. Read as an array,
    such a table would lose the names, and its columns would be taken by position.
    """
    if isinstance(X, (pd.DataFrame, np.ndarray, list, tuple)) or sparse.issparse(X):
        return _native(X)
    # check the shape first: a lazy table has none, and reading its columns is slow
    if not (hasattr(X, "shape") and hasattr(X, "__getitem__") and hasattr(X, "columns")):
        return X
    names = list(X.column_names if hasattr(X, "column_names") else X.columns)
    columns = [_native(X[name]) for name in names]
    cells = [c if isinstance(c, pd.Series) else plain_cells(c) for c in columns]
    # keep an object column's cells: pandas would turn some of them into text
    series = [pd.Series(c, dtype=object if c.dtype == object else None) for c in cells]
    frame = pd.concat(series, axis=1) if series else pd.DataFrame(index=range(X.shape[0]))
    frame.columns = pd.Index(names, dtype=object)
    return frame


def _native(values: Any) -> Any:
    """Return an array of Arrow's as a Series, a masked one with None, and anything else unchanged.

    Arrow's own ``to_numpy`` fails at nulls, or gives those of a dictionary another value of the column.
    """
    if isinstance(values, np.ma.MaskedArray):
        cells = np.ma.getdata(values).astype(object)
        cells[np.ma.getmaskarray(values)] = None
        return cells
    if not hasattr(values, "to_pylist"):
        return values
    dictionary = hasattr(values.type, "index_type")
    return (values.cast(values.type.value_type) if dictionary else values).to_pandas()


def plain_features(X: Any, n_features: int | None = None, on_invalid: str = "raise") -> Any:
    """Return a table of floats of the kind of `X`, with NaN for every cell that is not a number.

    A complex number with imaginary part 0 counts as a number, and so does text that spells one. An empty list needs
    `n_features`. An entry of a list that is no record of so many cells is refused, or with ``on_invalid="clip"`` all of
    its cells are missing.

    Raises `InvalidData` if `X` is not a table. The message names no value, and not the number of records, which is
    private too.
    """
    X = read_frame(X)
    with np.errstate(all="ignore"):
        if sparse.issparse(X) and X.ndim == 2:
            table = X.tocoo(copy=True)
            return sparse.coo_array((plain_numbers(table.data), (table.row, table.col)), shape=X.shape).tocsr()
        if isinstance(X, pd.DataFrame):
            columns = [plain_numbers(X.iloc[:, i].to_numpy()) for i in range(X.shape[1])]
            cells = np.column_stack(columns) if columns else np.empty(X.shape)
            return pd.DataFrame(cells, columns=X.columns)
        if isinstance(X, (list, tuple)):
            rows = plain_rows(X, n_features, on_invalid)
            return plain_numbers(rows.ravel()).reshape(rows.shape)
        if np.ndim(X) != 2:
            raise InvalidData(f"X has {np.ndim(X)} dimensions: it must have 2, records and features")
        array = np.asarray(X)
        return plain_numbers(array.ravel()).reshape(array.shape)


def plain_rows(rows: Sequence, n_features: int | None = None, on_invalid: str = "raise") -> NDArray[np.object_]:
    """Return a list of records as a table of unchanged cells, shape (n, D).

    An entry that is no record, or one of another length, is refused; with ``on_invalid="clip"`` all of its cells are
    missing.

    >>> plain_rows([[1, "a"], [2.5, None]])
    array([[1, 'a'],
           [2.5, None]], dtype=object)
    """
    listed = [_cells_of(row) for row in rows]
    width = n_features
    if width is None and listed and listed[0] is not None:
        width = len(listed[0])
    if width is None or (on_invalid == "raise" and any(row is None or len(row) != width for row in listed)):
        raise InvalidData("X is not a table: every record must have one value for each feature")
    cells = np.empty((len(rows), width), dtype=object)
    for i, row in enumerate(listed):
        if row is not None and len(row) == width:
            for j, value in enumerate(row):
                cells[i, j] = value  # one by one, so that a cell that is a sequence stays one cell
    return cells


def null_rows(rows: Any, n_features: int) -> NDArray[np.bool_] | None:
    """Return which entries of a list are no record of D cells, each judged by itself; None for another container."""
    if not isinstance(rows, (list, tuple)):
        return None
    listed = map(_cells_of, rows)
    return np.array([row is None or len(row) != n_features for row in listed], dtype=bool)


def _cells_of(row: Any) -> list | None:
    """Return the cells of an entry of a list, None if it is no record."""
    try:
        return list(row) if isinstance(row, (list, tuple, np.ndarray, pd.Series)) else None
    except Exception:  # an array without a dimension, or a subclass that raises anything
        return None


def plain_cells(values: Any) -> NDArray:
    """Return a column as an array. A cell that is a sequence stays one cell, and no cell changes another cell's type.

    >>> plain_cells([1, "a", [2, 3]])
    array([1, 'a', list([2, 3])], dtype=object)
    """
    if not isinstance(values, (list, tuple)):
        values = _native(values)
        try:
            return values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)
        except Exception:  # a type that NumPy does not have, such as integers of 128 bits
            values = list(values)
    cells = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        cells[i] = value
    return cells


def plain_numbers(values: NDArray) -> NDArray[np.float64]:
    """Return cells as floats, with NaN for a cell that is not a number and infinity for too large an integer."""
    with np.errstate(over="ignore"):  # no warning says that a number is too large for a float
        if values.dtype.kind in "biuf":
            return values.astype(float)
        if values.dtype.kind == "c":
            return np.where(values.imag == 0, values.real, np.nan).astype(float)
    if values.dtype.kind in "OUS":
        return np.array([_number(value) for value in values.tolist()], dtype=float)
    return np.full(values.shape, np.nan)


def _number(value: Any) -> float:
    try:
        if isinstance(value, numbers.Complex):
            value = value.real if value.imag == 0 else math.nan
        elif not isinstance(value, (np.bool_, Decimal, str, bytes)):
            return math.nan
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    except Exception:  # text that does not spell a number, or an object that raises anything
        return math.nan


def plain_labels(y: Any, classes: Sequence) -> NDArray[np.intp]:
    """Return class positions 0..C-1, and -1 for a label that is not a class. No null is a class."""
    return _positions(_one_dimension(y), {label: i for i, label in enumerate(classes) if not is_null(label)})


def _one_dimension(y: Any) -> Any:
    if not isinstance(y, (list, tuple)) and np.ndim(y) != 1:
        raise InvalidData(f"y has {np.ndim(y)} dimensions: it must have 1")
    return y if isinstance(y, np.ndarray) else list(y)


def _positions(labels: Any, position: dict) -> NDArray[np.intp]:
    try:
        return np.fromiter(map(position.get, labels, repeat(-1)), np.intp, len(labels))
    except Exception:  # a label has no hash, or raises anything: read each label by itself
        return np.array([_position(label, position) for label in labels], dtype=np.intp)


def spelling_key(value: Any) -> Any:
    """Return what two spellings of a value have in common; raises for an object that has neither text nor number.

    >>> [spelling_key(value) for value in ("1", 1, "1.0", True, "true", "one")]
    [1.0, 1.0, 1.0, 1.0, 1.0, 'one']
    """
    if isinstance(value, str):
        text = value.strip()
        try:
            number = TRUTH.get(text.lower())
            number = float(text) if number is None else number
        except ValueError:
            return value
        return number if math.isfinite(number) else value
    is_number = isinstance(value, (bool, int, float, np.integer, np.floating, np.bool_))
    return float(value) if is_number else value


def _spelled_positions(categories: Sequence) -> dict:
    """Return the position of each category, and of the number that a text spells, if no other category does."""
    position = {category: i for i, category in enumerate(categories)}
    texts = {category: spelling_key(category) for category in categories if isinstance(category, str)}
    times = Counter(map(spelling_key, categories))
    numbers_of = {key: position[text] for text, key in texts.items() if isinstance(key, float) and times[key] == 1}
    return numbers_of | position


def plain_positions(values: Any, categories: Sequence) -> NDArray[np.intp]:
    """Return the result of `plain_labels` for a column, with one look-up for each distinct value where possible.

    A number or truth value is also the category whose text spells it, each cell by itself. Whether a reader makes 1,
    1.0 or "1" of a cell depends on the others of its column.

    In a column of a type of NumPy's, or of texts of Arrow's, equal values mean the same, so each distinct value is
    looked up once. Objects are read one by one: pandas finds texts of a subclass equal that are not.

    >>> plain_positions(np.array(["b", "a", "b", "c"], dtype=object), ("a", "b"))
    array([ 1,  0,  1, -1])
    >>> plain_positions([1, 2.0, "2", 3], ("1", "2"))
    array([ 0,  1,  1, -1])
    """
    position = _spelled_positions(categories)
    values = _native(values)
    if isinstance(getattr(values, "dtype", None), pd.CategoricalDtype):
        column = values.array if hasattr(values, "array") else values
        known = _positions(column.categories.tolist(), position)
        return np.append(known, -1)[column.codes]  # a missing value has the code -1, the last entry
    arrow = getattr(getattr(values, "dtype", None), "storage", None) == "pyarrow"  # texts and nulls only
    column = values.to_numpy() if hasattr(values, "to_numpy") and not arrow else values
    if not arrow and (not isinstance(column, np.ndarray) or column.dtype.kind not in "biuU"):
        return _positions(_one_dimension(column), position)
    where, distinct = pd.factorize(column)
    return np.append(_positions(distinct.tolist(), position), -1)[where]


def _position(label: Any, position: dict) -> int:
    try:
        return position.get(label, -1)
    except Exception:  # a label that has no hash, or raises anything, is not a class
        return -1
