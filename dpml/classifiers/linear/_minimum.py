"""The release of the minimiser of a perturbed objective, and its exact cost on two given tables.

`dpml.classifiers.linear._perturbation` and `dpml.classifiers.linear.descent` have the proofs and choose the noise. This
module has their common parts: noise b in the objective, the solver, and a second noise that covers the solver's error.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from dpml._arrays import FloatArray
from dpml._validate import check_rng
from dpml.classifiers.linear._losses import Loss
from dpml.classifiers.linear._newton import minimise
from dpml.mechanisms import Laplace, boundary
from dpml.mechanisms.noise import NormalNoise, gaussian_delta
from dpml.mechanisms.norms import NormGamma, OneHotNorm

Noise = NormGamma | Laplace | OneHotNorm | NormalNoise


def release_minimum(
    perturbed: PerturbedMinimum,
    cover: NormGamma | NormalNoise,
    records: tuple[Any, ...],
    rng: np.random.Generator | None,
) -> Any:
    """Release the minimisers of a perturbed objective plus `cover`, for simulations."""
    rng = check_rng(rng)
    theta = boundary.release(perturbed, records, rng)
    # each computed minimiser is within τ/λ of the exact one, so two of them are within 2τ/λ
    return boundary.release(_Cover(cover, 2 * perturbed.tolerance / perturbed.reg_lambda), (theta, *records), rng)


@dataclass(frozen=True)
class PerturbedMinimum:
    """The minimiser of J(θ) + b·θ, where b is a noise vector centred at 0.

    With a `centre` c the regulariser is (λ/2)‖θ - c‖², which differs from (λ/2)‖θ‖² by -λc·θ and a constant.
    """

    noise: Noise
    draws: int
    reg_lambda: float
    tolerance: float
    loss: Loss
    centre: tuple[float, ...] | None = None  # a tuple, because mechanisms are compared

    @property
    def n_vectors(self) -> int:
        """Number of noise vectors of a draw."""
        return 1

    @property
    def stretch(self) -> float:
        """By how much the map that the noise goes through may stretch a distance."""
        return 1.0

    def noise_shape(self, n_columns: int) -> tuple[int, ...]:
        """Return the shape of the noise of all draws."""
        return self.draws, n_columns

    def _sample(self, statistic: Any, rng: Any) -> FloatArray:
        shape = self.noise_shape(statistic[0].shape[1])
        return self.minima(statistic, self.noise._sample(np.zeros(shape), rng))

    def minima(self, statistic: Any, b: FloatArray) -> FloatArray:
        """Return the minimisers for noise vectors, shape (draws, n_vectors·D)."""
        X, signs = statistic
        if self.centre is not None:
            b = b - self.reg_lambda * np.array(self.centre)
        return minimise(X, signs, self.reg_lambda, self.tolerance, b, self.loss)

    def _compare(self, statistic: Any, other: Any, other_statistic: Any) -> boundary.Loss:
        gone, come = different_records(statistic, other_statistic)
        if not len(gone) and not len(come):
            return boundary.NOTHING
        if max(len(gone), len(come)) > 1:
            return boundary.EVERYTHING  # the tables are not neighbours, so the proofs do not apply
        changed = [*gone, *come]
        if isinstance(self.noise, NormalNoise):
            return boundary.Loss(profiles=(lambda epsilon: self.draws * self._delta(epsilon, changed),))
        return boundary.Loss(pure=self.draws * self._ratio(1 / self.noise.scale, changed))

    def _lengths(self, z: FloatArray) -> tuple[float, float]:
        """Return the norm of a record that belongs to the noise, and its squared Euclidean norm."""
        if isinstance(self.noise, OneHotNorm):
            return float(self.noise.norm(z)), float(z @ z)
        norm = np.abs(z).sum() if isinstance(self.noise, Laplace) else np.linalg.norm(z)
        return float(norm), float(z @ z)

    def _ratio(self, rate: float, changed: list[FloatArray]) -> float:
        """Return the largest log ratio, as derived in `objective_noise`, for the norms of these records."""
        largest = 0.0
        for i, z in enumerate(changed):
            length, squared = self._lengths(z)
            others = sum(self._lengths(other)[0] for j, other in enumerate(changed) if j != i)
            own = self.loss.largest_ratio(rate * length, self.reg_lambda / squared) if squared else 0.0
            largest = max(largest, own + rate * others)  # one record's determinant counts, and the pulls of all
        return largest

    def _delta(self, epsilon: float, changed: list[FloatArray]) -> float:
        """Return δ, as derived in `gaussian_objective_noise`, for the norms of these records."""
        sigma = self.noise.scale
        lengths = [self._lengths(z) for z in changed]
        if len(changed) == 1:
            length, squared = lengths[0]
            if not squared:
                return 0.0
            # the rate of a unit record for which the largest ratio is ε
            low, high = 0.0, epsilon
            for _ in range(100):
                middle = (low + high) / 2
                fits = self.loss.largest_ratio(middle, self.reg_lambda / squared) <= epsilon
                low, high = (middle, high) if fits else (low, middle)
            return gaussian_delta(low, sigma, length) if low > 0 else 1.0
        left = epsilon - math.log1p(max(squared for _, squared in lengths) * self.loss.curvature / self.reg_lambda)
        if left <= 0:
            return 1.0
        corners = [float(np.linalg.norm(changed[0] - changed[1])), *(length for length, _ in lengths)]
        return math.fsum(gaussian_delta(left, sigma, size) for size in corners if size)


@dataclass(frozen=True)
class _Cover:
    """Noise on a computed minimiser, which may be anywhere within `reach`/2 of the exact one."""

    noise: NormGamma | NormalNoise
    reach: float

    def _sample(self, statistic: Any, rng: np.random.Generator) -> FloatArray:
        return self.noise._sample(statistic[0], rng)

    def _compare(self, statistic: Any, other: Any, other_statistic: Any) -> boundary.Loss:
        (theta, *records), (other_theta, *other_records) = statistic, other_statistic
        if not any(map(len, different_records(records, other_records))):
            return boundary.NOTHING
        distance = np.linalg.norm(np.subtract(theta, other_theta), axis=-1) + self.reach
        if isinstance(self.noise, NormalNoise):
            return boundary.Loss(gaussian=float((distance**2).sum()) / self.noise.scale**2)
        return boundary.Loss(pure=float(distance.sum()) / self.noise.scale)


def different_records(statistic: Any, other_statistic: Any) -> tuple[list[FloatArray], list[FloatArray]]:
    """Return the signed records s·x that only the first table has, and those that only the second has.

    With `starts` (`dpml.classifiers.linear._classes`) a record is x, its class and its start, one after the other.
    """
    first, second = (Counter(_signed_rows(*side)) for side in (statistic, other_statistic))
    return (
        [np.frombuffer(row) for row in (first - second).elements()],
        [np.frombuffer(row) for row in (second - first).elements()],
    )


def _signed_rows(X: Any, signs: Any, starts: Any = None) -> list[bytes]:
    dense = X.toarray() if sparse.issparse(X) else np.asarray(X)
    rows = dense * np.asarray(signs)[:, None] if starts is None else np.column_stack([dense, signs, starts])
    # adding 0.0 turns -0.0 into 0.0, so that both have the same bytes
    return [row.tobytes() for row in np.ascontiguousarray(rows + 0.0)]
