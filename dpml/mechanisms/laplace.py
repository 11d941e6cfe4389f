"""Laplace noise for numeric statistics, drawn for a whole batch at once."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_draws, check_epsilon, check_number, check_rng
from dpml.claims import claim
from dpml.mechanisms import boundary
from dpml.mechanisms.private import repeated
from dpml.mechanisms.tails import SymmetricNoise


@claim("laplace", "Laplace mechanism", "[antonova2016], Theorem 2.2.1", "ε for statistics of the stated L1 sensitivity")
@dataclass(frozen=True)
class Laplace(SymmetricNoise):
    """Add independent Laplace noise of scale Δ/ε to every coordinate of a statistic.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε, finite and > 0.
    sensitivity : float, default=1.0
        L1 sensitivity Δ > 0, in the statistic's units.

    See Also
    --------
    Geometric : Adds integer noise to integer statistics.
    Gaussian : Adds noise for (ε, δ) and an L2 sensitivity.
    NormGamma : Adds noise for a sensitivity in another norm.

    Notes
    -----
    Privacy: ε = epsilon per draw. δ = 0. Relation: the one for which `sensitivity` holds. Sensitivity: `sensitivity` in
    L1 norm.

    Derivation. The log density ratio of two neighbours is at most the sum of |v_i - v'_i| ε/Δ over coordinates, which
    is at most ε.

    References
    ----------
    - Antonova (2016), eq. 2.14 and Theorem 2.2.1.

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
        """Noise scale b = Δ/ε. The standard deviation is √2·b."""
        return self.sensitivity / self.epsilon

    def release(self, values: Any, *, rng: np.random.Generator, draws: int | None = None) -> NDArray[np.float64]:
        """Release noisy values.

        Parameters
        ----------
        values : array-like of float
            Exact statistics of any shape. They are private.
        rng : numpy.random.Generator
            Source of the noise.
        draws : int, optional
            Number of independent releases, which adds a leading axis. Each one costs ε. By default there is one,
            without that axis.

        Returns
        -------
        ndarray
            Noisy values of the shape of `values`, after a leading axis if `draws` is given.
        """
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
        """Return the log density of each output coordinate given the exact values.

        Parameters
        ----------
        outputs : array-like of float
            Released values.
        values : array-like of float
            Exact statistics. They broadcast against `outputs`.

        Returns
        -------
        ndarray
            Natural logarithm of the density of each coordinate.

        References
        ----------
        - Antonova (2016), eq. 2.13.
        """
        return -np.abs(np.asarray(outputs) - np.asarray(values)) / self.scale - np.log(2 * self.scale)

    def quantile(self, probability: Any) -> NDArray[np.float64]:
        """Return quantiles of the noise.

        Parameters
        ----------
        probability : array-like of float
            Probabilities p in (0, 1).

        Returns
        -------
        ndarray
            The quantile of each probability, which is -b·log(2(1-p)) for p >= ½.

        References
        ----------
        - Antonova (2016), eq. 3.15.
        """
        p = np.asarray(probability, dtype=float)
        with np.errstate(divide="ignore"):
            return np.where(p < 0.5, self.scale * np.log(2 * p), -self.scale * np.log(2 * (1 - p)))
