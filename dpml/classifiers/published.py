"""Parts of published classifiers whose privacy claim is wrong, kept as they were. For study only.

docs/errata.md says what is wrong with each, and the catalogue what it costs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_epsilon, check_integer, check_rng
from dpml.mechanisms import Laplace
from dpml.mechanisms.admissible import cauchy_scale
from dpml.mechanisms.smooth import smooth_sensitivity

__all__ = ["class_sums_by_width", "gaussian_parameters", "resampled_count", "resampled_count_loss"]

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


def gaussian_parameters(
    X: Any,
    codes: Any,
    lower: float,
    upper: float,
    epsilon: float,
    *,
    n_classes: int = 2,
    draws: int = 1,
    rng: np.random.Generator,
) -> FloatArray:
    """Release a numeric naive Bayes model as 001's Algorithm 1 does. NOT private under either relation.

    Claimed: ε, with ε' = ε/(2K + 1) for the mean and the standard deviation of each of K attributes and for the class
    counts. The noise on the standard deviation is scaled by the smooth sensitivity of the *variance* (lines 17 to 19),
    which is smaller by orders of magnitude where all values are close to each other; the counts change by two under
    its replace-one relation; and a label that moves changes the size of two classes, which its sensitivities take as
    fixed (docs/errata.md).

    Parameters
    ----------
    X : array of shape (n, K)
        Numeric attributes within `lower` and `upper`.
    codes : array of shape (n,)
        Classes as 0..C-1.
    lower, upper : float
        Bounds of every attribute.
    epsilon : float
        The paper's ε.
    n_classes : int
    draws : int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of shape (draws, C, 2K + 1)
        For each class: K means, K standard deviations, and the count.
    """
    X, codes = np.asarray(X, float), np.asarray(codes)
    K = X.shape[1]
    share = check_epsilon(epsilon) / (2 * K + 1)
    beta, per_unit = share / 6, cauchy_scale(share, share / 6, "algorithm-1")
    centre, scale = np.empty((n_classes, 2 * K + 1)), np.empty((n_classes, 2 * K + 1))
    for c in range(n_classes):
        mine = X[codes == c]
        for k in range(K):
            values = mine[:, k]
            centre[c, [k, K + k]] = values.mean(), values.std()
            scale[c, k] = smooth_sensitivity("mean", values, lower, upper, beta)
            scale[c, K + k] = smooth_sensitivity("variance", values, lower, upper, beta)
        centre[c, 2 * K], scale[c, 2 * K] = len(mine), 1.0
    noise = check_rng(rng).standard_cauchy((check_integer(draws, "draws", 1), *centre.shape))
    return centre + per_unit * scale * noise
