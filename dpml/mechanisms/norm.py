"""Noise for a vector statistic with a known sensitivity in the p-norm: a random direction times a gamma norm."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_draws, check_epsilon, check_integer, check_number, check_rng
from dpml.claims import claim
from dpml.exceptions import InvalidParameter
from dpml.mechanisms import boundary
from dpml.mechanisms.private import repeated, statistic


@claim(
    "norm-gamma",
    "Euclidean norm mechanism",
    "[antonova2016], eq. 2.24 with p = 2, and [chaudhuri2011]",
    "ε for vectors of the stated L2 sensitivity",
)
@dataclass(frozen=True)
class NormGamma:
    """Add a noise vector with density proportional to exp(-β‖b‖_p), where β = ε/Δ.

    The noise has a random direction and a random norm. In D dimensions the norm is Gamma(D, 1/β), so its mean D/β grows
    with D while the sensitivity does not.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε, finite and > 0.
    sensitivity : float
        Sensitivity Δ > 0 in the p-norm, in the statistic's units.
    dimension : int
        Number of coordinates D of the statistic.
    p : float, default=2.0
        The norm, from 1 to infinity.

    See Also
    --------
    Laplace : Adds independent noise for an L1 sensitivity.
    OneHotNorm : Adds noise for sums of one-hot records.

    Notes
    -----
    Privacy: ε = epsilon per draw. δ = 0. Relation: the one for which `sensitivity` holds. Sensitivity: `sensitivity` in
    the p-norm.

    Derivation. The log density ratio of two neighbours at b is β·(‖b - v'‖ - ‖b - v‖), which is at most β‖v - v'‖ <= ε
    by the triangle inequality. p = 1 is the Laplace mechanism.

    The direction is a point on the unit sphere of the p-norm. It is uniform for p = 2. For any p it is a vector of
    independent coordinates with density proportional to exp(-|g|^p), divided by its p-norm. Antonova (2016) can be
    read, below eq. 2.24, as a uniform direction on the Euclidean sphere. That gives the stated density for p = 2 only
    (docs/explanation/errata.md).

    References
    ----------
    - Antonova (2016), eq. 2.24, and for p = 2 Algorithm 6 line 2 and eq. 4.9.
    - Chaudhuri, Monteleoni and Sarwate (2011), Algorithm 1, for p = 2.

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
    p: float = 2.0

    def __post_init__(self):
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "sensitivity", check_number(self.sensitivity, "sensitivity", 0.0, open_lower=True))
        object.__setattr__(self, "dimension", check_integer(self.dimension, "dimension", 1))
        p = self.p if self.p == math.inf else check_number(self.p, "p", 1.0)
        object.__setattr__(self, "p", float(p))

    @property
    def scale(self) -> float:
        """Scale 1/β = Δ/ε of the norm's gamma distribution. The norm's mean is D/β."""
        return self.sensitivity / self.epsilon

    def release(self, values: Any, *, rng: np.random.Generator, draws: int | None = None) -> NDArray[np.float64]:
        """Release noisy vectors.

        Parameters
        ----------
        values : array-like of shape (..., dimension)
            Exact statistics, one along the last axis. Each statistic gets its own noise.
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
        values = vectors_of(values, self.dimension)
        return boundary.release(self, repeated(values, check_draws(draws)), check_rng(rng))

    def _sample(self, statistic: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
        shape = statistic.shape
        noise = self._direction(shape, rng)
        noise *= rng.gamma(self.dimension, self.scale, size=(*shape[:-1], 1))
        noise += statistic
        return noise

    def _compare(self, statistic: Any, other: Any, other_statistic: Any) -> boundary.Loss:
        # the log ratio tends to this bound far out in the direction of the difference
        return boundary.Loss(pure=float(self._norm(np.subtract(statistic, other_statistic)).sum()) / self.scale)

    def _direction(self, shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[np.float64]:
        """Return points on the unit sphere of the p-norm, drawn from its cone measure."""
        if self.p == 2:
            vector = rng.standard_normal(shape)
        elif self.p == math.inf:
            vector = rng.uniform(-1.0, 1.0, shape)
        else:
            # |g|^p is Gamma(1/p, 1) where g has density proportional to exp(-|g|^p)
            vector = rng.standard_gamma(1 / self.p, shape) ** (1 / self.p)
            vector *= rng.choice([-1.0, 1.0], shape)
        return vector / self._norm(vector)[..., None]

    def _norm(self, vectors: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.linalg.norm(vectors, ord=None if self.p == 2 else self.p, axis=-1)

    def log_density(self, outputs: Any, values: Any) -> NDArray[np.float64]:
        """Return the log density of each output vector given the exact values.

        Parameters
        ----------
        outputs : array-like of shape (..., dimension)
            Released vectors.
        values : array-like of shape (..., dimension)
            Exact statistics. They broadcast against `outputs`.

        Returns
        -------
        ndarray
            Natural logarithm of the density of each vector.

        Notes
        -----
        The normalising constant is D!·β^-D times the volume (2Γ(1 + 1/p))^D / Γ(1 + D/p) of the unit ball.
        """
        distance = self._norm(np.asarray(outputs, dtype=float) - np.asarray(values, dtype=float))
        D, inverse = self.dimension, 1 / self.p
        volume = D * (math.log(2) + math.lgamma(1 + inverse)) - math.lgamma(1 + D * inverse)
        return -distance / self.scale - D * math.log(self.scale) - math.lgamma(D + 1) - volume


@statistic
def vectors_of(values: Any, dimension: int) -> NDArray[np.float64]:
    """Return values whose last axis holds a statistic's coordinates, and raise for another shape, which is public."""
    values = np.asarray(values, dtype=float)
    if values.ndim == 0 or values.shape[-1] != dimension:
        raise InvalidParameter("shape of values", values.shape, f"(..., {dimension}): coordinates last")
    return values
