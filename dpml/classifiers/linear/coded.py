"""Records as integer codes or as bits, of which a solver needs products and sums only, without a dense table."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, combinations, pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dpml._arrays import FloatArray

# records whose values are added up in double precision, few enough to keep the rounding error of their sum small
BLOCK = 1 << 14
# values of attributes that are merged into one: two-way tables of merged attributes fit a processor's cache
MOST_VALUES = 256
# records counted at a time in a two-way table
PAIR_BLOCK = 1 << 17
# rows that are dense at a time
PACKED_BLOCK = 1 << 10


@dataclass(frozen=True)
class CodedRows:
    """A table of n rows: each has a row of every one of S small matrices side by side, and then k dense columns.

    `codes` of shape (S, n): the row of each matrix. `parts`: the matrices, which contain no record. `dense` of shape
    (n, k).
    """

    ndim: ClassVar[int] = 2
    dtype: ClassVar[np.dtype] = np.dtype(float)
    codes: NDArray
    parts: tuple[FloatArray, ...]
    dense: FloatArray

    @classmethod
    def merged(cls, codes: Sequence[NDArray], parts: Sequence[FloatArray], dense: FloatArray) -> "CodedRows":
        """Return the table with neighbouring parts merged, as long as a merged part has few rows.

        A two-way table of two merged parts has at most as many cells as there are records.
        """
        most = min(math.isqrt(len(dense)), MOST_VALUES)
        rows: list[NDArray] = []
        merged: list[FloatArray] = []
        for code, part in zip(codes, parts, strict=True):
            if merged and len(merged[-1]) * len(part) <= most:
                before = merged.pop()
                merged.append(np.hstack([np.repeat(before, len(part), axis=0), np.tile(part, (len(before), 1))]))
                rows[-1] = (rows[-1] * np.uint8(len(part)) + code).astype(np.uint8)
            else:
                merged.append(part)
                rows.append(code.astype(np.min_scalar_type(len(part) - 1)))
        return cls(np.array(rows).reshape(len(rows), len(dense)), tuple(merged), dense)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return len(self.dense), self._columns[-1].stop

    @property
    def _values(self) -> list[slice]:
        """The values of each part, counted over all of them."""
        return _slices(map(len, self.parts))

    @property
    def _columns(self) -> list[slice]:
        """The columns of each part, and the dense ones."""
        return _slices([*(part.shape[1] for part in self.parts), self.dense.shape[1]])

    @cached_property
    def _rows_of_values(self) -> sparse.csr_array:
        """The parts as one matrix, shape (values, columns of parts)."""
        return sparse.csr_array(sparse.block_diag(self.parts)) if self.parts else sparse.csr_array((0, 0))

    @cached_property
    def _blocks(self) -> list[tuple[slice, sparse.csr_array, sparse.csc_array]]:
        """A few rows at a time: the value of each in each part as a one-hot table, and that table's transpose."""
        S, n = self.codes.shape
        starts = np.array([values.start for values in self._values], dtype=np.int32)
        ones, ends = np.ones(min(n, BLOCK) * S), np.arange(min(n, BLOCK) + 1, dtype=np.int32) * np.int32(S)
        blocks = []
        for start in range(0, n, BLOCK):
            places = self.codes.T[start : start + BLOCK] + starts
            held = ones[: places.size], places.ravel(), ends[: len(places) + 1]
            table = sparse.csr_array(held, shape=(len(places), self._rows_of_values.shape[0]))
            blocks.append((slice(start, start + BLOCK), table, table.T))
        return blocks

    def toarray(self) -> FloatArray:
        """Return the dense table."""
        return np.hstack([*(part[code] for part, code in zip(self.parts, self.codes, strict=True)), self.dense])

    def with_root(self, root: FloatArray) -> "CodedRows":
        """Return the table times a matrix that has no entries between different parts, and 1 for the dense columns."""
        parts = [part @ root[columns, columns] for part, columns in zip(self.parts, self._columns[:-1], strict=True)]
        return replace(self, parts=tuple(parts))

    @property
    def largest_square(self) -> float:
        """A bound on the squared lengths of rows, which some reach if all rows of a part have the same length."""
        squares = [float((part**2).sum(axis=1).max()) for part in self.parts]
        return math.fsum(squares) + float((self.dense**2).sum(axis=1).max(initial=0.0))

    def extremes(self) -> FloatArray:
        """Return a few dense rows in which each row of a part occurs, and the largest magnitudes of dense columns.

        The largest of their norms bounds those of all rows, for a norm that is the largest over parts and columns.
        """
        at = np.arange(max(map(len, self.parts), default=1))
        rows = [part[np.minimum(at, len(part) - 1)] for part in self.parts]
        largest = np.abs(self.dense).max(axis=0, initial=0.0)
        return np.hstack([*rows, np.broadcast_to(largest, (len(at), len(largest)))])

    def __matmul__(self, matrix: FloatArray) -> FloatArray:
        """Return the table times a matrix of shape (D, k), in its precision."""
        D = self._columns[-1].start
        product = (self.dense @ matrix[D:]).astype(matrix.dtype, copy=False)
        scores = self._rows_of_values @ matrix[:D]
        for rows, values, _ in self._blocks:
            product[rows] += values @ scores
        return np.asarray(product)

    def _counts(self, weights: FloatArray) -> NDArray[np.longdouble]:
        """Return the sum of the weights (n, k) of the rows with each value, shape (values, k)."""
        counts = np.zeros((self._rows_of_values.shape[0], weights.shape[1]), dtype=np.longdouble)
        for rows, _, values in self._blocks:
            counts += values @ weights[rows]
        return counts

    def sums(self, weights: FloatArray) -> NDArray[np.longdouble]:
        """Return the sums over rows of each row times its weights (n, k), shape (k, D).

        The rows of a block are added up in double precision, and their sums in extended precision.
        """
        D = self._columns[-1].start
        total = np.zeros((weights.shape[1], self.shape[1]), dtype=np.longdouble)
        total[:, :D] = (self._rows_of_values.T @ self._counts(weights).astype(float)).T
        for rows, *_ in self._blocks:
            total[:, D:] += weights[rows].T @ self.dense[rows]
        return total

    def through(self, matrix: FloatArray, function: Callable[[slice, FloatArray], FloatArray]) -> FloatArray:
        """Return (X' f(X M))' for a function f of some rows and their products with M, a block at a time."""
        D = self._columns[-1].start
        scores = self._rows_of_values @ matrix[:D]
        counts = np.zeros(scores.shape)
        total = np.zeros((matrix.shape[1], self.shape[1]))
        for rows, values, transposed in self._blocks:
            product = (values @ scores + self.dense[rows] @ matrix[D:]).astype(matrix.dtype, copy=False)
            image = function(rows, product)
            counts += transposed @ image
            total[:, D:] += image.T @ self.dense[rows]
        total[:, :D] = (self._rows_of_values.T @ counts).T
        return total

    def square(self, weights: FloatArray) -> FloatArray:
        """Return X'WX, shape (D, D), from weighted two-way tables of the values."""
        *columns, scalars = self._columns
        square = np.zeros((self.shape[1],) * 2)
        square[:, scalars] = self.sums(weights[:, None] * self.dense).T
        counts = self._counts(weights[:, None]).astype(float)
        for part, at, values in zip(self.parts, columns, self._values, strict=True):
            square[at, at] = part.T @ (counts[values] * part)
        some = np.flatnonzero(weights)
        codes, weights = self.codes[:, some], weights[some]
        for s, t in combinations(range(len(self.parts)), 2):
            table = np.zeros((len(self.parts[s]), len(self.parts[t])))
            for start in range(0, len(some), PAIR_BLOCK):
                rows = slice(start, start + PAIR_BLOCK)
                pairs = codes[s, rows].astype(np.intp) * table.shape[1] + codes[t, rows]
                table += np.bincount(pairs, weights[rows], table.size).reshape(table.shape)
            square[columns[s], columns[t]] = self.parts[s].T @ (table @ self.parts[t])
        return np.triu(square) + np.triu(square, 1).T

    def squares(self, weights: FloatArray) -> FloatArray:
        """Return the diagonal of X'WX."""
        counts = self._counts(weights[:, None]).astype(float)
        diagonal = (self._rows_of_values.multiply(self._rows_of_values).T @ counts)[:, 0]
        return np.concatenate([diagonal, weights @ (self.dense * self.dense)])


@dataclass(frozen=True)
class PackedRows:
    """A table of n rows as bits and numbers. A few rows at a time are dense.

    `bits` of shape (n, bytes): `n_ones` zeros and ones of each row, packed. `numbers` of shape (n, k). `dense`: the
    rows as floats, from the zeros and ones of some rows, and their numbers.
    """

    ndim: ClassVar[int] = 2
    dtype: ClassVar[np.dtype] = np.dtype(float)
    bits: NDArray[np.uint8]
    numbers: FloatArray
    n_ones: int
    dense: Callable[[FloatArray, FloatArray], FloatArray]

    @cached_property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return len(self.bits), self._rows(slice(0)).shape[1]

    def _rows(self, rows: slice) -> FloatArray:
        ones = np.unpackbits(self.bits[rows], axis=1, count=self.n_ones).astype(float)
        return self.dense(ones, self.numbers[rows])

    def blocks(self) -> Iterator[tuple[slice, FloatArray]]:
        """Yield a few rows at a time, at least once."""
        for start in range(0, max(len(self.bits), 1), PACKED_BLOCK):
            rows = slice(start, start + PACKED_BLOCK)
            yield rows, self._rows(rows)

    def toarray(self) -> FloatArray:
        """Return the dense table."""
        return np.concatenate([block for _, block in self.blocks()])

    def __matmul__(self, matrix: FloatArray) -> FloatArray:
        """Return the table times a matrix of shape (D, k)."""
        return np.concatenate([block @ matrix for _, block in self.blocks()])

    def sums(self, weights: FloatArray) -> NDArray[np.longdouble]:
        """Return the sums over rows of each row times its weights (n, k), shape (k, D), as `CodedRows.sums`."""
        total = np.zeros((weights.shape[1], self.shape[1]), dtype=np.longdouble)
        for rows, block in self.blocks():
            total += weights[rows].T @ block
        return total

    def square(self, weights: FloatArray) -> FloatArray:
        """Return X'WX, shape (D, D)."""
        square = np.zeros((self.shape[1],) * 2)
        for rows, block in self.blocks():
            root = np.sqrt(weights[rows])[:, None] * block
            square += root.T @ root
        return square

    def squares(self, weights: FloatArray) -> FloatArray:
        """Return the diagonal of X'WX."""
        return np.asarray(sum(weights[rows] @ (block * block) for rows, block in self.blocks()))


# of which a solver takes products and sums over rows
SummedRows = CodedRows | PackedRows


def _slices(sizes: Iterable[int]) -> list[slice]:
    """Return the places of parts of these sizes, one after the other."""
    ends = [0, *accumulate(sizes)]
    return [slice(*pair) for pair in pairwise(ends)]
