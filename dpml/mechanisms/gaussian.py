"""Gaussian noise for (ε, δ)-differential privacy, by the analytic calibration."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr, ndtri

from dpml._validate import check_draws, check_epsilon, check_number, check_rng
from dpml.mechanisms import boundary
from dpml.mechanisms.private import repeated
from dpml.mechanisms.tails import SymmetricNoise


def gaussian_delta(epsilon: float, sigma: float, sensitivity: float = 1.0) -> float:
    """Return the smallest δ for which Gaussian noise of standard deviation σ is (ε, δ)-differentially private.

    It is Φ(Δ/2σ - εσ/Δ) - e^ε Φ(-Δ/2σ - εσ/Δ) (Balle and Wang 2018, Theorem 8), the exact hockey-stick divergence of
    two normals at distance Δ.

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
    """Return the smallest σ for which Gaussian noise is (ε, δ)-differentially private (Balle and Wang 2018, Alg. 1).

    It is the root of `gaussian_delta` in log σ, increased by a relative 1e-12. It holds for any ε. The classical
    σ = Δ·sqrt(2·log(1.25/δ))/ε holds for ε <= 1 only and is larger.

    Parameters
    ----------
    epsilon, delta : float
        ε > 0, δ in (0, 1).
    sensitivity : float
        L2 sensitivity Δ > 0.

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
class Gaussian(SymmetricNoise):
    """The Gaussian mechanism: independent normal noise of standard deviation σ on every coordinate.

    Released: the statistic plus noise.

    Privacy: (ε, δ) per draw for the relation under which `sensitivity` is the largest L2 distance between the
    statistics of two neighbours; also Δ²/(2σ²)-zero-concentrated (`rho`).

    Parameters
    ----------
    epsilon, delta : float
        ε > 0, δ in (0, 1).
    sensitivity : float
        L2 sensitivity Δ > 0.

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
        """Return noisy values of shape (draws, *values.shape), or values.shape if `draws` is None."""
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
        """Return the log density of each output coordinate given the exact values."""
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
