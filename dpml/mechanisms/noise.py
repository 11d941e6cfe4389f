"""Noise that is added to each coordinate of a statistic: Laplace, geometric, staircase and Gaussian.

The noise of one number is symmetric about 0, so the tail P(|noise| > t) gives its distribution. For noise that is
scaled by a smooth sensitivity S, sizes are in units of S.
"""

import abc
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr, ndtri

from dpml._arrays import FloatArray, Int64Array
from dpml._validate import check_draws, check_epsilon, check_integer, check_number, check_rng
from dpml.claims import claim
from dpml.mechanisms import boundary
from dpml.mechanisms.private import repeated, to_integers


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
    def _tail(self, t: FloatArray) -> FloatArray:
        """Return P(|noise| > t) for t >= 0."""

    @abc.abstractmethod
    def _tail_size(self, probability: float) -> float:
        """Return the smallest t >= 0 with P(|noise| > t) <= `probability`, a number in (0, 1)."""

    @property
    @abc.abstractmethod
    def mean_size(self) -> float:
        """E|noise|, infinite where the tails are too heavy for a mean."""

    def tail(self, sizes: Any) -> FloatArray:
        """Return the probability that the noise is larger than each size, in either direction."""
        t = np.asarray(sizes, dtype=float)
        ends = (t < 0) | np.isinf(t)
        return np.where(ends, np.where(t < 0, 1.0, 0.0), self._tail(np.where(ends, 0.0, t)))

    def tail_size(self, probability: float) -> float:
        """Return the smallest size that the noise exceeds with at most this probability, in (0, 1]."""
        probability = check_number(probability, "probability", 0.0, 1.0, open_lower=True)
        return 0.0 if probability == 1 else float(self._tail_size(probability))

    def bin_probabilities(self, edges: Any) -> FloatArray:
        """Return the probability of noise in each bin (edges[i], edges[i+1]], B of them, for B + 1 increasing edges.

        For integer noise no negative edge may be an integer.
        """
        edges = np.asarray(edges, dtype=float)
        beyond = self.tail(np.abs(edges)) / 2
        return -np.diff(np.where(edges >= 0, beyond, 1 - beyond))


class AdditiveNoise(SymmetricNoise):
    """Noise of a fixed distribution that is added to every coordinate of a statistic."""

    def release(self, values: Any, *, rng: np.random.Generator, draws: int | None = None) -> Any:
        """Release noisy values.

        Parameters
        ----------
        values : array-like
            Exact statistics of any shape, integers for geometric noise. They are private.
        rng : numpy.random.Generator
            Source of the noise.
        draws : int, optional
            Number of releases, each at the stated cost, which adds a leading axis. By default one, without that axis.

        Returns
        -------
        ndarray
            Noisy values of the shape of `values`, after a leading axis if `draws` is given.
        """
        return boundary.release(self._mechanism, self._exact(values, check_draws(draws)), check_rng(rng))

    @property
    def _mechanism(self) -> Any:
        return self

    def _exact(self, values: Any, draws: int | None) -> Any:
        return repeated(values, draws)


class ContinuousNoise(AdditiveNoise):
    """Additive noise with a density."""

    @abc.abstractmethod
    def _log_density(self, distance: FloatArray) -> FloatArray:
        """Return the log density of noise of a size."""

    def log_density(self, outputs: Any, values: Any) -> FloatArray:
        """Return the log density of each output coordinate given the exact values.

        Parameters
        ----------
        outputs, values : array-like of float
            Released values, and exact statistics, which broadcast against them.

        Returns
        -------
        ndarray
            Natural logarithm of the density of each coordinate.
        """
        return self._log_density(np.abs(np.asarray(outputs, dtype=float) - np.asarray(values, dtype=float)))


class LaplaceTail(SymmetricNoise):
    """The tail of Laplace noise."""

    scale: Any  # a property of each class of noise

    def _tail(self, t: FloatArray) -> FloatArray:
        return np.exp(-t / self.scale)

    def _tail_size(self, probability: float) -> float:
        return -self.scale * math.log(probability)

    @property
    def mean_size(self) -> float:
        """E|noise|, which is the scale."""
        return self.scale


class NormalTail(SymmetricNoise):
    """The tail of normal noise."""

    scale: Any  # a property of each class of noise

    def _tail(self, t: FloatArray) -> FloatArray:
        return 2 * ndtr(-t / self.scale)

    def _tail_size(self, probability: float) -> float:
        return -self.scale * float(ndtri(probability / 2))

    @property
    def mean_size(self) -> float:
        """E|noise|, √(2/π) of the scale."""
        return self.scale * math.sqrt(2 / math.pi)


@claim("laplace", "Laplace mechanism", "[antonova2016], Theorem 2.2.1", "ε for statistics of the stated L1 sensitivity")
@dataclass(frozen=True)
class Laplace(LaplaceTail, ContinuousNoise):
    """Add independent Laplace noise of scale Δ/ε to every coordinate of a statistic.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε, finite and > 0.
    sensitivity : float, default=1.0
        L1 sensitivity Δ > 0, in the statistic's units.

    See Also
    --------
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
    - Antonova (2016), eq. 2.13 and 2.14, Theorem 2.2.1, and eq. 3.15 for the quantiles.

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

    def _sample(self, statistic: FloatArray, rng: np.random.Generator) -> FloatArray:
        noise = rng.laplace(scale=self.scale, size=statistic.shape)
        noise += statistic
        return noise

    def _compare(self, statistic: Any, other: Any, other_statistic: Any) -> boundary.Loss:
        # outside the two centres the log ratio of a coordinate equals its bound |difference| / scale
        return boundary.Loss(pure=boundary.l1_distance(statistic, other_statistic) / self.scale)

    def _log_density(self, distance: FloatArray) -> FloatArray:
        return -distance / self.scale - np.log(2 * self.scale)

    def quantile(self, probability: Any) -> FloatArray:
        """Return quantiles of the noise.

        Parameters
        ----------
        probability : array-like of float
            Probabilities p in (0, 1).

        Returns
        -------
        ndarray
            The quantile of each probability, which is -b·log(2(1-p)) for p >= ½.
        """
        p = np.asarray(probability, dtype=float)
        with np.errstate(divide="ignore"):
            return np.where(p < 0.5, self.scale * np.log(2 * p), -self.scale * np.log(2 * (1 - p)))


@claim(
    "geometric",
    "Two-sided geometric mechanism",
    "[antonova2016], section 2.2.1, and [ghosh2012]",
    "ε for integer statistics of the stated L1 sensitivity",
)
@dataclass(frozen=True)
class Geometric(AdditiveNoise):
    """Add two-sided geometric noise to integer statistics.

    The release is the statistic plus an integer k with probability (1-α)/(1+α)·α^|k|, where α = exp(-ε/Δ). The noise is
    the difference of two geometric variables.

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

    def _exact(self, values: Any, draws: int | None) -> Any:
        return repeated(to_integers(values), draws, np.int64)

    def _sample(self, statistic: Int64Array, rng: np.random.Generator) -> Int64Array:
        success = -math.expm1(-self.epsilon / self.sensitivity)
        shape = statistic.shape
        return statistic + rng.geometric(success, shape) - rng.geometric(success, shape)

    def _compare(self, statistic: Any, other: Any, other_statistic: Any) -> boundary.Loss:
        return boundary.Loss(pure=boundary.l1_distance(statistic, other_statistic) * self.epsilon / self.sensitivity)

    def _tail(self, t: FloatArray) -> FloatArray:
        # 2(1-α)/(1+α)·(α^(k+1) + α^(k+2) + ...), k = ⌊t⌋
        return 2 * self.alpha ** (np.floor(t) + 1) / (1 + self.alpha)

    def _tail_size(self, probability: float) -> float:
        rate = self.epsilon / self.sensitivity
        return max(math.ceil(-math.log(probability * (1 + self.alpha) / 2) / rate - 1), 0)

    @property
    def mean_size(self) -> float:
        """E|noise|, 2α/(1-α²): the sum of all tails."""
        return 2 * self.alpha / -math.expm1(-2 * self.epsilon / self.sensitivity)

    def log_probability(self, outputs: Any, values: Any) -> FloatArray:
        """Return the log probability of each output coordinate given the exact values.

        Parameters
        ----------
        outputs, values : array-like of int
            Released integers, and exact statistics, which broadcast against them.

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
class Staircase(ContinuousNoise):
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
    - Geng and Viswanath (2014), Theorem 1 and eq. 19, and Algorithm 1 for the draw.

    Examples
    --------
    >>> from dpml.mechanisms import Laplace
    >>> mechanism = Staircase(epsilon=5.0)
    >>> round(mechanism.mean_size, 4), Laplace(5.0).scale
    (0.0826, 0.2)
    """

    epsilon: float
    sensitivity: float = 1.0
    gamma: float = None  # type: ignore[assignment]  # a float once made

    def __post_init__(self):
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "sensitivity", check_number(self.sensitivity, "sensitivity", 0.0, open_lower=True))
        best = math.exp(-self.epsilon / 2) / (1 + math.exp(-self.epsilon / 2))
        gamma = best if self.gamma is None else check_number(self.gamma, "gamma", 0.0, 1.0)
        object.__setattr__(self, "gamma", gamma)

    def _parts(self) -> tuple[float, float, float]:
        """Return e^-ε, γ, and the mass of a period in units of its high step's density, γ + e^-ε(1-γ)."""
        b, g = math.exp(-self.epsilon), self.gamma
        return b, g, g + b * (1 - g)

    @property
    def mean_size(self) -> float:
        """E|noise|, which is Δ·e^(ε/2)/(e^ε - 1) for the best γ (Geng and Viswanath 2014, Theorem 3)."""
        b, g, mass = self._parts()
        share = g / mass
        return self.sensitivity * (b / (1 - b) + share * g / 2 + (1 - share) * (1 + g) / 2)

    def _tail(self, t: FloatArray) -> FloatArray:
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

    def _sample(self, statistic: FloatArray, rng: np.random.Generator) -> FloatArray:
        (_, g, mass), shape = self._parts(), statistic.shape
        sign = rng.choice([-1.0, 1.0], shape)
        period = rng.geometric(-math.expm1(-self.epsilon), shape) - 1
        high = rng.random(shape) < g / mass
        place = rng.random(shape)
        size = period + np.where(high, g * place, g + (1 - g) * place)
        return statistic + sign * self.sensitivity * size

    def _compare(self, statistic: Any, other: Any, other_statistic: Any) -> boundary.Loss:
        # a shift of at most k sensitivities crosses at most k steps of the density, and k at some point
        steps = np.ceil(np.abs(np.subtract(statistic, other_statistic)) / self.sensitivity)
        return boundary.Loss(pure=float(steps.sum()) * self.epsilon)

    def _log_density(self, distance: FloatArray) -> FloatArray:
        b, g, mass = self._parts()
        u = distance / self.sensitivity
        period = np.floor(u)
        steps = period + (u - period >= g)
        return math.log((1 - b) / (2 * self.sensitivity * mass)) - self.epsilon * steps


def gaussian_delta(epsilon: float, sigma: float, sensitivity: float = 1.0) -> float:
    """Return the smallest δ for which Gaussian noise of standard deviation σ is (ε, δ)-differentially private.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε, finite and >= 0.
    sigma : float
        Standard deviation σ > 0 of the noise on each coordinate, in the statistic's units.
    sensitivity : float, default=1.0
        L2 sensitivity Δ of the statistic.

    Returns
    -------
    float
        The smallest δ, in [0, 1].

    See Also
    --------
    gaussian_sigma : Computes the smallest σ for (ε, δ).
    Gaussian : Adds Gaussian noise for (ε, δ).

    Notes
    -----
    Privacy: no data is read.

    δ is Φ(Δ/2σ - εσ/Δ) - e^ε Φ(-Δ/2σ - εσ/Δ), the exact hockey-stick divergence of two normals at distance Δ.

    References
    ----------
    - Balle and Wang (2018), Theorem 8.

    Examples
    --------
    >>> round(gaussian_delta(1.0, 1.0), 4)
    0.1269
    """
    epsilon = check_number(epsilon, "epsilon", 0.0)
    sensitivity = check_number(sensitivity, "sensitivity", 0.0, open_lower=True)
    ratio = sensitivity / check_number(sigma, "sigma", 0.0, open_lower=True)
    first = log_ndtr(ratio / 2 - epsilon / ratio)
    # e^ε Φ(...) in logs: e^ε can overflow where the product does not
    second = epsilon + log_ndtr(-ratio / 2 - epsilon / ratio)
    return float(math.exp(first) * -math.expm1(min(second - first, 0.0)))


def gaussian_sigma(epsilon: float, delta: float, sensitivity: float = 1.0) -> float:
    """Return the smallest σ for which Gaussian noise is (ε, δ)-differentially private.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε, finite and > 0.
    delta : float
        Privacy parameter δ in (0, 1).
    sensitivity : float, default=1.0
        L2 sensitivity Δ > 0 of the statistic.

    Returns
    -------
    float
        Standard deviation σ of the noise on each coordinate, in the units of `sensitivity`.

    See Also
    --------
    gaussian_delta : Computes the smallest δ for ε and σ.
    Gaussian : Adds Gaussian noise for (ε, δ).

    Notes
    -----
    Privacy: no data is read.

    σ is the root of `gaussian_delta` in log σ, increased by a relative 1e-12. It holds for any ε. The classical
    σ = Δ·sqrt(2·log(1.25/δ))/ε holds for ε <= 1 only and is larger.

    References
    ----------
    - Balle and Wang (2018), Algorithm 1.

    Examples
    --------
    >>> round(gaussian_sigma(1.0, 1e-5), 4)
    3.7306
    """
    epsilon = check_epsilon(epsilon)
    delta = check_number(delta, "delta", 0.0, 1.0, open_lower=True, open_upper=True)
    sensitivity = check_number(sensitivity, "sensitivity", 0.0, open_lower=True)

    def excess(log_sigma: float) -> float:
        return math.log(max(gaussian_delta(epsilon, math.exp(log_sigma)), 1e-320)) - math.log(delta)

    low = high = 0.0
    while excess(low) < 0:
        low -= 1.0
    while excess(high) > 0:
        high += 1.0
    root = brentq(excess, low, high, xtol=1e-14, rtol=1e-14)
    return sensitivity * math.exp(root) * (1 + 1e-12)


@dataclass(frozen=True)
class NormalNoise:
    """Normal noise with a given standard deviation σ on every coordinate, for several releases with one joint cost.

    Released by `boundary.release`: the statistic plus noise. The joint cost is `gaussian_delta` with μ² summed over the
    releases, so one of them states no claim of its own.
    """

    scale: float

    def _sample(self, statistic: FloatArray, rng: np.random.Generator) -> FloatArray:
        return statistic + rng.normal(scale=self.scale, size=statistic.shape)

    def _compare(self, statistic: Any, other: Any, other_statistic: Any) -> boundary.Loss:
        return boundary.Loss(gaussian=float((np.subtract(statistic, other_statistic) ** 2).sum()) / self.scale**2)


@claim(
    "gaussian",
    "Gaussian mechanism, analytic calibration",
    "[balle-wang2018], Algorithm 1",
    "(ε, δ) for vectors of the stated L2 sensitivity, audited at δ = 1e-5",
    delta=1e-5,
)
@dataclass(frozen=True)
class Gaussian(NormalTail, ContinuousNoise):
    """Add independent normal noise of standard deviation σ to every coordinate of a statistic.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε, finite and > 0.
    delta : float
        Privacy parameter δ in (0, 1).
    sensitivity : float, default=1.0
        L2 sensitivity Δ > 0 of the statistic.

    See Also
    --------
    Laplace : Adds noise for pure ε and an L1 sensitivity.
    gaussian_sigma : Computes the standard deviation for (ε, δ).

    Notes
    -----
    Privacy: ε = epsilon per draw. δ = delta per draw. Relation: the one for which `sensitivity` holds. Sensitivity:
    `sensitivity` in L2 norm.

    A draw is also Δ²/(2σ²)-zero-concentrated (`rho`).

    References
    ----------
    - Balle and Wang (2018), Algorithm 1.

    Examples
    --------
    >>> Gaussian(1.0, 1e-5).release(np.zeros(2), draws=3, rng=np.random.default_rng(0)).shape
    (3, 2)
    """

    epsilon: float
    delta: float
    sensitivity: float = 1.0

    def __post_init__(self):
        object.__setattr__(self, "_sigma", gaussian_sigma(self.epsilon, self.delta, self.sensitivity))

    @property
    def scale(self) -> float:
        """Standard deviation σ."""
        return self._sigma  # type: ignore[attr-defined]

    @property
    def rho(self) -> float:
        """Zero-concentrated cost, Δ²/(2σ²) (Bun and Steinke 2016, Proposition 1.6)."""
        return (self.sensitivity / self.scale) ** 2 / 2

    @property
    def _mechanism(self) -> NormalNoise:
        return NormalNoise(self.scale)

    def _log_density(self, distance: FloatArray) -> FloatArray:
        return -0.5 * (distance / self.scale) ** 2 - math.log(self.scale) - 0.5 * math.log(2 * math.pi)
