"""Released counts of classes, shrunk by the part that exceeds their noise."""

import math

import numpy as np
from numpy.typing import NDArray

from dpml.classifiers.linear import order_covariance

__all__ = ["shrunken", "shrunken_rates"]

FloatArray = NDArray[np.float64]
# least ratio of a class' rate to the pooled one
LEAST_RATIO = 0.05
# candidates for the variance of the relative size of an excess
VARIANCES = np.array([0.0, *np.exp2(np.arange(-12.0, 5.0))])


def shrunken_rates(noisy: FloatArray, scale: float, ordered: bool) -> FloatArray:
    """Return the rates of the groups of an attribute in each class, shape (C, d). Post-processing.

    Let π_c be the share of a class, q_j the pooled rate of a group, and E = n_c·q_j. The excess x = noisy - E has the
    variance V = 2b²((1 - π_c)² + (C - 1)π_c²) + E. Its relative size x/E gets the prior N(0, τ²K), with K of
    `order_covariance` for groups that have an order, or none. τ² is the one of `VARIANCES` at which the excesses, apart
    from their sum, are most likely (empirical Bayes): where noise hides an attribute, all classes get the pooled rates.
    For these each group counts one deviation of their noise more.

    Examples
    --------
    >>> counts = np.array([[90.0, 10.0], [40.0, 60.0]])
    >>> [shrunken_rates(counts, scale, False).round(2).tolist() for scale in (0.0, 100.0)]
    [[[0.89, 0.11], [0.41, 0.59]], [[0.55, 0.45], [0.55, 0.45]]]
    """
    C, d = noisy.shape
    n = np.maximum(noisy.sum(axis=1, keepdims=True), 1.0)
    pooled = np.maximum(noisy.sum(axis=0), 0.0) + math.sqrt(2 * C) * scale + 1.0
    expected = n * pooled / pooled.sum()
    excess, share = noisy - expected, n / n.sum()
    variance = 2 * scale**2 * ((1 - share) ** 2 + (C - 1) * share**2) + expected
    root = np.sqrt(variance)
    # in units of their own variance the excesses have the covariance 1 + τ²K, in the axes of K: 1 + τ²·values
    size, values, axes = expected / root, (expected / root) ** 2, np.eye(d)[None]
    if ordered:
        values, axes = np.linalg.eigh(order_covariance(d) * size[:, :, None] * size[:, None, :])
    seen, ones = (((part / root)[:, None] @ axes)[:, 0] for part in (excess, np.ones_like(excess)))
    noise = 1 / (1 + VARIANCES[:, None, None] * values)
    total = (noise * ones**2).sum(axis=-1)
    squares = (noise * seen**2).sum(axis=-1) - (noise * seen * ones).sum(axis=-1) ** 2 / total
    unlikely = np.log(total) - np.log(noise).sum(axis=-1) + squares
    kept = 1 - noise[unlikely.sum(axis=-1).argmin()]
    rates = np.maximum(expected + root * (axes @ (kept * seen)[:, :, None])[:, :, 0], LEAST_RATIO * expected)
    return np.asarray(rates / rates.sum(axis=1, keepdims=True))


def shrunken(values: FloatArray, variance: float) -> FloatArray:
    """Return noisy values, shrunk to their mean by their variance beyond that of the noise (James and Stein).

    Examples
    --------
    >>> shrunken(np.array([10.0, 20.0, 30.0]), 25.0).tolist()
    [12.5, 20.0, 27.5]
    """
    mean = values.mean(axis=-1, keepdims=True)
    square = np.maximum(((values - mean) ** 2).sum(axis=-1, keepdims=True), np.finfo(float).tiny)
    kept = np.maximum(1 - (values.shape[-1] - 1) * variance / square, 0.0)
    return np.asarray(mean + kept * (values - mean))
