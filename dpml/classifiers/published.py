"""Parts of published classifiers whose privacy claim is wrong, kept as they were. For study only.

docs/errata.md says what is wrong with each, and the catalogue what it costs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_integer, check_rng
from dpml.mechanisms import Laplace

__all__ = ["class_sums_by_width", "resampled_count", "resampled_count_loss"]

FloatArray = NDArray[np.float64]


def resampled_count(count: float, epsilon: float, *, draws: int = 1, rng: np.random.Generator) -> FloatArray:
    """Release a count with Laplace noise drawn again until the result is positive, as Vaidya et al. (2013) do.

    Claimed: ε. True cost: ε + log(2 - e^-ε), for the probability of being accepted depends on the count.

    Returns
    -------
    ndarray of shape (draws,)
    """
    mechanism = Laplace(epsilon)
    values = mechanism.release(count, draws=check_integer(draws, "draws", 1), rng=check_rng(rng))
    while (bad := values <= 0).any():
        values[bad] = mechanism.release(count, draws=int(bad.sum()), rng=rng)
    return values


def resampled_count_loss(first: float, second: float, epsilon: float) -> float:
    """Return the largest log density ratio of `resampled_count` at two counts, exactly.

    The density of y > 0 is a Laplace density divided by the chance of acceptance, 1 - e^(-nε)/2 for a count n. The log
    ratio of two of them is monotone between the counts and constant outside, so its extremes lie at y = 0, where one
    count is at or above it, and beyond the larger count.
    """
    accept = [1 - 0.5 * np.exp(-n / Laplace(epsilon).scale) for n in (first, second)]
    offset = np.log(accept[1]) - np.log(accept[0])
    ends = [(abs(y - second) - abs(y - first)) * epsilon + offset for y in (0.0, max(first, second))]
    return float(np.abs(ends).max())


def class_sums_by_width(
    values: Any,
    codes: Any,
    lower: float,
    upper: float,
    epsilon: float,
    *,
    n_classes: int = 2,
    draws: int = 1,
    rng: np.random.Generator,
) -> FloatArray:
    """Release class sums with noise for their width `upper` - `lower`. NOT private when a label can move.

    A fault seen in a current library: the width bounds what a changed value does to a sum, but a record whose label
    moves (or that is added) takes its whole value along, up to max(|lower|, |upper|). With bounds (100, 101) the true
    cost is a hundred times the claim.

    Returns
    -------
    ndarray of shape (draws, n_classes)
    """
    clipped = np.clip(np.asarray(values, float), lower, upper)
    sums = np.bincount(np.asarray(codes), weights=clipped, minlength=n_classes)
    return Laplace(epsilon, upper - lower).release(sums, draws=check_integer(draws, "draws", 1), rng=rng)
