"""Private bins of numbers: one noisy histogram of each number, and cut points that share its mass evenly.

Statistics: `histograms`, exact counts of cells of equal width over the public domain. Release: `release_histograms`.
The cut points, `quantile_levels`, are post-processing: nested levels of up to 2, 4, 8 and 16 bins.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_relation
from dpml.classifiers.automatic.layout import Layout
from dpml.counts import FACTOR, perturbed
from dpml.mechanisms import Laplace

__all__ = ["default_n_cells", "histograms", "quantile_levels", "release_histograms"]

FloatArray = NDArray[np.float64]
MOST_CELLS, FEWEST_CELLS = 256, 32
# an interval is split where its noisy number of records is at least this many standard deviations of its noise
CLEAR = 5.0
# the histogram is worth its ε where the records are at least this many
WORTH = 5.0
DEPTH = 4  # levels of 2, 4, 8 and 16 bins


def default_n_cells(n_records: float, n_numbers: int, epsilon: float, relation: str = "add-remove") -> int:
    """Return the public rule for the cells of each histogram, or 0 where noise would hide the whole histogram.

    The noise on a cell has scale b = K/ε for K numbers (2K/ε under replace-one). The sum of m cells has a standard
    deviation of b·√(2m), and a histogram is worth its ε where the number of records is at least `CLEAR` times that. The
    rule takes the largest such m among 256, 128, 64 and 32.

    Examples
    --------
    >>> [default_n_cells(10_000, 10, epsilon) for epsilon in (0.01, 0.05, 0.1, 1.0)]
    [0, 32, 128, 256]
    """
    if not n_numbers or epsilon <= 0:
        return 0
    b = n_numbers * FACTOR[check_relation(relation)] / epsilon
    m = MOST_CELLS
    while m >= FEWEST_CELLS:
        if n_records >= WORTH * b * math.sqrt(2 * m):
            return m
        m //= 2
    return 0


def histograms(layout: Layout, X: Any, n_cells: int) -> FloatArray:
    """Count the records in cells of equal width of each number's domain, shape (numbers, cells). Exact: private."""
    found = np.zeros((len(layout.numbers), n_cells))
    for row, a in zip(found, layout.numbers, strict=True):
        feature = layout.attributes[a].feature
        lower, upper = float(feature.lower or 0), float(feature.upper or 0)
        # halved, because the width of a domain may exceed the largest float
        share = (np.asarray(layout.column(X, a), dtype=float) / 2 - lower / 2) / (upper / 2 - lower / 2)
        cell = np.clip((share * n_cells).astype(np.intp), 0, n_cells - 1)
        row += np.bincount(cell, minlength=n_cells)[:n_cells]
    return found


def release_histograms(
    exact: FloatArray,
    epsilon: float,
    *,
    relation: str = "add-remove",
    rng: np.random.Generator | None = None,
    secure: bool = False,
) -> tuple[FloatArray, float]:
    """Release the histograms of K numbers, and the scale of the noise.

    Privacy: ε for `relation`. A record lies in one cell of each of K histograms: L1 sensitivity K, or 2K under
    replace-one.
    """
    noise = Laplace(epsilon, FACTOR[check_relation(relation)] * len(exact))
    return perturbed(exact, noise, rng, secure), noise.scale


def quantile_levels(noisy: FloatArray, scale: float, lower: float, upper: float) -> list[list[float]]:
    """Return nested levels of cut points that share the noisy mass evenly; empty where noise hides all of it.

    An interval is cut next to the cell in which its noisy mass reaches a half, on the side that comes closer. It is not
    cut further where its mass does not stand out of the noise, or it has a single cell. A cell that holds most of the
    mass, as a value that many records share, ends up in a bin of its own.

    Examples
    --------
    >>> quantile_levels(np.array([90.0, 2, 3, 5, 5, 2, 2, 1]), 0.01, 0.0, 80.0)[:3]
    [[10.0], [10.0, 40.0], [10.0, 30.0, 40.0, 50.0]]
    """
    mass = np.concatenate([[0.0], np.cumsum(noisy)])
    intervals: list[tuple[int, int]] = [(0, len(noisy))]
    cuts: set[int] = set()
    levels: list[list[float]] = []
    edges = _edges(lower, upper, len(noisy))
    for _ in range(DEPTH):
        finer: list[tuple[int, int]] = []
        for first, last in intervals:
            cut = _half(mass, first, last, scale)
            finer += [(first, last)] if cut is None else [(first, cut), (cut, last)]
            if cut is not None:
                cuts.add(cut)
        if len(finer) > len(intervals):
            levels.append([edges[cut] for cut in sorted(cuts)])
        intervals = finer
    return levels


def _edges(lower: float, upper: float, cells: int) -> Sequence[float]:
    return [lower * (1 - k / cells) + upper * (k / cells) for k in range(cells + 1)]


def _half(mass: FloatArray, first: int, last: int, scale: float) -> int | None:
    """Return the cell at which an interval is cut, or None."""
    total = float(mass[last] - mass[first])
    if last - first < 2:
        return None
    if total < CLEAR * scale * math.sqrt(2 * (last - first)):
        return (first + last) // 2
    inside = mass[first + 1 : last] - mass[first]
    return first + 1 + int(np.abs(inside - total / 2).argmin())
