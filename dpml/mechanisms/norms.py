"""Noise vectors for a statistic with a known sensitivity in a norm: `NormGamma` and `OneHotNorm`."""

import abc
import math
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from dpml._arrays import FloatArray, IntArray
from dpml._validate import check_draws, check_epsilon, check_integer, check_number, check_rng
from dpml.claims import claim
from dpml.exceptions import InvalidParameter
from dpml.mechanisms import boundary
from dpml.mechanisms.private import repeated, statistic


class NormNoise(abc.ABC):
    """Noise with a density proportional to exp(-‖b‖/scale), for statistics of D coordinates on the last axis."""

    epsilon: float
    sensitivity: float
    dimension: Any  # a field or a property

    @property
    def scale(self) -> float:
        """Scale Δ/ε of the gamma variable in the noise."""
        return self.sensitivity / self.epsilon

    @abc.abstractmethod
    def _norm(self, vectors: FloatArray) -> FloatArray:
        """Return the norm of each vector."""

    @abc.abstractmethod
    def _log_volume(self) -> float:
        """Return the log volume of the norm's unit ball."""

    @abc.abstractmethod
    def _sample(self, statistic: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return the statistic plus noise."""

    def norm(self, vectors: Any) -> FloatArray:
        """Return the norm in which the sensitivity is stated.

        Parameters
        ----------
        vectors : array-like of shape (..., dimension)
            Vectors in the coordinates of the statistic.

        Returns
        -------
        ndarray of shape (...)
            The norm of each vector.
        """
        return self._norm(np.asarray(vectors, dtype=float))

    def _compare(self, statistic: Any, other: Any, other_statistic: Any) -> boundary.Loss:
        # the log ratio tends to this bound far out in the direction of the difference
        return boundary.Loss(pure=float(self.norm(np.subtract(statistic, other_statistic)).sum()) / self.scale)

    def release(self, values: Any, *, rng: np.random.Generator, draws: int | None = None) -> FloatArray:
        """Release noisy vectors.

        Parameters
        ----------
        values : array-like of shape (..., dimension)
            Exact statistics, one along the last axis. Each statistic gets its own noise.
        rng : numpy.random.Generator
            Source of the noise.
        draws : int, optional
            Number of releases, each at the cost ε, which adds a leading axis. By default one, without that axis.

        Returns
        -------
        ndarray
            Noisy values of the shape of `values`, after a leading axis if `draws` is given.
        """
        values = vectors_of(values, self.dimension)
        return boundary.release(self, repeated(values, check_draws(draws)), check_rng(rng))

    def log_density(self, outputs: Any, values: Any) -> FloatArray:
        """Return the log density of each output vector given the exact values.

        Parameters
        ----------
        outputs, values : array-like of shape (..., dimension)
            Released vectors, and exact statistics, which broadcast against them.

        Returns
        -------
        ndarray
            Natural logarithm of the density of each vector.

        Notes
        -----
        The normalising constant is D!·(Δ/ε)^D times the volume of the norm's unit ball.
        """
        D = self.dimension
        constant = D * math.log(self.scale) + math.lgamma(D + 1) + self._log_volume()
        return -self.norm(np.subtract(outputs, values)) / self.scale - constant


@claim(
    "norm-gamma",
    "Euclidean norm mechanism",
    "[antonova2016], eq. 2.24 with p = 2, and [chaudhuri2011]",
    "ε for vectors of the stated L2 sensitivity",
)
@dataclass(frozen=True)
class NormGamma(NormNoise):
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

    def _sample(self, statistic: FloatArray, rng: np.random.Generator) -> FloatArray:
        shape = statistic.shape
        noise = self._direction(shape, rng)
        noise *= rng.gamma(self.dimension, self.scale, size=(*shape[:-1], 1))
        noise += statistic
        return noise

    def _direction(self, shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
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

    def _norm(self, vectors: FloatArray) -> FloatArray:
        return np.linalg.norm(vectors, ord=None if self.p == 2 else self.p, axis=-1)

    def _log_volume(self) -> float:
        """Return the log of (2Γ(1 + 1/p))^D / Γ(1 + D/p)."""
        D, inverse = self.dimension, 1 / self.p
        return D * (math.log(2) + math.lgamma(1 + inverse)) - math.lgamma(1 + D * inverse)


@statistic
def vectors_of(values: Any, dimension: int) -> FloatArray:
    """Return values whose last axis holds a statistic's coordinates, and raise for another shape, which is public."""
    values = np.asarray(values, dtype=float)
    if values.ndim == 0 or values.shape[-1] != dimension:
        raise InvalidParameter("shape of values", values.shape, f"(..., {dimension}): coordinates last")
    return values


# ---- one-hot records ----------------------------------------------------------------------------------------------


@cache
def contrasts(d: int) -> FloatArray:
    """Return the coordinates of d values in d - 1 dimensions, shape (d, d - 1): orthonormal columns of sum 0 (Helmert).

    Row j is e_j - 1/d in these coordinates. All rows have the squared length 1 - 1/d.
    """
    basis = np.zeros((d, d - 1))
    for k in range(1, d):
        basis[:k, k - 1], basis[k, k - 1] = 1.0, -float(k)
        basis[:, k - 1] /= math.sqrt(k * (k + 1))
    basis.flags.writeable = False
    return basis


@claim(
    "one-hot-norm",
    "Norm mechanism for sums of one-hot records",
    "[hardt-talwar2010] and [awan-slavkovic2021]",
    "ε for vectors of the stated sensitivity in its norm",
)
@dataclass(frozen=True)
class OneHotNorm(NormNoise):
    """Add noise to sums of one-hot records, by the K-norm mechanism of the smallest body with every record.

    A record has one of d values in each attribute. Less the mean of the values, a value is a corner of a simplex, and a
    record is a corner of the product of the simplices. Times a factor in [-1, 1], it lies in the product K of the
    bodies conv{±(e_j - 1/d)}. Laplace noise on the one-hot columns protects far more than a record can do: in two
    columns of a binary attribute it has √12 times the standard deviation of this noise, for many attributes.

    The statistic's coordinates are the `contrasts` of the attributes, one after the other, and then `n_scalars`
    coordinates.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε, finite and > 0.
    sizes : tuple of int
        Number of values d >= 2 of each attribute.
    n_scalars : int, default=0
        Number of coordinates whose records lie in [-1, 1].
    sensitivity : float, default=1.0
        Sensitivity Δ > 0 in the norm of the body.

    See Also
    --------
    NormGamma : Adds noise for a sensitivity in a p-norm.
    Laplace : Adds independent noise for an L1 sensitivity.

    Notes
    -----
    Privacy: ε = epsilon per draw. δ = 0. Relation: the one for which `sensitivity` holds. Sensitivity: `sensitivity` in
    the K-norm.

    The K-norm is the largest, over attributes, of Σ_j |v_j - median(v)|, where v holds the d values of an attribute,
    and of the absolute scalars.

    Derivation. The log ratio of the densities is at most ε‖v - v'‖_K/Δ by the triangle inequality. ‖·‖_K is the norm of
    K: v of sum 0 is in conv{±(e_j - 1/d)}, the projection of the unit ball of the 1-norm along (1, ..., 1), if some v +
    t(1, ..., 1) has a 1-norm of at most 1, and t = -median(v) has the least. A record of one value an attribute, with
    scalars in [-1, 1], times a factor in [-1, 1], has a norm of at most 1.

    The noise is a point of K, uniform, times Gamma(D + 1, Δ/ε) in D dimensions.

    References
    ----------
    - Hardt and Talwar (2010).
    - Awan and Slavković (2021).

    Examples
    --------
    >>> mechanism = OneHotNorm(0.5, (2, 3), n_scalars=1)
    >>> mechanism.dimension
    4
    >>> mechanism.release(np.zeros(4), draws=5, rng=np.random.default_rng(0)).shape
    (5, 4)
    """

    epsilon: float
    sizes: tuple[int, ...]
    n_scalars: int = 0
    sensitivity: float = 1.0

    def __post_init__(self):
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "sizes", tuple(check_integer(d, "sizes", 2) for d in self.sizes))
        object.__setattr__(self, "n_scalars", check_integer(self.n_scalars, "n_scalars", 0))
        object.__setattr__(self, "sensitivity", check_number(self.sensitivity, "sensitivity", 0.0, open_lower=True))
        if not self.dimension:
            raise InvalidParameter("sizes", self.sizes, "at least one attribute or scalar")

    @property
    def dimension(self) -> int:
        """Number of coordinates D."""
        return sum(self.sizes) - len(self.sizes) + self.n_scalars

    @property
    def deviation(self) -> float:
        """The root mean variance of a coordinate of the noise.

        Two magnitudes of a uniform point (see `_sample`) have the moments E[a²] = 2/(d(d + 1)), E[ab] = 1/(d(d + 1)).
        """
        total = self.n_scalars / 3
        for d in self.sizes:
            positive, negative = _signs(d)
            square = 2 * (d - 1) / (d * (d + 1))
            sum_squared = (d - 1 + (positive - negative) ** 2) / (d * (d + 1))
            total += square - sum_squared / d
        D = self.dimension
        return self.scale * math.sqrt((D + 1) * (D + 2) * total / D)

    def _sample(self, statistic: FloatArray, rng: np.random.Generator) -> FloatArray:
        outer = statistic.shape[:-1]
        point = np.empty(statistic.shape)
        for d, columns in self._columns.items():
            point[..., columns] = _uniform((*outer, len(columns)), d, rng) @ contrasts(d)
        point[..., self.dimension - self.n_scalars :] = rng.uniform(-1, 1, (*outer, self.n_scalars))
        return statistic + point * rng.gamma(self.dimension + 1, self.scale, (*outer, 1))

    def _norm(self, vectors: FloatArray) -> FloatArray:
        norms = np.abs(vectors[..., self.dimension - self.n_scalars :]).max(axis=-1, initial=0.0)
        for d, columns in self._columns.items():
            values = vectors[..., columns] @ contrasts(d).T
            lengths = np.abs(values - np.median(values, axis=-1, keepdims=True)).sum(axis=-1)
            norms = np.maximum(norms, lengths.max(axis=-1))
        return norms

    def _log_volume(self) -> float:
        """Return the log volume of K. That of conv{±(e_j - 1/d)} is its number of pieces times 1/((d - 1)!·√d)."""
        log_volume = self.n_scalars * math.log(2)
        for d in self.sizes:
            log_volume += math.log(d * math.comb(d - 1, _signs(d)[0])) - math.lgamma(d) - math.log(d) / 2
        return log_volume

    @cached_property
    def _columns(self) -> dict[int, IntArray]:
        """The columns of the attributes of d values, shape (attributes, d - 1), by d."""
        runs: dict[int, list] = {}
        start = 0
        for d in self.sizes:
            runs.setdefault(d, []).append(np.arange(start, start + d - 1))
            start += d - 1
        return {d: np.array(columns) for d, columns in runs.items()}


def _signs(d: int) -> tuple[int, int]:
    """Return how many of d values are above the (lower) median and below it, with one at the median."""
    return d // 2, d - 1 - d // 2


def signs_of(d: int) -> list[int]:
    """Return the signs of the values of a uniform point, before they change places."""
    positive, negative = _signs(d)
    return [0] + [1] * positive + [-1] * negative


def _uniform(shape: tuple[int, ...], d: int, rng: np.random.Generator) -> FloatArray:
    """Return uniform points of conv{±(e_j - 1/d)}, up to a multiple of (1, ..., 1); shape (*shape, d).

    Up to that multiple a point has one value 0, its lower median, and the other magnitudes add up to at most 1. The
    body falls into pieces by the places of 0 and of the signs. They have equal volumes, because values that change
    places keep it. In a piece the magnitudes are uniform in a simplex: d exponential variables over their sum, but one.
    """
    exponentials = rng.standard_exponential((*shape, d))
    magnitudes = exponentials / exponentials.sum(axis=-1, keepdims=True)
    # the first magnitude is the one that is left out, in the place of 0
    return rng.permuted(np.array(signs_of(d)) * magnitudes, axis=-1)
