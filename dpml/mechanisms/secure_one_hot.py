"""The noise of `OneHotNorm` drawn securely: integers near the noise with a density, and a cover of the distance.

OpenDP draws integers of one coordinate each. Noise of a norm with a density is a real vector, which no program holds.
So it is drawn as integers that are within a proved distance of it (`rounded_noise`). All results that the program
computes from them are within a stated distance of those from the ideal noise. Integer Laplace noise for that distance
is added last and released (`GridCover`).

Let x be the ideal release, which is ε₁-differentially private, and let the program's value a be within r of x. Given x,
the values of two neighbours are within 2r of each other. So noise that protects a change of 2r with ε₂ makes the whole
(ε₁ + ε₂)-differentially private: multiply the ratios of the densities, and integrate over x. There is no δ.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from random import SystemRandom
from typing import Any

import numpy as np

from dpml._arrays import FloatArray, Int64Array
from dpml._validate import check_epsilon, check_integer, check_number
from dpml.budget.shares import split_epsilon
from dpml.claims import claim
from dpml.mechanisms import boundary
from dpml.mechanisms.norms import OneHotNorm, contrasts, signs_of
from dpml.mechanisms.private import to_integers
from dpml.mechanisms.secure import integer_laplace_sample, integer_scale

# a scale of the noise is so many steps
STEPS = 2**44
# share of ε for the cover
COVER_SHARE = 0.001
# the largest integer that gets noise: larger ones are clipped, which makes no distance larger
MOST = 2**62


def rounding(noise: OneHotNorm) -> int:
    """Return by how many steps a value of `rounded_noise` may differ from the noise with a density: D + 3.

    The norm is within D + 1 steps (a step for each of its exponential variables), a magnitude is at most 1, and each of
    the two roundings of a value moves it by a step at most.
    """
    return noise.dimension + 3


def rounded_noise(noise: OneHotNorm) -> list[list[int]]:
    """Return noise in steps of its scale over `STEPS`: d values of each attribute, then the scalars in one list.

    The values of an attribute are those of `contrasts`, up to a multiple of (1, ..., 1). Python's integers do not
    overflow. OpenDP's do at 2^63, which is 2^19 scales.

    - The norm is a sum of D + 1 exponential variables. The magnitude |X| of integer Laplace noise of scale S is one,
      rounded: with q = exp(-1/S), P(|X| >= k) = 2q^k/(1 + q) is the chance that an exponential variable of mean S is at
      least k - s, for s = S·log(2/(1 + q)), which is in (0, 1/2] because cosh is at least 1. So |X| = k where the
      variable is in [k - s, k + 1 - s), and differs from it by at most 1.
    - The magnitudes of a uniform point (`dpml.mechanisms.norms`) are the spacings of d - 1 uniform numbers. These are
      cut to so many random bits that the norm times the last bit is below one step.
    - Places and signs are a permutation, drawn exactly.

    The system's entropy is used, as by OpenDP.
    """
    random = SystemRandom()
    exponentials = integer_laplace_sample(np.zeros(noise.dimension + 1, dtype=np.int64), float(STEPS)).tolist()
    radius = sum(map(abs, exponentials))
    bits = (radius + noise.dimension + 1).bit_length()
    values = []
    for d in noise.sizes:
        cuts = sorted(random.getrandbits(bits) for _ in range(d - 1))
        spacings = [after - before for before, after in zip([0, *cuts], [*cuts, 1 << bits], strict=True)]
        point = [sign * ((radius * spacing) >> bits) for sign, spacing in zip(signs_of(d), spacings, strict=True)]
        random.shuffle(point)
        values.append(point)
    scalars = [(radius * (2 * random.getrandbits(bits) - (1 << bits))) >> bits for _ in range(noise.n_scalars)]
    return [*values, scalars] if scalars else values


def noise_vector(noise: OneHotNorm) -> FloatArray:
    """Return `rounded_noise` as a vector in the coordinates of `OneHotNorm`."""
    *parts, scalars = [*rounded_noise(noise), []][: len(noise.sizes) + 1]
    vectors = [np.array(part, dtype=float) @ contrasts(d) for part, d in zip(parts, noise.sizes, strict=True)]
    return np.concatenate([*vectors, np.array(scalars, dtype=float)]) * (noise.scale / STEPS)


def noise_distance(noise: OneHotNorm) -> float:
    """Return the largest L2 distance of `noise_vector` from the noise with a density, but for the rounding of floats.

    The coordinates of an attribute are a projection of its d values, which makes no distance larger.
    """
    return rounding(noise) * math.sqrt(sum(noise.sizes) + noise.n_scalars) * noise.scale / STEPS


@dataclass(frozen=True)
class GridCover:
    """Integer Laplace noise on values that are within a stated L2 distance of each other between neighbours.

    The values are rounded to a grid whose step is a power of two, so that rounding counts about as much as the
    distance. Two values at distance a are rounded to integers at distance a/step + 1 at most. So the integers of D
    values have the L1 sensitivity √D·distance/step + D.

    `epsilon`: of the noise. `distance`: L2 distance between the values of two neighbours, finite and > 0. `dimension`:
    number of values D.
    """

    epsilon: float
    distance: float
    dimension: int

    def __post_init__(self):
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        check_number(self.distance, "distance", 0.0, open_lower=True)
        check_integer(self.dimension, "dimension", 1)

    @property
    def step(self) -> float:
        """Step of the grid."""
        return 2.0 ** math.floor(math.log2(self.distance / math.sqrt(self.dimension)))

    @property
    def reach(self) -> int:
        """L1 sensitivity of the integers."""
        widest = Fraction(self.distance) / Fraction(self.step) * Fraction(math.sqrt(self.dimension) * (1 + 1e-12))
        return math.ceil(widest) + self.dimension

    @property
    def scale(self) -> float:
        """Scale of the noise, in steps."""
        return integer_scale(self.epsilon, self.reach)

    @property
    def loss(self) -> float:
        """The largest log ratio."""
        return self.reach / self.scale

    def noisy(self, values: FloatArray) -> FloatArray:
        """Return noisy multiples of the step, for values of shape (..., D)."""
        return integer_laplace_sample(to_integers(values, 1 / self.step), self.scale).astype(float) * self.step


@claim(
    "secure-one-hot",
    "Noise for one-hot records, secure",
    "this project: the K-norm mechanism [hardt-talwar2010], rounded",
    "ε for counts of the groups of attributes",
)
@dataclass(frozen=True)
class SecureOneHot:
    """`OneHotNorm` for class counts of the groups of attributes, drawn securely.

    The release has the differences of the counts of each attribute from its first one, with noise. They are integers in
    steps of the noise's scale over `STEPS`, times a power of two, in the coordinates of `OneHotNorm`.

    Privacy: ε = epsilon per draw. δ = 0. Relation: the one for which `sensitivity` holds. Sensitivity: `sensitivity` in
    the norm of `OneHotNorm`, summed over the statistics.

    Derivation. The ideal noise has 0.999·ε. Counts and noise are rounded to steps, which moves a value by at most
    `rounding` + 1/2, and its difference from the first by twice that. So given the ideal release, each of the Σ(d - 1)
    numbers of two neighbours differs by at most 4·`rounding` + 2 steps, in at most `sensitivity` statistics: the others
    have the same counts. In units of a larger power of two of steps, rounded down, they differ by at most 1. Integer
    Laplace noise for that has the rest of ε. All sums are of integers.

    `sizes`: d >= 2 of each attribute. `sensitivity`: Δ, and the most statistics that differ between neighbours.
    """

    epsilon: float
    sizes: tuple[int, ...]
    sensitivity: int = 1

    def __post_init__(self):
        object.__setattr__(self, "sizes", OneHotNorm(self.epsilon, self.sizes).sizes)
        check_integer(self.sensitivity, "sensitivity", 1)

    @property
    def noise(self) -> OneHotNorm:
        """The ideal noise."""
        return OneHotNorm(split_epsilon(self.epsilon, COVER_SHARE)[1], self.sizes, sensitivity=self.sensitivity)

    @property
    def scale(self) -> float:
        """The scale of the gamma factor of the noise, Δ/(0.999·ε), rounded up."""
        return integer_scale(self.noise.epsilon, self.sensitivity)

    @property
    def cover_scale(self) -> float:
        """Scale of the integer Laplace noise, in units."""
        return integer_scale(split_epsilon(self.epsilon, COVER_SHARE)[0], self.sensitivity * self.noise.dimension)

    @property
    def shift(self) -> int:
        """Bits of a unit: more steps than rounding can make of equal numbers, and no finer than the cover needs.

        The cover's scale is then 2^-10 of the noise's. For the largest ε it is a unit. Counts of 2^52/ε have room.
        """
        cover = math.log2(self.sensitivity * self.noise.dimension) - math.log2(COVER_SHARE * self.epsilon)
        finest = (4 * rounding(self.noise) + 2).bit_length()
        return max(finest, STEPS.bit_length() - 1 - 10 - max(math.ceil(cover), 0))

    @property
    def deviation(self) -> float:
        """The root mean variance of a coordinate of the ideal noise."""
        return self.noise.deviation

    def release(self, counts: Any) -> FloatArray:
        """Return noisy vectors of shape (..., Σ(d - 1)) for counts of shape (..., Σd), each with its own noise."""
        return boundary.release(self, to_integers(counts), None)

    def _sample(self, statistic: Int64Array, rng: None) -> FloatArray:
        rows = [self._units(row) for row in statistic.reshape(-1, sum(self.sizes)).tolist()]
        units = integer_laplace_sample(np.array(rows, dtype=np.int64), self.cover_scale).astype(float)
        released = np.empty(units.shape)
        first = 0
        for d in self.sizes:
            part = slice(first, first + d - 1)
            released[:, part] = units[:, part] @ contrasts(d)[1:]  # the first value is 0
            first += d - 1
        released *= 2.0**self.shift * self.scale / STEPS
        return released.reshape(*statistic.shape[:-1], first)

    def _units(self, counts: list[int]) -> list[int]:
        """Return what noisy counts differ from the first one of their attribute, in units, without the last noise."""
        steps, half = Fraction(STEPS) / Fraction(self.scale), Fraction(1, 2)
        units: list[int] = []
        first, shift = 0, self.shift
        for noise in rounded_noise(self.noise):
            exact = counts[first : first + len(noise)]
            noisy = [math.floor(count * steps + half) + b for count, b in zip(exact, noise, strict=True)]
            units += [min(max((value - noisy[0]) >> shift, -MOST), MOST) for value in noisy[1:]]
            first += len(noise)
        return units

    def _compare(self, statistic: Any, other: Any, other_statistic: Any) -> boundary.Loss:
        parts = np.split(np.subtract(statistic, other_statistic), np.cumsum(self.sizes)[:-1], axis=-1)
        vectors = np.concatenate([part @ contrasts(d) for part, d in zip(parts, self.sizes, strict=True)], axis=-1)
        norms = self.noise.norm(vectors)
        covered = np.count_nonzero(norms) * self.noise.dimension / self.cover_scale
        return boundary.Loss(pure=float(norms.sum()) / self.scale + covered)
