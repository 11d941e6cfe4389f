"""Sorted values within public bounds, and the search over pairs of order statistics for smooth sensitivities."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpml._validate import ON_INVALID, check_choice, check_number
from dpml.exceptions import InvalidData, InvalidParameter, shown
from dpml.schema.cells import plain_cells, plain_numbers

Floats = NDArray[np.float64]

# Smooth bounds stay above this fraction of the global sensitivity, where exp(-βk) would underflow to 0. The maximum of
# a smooth bound and a constant is a smooth bound; a bound of 0 with a neighbour's above 0 would not be smooth.
LEAST = 2.0**-600


@dataclass(frozen=True)
class Ordered:
    """A sorted sample, shifted so that the domain is [0, `width`].

    Order statistics are numbered from 1. Ranks below the sample stand for the lower bound and ranks above it for the
    upper bound: the values that changed records take in the worst case.
    """

    values: Floats
    lower: float
    width: float

    @property
    def n(self) -> int:
        """Number of values."""
        return len(self.values)

    def at(self, rank: ArrayLike) -> Floats:
        """Return the order statistics of these ranks (0 below the sample, `width` above it)."""
        rank = np.asarray(rank)
        if not self.n:
            return np.where(rank < 1, 0.0, self.width)
        inside = self.values[np.clip(rank - 1, 0, self.n - 1)]
        return np.where(rank < 1, 0.0, np.where(rank > self.n, self.width, inside))

    @cached_property
    def mirrored(self) -> Ordered:
        """The sample reflected about the middle of its domain."""
        return Ordered((self.width - self.values)[::-1], self.lower, self.width)

    def falling_means(self, start: int, size: int, steps: int) -> Floats:
        """Return the means of the windows of `size` values that begin at rank start, start - 1, ..., start - steps.

        Computed as one sum and then one difference for each step. The first window must lie inside the sample.
        """
        first = self.values[start - 1 : start - 1 + size].sum()
        rank = start - np.arange(1, steps + 1)
        change = self.at(rank) - self.at(rank + size)
        sums = np.concatenate([[first], first + np.cumsum(change)])
        return np.clip(sums / size, 0.0, self.width)

    def nearest(self, targets: Floats, first: NDArray[Any], last: NDArray[Any]) -> Floats:
        """Return, for each target, the nearest value of the ranks first to last (inside the sample)."""
        above = np.searchsorted(self.values, targets)
        right = self.values[np.clip(above, first - 1, last - 1)]
        left = self.values[np.clip(above - 1, first - 1, last - 1)]
        return np.where(np.abs(right - targets) < np.abs(left - targets), right, left)


def check_bounds(lower: Any, upper: Any) -> tuple[float, float]:
    """Return the public bounds as floats, after checking that lower < upper."""
    lower, upper = check_number(lower, "lower"), check_number(upper, "upper")
    if not lower < upper:
        raise InvalidParameter("lower", lower, f"below upper = {upper:g}")
    if not 1e-60 <= upper - lower <= 1e150:  # squares, and LEAST times a square, must be floats
        raise InvalidParameter("upper", upper, f"1e-60 to 1e150 above lower = {lower:g}")
    return lower, upper


def ordered(values: Any, lower: Any, upper: Any, on_invalid: str = "raise") -> Ordered:
    """Check a sample against its public bounds and sort it once."""
    lower, upper = check_bounds(lower, upper)
    check_choice(on_invalid, "on_invalid", ON_INVALID)
    if on_invalid == "clip":
        x = plain_cells(values)
        x = plain_numbers(x) if x.ndim == 1 else x
    else:
        try:
            x = np.asarray(values)
            x = plain_numbers(x) if x.dtype.kind == "c" else x.astype(float, copy=False)
        except (TypeError, ValueError, OverflowError):
            raise InvalidData("values are not numbers: they must be a one-dimensional array of numbers") from None
    if x.ndim != 1:
        raise InvalidData(f"values has {x.ndim} dimensions: it must have 1")
    x = np.sort(x)  # NaN goes to the end, so the first and the last value show whether any is outside
    if len(x) and not (x[0] >= lower and x[-1] <= upper):
        if on_invalid == "raise":
            bad = x[~((x >= lower) & (x <= upper))][0].item()
            raise InvalidData(f"values has {shown(bad)}: it must be a number from {lower:g} to {upper:g}")
        # as everywhere in dpml, NaN becomes the middle of the domain
        x = np.sort(np.clip(np.where(np.isnan(x), lower + (upper - lower) / 2, x), lower, upper))
    return Ordered(np.clip(x - lower, 0.0, upper - lower) if lower else x, lower, upper - lower)


def decayed_gaps(high: Floats, low: Floats, rate: float) -> tuple[Floats, NDArray[np.intp]]:
    """Return, for each i, the maximum over j of exp(-rate·(i+j))·(high[i] - low[j]), and the j that attains it.

    `high` must be non-decreasing, `low` non-increasing, and no gap negative. For j' > j the ratio of the gap at j' to
    the gap at j then falls as high[i] grows, so the best j is non-increasing in i. The search therefore halves like
    binary search: a row is searched only between the answers of its neighbours, O((rows + columns)·log rows) in all.
    """
    rows, columns = len(high), len(low)
    decay = np.exp(-rate * np.arange(columns))
    best, where = np.zeros(rows), np.zeros(rows, dtype=np.intp)
    step = 1 << max(rows - 1, 0).bit_length()
    while step:
        row = np.arange(step - 1, rows, 2 * step)
        if len(row):
            last = np.where(row >= step, where[row - step], columns - 1)
            first = np.where(row + step < rows, where[np.minimum(row + step, rows - 1)], 0)
            length = last - first + 1
            begin = np.cumsum(length) - length
            column = np.arange(length.sum()) - np.repeat(begin - first, length)
            gap = (np.repeat(high[row], length) - low[column]) * decay[column]
            best[row] = np.maximum.reduceat(gap, begin)
            # the leftmost maximum of each row: the search bounds hold only if all ties are broken the same way
            equal = np.flatnonzero(gap == np.repeat(best[row], length))
            where[row] = column[equal[np.searchsorted(equal, begin)]]
        step //= 2
    return best * np.exp(-rate * np.arange(rows)), where


def widen(evaluate: Callable[[int], float], ceiling: float, beta: float, last: int) -> float:
    """Return the maximum over distances 0..last, without the distances where exp(-β·k)·ceiling cannot exceed it.

    `evaluate(limit)` returns the maximum over at least the distances up to `limit`.
    """
    limit, best = 64, LEAST * ceiling
    while True:
        limit = min(limit, last)
        best = max(best, evaluate(limit))
        if limit >= last or ceiling * math.exp(-beta * (limit + 1)) <= best:
            return best
        # grow to the distance needed, at most 16-fold: a wider search may raise `best` and so need less
        limit = min(math.ceil(math.log(ceiling / best) / beta), 16 * limit)
