"""Six variants of the sparse vector technique, four of them incorrect, and the numerical sparse vector technique.

Queries are asked in order. Each answer says whether a noisy value reaches a noisy threshold, until `cutoff` of them do.
Definitions: Lyu, Su and Li (2017, Figure 1), Algorithms 1 to 6, with Δ = 1; the numerical technique: Wang et al.
(2019). An answer after the cut-off is NaN. "Below" is 0, or -inf where "above" is answered with a number.

Inputs: each answer is 0, 1 or 2, the threshold is 1, and each answer changes by at most 1, in its own direction. The ε
of variants 3 and 6 grows with every further query, but is finite for a given number of queries. The ε of variant 5 is
infinite for two or more queries.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.literature._exact import (
    changes,
    laplace_cdf,
    laplace_density,
    largest_loss,
    nodes,
    sides,
)
from benchmarks.literature._published_algorithm import PublishedAlgorithm, PublishedAlgorithms, laplace
from dpml.audit.search import Answers

__all__ = ["SPARSE_VECTORS", "SparseVectorVariant"]

FloatArray = NDArray[np.float64]
ANSWERS = range(3)
THRESHOLD = 1.0


@dataclass(frozen=True)
class SparseVectorVariant:
    """A variant, given by its noise scales and its answers.

    Attributes
    ----------
    threshold_scale, query_scale : float
        Scales of the Laplace noise; a query scale of 0 means no noise.
    cutoff : int or None
        c, the number of answers "above" after which it stops; None for no cut-off.
    redraw : bool
        Whether the threshold gets new noise after each answer "above".
    answer_scale : float or None
        The answer "above" is 1 if None, the compared noisy value if 0, and otherwise a value with new noise of this
        scale.
    """

    threshold_scale: float
    query_scale: float
    cutoff: int | None = 1
    redraw: bool = False
    answer_scale: float | None = None

    def __call__(self, data: Any, *, draws: int, rng: np.random.Generator) -> FloatArray:
        """Return the answers of each draw as a row."""
        data = np.asarray(data, dtype=float)
        shape = (draws, len(data))
        values = np.broadcast_to(data, shape)
        if self.query_scale:
            values = laplace(rng, self.query_scale, shape)
            values += data
        threshold = THRESHOLD + laplace(rng, self.threshold_scale, (draws, 1))
        if self.redraw:
            threshold = np.repeat(threshold, len(data), axis=1)
            for k in range(len(data) - 1):
                again = np.flatnonzero(values[:, k] >= threshold[:, k])
                # the new noise is used for all later queries, until it is redrawn
                threshold[again, k + 1 :] = THRESHOLD + laplace(rng, self.threshold_scale, (len(again), 1))
        above = values >= threshold
        if self.answer_scale is None:
            answers = above.astype(float)
        else:
            numbers = values if self.answer_scale == 0 else data + laplace(rng, self.answer_scale, shape)
            answers = np.where(above, numbers, -np.inf)
        if self.cutoff is not None:
            before: NDArray[np.intp] = np.cumsum(above, axis=1) - above
            answers[before >= self.cutoff] = np.nan
        return answers

    def true_epsilon(self, length: int) -> float:
        """Return the largest loss over the stated inputs and all outputs."""
        if self.answer_scale == 0:
            return self._loss_of_value(length)
        if self.redraw:
            assert self.cutoff is not None
            # each run up to an answer "above" has its own noise: log ratios add up, and all can be largest at once
            ended = [self._loss(below, 1) for below in range(length)]
            open_end = [0.0, *(self._loss(below, 0) for below in range(1, length + 1))]
            worst = open_end[:]
            for _ in range(self.cutoff):
                worst = [
                    max([open_end[n], *(ended[below] + worst[n - below - 1] for below in range(n))])
                    for n in range(length + 1)
                ]
            return worst[length]
        outputs = [(length - above, above) for above in range(length + 1)]
        if self.cutoff is not None:
            outputs = [(length - above, above) for above in range(self.cutoff)]
            outputs += [(below, self.cutoff) for below in range(length - self.cutoff + 1)]
        return max(self._loss(below, above) for below, above in outputs)

    def _loss(self, below: int, above: int) -> float:
        """Return the largest loss of an output with these numbers of answers under one threshold noise."""
        r, w = nodes(ANSWERS, 60 * self.threshold_scale)
        weights = w * laplace_density(r - THRESHOLD, self.threshold_scale)
        pairs = changes(ANSWERS)
        under = sides(lambda q: self._below(r - q), pairs, below)
        over = sides(lambda q: self._below(r - q, upper=True), pairs, above)
        if self.answer_scale:
            # a number with its own noise adds at most |change| / scale to the loss
            over[0] *= np.exp([[abs(a - b) / self.answer_scale] for a, b in pairs]) if above == 1 else 1.0
            assert above <= 1, "numbers are integrated for a cutoff of 1"
        one, two = ((under[side] * weights) @ over[side].T for side in (0, 1))
        return _signed_loss(one, two) if self.answer_scale else largest_loss(one, two)

    def _below(self, x: FloatArray, upper: bool = False) -> FloatArray:
        """Return the probability that a query's noise is below x, or at least x."""
        if self.query_scale == 0:
            return np.where((x <= 0) if upper else (x > 0), 1.0, 0.0)
        return laplace_cdf(-x if upper else x, self.query_scale)

    def _loss_of_value(self, length: int) -> float:
        """Return the largest loss if the answer is the compared value itself, for a cutoff of 1.

        The density of `below` answers "below" and then v is an integral over thresholds up to v.
        """
        assert self.cutoff == 1, "values are integrated for a cutoff of 1"
        r, w = nodes(ANSWERS, 60 * self.threshold_scale)
        weights = w * laplace_density(r - THRESHOLD, self.threshold_scale)
        pairs = changes(ANSWERS)
        worst = self._loss(length, 0)
        for below in range(length):
            under = sides(lambda q: self._below(r - q), pairs, below)
            one, two = (np.cumsum(side * weights, axis=1) for side in under)
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = np.log(one) - np.log(two)
            ratio[~np.isfinite(ratio)] = 0.0
            for a, b in pairs:
                # the density ratio of the answer v itself, at the same v
                value = (np.abs(r - b) - np.abs(r - a)) / self.query_scale
                worst = max(worst, float(np.abs(ratio + value).max()))
        return worst


def _signed_loss(first: FloatArray, second: FloatArray) -> float:
    """Return the largest log ratio in one direction. The pairs hold both orders, so it covers both directions."""
    with np.errstate(divide="ignore"):
        return float((np.log(first) - np.log(second)).max())


def _variants(epsilon: float) -> dict[str, tuple[str, str, SparseVectorVariant, int]]:
    """Return {name: (title, source, variant, number of queries)}; ε is split into ε1 for the threshold and ε2."""
    half, quarter = epsilon / 2, epsilon / 4
    paper = "Lyu, Su and Li 2017, Algorithm"
    return {
        "sparse-vector-1": ("Sparse vector 1", f"{paper} 1", SparseVectorVariant(1 / half, 2 / half), 10),
        "sparse-vector-2": (
            "Sparse vector 2, a new threshold each time, c = 2",
            f"{paper} 2",
            SparseVectorVariant(2 / half, 4 / half, cutoff=2, redraw=True),
            5,
        ),
        "sparse-vector-3": (
            "Sparse vector 3, answers with the value",
            f"{paper} 3",
            SparseVectorVariant(1 / half, 1 / half, answer_scale=0.0),
            5,
        ),
        "sparse-vector-4": (
            "Sparse vector 4, too little noise on queries",
            f"{paper} 4",
            SparseVectorVariant(1 / quarter, 1 / (3 * quarter)),
            10,
        ),
        "sparse-vector-5": (
            "Sparse vector 5, no noise on queries",
            f"{paper} 5",
            SparseVectorVariant(1 / half, 0.0, cutoff=None),
            10,
        ),
        "sparse-vector-6": (
            "Sparse vector 6, no cut-off",
            f"{paper} 6",
            SparseVectorVariant(1 / half, 1 / half, cutoff=None),
            10,
        ),
        "numerical-sparse-vector": (
            "Numerical sparse vector",
            "Wang et al. 2019, NumSVT",
            SparseVectorVariant(3 / epsilon, 6 / epsilon, answer_scale=3 / epsilon),
            5,
        ),
    }


def _specimen(name: str, epsilon: float) -> PublishedAlgorithm:
    title, source, variant, length = _variants(epsilon)[name]
    return PublishedAlgorithm(
        title,
        source,
        f"{length} answers in {{0, 1, 2}}, each changes by at most 1; threshold 1, c = {variant.cutoff or 'none'}",
        variant,
        Answers(length, each=True),
        lambda: variant.true_epsilon(length),
    )


SPARSE_VECTORS: PublishedAlgorithms = {name: partial(_specimen, name) for name in _variants(1.0)}
