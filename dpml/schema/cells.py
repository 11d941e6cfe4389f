"""Reading of records such that no data can make a release fail, because an exception would reveal something about them.

Each cell and each label is read by itself, and by its value (`cell_key`). pandas and NumPy give a column one type, so
one text among integers turns all of them into texts. A single record could then make every other record invalid, which
no sensitivity accounts for. A cell that is not a number becomes NaN, which a `dpml.schema.Schema` clips. A label that
is not a class becomes -1, and its record is dropped.
"""

import math
import numbers
import os
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from dpml.exceptions import InvalidData

# the error about labels that are no column
ONE_COLUMN = "y has {} dimensions: it must have 1, as table['label'] has"
TRUTH = {"true": 1.0, "false": 0.0}
# NUL, the soft hyphen, joiners, directional and byte order marks, and variation selectors
HIDDEN = (0, 0xAD, 0x34F, 0x61C, 0x180E, 0xFE0E, 0xFE0F, 0xFEFF)
INVISIBLE = dict.fromkeys((*HIDDEN, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070)))
NUMBERS = {int, float, bool, type(None)}
# types whose equal values have the same key
COMPARABLE = {str, int, float, bool, type(None), type(pd.NA), np.str_, np.int64, np.float64, np.bool_}


def cell_key(value: Any) -> float | complex | str | None:
    r"""Return the value of a cell: equal for all spellings of it, and None for a cell without one.

    A number, a truth value and a text that spells one are a float. Any other text is normalised (NFC), without
    invisible characters and without spaces at its ends. Bytes are the text that they encode. A null, an empty text, the
    text "nan" (as NumPy spells a null beside texts), a date and any other object have no value. No object raises.

    >>> [cell_key(value) for value in ("1", 1, " 01.0", True, "TRUE", np.int8(1), b"1", 1 + 0j, "(1+0j)")]
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    >>> [cell_key(value) for value in ("cafe\u0301 ", "caf\u00e9", "1_0", "0x10", None, "nan")]
    ['café', 'café', '1_0', '0x10', None, None]
    """
    try:
        return _key(value)
    except Exception:  # an object that raises anything, or bytes that are no text
        return None


def _key(value: Any) -> float | complex | str | None:
    if type(value) is str:
        return _text_key(value)
    if isinstance(value, np.timedelta64):  # NumPy makes one of each whole number beside a duration
        return None if np.isnat(value) else float(value.astype(np.int64))
    if isinstance(value, (np.datetime64, np.void)):  # some give another type by `item`
        return None
    if isinstance(value, np.generic):
        value = value.item()
    # the value of a subclass is that of its base: NumPy reads no other
    if isinstance(value, str):
        return _text_key(str.__str__(value))
    if isinstance(value, bytes):
        return _text_key(bytes.decode(value))
    if isinstance(value, float):
        number = float.__float__(value)
    elif isinstance(value, int):
        number = _float(int.__int__(value))
    elif isinstance(value, (complex, np.complexfloating)):
        return _complex_key(complex(value))
    else:
        number = _float(value) if isinstance(value, (numbers.Real, Decimal)) and not is_null(value) else math.nan
    return None if math.isnan(number) else number


def _text_key(text: str) -> float | complex | str | None:
    if not text.isascii() or "\0" in text:
        text = unicodedata.normalize("NFC", text.translate(INVISIBLE))
    text = text.strip()
    try:
        number = float(text)
    except ValueError:
        if (text[-1:] == "j" and len(text) > 1) or text[-2:] == "j)":
            try:
                return _complex_key(complex(text))
            except ValueError:
                return text
        return TRUTH.get(text.lower(), text) if text else None
    if math.isnan(number):
        return None if text == "nan" else text
    return text if "_" in text else number


def _complex_key(value: complex) -> float | complex | None:
    if value != value:
        return None
    return value + 0 if value.imag else value.real  # the sum has no negative zero


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def distinct_cells(values: Any) -> tuple[NDArray[np.intp], list]:
    """Return the number of each cell of a column among its distinct cells, -1 for a null, and these cells.

    Cells of several types are distinct, each from all others, where pandas may find two equal that are not.
    """
    values = _native(values)
    if isinstance(getattr(values, "dtype", None), pd.CategoricalDtype):
        column = values.array if hasattr(values, "array") else values
        return np.asarray(column.codes), column.categories.tolist()
    dtype = getattr(values, "dtype", None)
    if not (isinstance(dtype, pd.StringDtype) and dtype.storage == "pyarrow"):  # texts and nulls only
        values = plain_cells(values)
        if values.ndim != 1:
            raise InvalidData(ONE_COLUMN.format(values.ndim))
        if values.dtype.kind in "US":
            values = values.astype(object)
        objects = values.dtype == object and COMPARABLE.issuperset(map(type, values))
        if not objects and values.dtype.kind not in "biuf":
            return np.arange(len(values)), list(values)
    where, distinct = pd.factorize(values)
    return where, plain_cells(distinct).tolist()


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
    if isinstance(X, (str, os.PathLike)):
        raise InvalidData("X is a path or text: pass a table, or a dpml.parquet.ParquetTable for files in Parquet")
    if hasattr(X, "collect") and not hasattr(X, "shape"):
        raise InvalidData("X is a lazy table, whose records are not computed: pass X.collect()")
    # check the shape first: a lazy table has none, and reading its columns is slow
    if not (hasattr(X, "shape") and hasattr(X, "__getitem__") and hasattr(X, "columns")):
        return X
    if hasattr(X, "npartitions"):  # of Dask: to read it here would take the memory that it avoids
        raise InvalidData(
            "X is a Dask DataFrame, which may be larger than memory. Pass dpml.parquet.BatchTable(X, label, schema), "
            "where label names its column of classes, to AutoClassifier, LinearClassifier or BernoulliNB, or else pass "
            "X.compute()"
        )
    names = list(X.column_names if hasattr(X, "column_names") else X.columns)
    columns = [_native(X[name]) for name in names]
    cells = [c if isinstance(c, pd.Series) else plain_cells(c) for c in columns]
    # keep an object column's cells: pandas would turn some of them into text
    series = [pd.Series(c, dtype=object if c.dtype == object else None) for c in cells]
    frame = pd.concat(series, axis=1) if series else pd.DataFrame(index=range(X.shape[0]))
    frame.columns = pd.Index(names, dtype=object)
    return frame


def _native(values: Any) -> Any:
    """Return an array of Arrow's as a Series, a masked one with None, one of durations as numbers, else the values.

    Arrow's own ``to_numpy`` fails at nulls, or gives those of a dictionary another value of the column.
    """
    if isinstance(values, np.ma.MaskedArray):
        cells = np.ma.getdata(values).astype(object)
        cells[np.ma.getmaskarray(values)] = None
        return cells
    if isinstance(values, np.ndarray) and values.dtype.kind == "m":
        return np.where(np.isnat(values), np.nan, values.astype(np.int64))  # as `cell_key` reads each
    if not hasattr(values, "to_pylist"):
        return values
    values = values.cast(values.type.value_type) if hasattr(values.type, "index_type") else values
    try:
        values.validate(full=True)
        return values.to_pandas()
    except ValueError:
        return _one_by_one(len(values), lambda i: values[i].as_py())


def _one_by_one(n: int, read: Callable[[int], Any]) -> NDArray[np.object_]:
    """Return n cells, None for each that has no value: a date beyond those of Python, or bytes that are no text."""
    cells = np.full(n, None, dtype=object)
    for i in range(n):
        with suppress(Exception):
            cells[i] = read(i)
    return cells


def plain_features(X: Any, n_features: int | None = None, on_invalid: str = "raise") -> Any:
    """Return a table of floats of the kind of `X`, with NaN for every cell that is not a number.

    Raises `InvalidData` if `X` is not a table. The message names no value, and not the number of records.
    """
    X = read_frame(X)
    with np.errstate(all="ignore"):
        if sparse.issparse(X) and X.ndim == 2:
            table = X.tocoo(copy=True)
            return sparse.coo_array((plain_numbers(table.data), (table.row, table.col)), shape=X.shape).tocsr()
        if isinstance(X, pd.DataFrame):
            columns = [plain_numbers(plain_cells(X.iloc[:, i])) for i in range(X.shape[1])]
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

    An entry that is no record, or one of another length, is refused. With ``on_invalid="clip"`` all of its cells are
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
    """Return a mask of the entries of a list that are no record of D cells, or None for another container."""
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
            column = values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)
            # beside another cell, a duration of pandas is an object; a column of records or lists is a table in NumPy
            if column.dtype.kind != "m" and column.ndim == len(getattr(values, "shape", column.shape)):
                return column
        except Exception:  # a type that NumPy does not have, such as integers of 128 bits
            pass
        try:
            values = list(values)
        except Exception:
            return _one_by_one(len(values), getattr(values, "iloc", values).__getitem__)
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
    if values.dtype.kind not in "OUST":
        return np.full(values.shape, np.nan)
    if values.dtype == object and NUMBERS.issuperset(map(type, values)):
        try:
            return values.astype(float)
        except OverflowError:  # a number that is too large for a float
            pass
    where, cells = distinct_cells(values)
    keys = [cell_key(cell) for cell in cells]
    return np.array([*(key if type(key) is float else math.nan for key in keys), math.nan])[where]


def plain_positions(values: Any, stated: Sequence) -> NDArray[np.intp]:
    """Return the position of each cell among stated categories or classes, -1 for a cell that is none of them.

    Cells are compared by value (`cell_key`), each distinct one once. Several categories may spell the value of a cell.
    Then the cell is the equal one of them, and a release refuses such categories (`equal_values`).

    >>> plain_positions([1, 2.0, " 2", 3, None], ("1", "2"))
    array([ 0,  1,  1, -1, -1])
    >>> plain_positions(["1", 1, "01"], ("1", 1))
    array([ 0,  1, -1])
    """
    keys = [cell_key(value) for value in stated]
    times = Counter(keys)
    place = {key: i for i, key in enumerate(keys) if times[key] == 1}
    equal = {value: i for i, (value, key) in enumerate(zip(stated, keys, strict=True)) if times[key] > 1}
    where, cells = distinct_cells(values)
    positions = [_place(cell, place, equal) for cell in (*cells, None)]
    return np.array(positions, dtype=np.intp)[where]  # -1 is the last, a null


def _place(cell: Any, place: dict, equal: dict) -> int:
    position = place.get(cell_key(cell), -1)
    if position >= 0 or not equal:
        return position
    try:
        return equal.get(cell, -1)
    except Exception:  # an object that has no hash, or raises anything
        return -1


def equal_values(stated: Sequence) -> tuple | None:
    """Return the first two stated values with the same key, None where all differ.

    >>> equal_values(("0", "10", "FALSE"))
    ('0', 'FALSE')
    """
    first: dict = {}
    for value in stated:
        other = first.setdefault(cell_key(value), value)
        if other is not value:
            return other, value
    return None
