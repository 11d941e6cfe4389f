"""Noise for a vector whose L2 norm is what one record can move: a uniform direction times a gamma norm."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_epsilon, check_integer, check_number, check_rng
from dpml.exceptions import InvalidParameter

__all__ = ["NormGamma"]


@dataclass(frozen=True)
class NormGamma:
    """The norm-gamma mechanism: a noise vector with density proportional to exp(-β‖b‖₂), β = ε/Δ.

    Released: the vector statistic plus noise. In D dimensions the noise has a uniform direction and a norm that is
    Gamma(D, 1/β), so its mean norm D/β grows with D while the L2 sensitivity does not.

    Privacy: ε per draw for the neighbouring relation under which `sensitivity` is the largest L2 distance between
    the statistics of two neighbours. Derivation: the log density ratio of two neighbours at b is
    β·(‖b - v'‖ - ‖b - v‖), which is at most β‖v - v'‖ <= ε by the triangle inequality (000 Alg. 6 line 2 and
    eq. 4.9; Chaudhuri, Monteleoni and Sarwate 2011, Algorithm 1).

    Parameters
    ----------
    epsilon : float
        Privacy parameter, finite and > 0.
    sensitivity : float
        L2 sensitivity Δ > 0, in the statistic's units.
    dimension : int
        Number of coordinates D of the statistic.

    Examples
    --------
    >>> mechanism = NormGamma(epsilon=0.5, sensitivity=1, dimension=3)
    >>> mechanism.scale
    2.0
    >>> mechanism.release(np.zeros(3), draws=4, rng=np.random.default_rng(0)).shape
    (4, 3)
    """

    epsilon: float
    sensitivity: float
    dimension: int

    def __post_init__(self):
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "sensitivity", check_number(self.sensitivity, "sensitivity", 0.0, open_lower=True))
        object.__setattr__(self, "dimension", check_integer(self.dimension, "dimension", 1))

    @property
    def scale(self) -> float:
        """Scale 1/β = Δ/ε of the norm's gamma distribution; the norm's mean is D/β."""
        return self.sensitivity / self.epsilon

    def release(self, values: Any, *, rng: np.random.Generator, draws: int | None = None) -> NDArray[np.float64]:
        """Return noisy vectors, one axis `draws` before the shape of `values`, or of that shape if `draws` is None.

        The last axis of `values` holds the D coordinates of one statistic; each statistic gets its own noise.
        """
        values = np.asarray(values, dtype=float)
        self._check_coordinates(values, "values")
        shape = values.shape if draws is None else (check_integer(draws, "draws", 1), *values.shape)
        noise = check_rng(rng).standard_normal(shape)
        length = np.linalg.norm(noise, axis=-1, keepdims=True)
        noise *= rng.gamma(self.dimension, self.scale, size=length.shape) / length
        noise += values
        return noise

    def log_density(self, outputs: Any, values: Any) -> NDArray[np.float64]:
        """Return the log density of each output vector given the exact values (the last axis has D coordinates).

        The normalising constant is Γ(D)·β^-D times the surface 2π^(D/2)/Γ(D/2) of the unit sphere.
        """
        distance = np.linalg.norm(np.asarray(outputs, dtype=float) - np.asarray(values, dtype=float), axis=-1)
        D = self.dimension
        surface = math.log(2) + D / 2 * math.log(math.pi) - math.lgamma(D / 2)
        return -distance / self.scale - D * math.log(self.scale) - math.lgamma(D) - surface

    def _check_coordinates(self, values: NDArray[np.float64], name: str) -> None:
        if values.ndim == 0 or values.shape[-1] != self.dimension:
            raise InvalidParameter(f"shape of {name}", values.shape, f"(..., {self.dimension}): coordinates last")
