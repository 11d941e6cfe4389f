"""Report noisy max, correct and incorrect variants (Ding et al. 2018, Algorithms 5 to 8).

Variants 1 and 2 return the index of the largest noisy answer, with Laplace and with exponential noise of scale 2/ε.
Variants 3 and 4 return the largest noisy value itself. Inputs: five answers of 0, 1 or 2; each changes by at most 1, in
its own direction.

In variant 3, a largest value below all answers costs length · ε/2. In variant 4, a value below the largest answer
cannot occur, so ε is infinite if the largest answers of two neighbours differ.
"""

from __future__ import annotations

from collections.abc import Callable
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
    multisets,
    nodes,
    sides,
)
from benchmarks.literature._published_algorithm import PublishedAlgorithm, PublishedAlgorithms, laplace
from dpml.audit.search import Answers

__all__ = ["NOISY_MAXIMA", "NoisyMax"]

FloatArray = NDArray[np.float64]
ANSWERS = range(3)
LENGTH = 5


@dataclass(frozen=True)
class NoisyMax:
    """Report noisy max with noise of scale 2/ε.

    Attributes
    ----------
    epsilon : float
    exponential : bool
        Whether the noise is exponential instead of Laplace.
    value : bool
        Whether to return the largest noisy value instead of its index.
    """

    epsilon: float
    exponential: bool = False
    value: bool = False

    @property
    def scale(self) -> float:
        """Scale of the noise."""
        return 2 / self.epsilon

    def __call__(self, data: Any, *, draws: int, rng: np.random.Generator) -> NDArray[Any]:
        """Return one index or one value for each draw."""
        shape = (draws, len(data))
        noisy = rng.standard_exponential(shape) * self.scale if self.exponential else laplace(rng, self.scale, shape)
        noisy += np.asarray(data, dtype=float)
        return noisy.max(axis=1) if self.value else noisy.argmax(axis=1)

    def _density(self, x: FloatArray) -> FloatArray:
        if self.exponential:
            return np.where(x >= 0, np.exp(-np.maximum(x, 0) / self.scale) / self.scale, 0.0)
        return laplace_density(x, self.scale)

    def _cdf(self, x: FloatArray) -> FloatArray:
        if self.exponential:
            return -np.expm1(-np.maximum(x, 0) / self.scale)
        return laplace_cdf(x, self.scale)

    def true_epsilon(self, length: int) -> float:
        """Return the largest loss over the stated inputs and all outputs."""
        x, w = nodes(ANSWERS, 60 * self.scale)
        pairs = changes(ANSWERS)
        others = sides(lambda q: self._cdf(x - q), pairs, length - 1)
        # the maximum is x, at the query with this change: one density for each multiset of the other queries
        largest = sides(lambda q: self._density(x - q), pairs, 1)
        if not self.value:
            one, two = ((others[side] * w) @ largest[side].T for side in (0, 1))
            return largest_loss(one, two)
        # the density of the maximum: the product of all distribution functions times the sum of the ratios density/cdf
        below = sides(lambda q: self._cdf(x - q), pairs, length)
        hazard = sides(self._hazard(x), pairs, 1)
        counts = multisets(len(pairs), length)
        return largest_loss(*(below[side] * (counts @ hazard[side]) for side in (0, 1)))

    def _hazard(self, x: FloatArray) -> Callable[[float], FloatArray]:
        def of(q: float) -> FloatArray:
            below = self._cdf(x - q)
            return np.divide(self._density(x - q), below, out=np.zeros_like(x), where=below > 0)

        return of


def _specimen(exponential: bool, value: bool, epsilon: float) -> PublishedAlgorithm:
    number = 1 + exponential + 2 * value
    variant = NoisyMax(epsilon, exponential, value)
    noise, what = "exponential" if exponential else "Laplace", "its value" if value else "its place"
    return PublishedAlgorithm(
        f"Noisy max {number}, {noise} noise, {what}",
        f"Ding et al. 2018, Algorithm {number + 4}",
        f"{LENGTH} answers in {{0, 1, 2}}, each changes by at most 1",
        variant,
        Answers(LENGTH, each=True),
        lambda: variant.true_epsilon(LENGTH),
    )


NOISY_MAXIMA: PublishedAlgorithms = {
    f"noisy-max-{1 + exponential + 2 * value}": partial(_specimen, exponential, value)
    for value in (False, True)
    for exponential in (False, True)
}
