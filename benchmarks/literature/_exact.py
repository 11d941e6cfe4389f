"""The true cost of the literature's algorithms, by enumeration of answers and integration over their noise.

Given the noise that all queries share (of a threshold, or the value of the maximum), the answers are independent. The
probability of an output is then the integral of a product with one factor for each query. Queries with the same answers
on both sides are interchangeable, so it is enough to enumerate multisets of (answer, neighbour's answer).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations_with_replacement
from math import comb

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Nodes",
    "changes",
    "laplace_cdf",
    "laplace_density",
    "largest_loss",
    "multisets",
    "nodes",
    "products",
    "sides",
]

FloatArray = NDArray[np.float64]
# Points of each Gauss-Legendre panel; between breakpoints the integrands are sums of few exponentials.
POINTS = 16
# Stands for log 0; finite, so that 0 times it is 0.
LOG_ZERO = -1e5
Nodes = tuple[FloatArray, FloatArray]


def changes(answers: range, most: int = 1) -> list[tuple[int, int]]:
    """Return all pairs (answer, neighbour's answer) with a difference of at most `most`."""
    return [(a, b) for a in answers for b in answers if abs(a - b) <= most]


def laplace_density(x: FloatArray, scale: float) -> FloatArray:
    """Return the density of Laplace noise."""
    return np.exp(-np.abs(x) / scale) / (2 * scale)


def laplace_cdf(x: FloatArray, scale: float) -> FloatArray:
    """Return the distribution function of Laplace noise, with full relative accuracy in the lower tail."""
    tail = 0.5 * np.exp(-np.abs(x) / scale)
    return np.where(x < 0, tail, 1 - tail)


def nodes(breaks: range, reach: float) -> Nodes:
    """Return (points, weights) to integrate functions that are smooth except at the integers in `breaks`.

    The range extends by `reach` on both sides.
    """
    tail = np.geomspace(1.0, reach, 24)
    edges = np.concatenate([breaks[0] - tail[::-1], np.arange(breaks[0], breaks[-1] + 0.25, 0.5), breaks[-1] + tail])
    x, w = np.polynomial.legendre.leggauss(POINTS)
    width = np.diff(edges)[:, None] / 2
    return (edges[:-1, None] + width * (x + 1)).ravel(), (width * w).ravel()


def multisets(n: int, size: int) -> FloatArray:
    """Return each multiset of `size` out of n items as a row with the multiplicity of each item."""
    counts = np.zeros((comb(n + size - 1, size), n))
    for row, chosen in zip(counts, combinations_with_replacement(range(n), size), strict=True):
        for k in chosen:
            row[k] += 1
    return counts


def products(factors: FloatArray, size: int) -> FloatArray:
    """Return the product of each multiset of `size` rows of factors (n, points), in the order of `multisets`."""
    with np.errstate(divide="ignore"):
        return np.exp(multisets(len(factors), size) @ np.maximum(np.log(factors), LOG_ZERO))


def sides(factor: Callable[[float], FloatArray], pairs: list[tuple[int, int]], size: int) -> list[FloatArray]:
    """Return the products of a factor that depends on the answer, for the data and for the neighbour."""
    return [products(np.stack([factor(pair[side]) for pair in pairs]), size) for side in (0, 1)]


def largest_loss(first: FloatArray, second: FloatArray) -> float:
    """Return the largest |log ratio| of probabilities, infinite where one is zero and the other is not."""
    with np.errstate(divide="ignore", invalid="ignore"):
        loss = np.abs(np.log(first) - np.log(second))
    return float(np.where((first == 0) & (second == 0), 0.0, loss).max())
