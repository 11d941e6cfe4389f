"""Private bins of numbers: one noisy histogram of each number, and cut points that share its mass evenly.

Statistics: `histograms`, exact counts of public cells (`cell_edges`). Release: `release_histograms`.
The cut points, `quantile_levels`, are post-processing: nested levels of up to 2, 4, 8 and 16 bins.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_relation
from dpml.classifiers.automatic.layout import Layout
from dpml.counts import FACTOR
from dpml.mechanisms import Laplace
from dpml.mechanisms.private import statistic
from dpml.mechanisms.source import Source
from dpml.schema.units import growing_edges, growing_powers, inner_edges

__all__ = ["cell_edges", "default_n_cells", "histograms", "pruned", "quantile_levels", "release_histograms"]

FloatArray = NDArray[np.float64]
# fewest and most cells of each histogram: so many, in powers of 2, that there are this many records for each and for
# one scale of the noise. With fewer than the fewest a histogram is not bought
FEWEST_CELLS, CELLS, WORTH = 32, 128, 2.4
# an interval is cut at its half where its noisy number of records is at least this many standard deviations
CLEAR = 3.0
# half a part is empty if its noisy number of records is below this many standard deviations
EMPTY = 2.0
# levels of 2, 4, 8 and 16 bins, as long as there are this many cells for each bin
DEPTH, CELLS_PER_BIN = 4, 4


def default_n_cells(n_records: float, n_numbers: int, epsilon: float, relation: str = "add-remove") -> int:
    """Return the public rule for the cells of each histogram, or 0 where noise would hide the whole histogram.

    The noise on a cell has scale b = K/ε for K numbers (2K/ε under replace-one). A histogram of m cells is worth its ε
    where there are at least `WORTH`·m·b records: the noise of all cells adds up in a cut point, as far as `pruned` does
    not see that they are empty. Many cells help where stated bounds are wide.

    Examples
    --------
    >>> [default_n_cells(10_000, 10, epsilon) for epsilon in (0.05, 0.1, 1.0)]
    [0, 32, 128]
    """
    if not n_numbers or epsilon <= 0:
        return 0
    b = n_numbers * FACTOR[check_relation(relation)] / epsilon
    worth = [m for m in (FEWEST_CELLS << k for k in range(8)) if m <= CELLS and n_records >= WORTH * m * b]
    return max(worth, default=0)


def cell_edges(lower: float, upper: float, n_cells: int) -> list[float]:
    """Return the edges of up to so many cells: half of equal width, half growing from 0 or the bound next to it.

    Numbers that are mostly small, beside stated bounds for the largest, differ in the cells that grow. The cell of 0
    has no more than 2^-20 of the domain.

    Examples
    --------
    >>> [f"{edge:.4g}" for edge in cell_edges(0, 80, 8)]
    ['0', '7.629e-05', '0.002441', '0.07812', '2.5', '20', '40', '60', '80']
    """
    growing = growing_edges(lower, upper, growing_powers(lower, upper, n_cells // 2))
    equal = [edge for edge in inner_edges(lower, upper, n_cells // 2) if lower < edge < upper]
    return sorted({lower, *equal, *growing, upper})


@statistic
def histograms(layout: Layout, X: Any, n_cells: int) -> FloatArray:
    """Count the records in the cells of each number's domain, shape (numbers, cells). Exact: private.

    A domain of fewer cells (`cell_edges`) has zeros at the end.
    """
    rows = []
    for a in layout.numbers:
        feature = layout.attributes[a].feature
        edges = cell_edges(float(feature.lower or 0), float(feature.upper or 0), n_cells)
        cell = np.digitize(np.asarray(layout.column(X, a), dtype=float), edges[1:-1])
        rows.append(np.bincount(cell, minlength=n_cells))
    return np.array(rows, dtype=float).reshape(len(rows), n_cells)


def release_histograms(
    exact: Any,
    n_numbers: int,
    epsilon: float,
    *,
    relation: str = "add-remove",
    rng: np.random.Generator | None = None,
    secure: bool = False,
) -> tuple[FloatArray, float]:
    """Release the histograms of K numbers, and the scale of the noise.

    Privacy: ε for `relation`. A record lies in one cell of each of K histograms: L1 sensitivity K, or 2K under
    replace-one.

    Parameters
    ----------
    exact : ndarray of float, shape (K, cells), or Private
    n_numbers : int
        K, which the schema states.
    epsilon : float
    relation : {"add-remove", "replace-one"}
    """
    noise = Laplace(epsilon, FACTOR[check_relation(relation)] * n_numbers)
    return Source(rng, secure).counts(exact, epsilon, noise.sensitivity), noise.scale


def quantile_levels(noisy: FloatArray, scale: float, lower: float, upper: float) -> list[list[float]]:
    """Return nested levels of cut points that share the noisy mass of the cells of `cell_edges` evenly.

    An interval is cut next to the cell in which its noisy mass reaches a half, on the side that comes closer, or in the
    middle where its mass does not stand out of the noise. A cell that holds most of the mass, as a value that many
    records share, ends up in a bin of its own.

    Examples
    --------
    >>> quantile_levels(np.array([0.0, 0, 0, 1, 9, 30, 40, 20] + 8 * [0]), 0.01, 0.0, 80.0)
    [[0.4419417382415922], [0.078125, 0.4419417382415922, 2.5]]
    """
    edges = cell_edges(lower, upper, len(noisy))
    depth = min(DEPTH, (len(noisy) // CELLS_PER_BIN).bit_length() - 1)
    noisy = pruned(noisy[: len(edges) - 1], scale)
    mass = np.concatenate([[0.0], np.cumsum(noisy)])
    intervals: list[tuple[int, int]] = [(0, len(noisy))]
    cuts: set[int] = set()
    levels: list[list[float]] = []
    for _ in range(depth):
        finer: list[tuple[int, int]] = []
        for first, last in intervals:
            cut = _half(mass, first, last, scale, int(np.count_nonzero(noisy[first:last])))
            finer += [(first, last)] if cut is None else [(first, cut), (cut, last)]
            if cut is not None:
                cuts.add(cut)
        level = [edges[cut] for cut in sorted(cuts)]
        if level and level != (levels[-1] if levels else []):
            levels.append(level)
        intervals = finer
    return levels


def pruned(noisy: FloatArray, scale: float) -> FloatArray:
    """Return a histogram in which the cells of every empty part are 0, as far as the noise lets it be seen.

    From all cells down, a part's records are divided between its halves: by least squares, so that the halves add up to
    the part. If one of them does not exceed its noise, the other gets all. The noise of empty cells would else add up.

    Examples
    --------
    >>> pruned(np.array([1.0, -1.0, 0.5, 90.0, 1.0, -2.0, 0.5, 0.5]), 1.0).tolist()
    [0.0, 0.0, 0.0, 90.5, 0.0, 0.0, 0.0, 0.0]
    """
    cells = np.zeros(len(noisy))
    mass = np.concatenate([[0.0], np.cumsum(noisy)])
    parts = [(0, len(noisy), max(float(mass[-1]), 0.0))]
    while parts:
        first, last, total = parts.pop()
        if last - first == 1:
            cells[first] = total
            continue
        middle = (first + last) // 2
        left, right = float(mass[middle] - mass[first]), float(mass[last] - mass[middle])
        gap = (total - left - right) / 2
        left, right = left + gap, right + gap
        least = EMPTY * scale * math.sqrt(last - first)  # deviations of the noise on a half
        if left < least and left <= right:
            left, right = 0.0, total
        elif right < least:
            left, right = total, 0.0
        if left > 0:
            parts.append((first, middle, left))
        if right > 0:
            parts.append((middle, last, right))
    return cells


def _half(mass: FloatArray, first: int, last: int, scale: float, cells: int) -> int | None:
    """Return the cell at which an interval is cut, or None."""
    total = float(mass[last] - mass[first])
    if last - first < 2:
        return None
    if total < CLEAR * scale * math.sqrt(2 * max(cells, 1)):
        return (first + last) // 2
    inside = mass[first + 1 : last] - mass[first]
    return first + 1 + int(np.abs(inside - total / 2).argmin())
