"""Cells, columns of labels and tables of every kind, for `fuzz`."""

import datetime
import math
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
from private_values import Hostile
from scipy import sparse

# ---- cells -----------------------------------------------------------------------------------------------------------


class Twin:
    """An object with the hash of 1 whose comparison raises."""

    def __hash__(self):
        return hash(1)

    def __eq__(self, other):
        raise RuntimeError("SECRET")


class Vague(Twin):
    """The same with a comparison that is neither true nor false."""

    __hash__ = Twin.__hash__

    def __eq__(self, other):
        return np.array([True, False])


class OddFloat(float):
    """A number that refuses to be one."""

    def __float__(self):
        raise RuntimeError("SECRET")

    __eq__ = __lt__ = __gt__ = __abs__ = lambda self, *_: self.__float__()
    __hash__ = lambda self: self.__float__()  # noqa: E731


class OddText(str):
    """Text that cannot be compared."""

    def __eq__(self, other):
        raise RuntimeError("SECRET")

    def __hash__(self):
        return hash("yes")


LIKELY = [0, 1, 1.0, "x", "yes", 0.25, 7]
SMALL = [0.0, True, False, np.True_, np.float32(1), np.int8(-3), 0.5, -0.0, 1j, 1 + 0j, np.complex64(1j)]
MISSING = [None, math.nan, np.nan, pd.NA, pd.NaT, np.datetime64("NaT"), np.timedelta64("NaT"), np.ma.masked]
HUGE = [math.inf, -math.inf, np.float16("inf"), 10**400, -(10**400), 2**63, -(2**63) - 1, np.uint64(2**64 - 1), 1.8e308]
EXACT = [Decimal(1), Decimal("sNaN"), Decimal("1e999999"), Fraction(1, 3), Fraction(10**400), np.longdouble("1e4000")]
TEXT = ["0", "1", " 1 ", "1_0", "inf", "nan", "", "é\u0301\x00\ud800", "٣", "x" * 9_000, "9" * 6_000, np.str_("1")]
BYTES = [b"", b"1", b"\xff", bytearray(b"1"), memoryview(b"1"), np.void(b"ab")]
TIMES = [np.datetime64("2020-01-01"), np.timedelta64(1, "D"), pd.Timestamp("2020"), pd.Timestamp("2020", tz="UTC")]
TIMES += [pd.Timedelta(1), pd.Period("2020"), datetime.date(2020, 1, 1), datetime.datetime.max, datetime.timedelta.max]
ODD = [(), (1,), ((1, 2), 3), frozenset({1}), range(3), Ellipsis, NotImplemented, int, len, pd.Interval(0, 1), slice(1)]
ARRAYS = [np.array(1), np.array("1"), np.zeros(2), np.zeros((2, 2)), np.array([None, 1]), np.zeros((0, 3))]
ARRAYS += [pd.Series([1, 2]), pd.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]})]
ARRAYS += [sparse.eye_array(2), sparse.csr_array((0, 3)), [1], [[1, 2], [3]], [], {}, {"a": [1]}, set(), {1, 2}]
RAISING = [Hostile(), [Hostile()], Twin(), Vague(), OddFloat(1), OddText("yes"), object(), iter([1])]
CELLS = [SMALL, MISSING, HUGE, EXACT, TEXT, BYTES, TIMES, ODD, ARRAYS, RAISING]


def pick(rng, options):
    """Return one of some options."""
    return options[rng.integers(len(options))]


def cell(rng):
    """Return a cell: two times in five one that is likely, else any."""
    return pick(rng, LIKELY if rng.random() < 0.4 else pick(rng, CELLS))


def objects(cells, shape):
    array = np.empty(len(cells), dtype=object)
    for i, value in enumerate(cells):
        array[i] = value
    return array.reshape(shape)


FLOATS = [0.0, 1.0, -0.0, math.nan, math.inf, -math.inf, 0.5, 1e300, 5e-324, 2.0, -1.0]
DTYPES = ["f8", "f4", "f2", "i8", "u1", "?", "c16", "g", "M8[ns]", "m8[D]", "S3", "U2"]


def numbers(rng, shape, dtype):
    values = rng.choice(FLOATS, size=shape)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if dtype[0] in "iu?Mm":
            return np.nan_to_num(values, nan=3, posinf=7, neginf=-7).clip(-9, 99).astype("i8").astype(dtype)
        if dtype[0] == "c":
            return values + rng.choice(FLOATS, size=shape) * 1j
        return values.astype(dtype)


# ---- tables ----------------------------------------------------------------------------------------------------------

SPARSE = ["csr", "csc", "coo", "dok", "lil", "dia", "bsr"]
LISTS = ["rows", "tuples", "tuple of rows", "arrays in a list"]
FRAMES = ["frame", "inferred frame", "duplicate index", "category frame", "nullable frame", "string frame"]
FRAMES += ["mixed frame", "polars"]
OTHERS = ["masked", "matrix", "fortran", *(f"array {dtype}" for dtype in DTYPES)]
OTHERS += [f"{kind} {dtype}" for kind in SPARSE for dtype in ("f8", "f4", "i8", "?", "c16")]


def kind_of_table(rng, *, lists=True):
    """Return a kind of table; one of cells of any type about every second time."""
    return pick(rng, pick(rng, [[*LISTS, "objects"] if lists else ["objects"], FRAMES, OTHERS]))


def table(rng, kind, n, names):
    """Return a table of n records of a kind, or None where the container itself cannot hold the cells."""
    D = len(names)
    first, _, dtype = kind.partition(" ")
    if first in SPARSE:
        values = numbers(rng, (n, D), dtype) * (rng.random((n, D)) < 0.6).astype(dtype)
        make = sparse.coo_matrix if rng.random() < 0.3 else sparse.coo_array
        return make(values).asformat(first)
    if first == "array":
        return numbers(rng, (n, D), dtype)
    if kind == "fortran":
        return np.asfortranarray(numbers(rng, (2 * n, D), "f8"))[::2]
    if kind == "masked":
        return np.ma.masked_array(numbers(rng, (n, D), "f8"), mask=rng.random((n, D)) < 0.3)
    if kind == "matrix":
        return np.asmatrix(numbers(rng, (n, D), "f8"))
    if kind in ("nullable frame", "string frame", "category frame"):
        columns = {}
        for name in names:
            some = [[0, 1, None, 5], ["0", "x", None, "yes"], [True, None, False], [0.5, None, math.inf]]
            values = [some[0 if kind != "string frame" else 1][i] for i in rng.integers(4, size=n)]
            type_ = {"nullable frame": "Int64", "string frame": "string", "category frame": "category"}[kind]
            columns[name] = pd.Series(values, dtype=type_)
        return pd.DataFrame(columns, index=range(n))
    if kind == "mixed frame":
        columns = [
            pd.Series(pd.Categorical([[0, 1, None][i] for i in rng.integers(3, size=n)], categories=[0, 1])),
            pd.Series(rng.integers(2, size=n)),
            pd.Series(pd.array([[1.0, None][i] for i in rng.integers(2, size=n)], dtype="Float64")),
            pd.Series(pd.arrays.SparseArray(rng.integers(2, size=n).astype(float))),
            pd.Series(pd.to_datetime([[None, "2020"][i] for i in rng.integers(2, size=n)], utc=True)),
        ]
        return pd.DataFrame({name: columns[rng.integers(len(columns))] for name in names}, index=range(n))
    X = objects([cell(rng) for _ in range(n * D)], (n, D))
    if kind == "rows":
        return [list(row) for row in X]
    if kind == "tuples":
        return [tuple(row) for row in X]
    if kind == "tuple of rows":
        return tuple(list(row) for row in X)
    if kind == "arrays in a list":
        return list(X)
    if kind == "objects":
        return X
    if kind == "polars":
        return pl.DataFrame({name: pl.Series(name, list(X[:, j]), dtype=pl.Object) for j, name in enumerate(names)})
    frame = pd.DataFrame(X, columns=list(names), dtype=object)
    if kind == "duplicate index":
        frame.index = [0] * n
    return frame.infer_objects() if kind == "inferred frame" else frame


LABELS = ["list", "tuple", "objects", "series", "inferred series", "category", "nullable", "string", "index", "polars"]


def kind_of_labels(rng):
    """Return a kind of a column of labels, or scores; of any type three times in four."""
    return f"array {pick(rng, DTYPES)}" if rng.random() < 0.25 else pick(rng, LABELS)


def labels(rng, kind, n):
    """Return n labels of a kind."""
    first, _, dtype = kind.partition(" ")
    if first == "array":
        return numbers(rng, n, dtype)
    if kind in ("category", "nullable", "string"):
        some = {"category": [0, 1, None, "yes"], "nullable": [0, 1, None, 7], "string": ["0", "yes", None, "no"]}[kind]
        type_ = {"category": "category", "nullable": "Int64", "string": "string"}[kind]
        return pd.Series([some[i] for i in rng.integers(4, size=n)], dtype=type_)
    values = [cell(rng) for _ in range(n)]
    if kind in ("list", "tuple"):
        return values if kind == "list" else tuple(values)
    y = objects(values, n)
    if kind == "polars":
        return pl.Series("y", values, dtype=pl.Object)
    if kind == "index":
        return pd.Index([v if isinstance(v, (int, str)) else 0 for v in values], dtype=object)
    if kind == "objects":
        return y
    series = pd.Series(y, index=np.arange(n)[::-1], dtype=object)
    return series.infer_objects() if kind == "inferred series" else series
