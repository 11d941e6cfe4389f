"""Columns of cells in every container and dtype, for the tests of reading cell by cell."""

import warnings
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from fuzz_cells import CELLS, MISSING, objects

from dpml.schema.cells import is_null

# cells of one type that a container may infer
ALIKE = [
    [0, 1, 2, 7, 2**53 - 1, -3],
    [0.0, 1.0, 0.5, 2.0, -0.0, 1e300],
    [True, False],
    ["a", "b", "1", "True", "nan", "None", "", "yes"],
    [np.int8(1), np.float32(0.5), np.float32(0.1), np.bool_(True), np.uint64(2), np.str_("a"), np.longdouble(1)],
    [Decimal(1), Decimal("0.5"), Decimal("NaN"), Fraction(1, 2), 1 + 0j],
    [0, 1.0, True, "1", "a", 0.5, None],
    [1, 2, None],
    [1.0, 0.5, float("nan")],
    ["a", "b", None],
    [True, False, None],
]
ODD = [
    *MISSING,
    *(value for some in CELLS for value in some),
    2**53,
    2**53 + 1,
    2**63,
    1e16,
    "z",
    1.5,
    "1",
    1,
    True,
    b"1",
]


def _array(cells):
    """Return what NumPy makes of a list, where that keeps each cell: a text makes texts of all."""
    array = np.array(cells)
    text = array.dtype.kind in "SU" and not all(isinstance(value, (str, bytes)) for value in cells)
    if array.shape != (len(cells),) or text:
        raise ValueError("other cells")
    return array


def _plain(cells):
    """Return cells, where Polars and Arrow do not end the process at one."""
    if any(type(value) not in (str, bool, int, float, type(None), bytes, date, datetime) for value in cells):
        raise ValueError("other cells")
    return cells


CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "objects": lambda cells: objects(cells, len(cells)),
    "array": _array,
    "series": pd.Series,
    "object series": lambda cells: pd.Series(objects(cells, len(cells)), dtype=object),
    "inferred series": lambda cells: pd.Series(objects(cells, len(cells)), dtype=object).infer_objects(),
    "category": lambda cells: pd.Series(pd.Categorical(cells)),
    "category of objects": lambda cells: pd.Series(objects(cells, len(cells)), dtype=object).astype("category"),
    "nullable": lambda cells: pd.Series(cells).convert_dtypes(),
    "arrow-backed": lambda cells: pd.Series(_plain(cells)).convert_dtypes(dtype_backend="pyarrow"),
    "index": pd.Index,
    "polars": lambda cells: pl.Series("c", _plain(cells)),
    "polars objects": lambda cells: pl.Series("c", _plain(cells), dtype=pl.Object),
    "polars categorical": lambda cells: pl.Series("c", _plain(cells), dtype=pl.Categorical),
    "arrow": lambda cells: pa.chunked_array([pa.array(_plain(cells))]),
    "arrow dictionary": lambda cells: pa.chunked_array([pa.array(_plain(cells)).dictionary_encode()]),
}


def column(kind, cells, odd=None):
    """Return the cells in a container, or None where it cannot hold them as they are; the odd one may change."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made = CONTAINERS[kind](cells)
            held = made.to_pylist() if hasattr(made, "to_pylist") else list(made)
            return (
                made if all(i == odd or _same(*pair) for i, pair in enumerate(zip(held, cells, strict=True))) else None
            )
        except Exception:  # of the container, not of the library
            return None


def frame(kind, columns, odd=None):
    """Return named columns of cells as a table, or None where it cannot hold them as they are."""
    n = len(next(iter(columns.values())))
    if kind in ("list", "tuple"):
        return CONTAINERS[kind]([CONTAINERS[kind](row) for row in zip(*columns.values(), strict=True)])
    if kind == "objects":
        return objects([v for row in zip(*columns.values(), strict=True) for v in row], (n, len(columns)))
    held = {name: column(kind, cells, odd) for name, cells in columns.items()}
    if any(each is None for each in held.values()):
        return None
    if kind == "array":
        array = np.column_stack(list(held.values()))
        return array if all(array.dtype == each.dtype for each in held.values()) else None
    if kind.startswith("polars"):
        return pl.DataFrame(held)
    if kind.startswith("arrow") and kind != "arrow-backed":
        return pa.table(held)
    return pd.DataFrame(held, dtype=object if "objects" in kind else None)


def _same(held, given):
    if is_null(given):
        return is_null(held)
    return isinstance(held, str) == isinstance(given, str) and bool(held == given) and hash(held) == hash(given)
