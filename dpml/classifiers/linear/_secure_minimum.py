"""The secure release of the minimisers of a perturbed objective: `PerturbedMinimum` without noise of real numbers."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpml._arrays import FloatArray
from dpml.classifiers.linear._minimum import PerturbedMinimum
from dpml.exceptions import NoSecureSampler
from dpml.mechanisms import boundary
from dpml.mechanisms.norms import OneHotNorm
from dpml.mechanisms.secure_one_hot import GridCover, noise_distance, noise_vector

# The stated tolerance is this many times the one that the solver is given, because a release has to hold on any data:
# the rest is for the rounding of its sums, and of the noise as floats
MARGIN = 10.0
# by this part a record may be longer than stated, or a rate higher, because of floating-point arithmetic
ROUNDED = 1e-8


def release_secure_minimum(
    perturbed: PerturbedMinimum, cover_epsilon: float, records: tuple[Any, ...], rng: np.random.Generator | None
) -> Any:
    """Release minimisers of J(θ) + b·θ with secure noise, whose rate is less by the part `ROUNDED`."""
    if not isinstance(perturbed.noise, OneHotNorm) or rng is not None:
        raise NoSecureSampler("secure noise on an objective is that of OneHotNorm, without an rng")
    noise = replace(perturbed.noise, epsilon=perturbed.noise.epsilon * (1 - ROUNDED))
    return boundary.release(SecureMinimum(replace(perturbed, noise=noise), cover_epsilon), records, None)


@dataclass(frozen=True)
class SecureMinimum:
    """The minimiser of J(θ) + b·θ on a grid, with the noise b of `OneHotNorm` and integer Laplace noise, both secure.

    Released: multiples of the grid's step.

    Privacy: the cost of `perturbed`, and `cover_epsilon`. Derivation: let b* be the noise with a density, θ* the exact
    minimiser for it, and b the rounded noise, within γ of b* (`noise_distance`). Of K vectors all together are within
    √K·γ, and `PerturbedMinimum.stretch` times that where they are mapped. θ* is the ideal release. Given θ* and a
    table, the mapped b* is -∇J(θ*), and b is drawn given b*. The solver's θ has a gradient of J + b of norm at most τ,
    so one of J + b* of norm at most τ + γ, and by strong convexity is within (τ + γ)/λ of θ*. So given θ* the values of
    two neighbours are within 2(τ + γ)/λ of each other, for which `GridCover` has integer noise.

    `perturbed`: with the noise `OneHotNorm`. `cover_epsilon`: ε of the second noise.
    """

    perturbed: PerturbedMinimum
    cover_epsilon: float

    @property
    def noise(self) -> OneHotNorm:
        """The noise with a density."""
        assert isinstance(self.perturbed.noise, OneHotNorm)
        return self.perturbed.noise

    @property
    def cover(self) -> GridCover:
        """The second noise."""
        n_vectors = self.perturbed.n_vectors
        error = noise_distance(self.noise) * math.sqrt(n_vectors) * self.perturbed.stretch
        bound = MARGIN * self.perturbed.tolerance + error
        return GridCover(self.cover_epsilon, 2 * bound / self.perturbed.reg_lambda, n_vectors * self.noise.dimension)

    def _sample(self, statistic: Any, rng: np.random.Generator | None) -> FloatArray:
        shape = self.perturbed.noise_shape(self.noise.dimension)
        vectors = [noise_vector(self.noise) for _ in range(math.prod(shape[:-1]))]
        return self.cover.noisy(self.perturbed.minima(statistic, np.reshape(vectors, shape)))

    def _compare(self, statistic: Any, other: Any, other_statistic: Any) -> boundary.Loss:
        loss = self.perturbed._compare(statistic, other, other_statistic)
        return loss if loss == boundary.NOTHING else loss + boundary.Loss(pure=self.perturbed.draws * self.cover.loss)
