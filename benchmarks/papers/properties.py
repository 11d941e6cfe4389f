"""Composition, post-processing and group privacy of Laplace noise: exact costs of whole calls on neighbouring tables.

A table is (number of records of one group, of the other). The claimed ε of the two releases are 0.3 and 0.5.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.papers.measured import Measured, exact
from dpml.audit import recorded_cost
from dpml.mechanisms import Laplace

FIRST, SECOND = 0.3, 0.5
ADDED, MOVED = ((7.0, 4.0), (8.0, 4.0)), ((7.0, 4.0), (6.0, 5.0))


def _released(value: float, epsilon: float, sensitivity: float = 1.0) -> Any:
    # the recorder draws the noise
    return Laplace(epsilon, sensitivity).release(value, rng=np.random.default_rng(0))


def _of_everybody(data: tuple[float, float]) -> Any:
    return [_released(sum(data), epsilon) for epsilon in (FIRST, SECOND)]


def _of_each_group(data: tuple[float, float]) -> Any:
    return [_released(*each) for each in zip(data, (FIRST, SECOND), strict=True)]


def _first_group(data: tuple[float, float]) -> float:
    return float(_released(data[0], SECOND))


def sequential(draws: int, random_state: int) -> Iterator[Measured]:
    """Two counts of the same records: the sum of both ε."""
    yield exact("two counts of the same records, one more record", FIRST + SECOND, recorded_cost(_of_everybody, *ADDED))


def parallel(draws: int, random_state: int) -> Iterator[Measured]:
    """Release a count of each of two disjoint groups: an added record costs the larger ε, a moved one both."""
    added = [recorded_cost(_of_each_group, ADDED[0], more) for more in ((8.0, 4.0), (7.0, 5.0))]
    yield exact("counts of two disjoint groups, one more record", SECOND, max(added))
    yield exact("the same, a record moves to the other group", SECOND, recorded_cost(_of_each_group, *MOVED))


def post_processing(draws: int, random_state: int) -> Iterator[Measured]:
    """Compare a noisy count with the same, cut and rounded."""
    yield exact("cost of a noisy count", SECOND, recorded_cost(_first_group, *ADDED))
    cut = recorded_cost(lambda data: round(max(_first_group(data), 0.0)), *ADDED)
    yield exact("cost of the same, cut at 0 and rounded", SECOND, cut)


def group(draws: int, random_state: int) -> Iterator[Measured]:
    """Tables that differ in c records: c·ε for ε-differential privacy, and a larger δ for an approximate one."""
    for c in (1, 2, 5, 10):
        cost = recorded_cost(lambda data: _released(data[0], FIRST), (7.0, 4.0), (7.0 + c, 4.0))
        yield exact(f"{c} more records", c * FIRST, cost)
        yield exact(f"largest ratio of probabilities, {c} more records", math.exp(c * FIRST), math.exp(cost))


def all_of_theorem_1(draws: int, random_state: int) -> Iterator[Measured]:
    """Return the costs of all three properties."""
    for part in (sequential, parallel, post_processing):
        yield from part(draws, random_state)
