"""Error that a ratio other than e^(β·x) adds to an answer, estimated from released sums of pairs of attributes.

Suppose that the log ratio has, besides β·x, a term γ·z of the cells z of all pairs of attributes, with independent
coefficients γ of mean 0 and variance g². To first order the weights without it miss the mean of a query b by γ·c, where
c is the weighted covariance of z with the part of b that the features do not explain: variance g²·‖c‖² (`pair_reach`).

A release of the sums of some pairs reveals g² (`interaction_size`): fitted to the sums of the single attributes alone,
the weights miss the cells of a pair by γ·C, with C the weighted covariance of its cells with the part of them that the
attributes do not explain. All of it is post-processing. The assumption is that other pairs are like those:
`public_pairs` selects the ones that depend most on each other in the public table.
"""

import math
from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from dpml.publishing.weights.features import Parts, RatioFeatures, public_pairs
from dpml.publishing.weights.moments import moment_minimiser
from dpml.publishing.weights.penalty import PRIOR
from dpml.publishing.weights.variance import noise_variance

FloatArray = NDArray[np.float64]

ABOVE = 2.0  # standard errors above its estimate that g² is taken
MOST_NOISE = 1e100  # tells no more than nothing, and its square is finite
TOLD = PRIOR / 2  # an interval that allows for less is not too wide to be of use
NUMBERS = (1, 2, 3, 5, 10)


def residuals(X: FloatArray, shares: FloatArray, Y: FloatArray) -> FloatArray:
    """Return the residuals of columns Y after a weighted regression on columns X and a constant."""
    X, Y = X - shares @ X, Y - shares @ Y
    weighted = X * shares[:, None]
    products = weighted.T @ X
    # a power of two: where weights stand on one record, the products are too small for an inverse
    shift = -int(np.frexp(np.abs(products).max())[1])
    # directions in which the records do not differ tell nothing
    inverse = np.linalg.pinv(np.ldexp(products, shift), rcond=1e-9, hermitian=True)
    slopes = inverse @ np.ldexp(weighted.T @ Y, shift)
    return np.asarray(Y - X @ slopes, dtype=float)


def interaction_size(
    X_public: FloatArray, moments: FloatArray, features: RatioFeatures, reg_lambda: float, noise: float, n_private: int
) -> float:
    """Return g, two standard errors above its estimate, from noisy means of features with pairs; at most `PRIOR`.

    Where the noise (the variance of each mean) hides g, it is taken to be no larger than a single attribute's
    coefficients in the rule for λ. `reg_lambda` is that of the fit to the single attributes.

    Of each cell's squared miss, three parts are no interaction: the variance of its noise, that of the sample of
    private records, and that of the sample of public ones. The rest of all cells together estimates g²·Σ‖C‖².
    """
    singles = sum(features.single_sizes)
    X, at = X_public[:, :singles], singles
    shares = softmax(X @ moment_minimiser(X, moments[:singles], reg_lambda))
    excess, noisy, reaches = 0.0, 0.0, []
    for size in features.sizes[len(features.names) : len(features.names) + len(features.pairs)]:
        cells = X_public[:, at : at + size]
        apart = residuals(X, shares, cells)
        squares = apart**2
        sampled = shares @ squares / n_private + shares**2 @ squares
        miss = moments[at : at + size] - shares @ cells
        excess += float((miss**2 - noise - sampled).sum())
        reaches.append((((cells * shares[:, None]).T @ apart) ** 2).sum(axis=1))
        noisy += _variance(noise, sampled)
        at += size
    reach = np.concatenate(reaches)
    total = float(reach.sum())
    if total <= 0:
        return 0.0
    # at most the prior's, as the answer: where weights stand on one row, the total is as small as floats are
    squared = min(max(excess, 0.0) / total, PRIOR**2)
    # few cells tell little, however large what they tell is
    spread = noisy + 2 * squared**2 * float(reach @ reach)
    return min(math.sqrt(squared + ABOVE * math.sqrt(spread) / total), PRIOR)


def _variance(noise: float, sampled: FloatArray) -> float:
    """Return the variance of a sum of squared misses without interactions."""
    noise = min(noise, MOST_NOISE)
    # a squared Laplace variable has a variance of 5 times the square of its mean, a squared normal one of twice
    return float((5 * noise**2 + 4 * noise * sampled + 2 * sampled**2).sum())


def informative_pairs(
    features: RatioFeatures, parts: Parts, epsilon: float, n_private: int
) -> tuple[tuple[str, str], ...]:
    """Return the fewest pairs whose noisy sums tell interactions of size `TOLD`; none if no number of them does.

    It sees no private record: equal weights stand for the ratio's, and `interaction_size` would be at most `TOLD` if
    nothing but noise and samples missed the cells. Each pair more adds cells that tell, and noise to all sums.
    """
    X, rows = features.matrix(parts), np.arange(len(parts))
    shares = np.full(len(parts), 1 / len(parts))
    names, sizes = features.names, features.single_sizes
    ranked = public_pairs(features, parts, max(NUMBERS))
    blocks = []
    for first, second in ranked:
        a, b = names.index(first), names.index(second)
        cells = np.zeros((len(parts), sizes[a] * sizes[b]))
        cells[rows, parts.codes[:, a] * sizes[b] + parts.codes[:, b]] = parts.values[:, a] * parts.values[:, b]
        apart = residuals(X, shares, cells)
        sampled = shares @ apart**2 * (1 / n_private + 1 / len(parts))
        blocks.append((sampled, float((((cells * shares[:, None]).T @ apart) ** 2).sum())))
        if len(blocks) not in NUMBERS:
            continue
        chosen = replace(features, pairs=ranked[: len(blocks)])
        noise = noise_variance(chosen, epsilon, n_private, "moments", "tight", 1.0)
        spread, reach = sum(_variance(noise, s) for s, _ in blocks), sum(r for _, r in blocks)
        if reach > 0 and ABOVE * math.sqrt(spread) / reach <= TOLD**2:
            return chosen.pairs
    return ()


def pair_reach(records: Parts, features: RatioFeatures, weighted: FloatArray) -> float:
    """Return ‖c‖², over all pairs of attributes; `weighted` is each record's weight times what is left of the query."""
    sizes, total = features.single_sizes, 0.0
    pairs: Iterable[tuple[int, int]] = combinations(range(len(sizes)), 2)
    for a, b in pairs:
        cell = records.codes[:, a] * sizes[b] + records.codes[:, b]
        values = weighted * records.values[:, a] * records.values[:, b]
        total += float((np.bincount(cell, weights=values, minlength=sizes[a] * sizes[b]) ** 2).sum())
    return total
