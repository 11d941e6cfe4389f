"""One number's noise: draws of the library's mechanisms beside what is known of them exactly.

Everything is symmetric about 0, so a distribution is given by its tail, P(|noise| > t).
"""

from __future__ import annotations

import abc
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from dpml.mechanisms import Gaussian, Geometric, Laplace, NormGamma, Staircase
from dpml.mechanisms.smooth.admissible import Cauchy, StudentT

__all__ = ["NORMS", "Model", "model", "vector_draws", "vector_log_density"]

Floats = NDArray[np.float64]
Numbers = tuple[float, float, float, float]  # ε, Δ, δ, and β as a share of ε
NORMS = {"norm-1": 1.0, "norm-2": 2.0, "norm-10": 10.0, "norm-inf": math.inf}
DEGREES = 3


class Model(abc.ABC):
    """The noise of one number.

    Attributes
    ----------
    mechanism
        The library's mechanism that draws it.
    whole : bool
        Whether it is a whole number.
    """

    mechanism: Any
    whole = False

    def draw(self, draws: int, rng: np.random.Generator) -> Floats:
        """Return draws of the noise, by the library."""
        return np.asarray(self.mechanism.release(0, rng=rng, draws=draws), dtype=float)

    def log_density(self, x: Any) -> Floats:
        """Return the log density (log probability of a whole number)."""
        return self.mechanism.log_density(x, 0)

    @abc.abstractmethod
    def tail(self, t: Any) -> Floats:
        """Return P(|noise| > t) for t >= 0."""

    @abc.abstractmethod
    def quantile(self, tail: float) -> float:
        """Return the smallest t with P(|noise| > t) <= `tail`."""

    @property
    @abc.abstractmethod
    def mean_size(self) -> float:
        """Return E|noise|; infinite for Cauchy noise."""

    def shares(self, edges: Floats) -> Floats:
        """Return the probability of each bin (edges[i], edges[i+1]]; no edge lies on a jump of a whole number."""
        upper = np.where(edges >= 0, 0.5 * self.tail(np.abs(edges)), 1 - 0.5 * self.tail(np.abs(edges)))
        return -np.diff(upper)


@dataclass(frozen=True)
class LaplaceModel(Model):
    mechanism: Laplace

    def tail(self, t):
        return np.exp(-np.asarray(t) / self.mechanism.scale)

    def quantile(self, tail):
        return -self.mechanism.scale * math.log(tail)

    @property
    def mean_size(self):
        return self.mechanism.scale


@dataclass(frozen=True)
class GeometricModel(Model):
    mechanism: Geometric
    whole = True

    def log_density(self, x):
        return self.mechanism.log_probability(x, 0)

    def tail(self, t):
        a = self.mechanism.alpha
        return 2 * a ** (np.floor(t) + 1) / (1 + a)

    def quantile(self, tail):
        a = self.mechanism.alpha
        t = max(math.ceil(math.log(tail * (1 + a) / 2) / math.log(a) - 1), 0)
        return float(t)

    @property
    def mean_size(self):
        a = self.mechanism.alpha
        return 2 * a / (1 - a**2)


@dataclass(frozen=True)
class StaircaseModel(Model):
    mechanism: Staircase

    def _parts(self):
        b, g = math.exp(-self.mechanism.epsilon), self.mechanism.gamma
        assert g is not None
        return b, g, g + b * (1 - g)

    def tail(self, t):
        b, g, mass = self._parts()
        u = np.asarray(t) / self.mechanism.sensitivity
        period = np.floor(u)
        place = u - period
        inside = (np.minimum(place, g) + b * np.maximum(place - g, 0)) / mass
        return b**period * (1 - (1 - b) * inside)

    def quantile(self, tail):
        b, g, mass = self._parts()
        period = math.floor(math.log(tail) / math.log(b))
        inside = (1 - tail / b**period) / (1 - b) * mass
        place = inside if inside <= g else g + (inside - g) / b
        return self.mechanism.sensitivity * (period + place)

    @property
    def mean_size(self):
        return self.mechanism.mean_size


@dataclass(frozen=True)
class ScaledModel(Model):
    """Noise that is a scale times a distribution of SciPy's."""

    mechanism: Any
    unit: Any
    scale: float
    mean: float

    def draw(self, draws, rng):
        if isinstance(self.mechanism, Gaussian):
            return super().draw(draws, rng)
        return self.mechanism.release(0.0, self._smooth, rng=rng, draws=draws)

    def log_density(self, x):
        if isinstance(self.mechanism, Gaussian):
            return super().log_density(x)
        return self.mechanism.log_density(x, 0.0, self._smooth)

    @property
    def _smooth(self):
        return self.scale / self.mechanism.scale

    def tail(self, t):
        return 2 * self.unit.sf(np.asarray(t) / self.scale)

    def quantile(self, tail):
        return self.scale * float(self.unit.isf(tail / 2))

    @property
    def mean_size(self):
        return self.scale * self.mean


def model(name: str, epsilon: float, sensitivity: float, delta: float, beta: float, numbers: int = 1) -> Model:
    """Return the noise of one of `numbers` numbers, each of which one person can move by `sensitivity`.

    Laplace and geometric noise pay for the sum of the moves, Gaussian noise for its Euclidean length; staircase, Cauchy
    and Student's t noise are for one number, so each gets its share of ε (and β, with Δ the smooth sensitivity).

    Parameters
    ----------
    name : str
        A key of `dpml_app.noise_settings.MECHANISMS`; the norms count as what they are for one number, Laplace noise.
    beta : float
        β as a share of ε.

    Raises
    ------
    InvalidParameter
        If Student's t or Cauchy noise cannot be had with this β.
    """
    if name == "geometric":
        return GeometricModel(Geometric(epsilon, int(sensitivity * numbers)))
    if name == "staircase":
        return StaircaseModel(Staircase(epsilon / numbers, sensitivity))
    if name == "gaussian":
        gaussian = Gaussian(epsilon, delta, sensitivity * math.sqrt(numbers))
        return ScaledModel(gaussian, stats.norm, gaussian.scale, math.sqrt(2 / math.pi))
    share = epsilon / numbers
    if name == "cauchy":
        cauchy = Cauchy(share, beta * share)
        return ScaledModel(cauchy, stats.cauchy, cauchy.scale * sensitivity, math.inf)
    if name == "student":
        student = StudentT(share, beta * share, DEGREES)
        nu = DEGREES
        mean = 2 * math.sqrt(nu / math.pi) * math.gamma((nu + 1) / 2) / math.gamma(nu / 2) / (nu - 1)
        return ScaledModel(student, stats.t(nu), student.scale * sensitivity, mean)
    return LaplaceModel(Laplace(epsilon, sensitivity * numbers))


def _norm_mechanism(name: str, epsilon: float, sensitivity: float) -> NormGamma | None:
    if name not in NORMS:
        return None
    p = NORMS[name]
    # both coordinates can move by Δ: the p-norm of (Δ, Δ) (the thesis, Fig. 2.1)
    return NormGamma(epsilon, sensitivity * 2 ** (1 / p), dimension=2, p=p)


def vector_draws(name: str, settings: Numbers, draws: int, rng: np.random.Generator) -> Floats:
    """Return draws of two numbers' noise, shape (draws, 2); `settings` are ε, Δ, δ and β's share."""
    norm = _norm_mechanism(name, settings[0], settings[1])
    if norm is not None:
        return norm.release(np.zeros(2), rng=rng, draws=draws)
    return model(name, *settings, 2).draw(2 * draws, rng).reshape(draws, 2)


def vector_log_density(name: str, settings: Numbers, x: Floats, y: Floats) -> Floats:
    """Return the log density of two numbers' noise."""
    norm = _norm_mechanism(name, settings[0], settings[1])
    if norm is not None:
        return norm.log_density(np.stack(np.broadcast_arrays(x, y), axis=-1), np.zeros(2))
    one = model(name, *settings, 2)
    return one.log_density(x) + one.log_density(y)
