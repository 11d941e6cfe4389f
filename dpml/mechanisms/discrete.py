"""Integer noise, and noise in steps: the two-sided geometric and the staircase mechanism."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_draws, check_epsilon, check_integer, check_number, check_rng
from dpml.claims import claim
from dpml.mechanisms import boundary
from dpml.mechanisms.private import repeated, to_integers
from dpml.mechanisms.tails import SymmetricNoise


@claim(
    "geometric",
    "Two-sided geometric mechanism",
    "[antonova2016], section 2.2.1, and [ghosh2012]",
    "ε for integer statistics of the stated L1 sensitivity",
)
@dataclass(frozen=True)
class Geometric(SymmetricNoise):
    """Add two-sided geometric noise to integer statistics.

    The release is the statistic plus an integer k with probability (1-α)/(1+α)·α^|k|, where α = exp(-ε/Δ).

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε, finite and > 0.
    sensitivity : int, default=1
        L1 sensitivity Δ >= 1.

    See Also
    --------
    Laplace : Adds real noise with the same decay.
    Staircase : Adds the noise with the smallest mean size.

    Notes
    -----
    Privacy: ε = epsilon per draw. δ = 0. Relation: the one for which `sensitivity` holds. Sensitivity: `sensitivity` in
    L1 norm.

    The log probability ratio of two neighbours is at most |v - v'|·ε/Δ.

    References
    ----------
    - Ghosh, Roughgarden and Sundararajan (2012), Definition 2.2.
    - Antonova (2016), section 2.2.1.

    Examples
    --------
    >>> mechanism = Geometric(epsilon=np.log(2))
    >>> np.exp(mechanism.log_probability([0, 1, 2], 0)).round(4).tolist()
    [0.3333, 0.1667, 0.0833]
    """

    epsilon: float
    sensitivity: int = 1

    def __post_init__(self):
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "sensitivity", check_integer(self.sensitivity, "sensitivity", 1))

    @property
    def alpha(self) -> float:
        """α = exp(-ε/Δ)."""
        return math.exp(-self.epsilon / self.sensitivity)

    @property
    def variance(self) -> float:
        """Variance of the noise, 2α/(1-α)²."""
        return 2 * self.alpha / math.expm1(-self.epsilon / self.sensitivity) ** 2

    def release(self, values: Any, *, rng: np.random.Generator, draws: int | None = None) -> NDArray[np.int64]:
        """Release noisy integers.

        Parameters
        ----------
        values : array-like of int
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

        Notes
        -----
        The difference of two geometric variables has this distribution.
        """
        return boundary.release(self, repeated(to_integers(values), check_draws(draws), np.int64), check_rng(rng))

    def _sample(self, statistic: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        success = -math.expm1(-self.epsilon / self.sensitivity)
        shape = statistic.shape
        return statistic + rng.geometric(success, shape) - rng.geometric(success, shape)

    def _compare(self, statistic: Any, other: Any, other_statistic: Any) -> boundary.Loss:
        return boundary.Loss(pure=boundary.l1_distance(statistic, other_statistic) * self.epsilon / self.sensitivity)

    def _tail(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        # 2(1-α)/(1+α)·(α^(k+1) + α^(k+2) + ...), k = ⌊t⌋
        return 2 * self.alpha ** (np.floor(t) + 1) / (1 + self.alpha)

    def _tail_size(self, probability: float) -> float:
        rate = self.epsilon / self.sensitivity
        return max(math.ceil(-math.log(probability * (1 + self.alpha) / 2) / rate - 1), 0)

    @property
    def mean_size(self) -> float:
        """E|noise|, 2α/(1-α²): the sum of all tails."""
        return 2 * self.alpha / -math.expm1(-2 * self.epsilon / self.sensitivity)

    def log_probability(self, outputs: Any, values: Any) -> NDArray[np.float64]:
        """Return the log probability of each output coordinate given the exact values.

        Parameters
        ----------
        outputs : array-like of int
            Released integers.
        values : array-like of int
            Exact statistics. They broadcast against `outputs`.

        Returns
        -------
        ndarray
            Natural logarithm of the probability of each coordinate.
        """
        rate = self.epsilon / self.sensitivity
        distance = np.abs(np.asarray(outputs, float) - np.asarray(values, float))
        return math.log(-math.expm1(-rate)) - math.log1p(math.exp(-rate)) - rate * distance


@claim("staircase", "Staircase mechanism", "[geng-viswanath2014]", "ε for one number of the stated sensitivity")
@dataclass(frozen=True)
class Staircase(SymmetricNoise):
    """Add staircase noise, whose density falls by a factor exp(-ε) once in every period of length Δ.

    Of all ε-private noises that do not depend on the data, this one has the smallest mean size, with γ = 1/(1 +
    e^(ε/2)). It is close to Laplace noise for small ε and far better for large ε.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε, finite and > 0.
    sensitivity : float, default=1.0
        Sensitivity Δ > 0 of each number. Each of several numbers costs ε.
    gamma : float, optional
        Position of the downward step in each period, in [0, 1]. None takes the value with the smallest mean size.

    See Also
    --------
    Laplace : Adds noise that also fits vectors.
    Geometric : Adds integer noise.

    Notes
    -----
    Privacy: ε = epsilon per draw and number. δ = 0. Relation: the one for which `sensitivity` holds. Sensitivity:
    `sensitivity` of one number.

    A shift of the density by at most Δ crosses at most one step.

    References
    ----------
    - Geng and Viswanath (2014), Theorem 1 and eq. 19.

    Examples
    --------
    >>> from dpml.mechanisms import Laplace
    >>> mechanism = Staircase(epsilon=5.0)
    >>> round(mechanism.mean_size, 4), Laplace(5.0).scale
    (0.0826, 0.2)
    """

    epsilon: float
    sensitivity: float = 1.0
    gamma: float | None = None

    def __post_init__(self):
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "sensitivity", check_number(self.sensitivity, "sensitivity", 0.0, open_lower=True))
        best = math.exp(-self.epsilon / 2) / (1 + math.exp(-self.epsilon / 2))
        gamma = best if self.gamma is None else check_number(self.gamma, "gamma", 0.0, 1.0)
        object.__setattr__(self, "gamma", gamma)

    @property
    def mean_size(self) -> float:
        """E|noise|, which is Δ·e^(ε/2)/(e^ε - 1) for the best γ (Geng and Viswanath 2014, Theorem 3)."""
        b, g = math.exp(-self.epsilon), self.gamma
        assert g is not None
        inside, outside = g, b * (1 - g)
        share = inside / (inside + outside)
        return self.sensitivity * (b / (1 - b) + share * g / 2 + (1 - share) * (1 + g) / 2)

    def _parts(self) -> tuple[float, float, float]:
        """Return e^-ε, γ, and the mass of a period in units of its high step's density, γ + e^-ε(1-γ)."""
        assert self.gamma is not None
        b, g = math.exp(-self.epsilon), self.gamma
        return b, g, g + b * (1 - g)

    def _tail(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        # the mass beyond whole periods is b^period; within a period the density is b times lower beyond γ
        b, g, mass = self._parts()
        u = t / self.sensitivity
        period = np.floor(u)
        place = u - period
        inside = (np.minimum(place, g) + b * np.maximum(place - g, 0)) / mass
        return np.exp(-self.epsilon * period) * (1 + math.expm1(-self.epsilon) * inside)

    def _tail_size(self, probability: float) -> float:
        b, g, mass = self._parts()
        period = math.floor(-math.log(probability) / self.epsilon)
        left = math.expm1(math.log(probability) + self.epsilon * period)
        inside = min(max(left / math.expm1(-self.epsilon), 0.0), 1.0) * mass
        place = inside if inside <= g else g + (inside - g) / b
        return self.sensitivity * (period + place)

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

        Notes
        -----
        Sampled as sign, period, step and place (Geng and Viswanath 2014, Algorithm 1).
        """
        return boundary.release(self, repeated(values, check_draws(draws)), check_rng(rng))

    def _sample(self, statistic: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
        b, g, shape = math.exp(-self.epsilon), self.gamma, statistic.shape
        assert g is not None
        sign = rng.choice([-1.0, 1.0], shape)
        period = rng.geometric(-math.expm1(-self.epsilon), shape) - 1
        high = rng.random(shape) < g / (g + b * (1 - g))
        place = rng.random(shape)
        size = period + np.where(high, g * place, g + (1 - g) * place)
        return statistic + sign * self.sensitivity * size

    def _compare(self, statistic: Any, other: Any, other_statistic: Any) -> boundary.Loss:
        # a shift of at most k sensitivities crosses at most k steps of the density, and k at some point
        steps = np.ceil(np.abs(np.subtract(statistic, other_statistic)) / self.sensitivity)
        return boundary.Loss(pure=float(steps.sum()) * self.epsilon)

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
        """
        assert self.gamma is not None
        distance = np.abs(np.asarray(outputs, float) - np.asarray(values, float)) / self.sensitivity
        period = np.floor(distance)
        steps = period + (distance - period >= self.gamma)
        b, g = math.exp(-self.epsilon), self.gamma
        height = (1 - b) / (2 * self.sensitivity * (g + b * (1 - g)))
        return math.log(height) - self.epsilon * steps
