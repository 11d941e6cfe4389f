"""Noisy histograms, prefix sums, parallel Laplace noise and the truncated geometric mechanism.

Definitions: Ding et al. (2018), Algorithms 9 and 10; Wang et al. (2019), PrefixSum; Bichsel et al. (2021), Laplace
parallel; Balcer and Vadhan (2018), Algorithm 4.8.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import ceil, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.literature._exact import largest_loss
from benchmarks.literature._published_algorithm import PublishedAlgorithm, PublishedAlgorithms, laplace
from dpml.audit.search import Answers

__all__ = ["HISTOGRAMS", "NoisyAnswers", "TruncatedGeometric"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class NoisyAnswers:
    """Laplace noise on each answer, once or several times, and optionally cumulative sums of the noisy answers.

    Attributes
    ----------
    scale : float
    sums : bool
        Whether to return cumulative sums of the noisy answers.
    times : int
        Number of noisy copies of each answer.
    """

    scale: float
    sums: bool = False
    times: int = 1

    def __call__(self, data: Any, *, draws: int, rng: np.random.Generator) -> FloatArray:
        """Return the noisy answers of each draw as a row."""
        answers = np.repeat(np.asarray(data, dtype=float), self.times)
        noisy = laplace(rng, self.scale, (draws, len(answers)))
        noisy += answers
        return np.cumsum(noisy, axis=1) if self.sums else noisy

    def true_epsilon(self) -> float:
        """Return the largest loss of one answer that changes by 1.

        The noisy answers can be computed back from their sums, and each costs |change| / scale.
        """
        return self.times / self.scale


@dataclass(frozen=True)
class TruncatedGeometric:
    """A count of n people with geometric noise on {0, ..., n}, drawn from one random integer (GeoSample).

    With k = ⌈log2(2/ε)⌉ it takes u from {1, ..., d}, d = (2^(k+1) + 1)(2^k + 1)^(n-1), and returns the smallest z with
    F(z) >= u. It is ln(1 + 2^-k)-private by Theorem 4.7, which is at most ε/2.
    """

    epsilon: float
    n: int = 5

    def _cumulative(self, count: int) -> list[int]:
        """Return F(0), ..., F(n) as integers; F(n) = d."""
        k = ceil(log2(2 / self.epsilon))
        base, n = 2**k, self.n
        d = (2 * base + 1) * (base + 1) ** (n - 1)
        low = [base ** (count - z) * (base + 1) ** (n - (count - z)) for z in range(count)]
        high = [d - base ** (z - count + 1) * (base + 1) ** (n - 1 - (z - count)) for z in range(count, n)]
        return [*low, *high, d]

    def probabilities(self, count: int) -> FloatArray:
        """Return the probability of each output for a count."""
        cumulative = self._cumulative(count)
        steps = np.diff(np.array([0, *cumulative], dtype=object))
        return np.array([float(step / cumulative[-1]) for step in steps])

    def __call__(self, data: Any, *, draws: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """Return one output for each draw."""
        cumulative = np.array(self._cumulative(int(np.ravel(data)[0])), dtype=np.int64)
        return np.searchsorted(cumulative, rng.integers(1, cumulative[-1] + 1, draws), side="left")

    def true_epsilon(self) -> float:
        """Return the largest loss of counts that differ by 1."""
        tables = [self.probabilities(count) for count in range(self.n + 1)]
        return max(largest_loss(one, two) for one, two in pairwise(tables))


def _noisy(title: str, source: str, inputs: str, variant: NoisyAnswers, length: int) -> PublishedAlgorithm:
    return PublishedAlgorithm(title, source, inputs, variant, Answers(length), variant.true_epsilon)


def _histogram(number: int, epsilon: float) -> PublishedAlgorithm:
    # the scale of the second is ε instead of 1/ε: at ε = 1 the two agree
    scale, title = (1 / epsilon, "Noisy histogram 1") if number == 1 else (epsilon, "Noisy histogram 2, scale ε")
    source = f"Ding et al. 2018, Algorithm {8 + number}"
    return _noisy(title, source, "5 counts in {0, 1, 2}, one changes by 1", NoisyAnswers(scale), 5)


def _prefix_sum(epsilon: float) -> PublishedAlgorithm:
    variant = NoisyAnswers(1 / epsilon, sums=True)
    inputs = "10 answers in {0, 1, 2}, one changes by 1"
    return _noisy("Prefix sums", "Wang et al. 2019, PrefixSum", inputs, variant, 10)


def _parallel(epsilon: float, times: int = 5) -> PublishedAlgorithm:
    variant = NoisyAnswers(times / epsilon, times=times)
    inputs = f"one answer in {{0, 1, 2}} that changes by 1, {times} times with ε/{times}"
    return _noisy("Parallel Laplace noise", "Bichsel et al. 2021, LaplaceParallel", inputs, variant, 1)


def _geometric(epsilon: float) -> PublishedAlgorithm:
    variant = TruncatedGeometric(epsilon)
    return PublishedAlgorithm(
        "Truncated geometric",
        "Balcer and Vadhan 2018, Algorithm 4.8",
        f"a count of {variant.n} people, changes by 1",
        variant,
        Answers(1, 0, variant.n),
        variant.true_epsilon,
    )


HISTOGRAMS: PublishedAlgorithms = {
    "noisy-histogram-1": partial(_histogram, 1),
    "noisy-histogram-2": partial(_histogram, 2),
    "prefix-sums": _prefix_sum,
    "truncated-geometric": _geometric,
    "parallel-laplace": _parallel,
}
