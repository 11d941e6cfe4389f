"""Features of a record for the ratio of two tables' densities: one-hot attributes, numbers, and pairs of them.

An attribute is a block of columns of which at most one is not 0, with a value in [0, 1]: the one-hot columns of a
categorical attribute, a binary column, or a number scaled by its public bounds. A pair of attributes is one attribute
more, whose columns are the products. So a record is one position and one value for each attribute, and the bounds below
hold for every record by construction, not by assumption.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from dpml._validate import check_integer
from dpml.exceptions import InvalidData, InvalidParameter
from dpml.mechanisms.private import statistic
from dpml.schema import Schema
from dpml.schema.units import to_unit

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]

MOST_COLUMNS = 400  # of a pair
GRID = 1024  # numbers are multiples of 1/1024 of their domain, so that integer noise can be added to their sums


@dataclass(frozen=True)
class Parts:
    """Records as one column and one value for each of A attributes, which may be `Private`."""

    codes: Any  # shape (n, A), the column within the attribute
    values: Any  # shape (n, A), in [0, 1], and 0 if the attribute has no column for the record

    def __len__(self) -> int:
        return len(self.codes)


@dataclass(frozen=True)
class RatioFeatures:
    """Features of a schema's records, and public bounds on them.

    Parameters
    ----------
    schema : Schema
        Public metadata of both tables.
    pairs : tuple of (str, str)
        Pairs of attributes. The attribute of a one-hot column is its block.
    intercept : bool
        Add a last column that is always 1.

    Examples
    --------
    >>> from dpml.schema import Feature
    >>> pet, age = Feature("pet", "categorical", ("cat", "dog", "hen")), Feature("age", "numeric", lower=0, upper=80)
    >>> schema = Schema((pet, age))
    >>> features = RatioFeatures(schema)
    >>> features.dimension, features.squared_norm, features.squared_change, features.change
    (4, 2, 3, 3)
    >>> features.matrix(features.parts(pd.DataFrame({"pet": ["hen"], "age": [40.0]})))
    array([[0. , 0. , 1. , 0.5]])
    """

    schema: Schema
    pairs: tuple[tuple[str, str], ...] = ()
    intercept: bool = False

    def __post_init__(self):
        known = list(self._attributes())
        for pair in self.pairs:
            if len(pair) != 2 or pair[0] == pair[1] or not set(pair) <= set(known):
                raise InvalidParameter("pairs", pair, f"two different attributes among {known[:6]}")

    def _attributes(self) -> dict[str, list[int]]:
        """Return the features of each attribute; a column outside any block is an attribute of its own."""
        attributes: dict[str, list[int]] = {}
        for j, f in enumerate(self.schema.features):
            attributes.setdefault(f.block if f.kind == "binary" and f.block is not None else f.name, []).append(j)
        return attributes

    @property
    def names(self) -> list[str]:
        """The attributes, without pairs."""
        return list(self._attributes())

    @property
    def single_sizes(self) -> list[int]:
        """Number of columns of each attribute."""
        features = self.schema.features
        return [
            len(features[js[0]].categories or ()) if features[js[0]].kind == "categorical" else len(js)
            for js in self._attributes().values()
        ]

    @property
    def sizes(self) -> list[int]:
        """Number of columns of each attribute and pair, and of the intercept."""
        sizes = dict(zip(self.names, self.single_sizes, strict=True))
        return [*sizes.values(), *(sizes[a] * sizes[b] for a, b in self.pairs), *[1] * self.intercept]

    @property
    def dimension(self) -> int:
        """The number of columns, d."""
        return sum(self.sizes)

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        own: dict[str, list[str]] = {}
        for name, js in self._attributes().items():
            f = self.schema.features[js[0]]
            own[name] = (
                [f"{name}={c}" for c in f.categories or ()]
                if f.kind == "categorical"
                else [self.schema.features[j].name for j in js]
            )
        joint = [f"{first} & {second}" for a, b in self.pairs for first in own[a] for second in own[b]]
        return [*(c for columns in own.values() for c in columns), *joint, *["1"] * self.intercept]

    def _bounds(self) -> tuple[int, int]:
        """Return the most columns of a record that are not 0 or constant, and the most that differ between two."""
        features = self.schema.features
        kinds = [features[js[0]].kind for js in self._attributes().values()]
        binary = [min(size, 2) for size, kind in zip(self.single_sizes, kinds, strict=True) if kind == "binary"]
        others = [min(size, 2) for size, kind in zip(self.single_sizes, kinds, strict=True) if kind != "binary"]
        most = min(len(binary), self.schema.row_bound)
        pairs = self.sizes[len(kinds) : len(kinds) + len(self.pairs)]
        return (
            most + len(others) + len(pairs),
            min(sum(binary), 2 * most) + sum(others) + sum(min(size, 2) for size in pairs),
        )

    @property
    def squared_norm(self) -> int:
        """R², a bound on ‖x‖₂²: one column of at most 1 for each attribute, and the constant."""
        return self._bounds()[0] + self.intercept

    @property
    def squared_change(self) -> int:
        """S², a bound on max(‖x‖₂², ‖x - x'‖₂²) over two records: two columns differ for each attribute."""
        return max(self._bounds()[1], self.squared_norm)

    @property
    def change(self) -> int:
        """S₁, a bound on ‖x - x'‖₁ over two records. It is the same number, since each difference is at most 1."""
        return self._bounds()[1]

    def parts(self, X: Any, on_invalid: str = "raise") -> Parts:
        """Return a table that `Schema.check_features` returned as parts.

        A record with two ones in a block, or more ones than the schema's contribution bound, raises `InvalidData`, or
        keeps its first ones (``on_invalid="clip"``). Each record is treated by itself.
        """
        if on_invalid == "raise":
            self.check_ones(X)
        return Parts(*self._read(X, on_invalid))

    def check_ones(self, X: Any) -> None:
        """Raise `InvalidData` for a record with two ones in a block, or with more ones than the contribution bound."""
        binary = {name: js for name, js in self._attributes().items() if self.schema.features[js[0]].kind == "binary"}
        if len(binary) <= self.schema.row_bound and all(len(js) == 1 for js in binary.values()):
            return
        X = X.toarray() if sparse.issparse(X) else X
        kept = np.zeros(len(X), dtype=np.intp)
        for block, js in binary.items():
            ones = self._ones(X, js)
            if (ones.sum(axis=1) > 1).any():
                raise InvalidData(f"a record has two ones in the block {block!r}: it must have at most one")
            kept += ones.any(axis=1)
        if (kept > self.schema.row_bound).any():
            raise InvalidData(f"a record has more ones than the schema's row_bound = {self.schema.row_bound}")

    def _ones(self, X: Any, js: list[int]) -> FloatArray:
        """Return the columns of one attribute."""
        if isinstance(X, pd.DataFrame):
            return X[[self.schema.features[j].name for j in js]].to_numpy(dtype=float)
        return np.asarray(X)[:, js]

    @statistic
    def _read(self, X: Any, on_invalid: str) -> tuple[IntArray, NDArray[np.floating]]:
        features = self.schema.features
        if sparse.issparse(X):
            X = X.toarray()
        n, groups = len(X), list(self._attributes().values())
        # a column at a time is read and written; multiples of 1/1024 are exact in single precision
        codes = np.zeros((n, len(groups)), dtype=np.int32, order="F")
        values = np.ones((n, len(groups)), dtype=np.float32, order="F")
        kept = np.zeros(n, dtype=np.intp)
        for a, js in enumerate(groups):
            f = features[js[0]]
            if f.kind == "categorical":
                column = X[f.name]
                if isinstance(column.dtype, pd.CategoricalDtype):
                    codes[:, a] = column.cat.codes
                else:
                    codes[:, a] = f.positions(column, on_invalid)
                continue
            if f.kind == "numeric":
                share = to_unit(X[f.name], f.lower, f.upper)  # type: ignore[arg-type]
                values[:, a] = np.rint(share * GRID) / GRID
                continue
            ones = self._ones(X, js)
            codes[:, a] = ones.argmax(axis=1) if len(js) > 1 else 0
            values[:, a] = ones.any(axis=1) & (kept < self.schema.row_bound)
            kept += ones.any(axis=1)
        return self._with_pairs(codes, values)

    def _with_pairs(self, codes: IntArray, values: NDArray[np.floating]) -> tuple[IntArray, NDArray[np.floating]]:
        if self.intercept:
            codes, values = replace(self, intercept=False)._with_pairs(codes, values)
            one = np.ones((len(codes), 1), dtype=values.dtype)
            return np.hstack([codes, np.zeros_like(one, np.int32)]), np.hstack([values, one])
        if not self.pairs:
            return codes, values
        at = {name: a for a, name in enumerate(self.names)}
        sizes = self.single_sizes
        first, second = (np.array([at[pair[i]] for pair in self.pairs]) for i in (0, 1))
        products = codes[:, first] * np.array([sizes[b] for b in second], dtype=np.int32) + codes[:, second]
        joint = np.rint(values[:, first] * values[:, second] * GRID) / GRID
        return np.hstack([codes, products]), np.hstack([values, joint])

    def matrix(self, parts: Parts) -> Any:
        """Return records as a table of d columns in [0, 1]."""
        return self._matrix(parts.codes, parts.values)

    @statistic
    def _matrix(self, codes: IntArray, values: NDArray[np.floating]) -> FloatArray:
        X = np.zeros((len(codes), self.dimension))
        rows = np.arange(len(codes))
        for a, start in enumerate(self._starts()):
            X[rows, start + codes[:, a]] = values[:, a]
        return X

    def scores(self, parts: Parts, beta: Any) -> FloatArray:
        """Return β·x of each record, without the table of d columns."""
        beta = np.asarray(beta, dtype=float)
        total = np.zeros(len(parts))
        for a, (start, size) in enumerate(zip(self._starts(), self.sizes, strict=True)):
            total += beta[start : start + size][parts.codes[:, a]] * parts.values[:, a]
        return total

    def sums(self, parts: Parts) -> Any:
        """Return Σx over the records: exact, because values are multiples of 1/`GRID`."""
        return self._sums(parts.codes, parts.values)

    @statistic
    def _sums(self, codes: IntArray, values: NDArray[np.floating]) -> FloatArray:
        sums = [np.bincount(codes[:, a], weights=values[:, a], minlength=size) for a, size in enumerate(self.sizes)]
        return np.concatenate(sums)

    @property
    def whole(self) -> NDArray[np.bool_]:
        """Whether each column holds only 0 and 1, so that its sum is a count."""
        features = self.schema.features
        own = {name: features[js[0]].kind != "numeric" for name, js in self._attributes().items()}
        kinds = [*own.values(), *(own[a] and own[b] for a, b in self.pairs), *[True] * self.intercept]
        return np.repeat(np.array(kinds), self.sizes)

    def _starts(self) -> list[int]:
        return [0, *np.cumsum(self.sizes)[:-1].tolist()]


def public_pairs(features: RatioFeatures, parts: Parts, n_pairs: int) -> tuple[tuple[str, str], ...]:
    """Return the pairs of attributes with the most mutual information in a public table. It sees no private record.

    A pair with more than 400 columns is left out, because each column gets its own noise.
    """
    n_pairs = check_integer(n_pairs, "pairs", 0)
    names, sizes = features.names, features.single_sizes
    candidates = []
    for a, b in combinations(range(len(names)), 2):
        if sizes[a] * sizes[b] <= MOST_COLUMNS:
            candidates.append((_information(parts, (a, b), (sizes[a], sizes[b])), -a, -b))
    best: Iterable = sorted(candidates, reverse=True)[:n_pairs]
    return tuple((names[-a], names[-b]) for _, a, b in best)


def _information(parts: Parts, at: tuple[int, int], sizes: tuple[int, int]) -> float:
    """Return mutual information in nats of two attributes; a value of 0 is a category of its own."""
    shape = (sizes[0] + 1, sizes[1] + 1)
    a, b = (np.where(parts.values[:, i] > 0, parts.codes[:, i], size) for i, size in zip(at, sizes, strict=True))
    joint = np.bincount(a * shape[1] + b, minlength=math.prod(shape)).reshape(shape) / max(len(parts), 1)
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    some = joint > 0
    return float((joint[some] * np.log(joint[some] / apart[some])).sum())
