"""Selection methods as published that are not private at the ε they state, for simulations only.

They are kept to demonstrate their faults, and none has a release. docs/explanation/errata.md explains the faults,
the catalogue gives neighbours that show them, and the audit detects each.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from scipy.special import expit, logsumexp

from dpml._arrays import BoolArray, FloatArray
from dpml._validate import check_choice, check_epsilon, check_integer, check_number, check_rng
from dpml.claims import claim
from dpml.mechanisms import Laplace, boundary
from dpml.mechanisms.private import for_study
from dpml.selection._base import PrivateSelector
from dpml.selection.scores import scores_to_choose

METHODS = ("iterative", "clusters", "threshold-testing", "noisy-cut")
# rounds of private k-means; the paper does not state a number
ROUNDS = 3


def private_threshold_testing(
    scores: Any, epsilon: float, threshold: float, *, sensitivity: float = 1.0, draws: int = 1, rng: np.random.Generator
) -> BoolArray:
    """Compare exact scores with one noisy threshold (Stoddard et al. 2014, Algorithm 2). NOT private at any ε.

    Claimed: 2σε-differential privacy, σε for monotone scores (Stoddard et al. 2014, Theorem 2 and Corollary 1), with
    noise of scale σ/ε. Only the threshold has noise, so two equal scores always fall on the same side. On a neighbour
    where one of them is larger they can fall on different sides, an event that has probability 0 on the first data set.
    """
    noisy = Laplace(epsilon, sensitivity).release(threshold, draws=check_integer(draws, "draws", 1), rng=rng)
    return np.greater_equal(np.asarray(scores, float), noisy[:, None])


def threshold_testing_log_probabilities(
    scores: Any, epsilon: float, threshold: float, *, sensitivity: float = 1.0
) -> dict[tuple[bool, ...], float]:
    """Return the log probability of every possible output of `private_threshold_testing`."""
    scores = np.asarray(scores, float)
    scale = Laplace(epsilon, sensitivity).scale
    cuts = np.concatenate([[-np.inf], np.unique(scores), [np.inf]])

    def cdf(z: float) -> float:
        u = (z - threshold) / scale
        return float(0.5 * np.exp(u) if u < 0 else 1 - 0.5 * np.exp(-u))

    return {
        tuple(bool(b) for b in scores >= high): float(np.log(cdf(high) - cdf(low)))
        for low, high in itertools.pairwise(cuts)
    }


def noisy_cut(
    scores: Any,
    epsilon: float,
    threshold: float,
    *,
    sensitivity: float = 1.0,
    threshold_share: float = 0.5,
    draws: int = 1,
    rng: np.random.Generator,
) -> BoolArray:
    """Compare noisy scores with a noisy threshold, without a cut-off (Stoddard et al. 2014, section 3.4). NOT private.

    Claimed: ε in total, with ε1 = `threshold_share`·ε for the threshold and ε2 = ε - ε1 for each query, for any number
    of queries. The actual ε for monotone scores is up to ε1 + min(positives, negatives)·ε2, which can grow with the
    number of features (docs/explanation/errata.md).
    """
    epsilon = check_epsilon(epsilon)
    share = check_number(threshold_share, "threshold_share", 0.0, 1.0, open_lower=True, open_upper=True)
    draws = check_integer(draws, "draws", 1)
    cut = Laplace(epsilon * share, sensitivity).release(threshold, draws=draws, rng=rng)
    noisy = Laplace(epsilon * (1 - share), sensitivity).release(scores, draws=draws, rng=rng)
    return noisy >= cut[:, None]


def noisy_cut_log_probabilities(
    scores: Any, sizes: Sequence[int], epsilon: float, threshold: float
) -> dict[tuple[int, ...], float]:
    """Return the log probability of every output of `noisy_cut`, for groups of features with equal scores.

    `scores` and `sizes` describe the groups, and an output is the number of selected features of each group. Features
    are independent given the noisy threshold t. A probability is therefore one integral over t, by Gauss-Legendre
    quadrature between the kinks of the densities.
    """
    scale = Laplace(epsilon / 2).scale
    kinks = np.unique([threshold, *scores])
    edges = np.unique(np.concatenate([kinks + shift for shift in scale * np.arange(-60, 61)]))
    nodes, weights = np.polynomial.legendre.leggauss(16)
    half = np.diff(edges)[:, None] / 2
    t = (edges[:-1, None] + half * (1 + nodes)).ravel()
    density = np.log((half * weights).ravel() / (2 * scale)) - abs(t - threshold) / scale

    def log_cdf(u: FloatArray) -> FloatArray:
        return np.where(u < 0, u - np.log(2), np.log1p(-np.exp(-abs(u)) / 2))

    passes = [(log_cdf((score - t) / scale), log_cdf((t - score) / scale)) for score in scores]
    result = {}
    for selected in itertools.product(*(range(size + 1) for size in sizes)):
        parts = [k * on + (n - k) * off for k, n, (on, off) in zip(selected, sizes, passes, strict=True)]
        ways = math.prod(math.comb(n, k) for n, k in zip(sizes, selected, strict=True))
        result[selected] = float(logsumexp(density + sum(parts))) + math.log(ways)
    return result


def iterative_sampling(
    scores: Any, epsilon: float, n_features: int, *, sensitivity: float, draws: int = 1, rng: np.random.Generator
) -> BoolArray:
    """Accept each feature by a random draw at ε/T, from the best score down (Antonova 2016, Algorithm 4). NOT private.

    Antonova (2016) claims ε only if the loop stops after T steps, but it can continue to the last feature. The
    order, and the shift by the score in place T+1, also use the exact scores. A mask has fewer than T ones if the
    features run out.
    """
    values, T = scores_to_choose(scores, n_features, 1), int(n_features)
    step = check_epsilon(epsilon) / T / (2 * check_number(sensitivity, "sensitivity", 0.0, open_lower=True))
    return boundary.release(_IterativeSampling(T, step, check_integer(draws, "draws", 1)), values, check_rng(rng))


@dataclass(frozen=True)
class _IterativeSampling:
    n_features: int
    step: float
    draws: int

    def _sample(self, statistic: FloatArray, rng: np.random.Generator) -> BoolArray:
        order = np.argsort(-statistic, kind="stable")
        shifted = statistic[order] - statistic[order][self.n_features]
        accepted = rng.random((self.draws, len(statistic))) < expit(self.step * shifted)
        accepted &= accepted.cumsum(axis=1) <= self.n_features
        selected = np.zeros_like(accepted)
        selected[:, order] = accepted
        return selected

    def _compare(self, statistic: Any, other: Any, other_statistic: Any) -> boundary.Loss:
        # no bound is known; the cost grows with the number of features that are rejected
        return boundary.NOTHING if np.array_equal(statistic, other_statistic) else boundary.EVERYTHING


def _noisy_centre_tail(total: float, size: float, scale_total: float, scale_size: float, threshold: float) -> float:
    """Return P((total + noise) / max(size + noise, 1) >= threshold) for Laplace noise on both."""

    def inner(noise: float) -> float:
        need = (threshold * max(size + noise, 1.0) - total) / scale_total
        tail = 0.5 * np.exp(-need) if need >= 0 else 1 - 0.5 * np.exp(need)
        return float(tail * np.exp(-abs(noise) / scale_size) / (2 * scale_size))

    reach = 60 * scale_size
    from scipy import integrate  # slow, and only this needs it

    return float(integrate.quad(inner, -reach, reach, points=[0.0, 1.0 - size], limit=400)[0])


def cluster_selection(
    points: Any,
    epsilon: float,
    threshold: float,
    *,
    centres: Any,
    rounds: int = 1,
    row_bound: int = 1,
    draws: int = 1,
    rng: np.random.Generator,
) -> BoolArray:
    """Cluster features by private k-means on total counts (Stoddard et al. 2014, Algorithm 1). NOT private.

    k-means starts at public `centres`. A cluster is kept if its centre is at least `threshold`.

    Claimed: ε, split evenly over rounds, and between the noise on each cluster's size (sensitivity 1) and sum
    (sensitivity r, `row_bound`). But features are assigned to clusters by their exact counts, so features with equal
    counts are always kept or dropped together. A feature that changes its cluster also moves its whole count from one
    sum to another, so the sensitivities are wrong as well.
    """
    points = np.asarray(points, float)
    draws, rounds = check_integer(draws, "draws", 1), check_integer(rounds, "rounds", 1)
    share = check_epsilon(epsilon) / (2 * rounds)
    size_noise, sum_noise = Laplace(share, 1.0), Laplace(share, check_integer(row_bound, "row_bound", 1))
    where = np.broadcast_to(np.asarray(centres, float), (draws, len(np.asarray(centres))))
    member = np.zeros((draws, where.shape[1], len(points)))
    for _ in range(rounds):
        nearest = np.abs(where[:, :, None] - points).argmin(axis=1)
        member = (nearest[:, None, :] == np.arange(where.shape[1])[:, None]).astype(float)
        sizes = size_noise.release(member.sum(axis=2), rng=rng)
        sums = sum_noise.release(member @ points, rng=rng)
        where = sums / np.maximum(sizes, 1.0)
    kept = where >= threshold
    return np.asarray((member * kept[:, :, None]).any(axis=1))


def cluster_selection_log_probabilities(
    points: Any, epsilon: float, threshold: float, *, centres: Any, row_bound: int = 1
) -> dict[tuple[bool, ...], float]:
    """Return the log probability of every output of `cluster_selection` with one round."""
    points, centres = np.asarray(points, float), np.asarray(centres, float)
    share = check_epsilon(epsilon) / 2
    nearest = np.abs(centres[:, None] - points).argmin(axis=0)
    keep = [
        _noisy_centre_tail(points[nearest == k].sum(), (nearest == k).sum(), row_bound / share, 1 / share, threshold)
        for k in range(len(centres))
    ]
    result: dict[tuple[bool, ...], float] = {}
    for kept in np.ndindex(*(2,) * len(centres)):
        chance = np.prod([p if on else 1 - p for p, on in zip(keep, kept, strict=True)])
        output = tuple(bool(kept[k]) for k in nearest)
        result[output] = result.get(output, 0.0) + float(chance)
    return {output: float(np.log(chance)) for output, chance in result.items() if chance > 0}


@claim(
    "private-threshold-testing",
    "Private threshold testing",
    "[stoddard2014], Algorithm 2",
    "2ε for any scores, ε for total counts",
    private=False,
    cost="no ε: one output is possible on one side only",
    relations=("add-remove",),
    options={"method": "threshold-testing"},
)
@claim(
    "cluster-selection",
    "Cluster selection",
    "[stoddard2014], Algorithm 1",
    private=False,
    cost="no ε: features join clusters by their exact counts",
    relations=("add-remove",),
    options={"method": "clusters"},
)
@claim(
    "noisy-cut",
    "NoisyCut",
    "[stoddard2014], section 3.4, after [lee-clifton2014]",
    "ε, for any number of features",
    private=False,
    cost="up to ε1 + min(positives, negatives)·ε2 for monotone scores (ε1 for the threshold, ε2 for each answer)",
    true_epsilon=lambda epsilon: epsilon / 2 + 20 * epsilon / 2,
    relations=("add-remove",),
    options={"method": "noisy-cut"},
)
@claim(
    "iterative-sampling",
    "Iterative sampling",
    "[antonova2016], Algorithm 4",
    "ε if the loop stops after T turns",
    private=False,
    cost="grows with the number of features: order and shift come from the exact scores",
    relations=("add-remove",),
    options={"method": "iterative"},
)
@dataclass(eq=False, repr=False)
class PublishedSelector(PrivateSelector):
    """Feature selector by published methods that are NOT private, for simulations only.

    It accepts no budget and has no release. Use the repairs `MaskSelector`, `SparseVectorSelector` and
    `NoisyClusterSelector` instead.

    Parameters
    ----------
    epsilon : float
        Privacy parameter that the papers claim. The claim is violated.
    budget : None
        A budget raises `NotPrivate`, because no charge covers these methods.
    release : bool, default False
        True raises `NotPrivate`.
    method : {"iterative", "clusters", "threshold-testing", "noisy-cut"}, default "threshold-testing"
        Published method: `iterative_sampling`, `cluster_selection`, `private_threshold_testing` or `noisy_cut`.
    score : {"total_count", "difference_count", "count", "mutual_information"}, default "total_count"
        Utility of a feature. "clusters" accepts "total_count" only.
    n_features : int, optional
        Number T of features, 1 to D - 1 (iterative).
    threshold : float, optional
        Threshold τ, in the score's unit (the other three).

    See Also
    --------
    MaskSelector : Private repair of "iterative".

    Notes
    -----
    Privacy: ε = infinity for "clusters" and "threshold-testing", no known bound for "iterative", and up to ε₁ +
    min(positives, negatives)·ε₂ for "noisy-cut" with monotone scores. δ = 0. Relation: `relation`. Sensitivity: that of
    one score (`sensitivity`), which does not suffice.

    The papers claim `epsilon`, or a small multiple of it. The claim is violated by all four methods
    (docs/explanation/errata.md).

    References
    ----------
    Antonova (2016), Algorithm 4. Stoddard et al. (2014), Algorithms 1 and 2 and section 3.4.

    Examples
    --------
    >>> X, y = np.eye(4, dtype=int)[[0] * 300 + [1] * 200 + [2] * 20 + [3] * 10], [0, 1] * 265
    >>> PublishedSelector(1.0, "threshold-testing", threshold=100, random_state=0).fit(X, y).get_support().tolist()
    [True, True, False, False]
    """

    private = False

    method: str = "threshold-testing"
    score: str = "total_count"
    _: KW_ONLY
    n_features: int | None = None
    threshold: float | None = None

    def _check(self, facts):
        if check_choice(self.method, "method", METHODS) == "iterative":
            check_integer(self.n_features, "n_features", 1, facts.n_features - 1)
        else:
            check_number(self.threshold, "threshold")
        if self.method == "clusters":
            check_choice(self.score, "score", ("total_count",))

    def _masks(self, counts, facts, draws, rng):
        values = facts.scores(counts, self.score)
        options: Any = {"draws": draws, "rng": rng}
        step = facts.sensitivity(self.score)
        if self.method == "iterative":
            assert self.n_features is not None
            return iterative_sampling(values, self.epsilon, self.n_features, sensitivity=step, **options)
        assert self.threshold is not None
        if self.method == "noisy-cut":
            return noisy_cut(values, self.epsilon, self.threshold, sensitivity=step, **options)
        # the other two use exact scores, as published: that is their fault, so they have no release
        values = for_study(values, self.release, "a choice by exact scores")
        if self.method == "clusters":
            # public starting centres around the threshold, each twice the one before
            centres = max(self.threshold, 1.0) * 2.0 ** np.arange(-3, 5)
            options |= {"centres": centres, "rounds": ROUNDS, "row_bound": facts.row_bound}
            return cluster_selection(values, self.epsilon, self.threshold, **options)
        return private_threshold_testing(values, self.epsilon, self.threshold, sensitivity=step, **options)
