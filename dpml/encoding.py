"""Public transforms of records: one-hot columns, cut points, fewer ones in a record, unit length.

Every transform depends on public metadata only (a `Schema`, cut points, a contribution bound) and treats each record by
itself, so a later release keeps its ε per record. No scale, bin or bound is taken from the data.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin

from dpml._validate import ON_INVALID, check_choice, check_integer, check_number, check_rng
from dpml.exceptions import InvalidData, InvalidSchema, shown
from dpml.mechanisms import boundary
from dpml.mechanisms.private import statistic
from dpml.schema import Feature, Schema
from dpml.schema.cells import frame_of, plain_rows, read_frame

__all__ = [
    "SHARE_GRID",
    "BinaryEncoding",
    "MixedEncoding",
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


@dataclass(eq=False, repr=False)
class MixedEncoding(TransformerMixin, BaseEstimator):
    """Encode a table of categories and numbers as numbers, by public metadata alone.

    A categorical attribute gets a 0/1 column for each category of its public domain, in the data or not. A numeric
    attribute with public cut points gets one for each interval between them (`numpy.digitize`). Other numbers, and
    binary attributes, stay as they are.

    Parameters
    ----------
    schema : Schema
        Public metadata of the raw table.
    cuts : mapping of str to sequence of float, optional
        Cut points of numeric attributes, increasing. By default, those that the schema states (`Feature.cuts`).
    on_invalid : {"raise", "clip"}, default="raise"
        Treatment of a value outside its domain. A release needs "clip", so that no record can raise an error.

    Attributes
    ----------
    n_features_in_ : int
        Number of attributes of the raw table.
    feature_names_in_ : ndarray of str
        Names of the attributes, only if `fit` saw a DataFrame.

    Raises
    ------
    InvalidSchema
        Cut points do not increase, or `cuts` names an attribute that is not numeric.

    See Also
    --------
    BinaryEncoding : Encodes a table as 0/1 columns only.

    Notes
    -----
    Privacy: ε = 0, as `fit` learns nothing from the records. δ = 0. Relation: any, because `transform` treats each
    record by itself, so neighbouring tables stay neighbours. Sensitivity: that of the next step.

    So it can precede a private classifier in a Pipeline or ColumnTransformer. Pass `encoded_schema` to the classifier.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from dpml.classifiers import LinearClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"age": rng.uniform(0, 100, 3000), "job": rng.choice(["cook", "judge"], 3000)})
    >>> y = (X["age"] > 40).to_numpy().astype(int)
    >>> raw = Schema([Feature("age", "numeric", lower=0, upper=100), Feature("job", "categorical", ("cook", "judge"))])
    >>> encoding = MixedEncoding(raw)
    >>> encoding.get_feature_names_out().tolist()
    ['age', 'job=cook', 'job=judge']
    >>> model = make_pipeline(encoding, LinearClassifier(1.0, schema=encoding.encoded_schema, random_state=0))
    >>> bool(model.fit(X, y).score(X, y) > 0.9)
    True
    """

    schema: Schema
    cuts: Mapping[str, Sequence[float]] | None = None
    on_invalid: str = "raise"

    def _cut_points(self) -> dict[str, tuple[float, ...]]:
        """Return the checked cut points of each number that is cut."""
        if not isinstance(self.schema, Schema):
            raise InvalidSchema("schema", type(self.schema).__name__, "the dpml.schema.Schema of the raw table")
        numeric = {f.name: f for f in self.schema.features if f.kind == "numeric"}
        stated = {name: f.taxonomy.values[1:-1] for name, f in numeric.items() if f.levels is not None}
        given = self.cuts or {}
        if not isinstance(given, Mapping) or not all(isinstance(c, (list, tuple, np.ndarray)) for c in given.values()):
            raise InvalidSchema("cuts", given, "a dictionary of the cut points by name, as in {'age': [18, 65]}")
        cuts = {name: tuple(check_number(c, f"cuts of {name!r}") for c in points) for name, points in given.items()}
        for name in set(cuts) - set(numeric):
            raise InvalidSchema("cuts", name, "given for numeric attributes only")
        for name, points in cuts.items():
            lower, upper = float(numeric[name].lower or 0), float(numeric[name].upper or 0)
            if not all(lower < c <= upper for c in points):
                raise InvalidSchema(f"cuts of {name!r}", points, f"above {lower:g} and at most {upper:g}, its bounds")
            if not points or any(low >= high for low, high in pairwise(points)):
                raise InvalidSchema(f"cuts of {name!r}", points, "one or more increasing numbers")
        return {**stated, **cuts}

    @property
    def encoded_schema(self) -> Schema:
        """Public metadata of the encoded table. Its classes and numbers of rows are those of the raw table."""
        cuts, features = self._cut_points(), []
        for f in self.schema.features:
            if f.kind == "binary" or (f.kind == "numeric" and f.name not in cuts):
                features.append(f)
                continue
            # a name holds a category or a cut point: what marks these marks the column
            marks: dict[str, Any] = {"data_derived": bool(f.data_derived)}
            marks["confirmed"] = bool(f.confirmed) and not f.data_derived
            names = interval_names(f.name, cuts[f.name]) if f.kind == "numeric" else _category_names(f)
            features += [Feature(name, block=f.name, exhaustive=True, **marks) for name in names]
        return replace(self.schema, features=tuple(features), row_bound=None)  # type: ignore[arg-type]  # its default

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the parameters. Nothing is learned from the records.

        Parameters
        ----------
        X : array or DataFrame of shape (n, number of attributes)
            The raw table.
        y : object, optional
            Ignored.

        Returns
        -------
        self
            The fitted transformer.
        """
        check_choice(self.on_invalid, "on_invalid", ON_INVALID)
        _ = self.encoded_schema  # checks the schema, the cut points and the names of columns
        names = np.asarray(self.schema.feature_names, dtype=object)
        self.n_features_in_ = len(names)
        self.__dict__.pop("feature_names_in_", None)
        if isinstance(self._raw(X), pd.DataFrame) and hasattr(X, "columns"):
            self.feature_names_in_ = names
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Encode a raw table.

        Parameters
        ----------
        X : array or DataFrame of shape (n, number of attributes or more)
            The raw table. Columns of a DataFrame are looked up by name, and others (a label, for example) are ignored.
            Those of an array have the schema's order.

        Returns
        -------
        ndarray of float of shape (n, D)
            The encoded table, or a DataFrame after ``set_output(transform="pandas")``.

        Raises
        ------
        InvalidData
            A column is missing, or (``on_invalid="raise"``) a value is outside its domain. The message names the
            column and the value.
        """
        check_choice(self.on_invalid, "on_invalid", ON_INVALID)
        frame, cuts = self._raw(X), self._cut_points()
        encoded = np.zeros((len(frame), self.encoded_schema.n_features))
        rows, start = np.arange(len(frame)), 0
        names = [str(name) for name in frame.columns]
        times, place = Counter(names), {name: i for i, name in enumerate(names)}
        for f in self.schema.features:
            if times[f.name] != 1:
                wrong = f"occurs {times[f.name]} times" if times[f.name] else "is missing"
                raise InvalidData(f"column {shown(f.name)} {wrong}: the table must have it once, with {f.domain}")
            values = frame.iloc[:, place[f.name]]
            if f.kind == "categorical":
                encoded[rows, start + f.positions(values, self.on_invalid)] = 1
                start += len(f.categories or ())
            elif f.name in cuts:
                encoded[rows, start + np.digitize(f.clean(values, self.on_invalid), cuts[f.name])] = 1
                start += len(cuts[f.name]) + 1
            else:
                encoded[:, start] = f.clean(values, self.on_invalid)
                start += 1
        return encoded

    def _raw(self, X: Any) -> pd.DataFrame:
        """Return a table as a DataFrame, whose columns have the schema's names if `X` has none."""
        X = read_frame(X)
        if isinstance(X, pd.DataFrame):
            return X
        names = self.schema.feature_names
        if isinstance(X, (list, tuple)):
            return frame_of(plain_rows(X, len(names), self.on_invalid), names)
        cells = X.toarray() if sparse.issparse(X) else np.asarray(X)
        if cells.ndim != 2:
            raise InvalidData(f"X has {cells.ndim} dimensions: it must have 2, records and features")
        if cells.shape[1] != len(names):
            raise InvalidData(f"X has {cells.shape[1]} columns: the schema has {len(names)}")
        return frame_of(cells, names)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the encoded columns.

        Parameters
        ----------
        input_features : array-like of str, optional
            Ignored: the schema has the names of the attributes.

        Returns
        -------
        ndarray of str
            Names such as ``'job=cook'``, ``'age<25'`` and ``'age'``.
        """
        return np.asarray(self.encoded_schema.feature_names, dtype=object)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return accept_any_cell(tags)


class BinaryEncoding(MixedEncoding):
    """Encode a table of categories and numbers as 0/1 columns, one for each category or interval.

    A categorical attribute gets a column for each category of its public domain, in the data or not. A numeric
    attribute gets a column for each interval between its public cut points (`numpy.digitize`). A binary attribute stays
    as it is. So a record has exactly one 1 for each categorical or numeric attribute.

    Parameters
    ----------
    schema : Schema
        Public metadata of the raw table.
    cuts : mapping of str to sequence of float, optional
        Cut points of each numeric attribute, increasing. By default, those that the schema states (`Feature.cuts`).
    on_invalid : {"raise", "clip"}, default="raise"
        Treatment of a value outside its domain. A release needs "clip", so that no record can raise an error.

    Attributes
    ----------
    n_features_in_ : int
        Number of attributes of the raw table.
    feature_names_in_ : ndarray of str
        Names of the attributes, only if `fit` saw a DataFrame.

    Raises
    ------
    InvalidSchema
        A numeric attribute has no cut points, cut points do not increase, or `cuts` names another attribute.

    See Also
    --------
    MixedEncoding : Keeps numbers without cut points.
    cut_rows : Keeps a bounded number of ones of each record.

    Notes
    -----
    Privacy: ε = 0, as `fit` learns nothing from the records. δ = 0. Relation: any, because `transform` treats each
    record by itself, so neighbouring tables stay neighbours. Sensitivity: that of the next step.

    Examples
    --------
    >>> raw = Schema((Feature("age", "numeric", lower=0, upper=100), Feature("sex", "categorical", ("f", "m"))))
    >>> encoding = BinaryEncoding(raw, {"age": [18, 65]})
    >>> encoding.get_feature_names_out().tolist()
    ['age<18', '18<=age<65', 'age>=65', 'sex=f', 'sex=m']
    >>> encoding.encoded_schema.row_bound
    2
    >>> encoding.transform(pd.DataFrame({"age": [65, 17], "sex": ["f", "m"]}))
    array([[0., 0., 1., 1., 0.],
           [1., 0., 0., 0., 1.]])

    A Pipeline takes the raw table, and its classifier the schema of the encoded one:

    >>> from sklearn.pipeline import make_pipeline
    >>> from dpml.classifiers import BernoulliNB
    >>> model = make_pipeline(encoding, BernoulliNB(1.0, schema=encoding.encoded_schema, random_state=0))
    >>> model.fit(pd.DataFrame({"age": [65, 17] * 500, "sex": ["f", "m"] * 500}), [1, 0] * 500).predict([[70, "f"]])
    array([1])
    """

    def _cut_points(self) -> dict[str, tuple[float, ...]]:
        cuts = super()._cut_points()
        for f in self.schema.features:
            if f.kind == "numeric" and f.name not in cuts:
                missing = "one or more increasing numbers. MixedEncoding keeps a number without cut points"
                raise InvalidSchema(f"cuts of {f.name!r}", None, missing)
        return cuts


def _category_names(feature: Feature) -> list[str]:
    return [f"{feature.name}={category}" for category in feature.categories or ()]


def accept_any_cell(tags: Any) -> Any:
    """Return scikit-learn's tags of an estimator that takes categories, texts and missing values by its schema."""
    tags.input_tags.categorical = tags.input_tags.string = tags.input_tags.allow_nan = True
    return tags


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
