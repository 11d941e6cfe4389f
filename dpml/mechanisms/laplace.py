"""Laplace noise for numeric statistics, drawn for a whole batch at once."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_draws, check_epsilon, check_number, check_rng
from dpml.mechanisms import boundary
from dpml.mechanisms.private import repeated
from dpml.mechanisms.tails import SymmetricNoise


@dataclass(frozen=True)
class Laplace(SymmetricNoise):
    """The Laplace mechanism: independent Laplace noise of scale Δ/ε on every coordinate.

    Released: the statistic plus noise.

    Privacy: ε per draw for the neighbouring relation under which `sensitivity` is the largest L1 distance between
    the statistics of two neighbours. Derivation: the log density ratio of two neighbours is at most the sum of
    |v_i - v'_i| ε/Δ over coordinates, which is at most ε (Antonova 2016, eq. 2.14 and Theorem 2.2.1).

    Parameters
    ----------
    epsilon : float
        Privacy parameter, finite and > 0.
    sensitivity : float
        L1 sensitivity Δ > 0, in the statistic's units.

    Examples
    --------
    >>> mechanism = Laplace(epsilon=0.5, sensitivity=1)
    >>> mechanism.scale
    2.0
    >>> mechanism.release(np.zeros(3), draws=4, rng=np.random.default_rng(0)).shape
    (4, 3)
    """

    epsilon: float
    sensitivity: float = 1.0

    def __post_init__(self):
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "sensitivity", check_number(self.sensitivity, "sensitivity", 0.0, open_lower=True))

    @property
    def scale(self) -> float:
        """Noise scale b = Δ/ε; the standard deviation is √2·b."""
        return self.sensitivity / self.epsilon

    def release(self, values: Any, *, rng: np.random.Generator, draws: int | None = None) -> NDArray[np.float64]:
        """Return noisy values of shape (draws, *values.shape), or values.shape if `draws` is None."""
        return boundary.release(self, repeated(values, check_draws(draws)), check_rng(rng))

    def _sample(self, statistic: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
        noise = rng.laplace(scale=self.scale, size=statistic.shape)
        noise += statistic
        return noise

    def _compare(self, statistic: Any, other: Any, other_statistic: Any) -> boundary.Loss:
        # outside the two centres the log ratio of a coordinate equals its bound |difference| / scale
        return boundary.Loss(pure=boundary.l1_distance(statistic, other_statistic) / self.scale)

    def _tail(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.exp(-t / self.scale)

    def _tail_size(self, probability: float) -> float:
        return -self.scale * math.log(probability)

    @property
    def mean_size(self) -> float:
        """E|noise|, which is the scale."""
        return self.scale

    def log_density(self, outputs: Any, values: Any) -> NDArray[np.float64]:
        """Return the log density of each output coordinate given the exact values (Antonova 2016, eq. 2.13)."""
        return -np.abs(np.asarray(outputs) - np.asarray(values)) / self.scale - np.log(2 * self.scale)

    def quantile(self, probability: Any) -> NDArray[np.float64]:
        """Return the quantile of the noise; for p >= ½ it is -b·log(2(1-p)) (Antonova 2016, eq. 3.15)."""
        p = np.asarray(probability, dtype=float)
        with np.errstate(divide="ignore"):
            return np.where(p < 0.5, self.scale * np.log(2 * p), -self.scale * np.log(2 * (1 - p)))
