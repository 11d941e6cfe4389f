"""Naive Bayes for many words, with noisy counts that are shrunk by what stands out of the noise.

Statistics and release are those of `dpml.classifiers.BernoulliNB`: class counts of words, each record's ones shared
down to the row bound. The model differs. With thousands of words most counts are noise, and the classes differ in size:
the same noise is then a far larger part of a rare class' counts, and a product over words predicts that class at
random. Here a count moves from the pooled rate only as far as it stands out of its own noise.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpml.classifiers.linear_models import LinearModels
from dpml.counts import NoisyCounts, row_bounded_scales
from dpml.exceptions import InvalidParameter

__all__ = ["shrunken_models"]

FloatArray = NDArray[np.float64]
# standard deviation of a word's relative rate in a class, for words about which the counts say nothing
SPREAD = 0.5
# a count moves freely where its square is this many variances of its noise
OUTSTANDING = 14.0
# least pooled count of a word, in mean counts; largest rate; least ratio of a class' rate to the pooled one
LEAST_POOLED, MOST_RATE, LEAST_RATIO = 0.25, 0.97, 0.05


def shrunken_models(
    noisy: NoisyCounts, epsilon: float, row_bound: int, *, relation: str = "add-remove", class_share: float = 0.1
) -> LinearModels:
    """Return the models of released on-counts and class counts. Post-processing.

    Let t be a word's pooled count, π_c the released share of class c and E = π_c·t the count of the class at the pooled
    rate. The excess x = on_c - π_c·Σ on has the variance V = 2b²((1 - π_c)² + (C - 1)π_c²) + E. Its relative size
    d = x/E gets the prior N(0, τ²), so that its posterior mean is τ²E·x/(τ²E² + V) (empirical Bayes). τ is `SPREAD`, or
    what is left of the excess after `OUTSTANDING` variances: few words say much, and must not be shrunk as the many
    are. The pooled counts are shrunk to their mean in the same way.

    Parameters
    ----------
    noisy : NoisyCounts
        From `dpml.counts.release_row_bounded` with the same ε, row bound, relation and share.
    epsilon, row_bound, relation, class_share
        As for the release.

    Returns
    -------
    LinearModels
        Log odds for two classes, else log probabilities up to a constant.
    """
    if noisy.n is None:
        raise InvalidParameter("noisy", "counts without class counts", "from release_row_bounded")
    b, _ = row_bounded_scales(epsilon, row_bound, relation=relation, class_share=class_share)
    n = np.maximum(noisy.n, 1.0)
    total, C = n.sum(axis=1), n.shape[1]
    share = (n / total[:, None])[:, :, None]
    raw = noisy.on.sum(axis=1)
    pooled = _pooled(raw, 2 * C * b * b)
    expected = share * pooled[:, None, :]
    excess = noisy.on - share * raw[:, None, :]
    variance = 2 * b * b * ((1 - share) ** 2 + (C - 1) * share**2) + expected
    spread = np.maximum(SPREAD**2, (excess**2 - OUTSTANDING * variance) / expected**2)
    relative = spread * expected * excess / (spread * expected**2 + variance)
    rate = np.minimum(pooled / total[:, None], 0.95)[:, None, :]
    rates = np.clip(rate * (1 + relative), np.maximum(LEAST_RATIO * rate, 1e-6), MOST_RATE)
    coef = np.log(rates) - np.log1p(-rates)
    intercept = np.log1p(-rates).sum(axis=2) + np.log(share[:, :, 0])
    if C == 2:
        coef, intercept = coef[:, 1:] - coef[:, :1], intercept[:, 1:] - intercept[:, :1]
    return LinearModels(coef, intercept)


def _pooled(raw: FloatArray, variance: float) -> FloatArray:
    """Return pooled counts > 0, shrunk to their mean unless they stand out of the noise."""
    mean = np.maximum(raw.mean(axis=1, keepdims=True), 1.0)
    among = np.maximum(raw.var(axis=1, keepdims=True) - variance, 1e-9)
    signal = np.maximum(among, raw**2 - 2 * variance)
    kept = signal / (signal + variance)
    return np.maximum(kept * raw + (1 - kept) * mean, LEAST_POOLED * mean)
