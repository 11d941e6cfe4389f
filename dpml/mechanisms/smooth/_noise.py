"""Base of all noise for smooth sensitivity: its claim, its scale for one unit of sensitivity, and the release."""

import abc
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._docstrings import with_inherited_entries
from dpml._validate import check_draws, check_epsilon, check_number, check_rng
from dpml.exceptions import InvalidData, InvalidParameter
from dpml.mechanisms import boundary
from dpml.mechanisms.private import repeated, statistic

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Claim:
    """The cost of one release: pure ε, (ε, δ), or ρ-concentrated differential privacy (then `epsilon` is None)."""

    epsilon: float | None = None
    delta: float = 0.0
    rho: float | None = None


class SmoothNoise(abc.ABC):
    """Noise for a statistic with smooth sensitivity S: `scale`·S·Z, with Z drawn from a fixed distribution.

    The claim holds for the relation under which S is β-smooth and at least the local sensitivity. Two neighbours then
    differ in location by at most the smaller of their two S, and in scale by a factor of at most exp(β).

    Parameters
    ----------
    epsilon : float
        Privacy parameter, finite and > 0.
    beta : float
        Smoothing parameter of the sensitivity, > 0.
    """

    epsilon: float
    beta: float

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.__doc__:
            cls.__doc__ = with_inherited_entries(cls)

    def _check(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "beta", check_number(self.beta, "beta", 0.0, open_lower=True))

    @property
    @abc.abstractmethod
    def scale(self) -> float:
        """Noise scale for one unit of smooth sensitivity."""

    @property
    @abc.abstractmethod
    def claim(self) -> Claim:
        """The cost of one release."""

    @abc.abstractmethod
    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        """Return draws of Z."""

    @abc.abstractmethod
    def _log_unit(self, z: Floats) -> Floats:
        """Return the log density of Z."""

    def release(self, values: Any, smooth: Any, *, rng: np.random.Generator, draws: int | None = None) -> Floats:
        """Release noisy values.

        Parameters
        ----------
        values : array
            Exact statistics.
        smooth : array
            Their smooth sensitivities, finite and >= 0. They broadcast against `values`.
        rng : numpy.random.Generator
            Source of the noise, for simulations. There is no secure sampler of this noise for release mode.
        draws : int, optional
            Number of releases, which adds a leading axis. Each draw costs the claim.

        Returns
        -------
        ndarray of shape (draws, ...) or the broadcast shape
            The noisy values.
        """
        values, scale = self._scaled(values, smooth)
        draws = check_draws(draws)
        return boundary.release(self, (repeated(values, draws), repeated(scale, draws)), check_rng(rng))

    @statistic
    def _scaled(self, values: Any, smooth: Any) -> tuple[Floats, Floats]:
        values, smooth = self._pair(values, smooth)
        return values, self.scale * smooth

    def _sample(self, statistic: tuple[Floats, Floats], rng: np.random.Generator) -> Floats:
        values, scale = statistic
        noise = self._draw(rng, values.shape)
        noise *= scale
        noise += values
        return noise

    def _compare(self, statistic: Any, other: Any, other_statistic: Any) -> boundary.Loss:
        (one, s), (two, t) = statistic, other_statistic
        moved = (one != two) | (s != t)
        if (np.minimum(s, t)[moved] <= 0).any():
            return boundary.EVERYTHING  # a statistic without noise
        total = boundary.NOTHING
        for pair in zip(one[moved], s[moved], two[moved], t[moved], strict=True):
            total += self._loss(*map(float, pair))
        return total

    def _loss(self, one: float, s: float, two: float, t: float) -> boundary.Loss:
        """Return the loss between noise of scale s around the first value and of scale t around the second."""
        # numerically, for families without a closed form: a fine grid near the values that reaches far into the tails
        z = np.sinh(np.linspace(-25, 25, 20_001)) * min(s, t) + (one + two) / 2
        step = np.gradient(z)
        p = np.exp(self._log_unit((z - one) / s) - math.log(s)) * step
        q = np.exp(self._log_unit((z - two) / t) - math.log(t)) * step

        def profile(epsilon: float) -> float:
            bound = math.exp(min(epsilon, 700.0))
            return float(max(np.maximum(p - bound * q, 0).sum(), np.maximum(q - bound * p, 0).sum()))

        return boundary.Loss(profiles=(profile,))

    def log_density(self, outputs: Any, values: Any, smooth: Any) -> Floats:
        """Return the log density of each output given the exact statistic and its smooth sensitivity (> 0)."""
        values, smooth = self._pair(values, smooth)
        scale = self.scale * smooth
        return self._log_unit((np.asarray(outputs, dtype=float) - values) / scale) - np.log(scale)

    @staticmethod
    def _pair(values: Any, smooth: Any) -> tuple[Floats, Floats]:
        v, s = np.asarray(values, dtype=float), np.asarray(smooth, dtype=float)
        if not (np.isfinite(s) & (s >= 0)).all():
            raise InvalidData("smooth has a value that is not allowed: smooth sensitivities are finite and >= 0")
        try:
            v, s = np.broadcast_arrays(v, s)
        except ValueError:
            allowed = f"of a shape that broadcasts against values, {v.shape}"
            raise InvalidParameter("smooth", f"array of shape {s.shape}", allowed) from None
        return v, s
