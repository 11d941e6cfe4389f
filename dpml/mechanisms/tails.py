"""Exact tail probabilities, quantiles and mean sizes of symmetric noise.

The noise of one number is symmetric about 0, so the tail P(|noise| > t) gives its distribution. For noise that is
scaled by a smooth sensitivity S, sizes are in units of S.
"""

import abc
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from dpml._validate import check_number

Floats = NDArray[np.float64]


class SymmetricNoise(abc.ABC):
    """Noise of one number with a known tail: P(|noise| > t), its inverse, and E|noise|. All three are public.

    Examples
    --------
    >>> from dpml.mechanisms import Geometric, Laplace
    >>> noise = Laplace(epsilon=0.5)
    >>> noise.tail([0, 2]).round(4).tolist(), noise.mean_size
    ([1.0, 0.3679], 2.0)
    >>> round(noise.tail_size(0.05), 3), Geometric(epsilon=0.5).tail_size(0.05)
    (5.991, 6.0)
    """

    @abc.abstractmethod
    def _tail(self, t: Floats) -> Floats:
        """Return P(|noise| > t) for t >= 0."""

    @abc.abstractmethod
    def _tail_size(self, probability: float) -> float:
        """Return the smallest t >= 0 with P(|noise| > t) <= `probability`, a number in (0, 1)."""

    @property
    @abc.abstractmethod
    def mean_size(self) -> float:
        """E|noise|, infinite where the tails are too heavy for a mean."""

    def tail(self, sizes: Any) -> Floats:
        """Return the probability that the noise is larger than each size, in either direction."""
        t = np.asarray(sizes, dtype=float)
        ends = (t < 0) | np.isinf(t)
        return np.where(ends, np.where(t < 0, 1.0, 0.0), self._tail(np.where(ends, 0.0, t)))

    def tail_size(self, probability: float) -> float:
        """Return the smallest size that the noise exceeds with at most this probability, in (0, 1]."""
        probability = check_number(probability, "probability", 0.0, 1.0, open_lower=True)
        return 0.0 if probability == 1 else float(self._tail_size(probability))

    def bin_probabilities(self, edges: Any) -> Floats:
        """Return the probability of noise in each bin (edges[i], edges[i+1]], B of them, for B + 1 increasing edges.

        For integer noise no negative edge may be an integer.
        """
        edges = np.asarray(edges, dtype=float)
        beyond = self.tail(np.abs(edges)) / 2
        return -np.diff(np.where(edges >= 0, beyond, 1 - beyond))


def size_by_search(log_tail: Callable[[float], float], probability: float, log_low: float, log_high: float) -> float:
    """Return the size at which a falling tail is `probability`, where the tail has no inverse in closed form.

    ``log_tail(log t)`` is log P(|noise| > t). The size lies between the ends: the tail at the low one is at least
    `probability`, at the high one at most.
    """
    wanted = math.log(probability)
    # one of the ends may be the root, and then lies on its wrong side by rounding
    if log_tail(log_low) <= wanted:
        log_size = log_low
    elif log_tail(log_high) >= wanted:
        log_size = log_high
    else:
        log_size = brentq(lambda x: log_tail(x) - wanted, log_low, log_high, xtol=1e-14, rtol=1e-15)
    return math.exp(log_size) if log_size < 709 else math.inf
