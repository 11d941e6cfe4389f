r"""Laplace and Gaussian noise for smooth sensitivity: (ε, δ)-differential privacy.

Their tails fall so fast that a change of scale alone makes the log ratio of densities unbounded. So pure privacy is
impossible, and β must be small compared with ε/log(1/δ). The δ of two neighbours at ε is the hockey-stick divergence,
the integral of (p - e^ε q)_+. This module computes it in closed form.

Derivation of "exact". With noise scale c·S, put the first neighbour at location 0 and scale 1. The other is then at
most min(1, e^λ)/c away and has scale e^λ, |λ| <= β. Let p and q_l be symmetric and unimodal, q_l centred at l. The
integral of min(p, e^ε q_l) is the integral over heights t of the overlap of two intervals, {p > t} and {e^ε q_l > t}.
The overlap shrinks as l grows, so δ rises with the distance and falls with c. A root search finds the smallest c. The
largest δ over λ is taken on a grid of [-β, β] (the tests compare it with a finer grid).
"""

import abc
import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from dpml._validate import check_choice, check_number
from dpml.claims import claim
from dpml.exceptions import InvalidParameter
from dpml.mechanisms.boundary import Loss
from dpml.mechanisms.smooth._noise import Claim, Floats, SmoothNoise
from dpml.mechanisms.tails import SymmetricNoise

APPROXIMATE_CALIBRATIONS = ("exact", "nissim")


@dataclass(frozen=True)
class _Approximate(SymmetricNoise, SmoothNoise):
    """Noise with a published scale, and the smallest one that is private.

    Parameters
    ----------
    delta : float
        0 < δ < 1.
    calibration : {"exact", "nissim"}
    """

    epsilon: float
    delta: float
    beta: float
    calibration: str = "exact"

    def __post_init__(self):
        self._check()
        open_unit = {"open_lower": True, "open_upper": True}
        object.__setattr__(self, "delta", check_number(self.delta, "delta", 0.0, 1.0, **open_unit))
        check_choice(self.calibration, "calibration", APPROXIMATE_CALIBRATIONS)
        if self.calibration == "nissim" and self.beta > self._largest_beta(self.epsilon, self.delta) * (1 + 1e-12):
            limit = self._largest_beta(self.epsilon, self.delta)
            raise InvalidParameter("beta", self.beta, f"above 0 and at most {limit:g} for this ε and δ")
        self.scale  # noqa: B018  (raises if a parameter is not allowed)

    @staticmethod
    @abc.abstractmethod
    def _largest_beta(epsilon: float, delta: float) -> float:
        """Return the published condition on β."""

    @staticmethod
    @abc.abstractmethod
    def _published(epsilon: float, delta: float) -> float:
        """Return the published scale for one unit of S."""

    @staticmethod
    @abc.abstractmethod
    def _divergence(epsilon: float, distance: Floats, ratio: Floats) -> Floats:
        """Return the hockey-stick divergence from (0, 1) to (distance, ratio) at e^ε."""

    @property
    def scale(self) -> float:
        """Scale of Z for one unit of smooth sensitivity."""
        if self.calibration == "nissim":
            return self._published(self.epsilon, self.delta)
        return _exact_scale(type(self), self.epsilon, self.delta, self.beta)

    def _loss(self, one: float, s: float, two: float, t: float) -> Loss:
        def profile(epsilon: float) -> float:
            pairs = ((two - one) / s, t / s), ((one - two) / t, s / t)
            # the noise is symmetric, so only the size of the distance matters
            sides = [self._divergence(epsilon, np.array([abs(gap)]), np.array([ratio])) for gap, ratio in pairs]
            return float(np.max(sides))

        return Loss(profiles=(profile,))

    @property
    def cost(self) -> float:
        """The true δ at this ε: the largest hockey-stick divergence of two neighbours."""
        return _worst(type(self), self.epsilon, self.beta, self.scale)

    @property
    def claim(self) -> Claim:
        """(ε, δ)."""
        return Claim(epsilon=self.epsilon, delta=self.delta)


@claim(
    "smooth-laplace-exact",
    "Laplace noise for a smooth sensitivity, exact calibration",
    "[nissim2007], with the exact calibration derived here (docs/explanation/errata.md)",
    "(ε, δ) for a statistic with the stated β-smooth bound, audited at δ = 1e-5",
    relations=("add-remove",),
    delta=1e-5,
    options={"calibration": "exact"},
)
@claim(
    "smooth-laplace-nissim",
    "Laplace noise for a smooth sensitivity, published scale",
    "[nissim2007]",
    "(ε, δ) for a statistic with the stated β-smooth bound, audited at δ = 1e-5",
    cost="a small part of δ",
    relations=("add-remove",),
    delta=1e-5,
    options={"calibration": "nissim"},
)
class SmoothLaplace(_Approximate):
    """Laplace noise scaled by the smooth sensitivity.

    The release is the statistic plus `scale`·S·Z, with Z standard Laplace.

    Notes
    -----
    Privacy: ε = epsilon per draw. δ = delta per draw. Relation: that of the smooth sensitivity S. Sensitivity: S.

    "nissim" takes the scale 2/ε for β <= ε/(2 log(2/δ)). "exact" takes the smallest scale at which the largest
    hockey-stick divergence of neighbours is δ, for any β at which the change of scale alone stays below δ.

    References
    ----------
    - Nissim, Raskhodnikova and Smith (2007), on admissible noise.

    Examples
    --------
    >>> noise = SmoothLaplace(epsilon=1, delta=1e-6, beta=0.03, calibration="nissim")
    >>> noise.scale, noise.cost < 1e-6
    (2.0, True)
    """

    @staticmethod
    def _largest_beta(epsilon: float, delta: float) -> float:
        return epsilon / (2 * math.log(2 / delta))

    @staticmethod
    def _published(epsilon: float, delta: float) -> float:
        return 2 / epsilon

    @staticmethod
    def _divergence(epsilon: float, distance: Floats, ratio: Floats) -> Floats:
        # log p - log q - ε = -|z| + |z - gap|/s + log s - ε is linear between its kinks at 0 and at the gap
        total = np.zeros(np.broadcast_shapes(distance.shape, ratio.shape))
        gap, s = np.broadcast_arrays(distance, ratio)
        zero, far = np.zeros_like(gap), np.full_like(gap, np.inf)
        pieces = ((-far, zero, 1.0, -1.0), (zero, gap, -1.0, -1.0), (gap, far, -1.0, 1.0))
        for start, end, own, other in pieces:
            slope, at = own + other / s, -other * gap / s + np.log(s) - epsilon
            with np.errstate(divide="ignore", invalid="ignore"):
                root = np.where(slope == 0, np.where(at > 0, -np.inf, np.inf), -at / slope)
            low = np.where(slope >= 0, np.clip(root, start, end), start)
            high = np.where(slope >= 0, end, np.clip(root, start, end))
            mass = _laplace_mass(low, high) - math.exp(epsilon) * _laplace_mass((low - gap) / s, (high - gap) / s)
            total += np.where(high > low, mass, 0.0)
        return np.maximum(total, 0.0)

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        return np.asarray(rng.laplace(size=shape))

    def _log_unit(self, z: Floats) -> Floats:
        return -np.abs(z) - math.log(2)

    def _tail(self, t: Floats) -> Floats:
        return np.asarray(np.exp(-t / self.scale))

    def _tail_size(self, probability: float) -> float:
        return -self.scale * math.log(probability)

    @property
    def mean_size(self) -> float:
        """E|noise| for one unit of smooth sensitivity: the scale."""
        return self.scale


@claim(
    "smooth-gaussian-exact",
    "Gaussian noise for a smooth sensitivity, exact calibration",
    "[nissim2007], with the exact calibration derived here (docs/explanation/errata.md)",
    "(ε, δ) for a statistic with the stated β-smooth bound, audited at δ = 1e-5",
    relations=("add-remove",),
    delta=1e-5,
    options={"calibration": "exact"},
)
@claim(
    "smooth-gaussian-nissim",
    "Gaussian noise for a smooth sensitivity, published scale",
    "[nissim2007]",
    "(ε, δ) for a statistic with the stated β-smooth bound, audited at δ = 1e-5",
    cost="a small part of δ",
    relations=("add-remove",),
    delta=1e-5,
    options={"calibration": "nissim"},
)
class SmoothGaussian(_Approximate):
    """Gaussian noise scaled by the smooth sensitivity.

    The release is the statistic plus `scale`·S·Z, with Z standard normal. The analytic Gaussian calibration is for a
    fixed scale and is not private here.

    Notes
    -----
    Privacy: ε = epsilon per draw. δ = delta per draw. Relation: that of the smooth sensitivity S. Sensitivity: S.

    "nissim" takes the scale 5√(2 log(2/δ))/ε for β <= ε/(4(1 + log(2/δ))). "exact" takes the smallest scale at which
    the largest hockey-stick divergence of neighbours is δ, for any β at which the change of scale alone stays below δ.

    References
    ----------
    - Nissim, Raskhodnikova and Smith (2007), on admissible noise.

    Examples
    --------
    >>> noise = SmoothGaussian(epsilon=1, delta=1e-6, beta=0.015, calibration="nissim")
    >>> round(noise.scale, 2), noise.cost < 1e-6
    (26.93, True)
    """

    @staticmethod
    def _largest_beta(epsilon: float, delta: float) -> float:
        return epsilon / (4 * (1 + math.log(2 / delta)))

    @staticmethod
    def _published(epsilon: float, delta: float) -> float:
        return 5 * math.sqrt(2 * math.log(2 / delta)) / epsilon

    @staticmethod
    def _divergence(epsilon: float, distance: Floats, ratio: Floats) -> Floats:
        # log p - log q - ε = a z² + b z + c, with b <= 0
        gap, s = np.broadcast_arrays(distance, ratio)
        a, b, c = (1 / s**2 - 1) / 2, -gap / s**2, gap**2 / (2 * s**2) + np.log(s) - epsilon
        with np.errstate(divide="ignore", invalid="ignore"):
            spread = np.sqrt(np.maximum(b * b - 4 * a * c, 0.0))
            half = (spread - b) / 2
            # at equal scales the second root is at infinity; its sign is its limit from slightly narrower scales
            roots = np.sort(
                np.stack([np.where(half > 0, c / half, -np.inf), np.where(a == 0, np.inf, half / a)]), axis=0
            )
        low, high = roots

        def outside(x: Floats, y: Floats) -> Floats:
            return ndtr(x) + ndtr(-y)

        def inside(x: Floats, y: Floats) -> Floats:
            return np.where(x > 0, ndtr(-x) - ndtr(-y), ndtr(y) - ndtr(x))

        scaled = (low - gap) / s, (high - gap) / s
        wide = outside(low, high) - math.exp(epsilon) * outside(*scaled)
        narrow = inside(low, high) - math.exp(epsilon) * inside(*scaled)
        narrow = np.where(b * b > 4 * a * c, narrow, 0.0)
        return np.maximum(np.where(a >= 0, wide, narrow), 0.0)

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        return np.asarray(rng.standard_normal(shape))

    def _log_unit(self, z: Floats) -> Floats:
        return -0.5 * z**2 - 0.5 * math.log(2 * math.pi)

    def _tail(self, t: Floats) -> Floats:
        return np.asarray(2 * ndtr(-t / self.scale))

    def _tail_size(self, probability: float) -> float:
        return -self.scale * float(ndtri(probability / 2))

    @property
    def mean_size(self) -> float:
        """E|noise| for one unit of smooth sensitivity: √(2/π) of the scale."""
        return self.scale * math.sqrt(2 / math.pi)


def _laplace_mass(low: Floats, high: Floats) -> Floats:
    """Return the standard Laplace probability of intervals that do not contain 0 inside."""
    near, far = np.where(high > 0, low, -high), np.where(high > 0, high, -low)
    return 0.5 * (np.exp(-np.maximum(near, 0.0)) - np.exp(-np.maximum(far, 0.0)))


def _worst(family: type[_Approximate], epsilon: float, beta: float, scale: float, points: int = 65) -> float:
    step = np.concatenate([np.linspace(-beta, beta, points), [0.0]])
    epsilon = min(epsilon, 600.0)  # e^ε must be a float; the divergence falls with ε, so this is an upper bound
    return float(family._divergence(epsilon, np.minimum(1, np.exp(step)) / scale, np.exp(step)).max())


@lru_cache(maxsize=4096)
def _exact_scale(family: type[_Approximate], epsilon: float, delta: float, beta: float) -> float:
    def excess(log_scale: float) -> float:
        return _worst(family, epsilon, beta, math.exp(log_scale)) - delta

    low, high = math.log(1e-6 / epsilon), math.log(1e9 / epsilon) + math.log1p(1 / epsilon)
    if excess(high) >= 0:
        raise InvalidParameter("beta", beta, "so small that the change of scale alone costs less than delta")
    if excess(low) <= 0:
        return math.exp(low)
    root = brentq(excess, low, high, xtol=1e-12)
    return math.exp(root + 1e-9)
