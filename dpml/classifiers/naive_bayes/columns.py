"""The columns in which a naive Bayes model of a mixed table is linear: cells, ones and numbers.

Each record is transformed by itself, by public metadata only.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from dpml._arrays import FloatArray, IntArray
from dpml.schema import Feature, Schema
from dpml.schema.units import to_centred
from dpml.schema.untrusted import plain_positions


@dataclass(frozen=True)
class Design:
    """Columns of a record: one for each cell of each attribute, one for each binary feature, two for each number.

    An *attribute* is a categorical feature, or a numeric one cut into bins of equal width over its public domain. A
    record lies in exactly one cell of each attribute. A *number* z is a numeric feature whose public bounds are mapped
    to -1 and 1. Its columns are z and z², because a Gaussian log density is linear in them.

    `n_bins`: bins of each numeric feature. None: numbers are kept as numbers. `binary_cells`: whether a binary feature
    is an attribute with the two cells 0 and 1, or one column.
    """

    schema: Schema
    n_bins: int | None = None
    binary_cells: bool = False

    @cached_property
    def attributes(self) -> tuple[int, ...]:
        """Positions of the features that are attributes, in the schema's order."""
        kinds = {"categorical"} | ({"binary"} if self.binary_cells else set()) | ({"numeric"} if self.n_bins else set())
        return tuple(i for i, f in enumerate(self.schema.features) if f.kind in kinds)

    @cached_property
    def ones(self) -> tuple[int, ...]:
        """Positions of the binary features that are columns of their own."""
        return tuple(i for i, f in enumerate(self.schema.features) if f.kind == "binary" and not self.binary_cells)

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """Positions of the numeric features that are kept as numbers."""
        return tuple(i for i, f in enumerate(self.schema.features) if f.kind == "numeric" and not self.n_bins)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of cells of each attribute."""
        return tuple(self._size(self.schema.features[i]) for i in self.attributes)

    def _size(self, feature: Feature) -> int:
        if feature.kind == "numeric":
            return int(self.n_bins or 0)
        return len(feature.categories or (0, 1))

    @property
    def n_cells(self) -> int:
        """Number of cells of all attributes."""
        return sum(self.sizes)

    @cached_property
    def edges(self) -> IntArray:
        """First column of each attribute except the first: the points at which to split the cells."""
        return np.cumsum(self.sizes)[:-1] if self.sizes else np.zeros(0, dtype=np.intp)

    def cell_names(self) -> list[tuple[str, object]]:
        """Return the feature and the value of each cell: a category, or the interval of a bin."""
        names: list[tuple[str, object]] = []
        for i, size in zip(self.attributes, self.sizes, strict=True):
            f = self.schema.features[i]
            if f.kind == "numeric":
                ends = np.linspace(float(f.lower or 0), float(f.upper or 0), size + 1)
                names += [(f.name, pd.Interval(*pair, closed="left")) for pair in pairwise(ends)]
            else:
                names += [(f.name, value) for value in f.categories or (0, 1)]
        return names

    def one_names(self) -> list[tuple[str, object]]:
        """Return the binary features that are columns of their own, each with its value 1."""
        return [(self.schema.feature_names[i], 1) for i in self.ones]

    # ---- parts of a table that fits the schema ------------------------------------------------------------------

    def _column(self, X: Any, i: int) -> NDArray:
        if isinstance(X, pd.DataFrame):
            return X.iloc[:, i].to_numpy()
        return X[:, [i]].toarray().ravel() if sparse.issparse(X) else X[:, i]

    def cells(self, X: Any) -> IntArray:
        """Return the cell of each record and attribute, as a column number, shape (n, A)."""
        out = np.empty((X.shape[0], len(self.attributes)), dtype=np.intp)
        start = 0
        for a, (i, size) in enumerate(zip(self.attributes, self.sizes, strict=True)):
            f = self.schema.features[i]
            if f.kind == "categorical":
                cell = plain_positions(X.iloc[:, i] if isinstance(X, pd.DataFrame) else X[:, i], f.categories or ())
            elif f.kind == "binary":
                cell = (np.asarray(self._column(X, i), dtype=float) > 0.5).astype(np.intp)
            else:
                z = _centred(f, self._column(X, i))
                cell = np.minimum(((z + 1) / 2 * size).astype(np.intp), size - 1)
            out[:, a] = start + cell
            start += size
        return out

    def ones_of(self, X: Any) -> Any:
        """Return the binary columns, shape (n, number of ones)."""
        if not isinstance(X, pd.DataFrame):
            return X[:, list(self.ones)] if len(self.ones) < X.shape[1] else X
        return X.iloc[:, list(self.ones)].to_numpy(dtype=float)

    def numbers_of(self, X: Any) -> FloatArray:
        """Return the numbers z in [-1, 1], shape (n, number of numbers)."""
        z = [_centred(self.schema.features[i], self._column(X, i)) for i in self.numbers]
        return np.column_stack(z) if z else np.empty((X.shape[0], 0))

    def matrix(self, X: Any) -> sparse.csr_array:
        """Return all columns of a checked table: cells, ones, z, z²."""
        parts: list[Any] = []
        n, A = X.shape[0], len(self.attributes)
        if A:
            cells = self.cells(X)
            parts.append(sparse.csr_array((np.ones(n * A), cells.ravel(), np.arange(n + 1) * A), (n, self.n_cells)))
        if self.ones:
            parts.append(sparse.csr_array(self.ones_of(X)))
        if self.numbers:
            z = self.numbers_of(X)
            parts += [sparse.csr_array(z), sparse.csr_array(z**2)]
        return sparse.csr_array(sparse.hstack(parts, format="csr")) if len(parts) > 1 else parts[0]

    def split(self, values: FloatArray) -> list[FloatArray]:
        """Split the last axis, which has one entry per cell, into one array for each attribute."""
        return np.split(values, self.edges, axis=-1) if self.sizes else []


def _centred(f: Feature, values: NDArray) -> FloatArray:
    return to_centred(values, float(f.lower or 0), float(f.upper or 0))
