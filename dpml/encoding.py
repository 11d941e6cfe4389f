"""Public transforms of records: one-hot columns, cut points, fewer ones in a record, unit length.

Every transform depends on public metadata only (a `Schema`, cut points, a contribution bound) and treats each record by
itself, so a later release keeps its ε per record. No scale, bin or bound is taken from the data.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from dpml._validate import ON_INVALID, check_choice, check_integer, check_number, check_rng
from dpml.exceptions import InvalidData, InvalidSchema, shown
from dpml.mechanisms import boundary
from dpml.mechanisms.private import statistic
from dpml.schema import Feature, Schema
from dpml.schema.cells import read_frame

__all__ = [
    "SHARE_GRID",
    "BinaryEncoding",
    "columns_of",
    "cut_rows",
    "share_rows",
    "unit_scale",
]

# shares are multiples of 1/1024, so their sums are exact and integer noise can be added to them
SHARE_GRID = 1024

# cells in one block of random keys in `cut_rows`: 32 MB
_CELLS = 1 << 22


def interval_names(name: str, cuts: Sequence[float]) -> list[str]:
    """Return the column names of a numeric attribute that is cut at some points.

    >>> interval_names("age", [25, 40])
    ['age<25', '25<=age<40', 'age>=40']
    """
    points = [f"{cut:.12g}" for cut in cuts]
    middle = [f"{low}<={name}<{high}" for low, high in pairwise(points)]
    return [f"{name}<{points[0]}", *middle, f"{name}>={points[-1]}"]


@dataclass(frozen=True)
class BinaryEncoding:
    """Encode a table of categories and numbers as 0/1 columns, one for each category or interval.

    A categorical attribute gets a column for each category of its public domain, in the data or not. A numeric
    attribute gets a column for each interval between its public cut points (`numpy.digitize`). A binary attribute stays
    as it is. So a record has exactly one 1 for each categorical or numeric attribute.

    Parameters
    ----------
    schema : Schema
        Public metadata of the raw table.
    cuts : mapping of str to sequence of float
        Cut points of each numeric attribute, increasing.

    Raises
    ------
    InvalidSchema
        A numeric attribute has no cut points, cut points do not increase, or `cuts` names another attribute.

    See Also
    --------
    cut_rows : Keeps a bounded number of ones of each record.

    Notes
    -----
    The constructor reads no data. `transform` treats each record by itself, so neighbouring tables stay neighbours.

    Examples
    --------
    >>> raw = Schema((Feature("age", "numeric", lower=0, upper=100), Feature("sex", "categorical", ("f", "m"))))
    >>> encoding = BinaryEncoding(raw, {"age": [18, 65]})
    >>> encoding.binary_schema.feature_names
    ['age<18', '18<=age<65', 'age>=65', 'sex=f', 'sex=m']
    >>> encoding.binary_schema.row_bound
    2
    >>> encoding.transform(pd.DataFrame({"age": [65, 17], "sex": ["f", "m"]}))
    array([[0., 0., 1., 1., 0.],
           [1., 0., 0., 0., 1.]])
    """

    schema: Schema
    cuts: Mapping[str, Sequence[float]] = field(default_factory=dict)

    def __post_init__(self):
        numeric = {f.name for f in self.schema.features if f.kind == "numeric"}
        cuts = {name: tuple(check_number(c, f"cuts of {name!r}") for c in points) for name, points in self.cuts.items()}
        for name in [*(set(cuts) - numeric), *(numeric - set(cuts))]:
            raise InvalidSchema("cuts", name, "given for each numeric attribute, and for no other")
        for name, points in cuts.items():
            if not points or any(low >= high for low, high in pairwise(points)):
                raise InvalidSchema(f"cuts of {name!r}", points, "one or more increasing numbers")
        object.__setattr__(self, "cuts", cuts)

    @cached_property
    def binary_schema(self) -> Schema:
        """Public metadata of the encoded table. Its classes and numbers of rows are those of the raw table."""
        features: list[Feature] = []
        for f in self.schema.features:
            if f.kind == "binary":
                features.append(f)
            else:
                # a name holds a category or a cut point: what marks these marks the column
                marks: dict[str, Any] = {"data_derived": bool(f.data_derived)}
                marks["confirmed"] = bool(f.confirmed) and not f.data_derived
                features += [Feature(name, block=f.name, exhaustive=True, **marks) for name in self._column_names(f)]
        return replace(self.schema, features=tuple(features), row_bound=len(features))

    def _column_names(self, feature: Feature) -> list[str]:
        if feature.kind == "numeric":
            return interval_names(feature.name, self.cuts[feature.name])
        return [f"{feature.name}={category}" for category in feature.categories or ()]

    def transform(self, frame: pd.DataFrame, on_invalid: str = "raise") -> np.ndarray:
        """Encode a raw table.

        Parameters
        ----------
        frame : DataFrame of shape (n, number of attributes or more)
            The raw table. Columns are looked up by name, and other columns (a label, for example) are ignored.
        on_invalid : {"raise", "clip"}, default="raise"
            Treatment of a value outside its domain.

        Returns
        -------
        ndarray of float of shape (n, D)
            Zeros and ones.

        Raises
        ------
        InvalidData
            A column is missing, or (``on_invalid="raise"``) a value is outside its domain. The message names the
            column and the value.
        """
        check_choice(on_invalid, "on_invalid", ON_INVALID)
        frame = read_frame(frame)
        X = np.zeros((len(frame), self.binary_schema.n_features))
        rows, start = np.arange(len(frame)), 0
        for f in self.schema.features:
            if f.name not in frame.columns:
                raise InvalidData(f"column {shown(f.name)} is missing: the table must have it, with {f.domain}")
            values = frame[f.name].to_numpy()
            if f.kind == "binary":
                X[:, start] = f.clean(values, on_invalid)
                start += 1
                continue
            X[rows, start + self._codes(f, values, on_invalid)] = 1
            start += len(f.categories or ()) if f.kind == "categorical" else len(self.cuts[f.name]) + 1
        return X

    def _codes(self, f: Feature, values: np.ndarray, on_invalid: str) -> np.ndarray:
        if f.kind == "numeric":
            return np.digitize(f.clean(values, on_invalid), self.cuts[f.name])
        return f.positions(values, on_invalid)


@statistic
def columns_of(X: Any, mask: np.ndarray) -> Any:
    """Return the columns of a dense or sparse table that a boolean mask selects.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, D)
        The table.
    mask : ndarray of bool of shape (D,)
        True for each column to keep.

    Returns
    -------
    array or sparse matrix
        The selected columns, or `X` itself if all are.

    See Also
    --------
    cut_rows : Keeps a bounded number of ones of each record.
    """
    return X if mask.all() else X[:, np.flatnonzero(mask)]


def cut_rows(X: Any, row_bound: int, *, rng: np.random.Generator) -> Any:
    """Keep at most `row_bound` ones of each record, chosen uniformly at random and independently for each record.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, D)
        Records. Every value other than 0 counts as a one.
    row_bound : int
        Contribution bound, the most ones that a record keeps, at least 1.
    rng : numpy.random.Generator
        Source of the choice, used only when some record has more than `row_bound` ones.

    Returns
    -------
    array or CSR matrix of shape (n, D)
        The same kind as `X`, and `X` itself when no record has more than `row_bound` ones. A record with `row_bound`
        ones or fewer is never changed.

    See Also
    --------
    share_rows : Bounds the sum of each record without randomness.
    unit_scale : Scales records to the unit ball.

    Notes
    -----
    The function spends no ε. Each record is cut by itself, so neighbouring data sets stay neighbours after the cut, and
    a later release may rely on at most `row_bound` ones in a record.

    Examples
    --------
    >>> X = np.array([[1, 1, 1, 0], [0, 0, 0, 1]])
    >>> cut_rows(X, 2, rng=np.random.default_rng(0)).sum(axis=1)
    array([2, 1])
    """
    row_bound = check_integer(row_bound, "row_bound", 1)
    check_rng(rng)
    # a random key for each one in the records that have too many ones
    keys = boundary.public_randomness(rng, "random", size=_ones_of_long_records(X, row_bound))
    return _cut(X, row_bound, keys)


@statistic
def _ones_of_long_records(X: Any, row_bound: int) -> int:
    X = canonical_rows(X) if sparse.issparse(X) else np.asarray(X)
    if X.ndim != 2:
        raise InvalidData(f"X has {X.ndim} dimensions: it must have 2, records and features")
    counts = np.diff(X.indptr) if sparse.issparse(X) else np.count_nonzero(X, axis=1)
    return int(counts[counts > row_bound].sum())


@statistic
def _cut(X: Any, row_bound: int, keys: np.ndarray) -> Any:
    """Return X without the ones that are not among the `row_bound` smallest keys of their records."""
    X = X if sparse.issparse(X) else np.asarray(X)
    if not keys.size:
        return X
    if sparse.issparse(X):
        return _cut_sparse(canonical_rows(X), row_bound, keys)
    ones = X != 0
    counts = np.count_nonzero(ones, axis=1)
    where = np.flatnonzero(ones)
    where = where[_kept(counts, row_bound, keys)]
    cut = np.zeros(X.shape, X.dtype)
    cut.ravel()[where] = X.ravel()[where]
    return cut


def canonical_rows(X: Any) -> Any:
    """Return a CSR matrix that stores each one once, and no zero."""
    values = X if X.format == "csr" else X.tocsr()
    if not values.has_canonical_format or not values.data.all():
        values = values.copy()
        values.sum_duplicates()
        values.eliminate_zeros()
    return values


def _cut_sparse(values: Any, row_bound: int, keys: np.ndarray) -> Any:
    counts = np.diff(values.indptr)
    keep = _kept(counts, row_bound, keys)
    indptr = np.concatenate([[0], np.cumsum(np.minimum(counts, row_bound))]).astype(values.indptr.dtype)
    return type(values)((values.data[keep], values.indices[keep], indptr), shape=values.shape)


def _kept(counts: np.ndarray, row_bound: int, keys: np.ndarray) -> np.ndarray:
    """Return a mask over all ones, in row order: each record keeps the ones with its `row_bound` smallest keys."""
    keep = np.ones(int(counts.sum()), dtype=bool)
    long = counts > row_bound
    kept = np.ones(0, dtype=bool)
    lengths = counts[long]
    step = max(_CELLS // int(lengths.max()), 1)
    parts, start = [kept], 0
    for first in range(0, len(lengths), step):
        some = lengths[first : first + step]
        inside = np.arange(some.max()) < some[:, None]
        # shorter records are padded with infinite keys, which are never among the smallest
        padded = np.full(inside.shape, np.inf)
        padded[inside] = keys[start : start + some.sum()]
        start += int(some.sum())
        chosen = np.zeros(inside.shape, dtype=bool)
        smallest = np.argpartition(padded, row_bound - 1, axis=1)[:, :row_bound]
        np.put_along_axis(chosen, smallest, True, axis=1)
        parts.append(chosen[inside])
    keep[np.repeat(long, counts)] = np.concatenate(parts)
    return keep


@statistic
def share_rows(X: Any, row_bound: int) -> Any:
    """Share `row_bound` among the ones of each record: in a record with k ones, each becomes min(1, row_bound/k).

    The result is the average of `cut_rows`, without its randomness. A record sums to at most `row_bound`, which is the
    L1 sensitivity of the column sums under add/remove.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, D)
        Zeros and ones.
    row_bound : int
        Contribution bound, the largest sum of a record, at least 1.

    Returns
    -------
    ndarray of float or CSR matrix of shape (n, D)
        Multiples of 1/`SHARE_GRID`, rounded down, or `X` itself when no record has more than `row_bound` ones.

    See Also
    --------
    cut_rows : Keeps a bounded number of ones of each record.
    unit_scale : Scales records to the unit ball.

    Notes
    -----
    The function spends no ε. Each record is treated by itself.

    Examples
    --------
    >>> share_rows(np.array([[1, 1, 1, 1], [0, 0, 0, 1]]), 2)
    array([[0.5, 0.5, 0.5, 0.5],
           [0. , 0. , 0. , 1. ]])
    """
    row_bound = check_integer(row_bound, "row_bound", 1)
    csr = sparse.issparse(X)
    if csr:
        X = X if X.format == "csr" else X.tocsr()
        counts = np.asarray(X.sum(axis=1)).ravel()
    else:
        X = np.asarray(X)
        counts = X.sum(axis=1)
    if counts.max(initial=0) <= row_bound:
        return X
    share = np.floor(SHARE_GRID * np.minimum(1.0, row_bound / np.maximum(counts, 1))) / SHARE_GRID
    if not csr:
        return X * share[:, None]
    data = X.data * np.repeat(share, np.diff(X.indptr))
    return type(X)((data, X.indices, X.indptr), shape=X.shape)


@statistic
def unit_scale(X: Any, row_bound: int, *, intercept: bool = True) -> Any:
    """Scale binary records so that each record with at most `row_bound` ones lies in the unit ball.

    The divisor is public: sqrt(row_bound + 1) with an intercept, which adds one more 1 to each record, else
    sqrt(row_bound). A record with more ones ends outside the ball: cut it first (`cut_rows`).

    Parameters
    ----------
    X : array or sparse matrix of shape (n, D)
        Zeros and ones.
    row_bound : int
        Contribution bound, the most ones that a record can have. It is public.
    intercept : bool, default=True
        Whether to append a constant column, the last one.

    Returns
    -------
    ndarray of float or CSR matrix of float of shape (n, D + intercept)
        The scaled records, sparse if `X` is.

    See Also
    --------
    cut_rows : Keeps a bounded number of ones of each record.
    share_rows : Bounds the sum of each record.

    Examples
    --------
    >>> unit_scale(np.array([[1, 1, 1, 0], [0, 0, 0, 1]]), 3)
    array([[0.5, 0.5, 0.5, 0. , 0.5],
           [0. , 0. , 0. , 0.5, 0.5]])
    """
    row_bound = check_integer(row_bound, "row_bound", 1)
    unit = 1 / math.sqrt(row_bound + bool(intercept))
    if sparse.issparse(X):
        scaled = X.tocsr().astype(float) * unit
        if not intercept:
            return scaled
        column = sparse.csr_array(np.full((X.shape[0], 1), unit))
        return type(scaled)(sparse.hstack([scaled, column], format="csr"))
    X = np.asarray(X, dtype=float)
    if X.ndim != 2:
        raise InvalidData(f"X has {X.ndim} dimensions: it must have 2, records and features")
    scaled = np.empty((X.shape[0], X.shape[1] + bool(intercept)))
    np.multiply(X, unit, out=scaled[:, : X.shape[1]])
    if intercept:
        scaled[:, -1] = unit
    return scaled
