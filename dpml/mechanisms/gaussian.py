"""Gaussian noise for (ε, δ)-differential privacy, by the analytic calibration."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr, ndtri

from dpml._validate import check_draws, check_epsilon, check_number, check_rng
from dpml.claims import claim
from dpml.mechanisms import boundary
from dpml.mechanisms.private import repeated
from dpml.mechanisms.tails import SymmetricNoise


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
    ratio = check_number(sensitivity, "sensitivity", 0.0, open_lower=True) / check_number(
        sigma, "sigma", 0.0, open_lower=True
    )
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


@claim(
    "gaussian",
    "Gaussian mechanism, analytic calibration",
    "[balle-wang2018], Algorithm 1",
    "(ε, δ) for vectors of the stated L2 sensitivity, audited at δ = 1e-5",
    delta=1e-5,
)
@dataclass(frozen=True)
class Gaussian(SymmetricNoise):
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

    def release(self, values: Any, *, rng: np.random.Generator, draws: int | None = None) -> NDArray[np.float64]:
        """Release noisy values.

        Parameters
        ----------
        values : array-like of float
            Exact statistics of any shape. They are private.
        rng : numpy.random.Generator
            Source of the noise.
        draws : int, optional
            Number of independent releases, which adds a leading axis. Each one costs (ε, δ). By default there is one,
            without that axis.

        Returns
        -------
        ndarray
            Noisy values of the shape of `values`, after a leading axis if `draws` is given.
        """
        return boundary.release(NormalNoise(self.scale), repeated(values, check_draws(draws)), check_rng(rng))

    def _tail(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        return 2 * ndtr(-t / self.scale)

    def _tail_size(self, probability: float) -> float:
        return -self.scale * float(ndtri(probability / 2))

    @property
    def mean_size(self) -> float:
        """E|noise|, σ·√(2/π)."""
        return self.scale * math.sqrt(2 / math.pi)

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
        z = (np.asarray(outputs, float) - np.asarray(values, float)) / self.scale
        return -0.5 * z**2 - math.log(self.scale) - 0.5 * math.log(2 * math.pi)


@dataclass(frozen=True)
class NormalNoise:
    """Normal noise with a given standard deviation σ on every coordinate, for several releases with one joint cost.

    Released by `boundary.release`: the statistic plus noise. The joint cost is `gaussian_delta` with μ² summed over the
    releases, so one of them states no claim of its own.
    """

    scale: float

    def _sample(self, statistic: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
        return statistic + rng.normal(scale=self.scale, size=statistic.shape)

    def _compare(self, statistic: Any, other: Any, other_statistic: Any) -> boundary.Loss:
        return boundary.Loss(gaussian=float((np.subtract(statistic, other_statistic) ** 2).sum()) / self.scale**2)
