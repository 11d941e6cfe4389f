r"""Noises with lighter tails for smooth sensitivity: concentrated differential privacy.

Let ε be the sum of a cost for the change of scale (dilation) and a cost for the change of location (slide). A release
is then ½ε²-CDP: ρ = ε²/2, that is, every Rényi divergence of order α between neighbours is at most α·ε²/2 (Zafarani
and Clifton 2021, Definition 2.5; Bun and Steinke 2019). The two costs add, by the weak triangle inequality D_α(P, Q) <=
kα/(kα-1)·D_((kα-1)/(k-1))(P, R) + D_kα(R, Q): with D_α <= αa and αb on the right it gives αk(a/(k-1) + b), which is
α(√a + √b)² at k = 1 + √(a/b). The slide is at most the smaller S of the two, so at most s = 1/`scale` noise units.

- *Dilation* by e^t shifts log|Z| by t. For Z = X·exp(σY), Y normal, this equals a shift of the normal Y by t/σ, so it
  costs t/σ (Bun and Steinke 2019, Propositions 3 and 4).
- *Slide.* A density with |(log f)'| <= K costs K·s (it is pure, K·s-DP).
- *Either*, for a density e^-ψ with ψ'' <= Λ: a shift by t costs t√Λ. Derivation: ψ(v-t) <= ψ(v) - tψ'(v) + Λt²/2 and
  ∫e^-ψ(v-t) = 1 give E exp(tψ') <= exp(Λt²/2), hence E exp((α-1)(ψ(v-t) - ψ(v))) <= exp(α(α-1)Λt²/2).

"bun-steinke" uses their printed constants. "derived" uses K and Λ of the densities themselves, which is sharper but not
exact: the true ρ, where it was computed, is 0.2 to 0.85 of the claim.
"""

import abc
import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import log_ndtr, logsumexp, ndtr, ndtri, wrightomega

from dpml._validate import check_choice, check_number
from dpml.claims import claim
from dpml.exceptions import InvalidParameter
from dpml.mechanisms.smooth._log_normal_tails import laplace_log_tail, uniform_log_tail
from dpml.mechanisms.smooth._noise import Claim, Floats, SmoothNoise
from dpml.mechanisms.tails import SymmetricNoise, size_by_search

CONCENTRATED_CALIBRATIONS = ("derived", "bun-steinke")


@dataclass(frozen=True)
class _Concentrated(SymmetricNoise, SmoothNoise):
    """A noise family with a shape σ. Subclasses define the two costs and the standard deviation.

    Parameters
    ----------
    epsilon : float
        ε of ½ε²-CDP, finite and > 0.
    beta : float
        Smoothing parameter of the sensitivity, > 0.
    sigma : float, optional
        Shape σ; default: the σ with the smallest standard deviation.
    calibration : {"derived", "bun-steinke"}
    """

    epsilon: float
    beta: float
    sigma: float = None  # type: ignore[assignment]  # a float once made
    calibration: str = "derived"

    _sigma_range: ClassVar[tuple[float, float]] = (1e-3, 20.0)

    def __post_init__(self):
        self._check()
        check_choice(self.calibration, "calibration", CONCENTRATED_CALIBRATIONS)
        if self.sigma is None:
            chosen = _best_sigma(type(self), self.epsilon, self.beta, self.calibration)
            object.__setattr__(self, "sigma", chosen)
        low, high = self._allowed(self.calibration)
        object.__setattr__(self, "sigma", check_number(self.sigma, "sigma", low, high, open_lower=not low))
        if not self._left(self.epsilon, self.beta, self.sigma, self.calibration) > 0:
            raise InvalidParameter(
                "beta", self.beta, f"so small that the change of scale costs less than {self.epsilon}"
            )

    @classmethod
    def _allowed(cls, calibration: str) -> tuple[float, float]:
        return 0.0, cls._sigma_range[1]

    @classmethod
    def _left(cls, epsilon: float, beta: float, sigma: float, calibration: str) -> float:
        """Return the part of ε that the dilation leaves for the slide."""
        return epsilon - cls._dilation(beta, sigma, calibration)

    @classmethod
    @abc.abstractmethod
    def _dilation(cls, step: float, sigma: float, calibration: str) -> float:
        """Return the CDP ε of a change of scale by the factor exp(step)."""

    @classmethod
    @abc.abstractmethod
    def _slide(cls, sigma: float, calibration: str) -> float:
        """Return the CDP ε of a slide by one noise unit."""

    @classmethod
    @abc.abstractmethod
    def _log_deviation(cls, sigma: float) -> float:
        """Return the log of the standard deviation of Z."""

    @classmethod
    def _log_total(cls, epsilon: float, beta: float, sigma: float, calibration: str) -> float:
        """Return the log of the standard deviation of the noise for one unit of S."""
        left = cls._left(epsilon, beta, sigma, calibration)
        return math.log(cls._slide(sigma, calibration)) - math.log(left) + cls._log_deviation(sigma)

    @property
    def scale(self) -> float:
        """Scale of Z for one unit of smooth sensitivity."""
        left = self._left(self.epsilon, self.beta, self.sigma, self.calibration)
        return self._slide(self.sigma, self.calibration) / left

    @property
    def deviation(self) -> float:
        """Standard deviation of the noise for one unit of smooth sensitivity."""
        return math.exp(self._log_total(self.epsilon, self.beta, self.sigma, self.calibration))

    @property
    def rho(self) -> float:
        """ρ = ε²/2."""
        return self.epsilon**2 / 2

    @property
    def claim(self) -> Claim:
        """ρ-CDP with ρ = ε²/2."""
        return Claim(rho=self.rho)


class _LogNormal(_Concentrated):
    """Noise Z = X·exp(σY) with Y standard normal."""

    @classmethod
    def _dilation(cls, step: float, sigma: float, calibration: str) -> float:
        return step / sigma

    @staticmethod
    @abc.abstractmethod
    def _draw_factor(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        """Return draws of X."""

    @staticmethod
    @abc.abstractmethod
    def _log_tail(log_size: Any, sigma: float) -> Any:
        """Return log P(|Z| > z), by the log of z."""

    @abc.abstractmethod
    def _log_ends(self, probability: float) -> tuple[float, float]:
        """Return logs of sizes of Z with a tail of at least, and of at most, this probability."""

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        noise = rng.standard_normal(shape)
        noise = np.exp(self.sigma * noise)
        noise *= self._draw_factor(rng, shape)
        return noise

    def _tail(self, t: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.exp(self._log_tail(np.log(t / self.scale), self.sigma))

    def _tail_size(self, probability: float) -> float:
        ends = self._log_ends(probability)
        return self.scale * size_by_search(lambda x: float(self._log_tail(x, self.sigma)), probability, *ends)


@claim(
    "laplace-log-normal-derived",
    "Laplace-log-normal noise, derived scale",
    "[bun-steinke2019] (constants derived here) (docs/explanation/errata.md)",
    "ε²/2-zero-concentrated, audited as (ε, δ) at δ = 1e-5",
    cost="as claimed, but the conversion to (ε, δ) is loose",
    relations=("add-remove",),
    delta=1e-5,
    options={"calibration": "derived"},
)
@claim(
    "laplace-log-normal-bun-steinke",
    "Laplace-log-normal noise, published scale",
    "[bun-steinke2019]",
    "ε²/2-zero-concentrated, audited as (ε, δ) at δ = 1e-5",
    cost="as claimed, but the conversion to (ε, δ) is loose",
    relations=("add-remove",),
    delta=1e-5,
    options={"calibration": "bun-steinke"},
)
class LaplaceLogNormal(_LogNormal):
    """Laplace-log-normal noise, Z = X·exp(σY) with X Laplace and Y standard normal, scaled by the smooth sensitivity.

    The release is the statistic plus `scale`·S·Z.

    Parameters
    ----------
    sigma : float, optional
        Shape σ > β/ε. By default it is the σ with the smallest standard deviation, the root of 5(ε/β)σ³ - 5σ² = 1.

    Notes
    -----
    Privacy: ρ = epsilon²/2 (½ε²-CDP) per draw. Relation: that of the smooth sensitivity S. Sensitivity: S.

    ε = β/σ + exp(3σ²/2)/`scale`. K = exp(3σ²/2) is the slope of the log density at 0, so the two calibrations agree.

    References
    ----------
    - Bun and Steinke (2019), Proposition 3.
    - Zafarani and Clifton (2021), section 5.

    Examples
    --------
    >>> noise = LaplaceLogNormal(epsilon=1, beta=0.1)
    >>> round(noise.sigma, 3), round(noise.scale, 3), noise.rho
    (0.309, 1.706, 0.5)
    """

    _log_tail = staticmethod(laplace_log_tail)

    @classmethod
    def _slide(cls, sigma: float, calibration: str) -> float:
        return math.exp(1.5 * sigma**2)

    @classmethod
    def _log_deviation(cls, sigma: float) -> float:
        return 0.5 * math.log(2) + sigma**2

    @staticmethod
    def _draw_factor(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        return rng.laplace(size=shape)

    def _log_unit(self, z: Floats) -> Floats:
        # No closed form: average over Y by the trapezoidal rule, which converges exponentially here. The integrand
        # exp(-y²/2 - σy - |z|exp(-σy)) has its peak at y = v/σ - σ with v·exp(v) = σ²|z|exp(σ²), and curvature 1 + v.
        size, sigma = np.abs(np.asarray(z, dtype=float))[..., None], self.sigma
        with np.errstate(divide="ignore"):
            v = wrightomega(2 * math.log(sigma) + np.log(size) + sigma**2)
        width = 1 / np.sqrt(1 + v)
        y = v / sigma - sigma + width * np.arange(-12, 40, 0.25)
        exponent = -0.5 * y**2 - sigma * y - size * np.exp(-sigma * y)
        return np.asarray(logsumexp(exponent, axis=-1) + np.log(width[..., 0] * 0.125) - 0.5 * math.log(2 * math.pi))

    def _log_ends(self, probability: float) -> tuple[float, float]:
        # by Jensen P(|Z| > z) >= exp(-z E exp(-σY)); and |Z| is above ab only if |X| is above a or exp(σY) above b
        low = math.log(-math.log(probability)) - self.sigma**2 / 2
        high = math.log(-math.log(probability / 2)) - self.sigma * float(ndtri(probability / 2))
        return low, high

    @property
    def mean_size(self) -> float:
        """E|noise| for one unit of smooth sensitivity: E|X|·E exp(σY) = exp(σ²/2) of the scale."""
        return self.scale * math.exp(self.sigma**2 / 2)


@claim(
    "uniform-log-normal-derived",
    "Uniform-log-normal noise, derived scale",
    "[bun-steinke2019] (constants derived here) (docs/explanation/errata.md)",
    "ε²/2-zero-concentrated, audited as (ε, δ) at δ = 1e-5",
    cost="as claimed, but the conversion to (ε, δ) is loose",
    relations=("add-remove",),
    delta=1e-5,
    options={"calibration": "derived"},
)
@claim(
    "uniform-log-normal-bun-steinke",
    "Uniform-log-normal noise, published scale",
    "[bun-steinke2019]",
    "ε²/2-zero-concentrated, audited as (ε, δ) at δ = 1e-5",
    cost="as claimed, but the conversion to (ε, δ) is loose",
    relations=("add-remove",),
    delta=1e-5,
    options={"calibration": "bun-steinke"},
)
class UniformLogNormal(_LogNormal):
    """Uniform-log-normal noise, Z = X·exp(σY) with X uniform on [-1, 1] and Y standard normal.

    The release is the statistic plus `scale`·S·Z.

    Notes
    -----
    Privacy: ρ = epsilon²/2 (½ε²-CDP) per draw. Relation: that of the smooth sensitivity S. Sensitivity: S.

    ε = β/σ + K/`scale`. "bun-steinke" takes K = exp(3σ²/2)·√(2/(πσ²)), for σ >= √2. For "derived" the density is f(z) =
    ½exp(σ²/2)·Φ(-σ - log|z|/σ), so |(log f)'| = exp(3σ²/2)/σ·φ(u+σ)/Φ(-u) with u = σ + log|z|/σ. K is its maximum,
    where φ(u)/Φ(-u) = u + σ, for any σ > 0.

    References
    ----------
    - Bun and Steinke (2019), Proposition 4.

    Examples
    --------
    >>> noise = UniformLogNormal(epsilon=1, beta=0.1)
    >>> round(noise.sigma, 3), round(noise.deviation, 3)
    (0.622, 2.006)
    """

    _log_tail = staticmethod(uniform_log_tail)

    @classmethod
    def _allowed(cls, calibration: str) -> tuple[float, float]:
        return (0.0 if calibration == "derived" else math.sqrt(2)), cls._sigma_range[1]

    @classmethod
    def _slide(cls, sigma: float, calibration: str) -> float:
        if calibration == "bun-steinke":
            return math.exp(1.5 * sigma**2) * math.sqrt(2 / math.pi) / sigma
        return math.exp(1.5 * sigma**2) / sigma * _steepest(sigma)

    @classmethod
    def _log_deviation(cls, sigma: float) -> float:
        return sigma**2 - 0.5 * math.log(3)

    @staticmethod
    def _draw_factor(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        return rng.uniform(-1, 1, shape)

    def _log_unit(self, z: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            tail = log_ndtr(-self.sigma - np.log(np.abs(z)) / self.sigma)
        return np.asarray(tail + self.sigma**2 / 2 - math.log(2))

    def _log_ends(self, probability: float) -> tuple[float, float]:
        # P(|Z| > z) >= 1 - z E exp(-σY), and |Z| is above z only if exp(σY) is
        low = math.log1p(-probability) - self.sigma**2 / 2
        high = -self.sigma * float(ndtri(probability))
        return low, high

    @property
    def mean_size(self) -> float:
        """E|noise| for one unit of smooth sensitivity: E|X|·E exp(σY) = ½exp(σ²/2) of the scale."""
        return self.scale * math.exp(self.sigma**2 / 2) / 2


@claim(
    "arsinh-normal-derived",
    "Arsinh-normal noise, derived scale",
    "[bun-steinke2019] (constants derived here) (docs/explanation/errata.md)",
    "ε²/2-zero-concentrated, audited as (ε, δ) at δ = 1e-5",
    cost="as claimed, but the conversion to (ε, δ) is loose",
    relations=("add-remove",),
    delta=1e-5,
    options={"calibration": "derived"},
)
@claim(
    "arsinh-normal-bun-steinke",
    "Arsinh-normal noise, published scale",
    "[bun-steinke2019]",
    "ε²/2-zero-concentrated, audited as (ε, δ) at δ = 1e-5",
    cost="as claimed, but the conversion to (ε, δ) is loose",
    relations=("add-remove",),
    delta=1e-5,
    options={"calibration": "bun-steinke"},
)
class ArsinhNormal(_Concentrated):
    """Arsinh-normal noise, Z = sinh(σY)/σ with Y standard normal, scaled by the smooth sensitivity.

    The release is the statistic plus `scale`·S·Z.

    Notes
    -----
    Privacy: ρ = epsilon²/2 (½ε²-CDP) per draw. Relation: that of the smooth sensitivity S. Sensitivity: S.

    "bun-steinke" has ε = √(β(β/σ² + 1/σ + 2)) + (2/(3σ) + σ/2)/`scale`. "derived" has ε = β√Λ + K/`scale`. Λ is the
    largest second derivative of the negative log density of log|Z|, which is (T² + uT(1-T²))/σ² + 2T²(1-T²) at T = tanh
    u. K is the smaller of two bounds: the largest slope of Z's log density, (y + σ tanh σy)/cosh σy, and √(1 + σ²),
    which follows from its largest curvature, at 0. As β falls, the printed cost of dilation falls like √β, the derived
    one like β.

    References
    ----------
    - Bun and Steinke (2019), Theorem 25.

    Examples
    --------
    >>> noise = ArsinhNormal(epsilon=1, beta=0.1)
    >>> round(noise.sigma, 3), round(noise.deviation, 3)
    (0.414, 1.587)
    """

    @classmethod
    def _dilation(cls, step: float, sigma: float, calibration: str) -> float:
        if calibration == "bun-steinke":
            return math.sqrt(step * (step / sigma**2 + 1 / sigma + 2))
        return step * math.sqrt(_curvature(sigma))

    @classmethod
    def _slide(cls, sigma: float, calibration: str) -> float:
        if calibration == "bun-steinke":
            return 2 / (3 * sigma) + sigma / 2
        return min(_slope(sigma), math.sqrt(1 + sigma**2))

    @classmethod
    def _log_deviation(cls, sigma: float) -> float:
        return 0.5 * (sigma**2 + math.log(math.sinh(sigma**2))) - math.log(sigma)

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        noise = rng.standard_normal(shape)
        return np.asarray(np.sinh(self.sigma * noise) / self.sigma)

    def _log_unit(self, z: Floats) -> Floats:
        y = np.arcsinh(self.sigma * z) / self.sigma
        return np.asarray(-0.5 * y**2 - 0.5 * np.log1p((self.sigma * z) ** 2) - 0.5 * math.log(2 * math.pi))

    def _tail(self, t: Floats) -> Floats:
        # Z rises with Y
        return np.asarray(2 * ndtr(-np.arcsinh(self.sigma * t / self.scale) / self.sigma))

    def _tail_size(self, probability: float) -> float:
        with np.errstate(over="ignore"):
            return self.scale * float(np.sinh(-self.sigma * ndtri(probability / 2))) / self.sigma

    @property
    def mean_size(self) -> float:
        """E|noise| for one unit of smooth sensitivity: exp(σ²/2)·(Φ(σ) - Φ(-σ))/σ of the scale.

        E|sinh(σY)| is the integral of (e^(σy) - e^(-σy))·φ(y) over y > 0, and e^(σy)·φ(y) = exp(σ²/2)·φ(y - σ).
        """
        return self.scale * math.exp(self.sigma**2 / 2) * math.erf(self.sigma / math.sqrt(2)) / self.sigma


@lru_cache(maxsize=4096)
def _best_sigma(family: type[_Concentrated], epsilon: float, beta: float, calibration: str) -> float:
    """Return the σ whose noise has the smallest standard deviation."""
    low = max(family._allowed(calibration)[0], family._sigma_range[0])
    grid = np.geomspace(low, family._sigma_range[1], 121)

    def total(log_sigma: float) -> float:
        sigma = math.exp(log_sigma)
        if not family._left(epsilon, beta, sigma, calibration) > 0:
            return math.inf
        return family._log_total(epsilon, beta, sigma, calibration)

    costs = np.array([total(x) for x in np.log(grid)])
    i = int(costs.argmin())
    if not math.isfinite(costs[i]):
        raise InvalidParameter("beta", beta, f"so small that the change of scale costs less than epsilon = {epsilon}")
    around = np.log(grid[[max(i - 1, 0), min(i + 1, len(grid) - 1)]])
    minimum = minimize_scalar(total, bounds=tuple(around), method="bounded", options={"xatol": 1e-9})
    return max(float(math.exp(minimum.x)), low) if minimum.fun <= costs[i] else float(grid[i])


@lru_cache(maxsize=4096)
def _steepest(sigma: float) -> float:
    """Return the maximum over u of φ(u+σ)/Φ(-u), where the hazard φ(u)/Φ(-u) is u + σ."""

    def log_hazard(u: float) -> float:
        return -0.5 * u * u - 0.5 * math.log(2 * math.pi) - float(log_ndtr(-u))

    # search in v = log(u + σ); the bounds follow from φ(σ) <= hazard <= u + 1/u at the solution
    bounds = -(sigma**2) / 2 - 5, math.log(sigma + 1 / sigma + 1)
    v = brentq(lambda v: v - log_hazard(math.exp(v) - sigma), *bounds, xtol=1e-13)
    u = math.exp(v) - sigma
    return math.exp(log_hazard(u) + 0.5 * u**2 - 0.5 * (u + sigma) ** 2) * (1 + 1e-9)


@lru_cache(maxsize=4096)
def _curvature(sigma: float) -> float:
    """Return Λ of log|Z| for arsinh-normal noise (see `ArsinhNormal`); it is at least its limit 1/σ²."""
    u = np.linspace(0, 20, 20_001)
    t2 = np.tanh(u) ** 2
    values = (t2 + u * np.tanh(u) * (1 - t2)) / sigma**2 + 2 * t2 * (1 - t2)
    return float(values.max()) * (1 + 1e-6)  # the grid misses the maximum by a smaller factor


@lru_cache(maxsize=4096)
def _slope(sigma: float) -> float:
    """Return the largest slope of the arsinh-normal log density, (y + σ tanh σy)/cosh σy over y >= 0."""
    u = np.linspace(0, 20, 20_001)
    return float(((u / sigma + sigma * np.tanh(u)) / np.cosh(u)).max()) * (1 + 1e-6)
