"""A graphical model as a chain of conditional tables: each attribute given some of those that are drawn before it.

The model is a product of factors. Its attributes are eliminated one after another. Drawn in the opposite order, each
depends on those alone that shared a factor with it when it was eliminated.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

__all__ = ["chained", "expected_counts"]

FloatArray = NDArray[np.float64]
# an attribute, those that it depends on, and its probabilities with an axis for each of these and the last for it
Conditional = tuple[int, tuple[int, ...], FloatArray]


def chained(
    factors: Sequence[tuple[Sequence[int], FloatArray]], order: Sequence[int], sizes: Sequence[int]
) -> list[Conditional]:
    """Return each attribute with its probabilities given those that it depends on, all of which come before it.

    A factor is its attributes and the logarithms of a table with an axis for each of them. The factors' product need
    not add up to 1. `order` is the order of elimination of the attributes, which sets the size of the tables.
    """
    left = [(tuple(attributes), np.asarray(table, dtype=float)) for attributes, table in factors]
    conditionals: list[Conditional] = []
    for x in order:
        near = [factor for factor in left if x in factor[0]]
        left = [factor for factor in left if x not in factor[0]]
        given = tuple(sorted({j for attributes, _ in near for j in attributes} - {x}))
        axes = (*given, x)
        table: Any = np.zeros([sizes[j] for j in axes])
        for attributes, factor in near:
            table = table + _with_axes(factor, attributes, axes)
        rest = logsumexp(table, axis=-1, keepdims=True)
        conditionals.append((x, given, np.exp(table - rest)))
        left.append((given, rest[..., 0]))
    return conditionals[::-1]


def _with_axes(table: FloatArray, attributes: Sequence[int], axes: Sequence[int]) -> FloatArray:
    """Return a table with its axes in the order of `axes`, and axes of length 1 for those that it lacks."""
    kept = [j for j in axes if j in attributes]
    turned = table.transpose([list(attributes).index(j) for j in kept])
    return turned[tuple(slice(None) if j in attributes else None for j in axes)]


def expected_counts(chain: Sequence[Conditional], total: float, attributes: Sequence[int]) -> FloatArray:
    """Return the expected counts of the attributes' values among `total` records, with an axis for each.

    Only the attributes and those that they depend on matter: all others add up to 1.
    """
    wanted, used = set(attributes), []
    for x, given, table in reversed(chain):
        if x in wanted:
            wanted |= set(given)
            used.append((table, [*given, x]))
    parts: list[Any] = [part for pair in used for part in pair]
    counts = np.einsum(*parts, list(attributes), optimize="greedy")
    return total * np.asarray(counts, dtype=float)
