"""Antonova (2016), Appendix B: logistic regression on two Gaussian classes, at the numbers of records of its tables.

Long tables are never in memory: each step of the solver draws their blocks again from the same seeds.
"""

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from benchmarks.papers.measured import Experiment, Measured, measured
from dpml._validate import check_choice
from dpml.classifiers.linear import default_reg_lambda, minimiser, objective_noise, release_objective
from dpml.classifiers.linear.functional import (
    TaylorCoefficients,
    functional_lambda,
    functional_sensitivity,
    polynomial_minimisers,
    release_coefficients,
)
from dpml.datasets._readers import separation
from dpml.mechanisms import NormGamma

FloatArray = NDArray[np.float64]
SCALINGS = ("record", "dataset")
# Antonova (2016) scales by the minimum and maximum of the data; here the bounds are this far beyond the two means
DEVIATIONS = 3.0
BLOCK_CELLS, KEPT_CELLS, SMALL_CELLS = 1 << 22, 1 << 26, 1 << 17
# of a table whose minimiser is computed in double precision, with copies
WHOLE_CELLS = 1 << 24
TEST_RECORDS = 20_000
CURVATURE_RECORDS = 1 << 16
MOST_STEPS = 60

# table: method, ε, scaling, and D -> (N, λ, accuracy in %)
TABLES: dict[str, tuple[str, float, str, dict[int, tuple[int, float, float]]]] = {
    "table-b.2": ("LR", 0.0, "record", {
        1: (16, 1e-6, 88.0), 2: (16, 0.1, 91.9), 5: (16, 1.0, 88.3), 10: (32, 1.0, 87.6), 20: (128, 10.0, 88.6),
        50: (256, 1.0, 88.0), 100: (512, 10.0, 88.3), 1000: (16384, 1e3, 88.1), 1500: (32768, 1e3, 88.0)}),
    "table-b.3": ("PrivateERM", 0.1, "record", {
        1: (256, 1e-4, 88.0), 2: (512, 1e2, 90.8), 5: (1024, 1e2, 88.3), 10: (2048, 1e3, 87.3), 20: (8192, 1e3, 87.9),
        50: (131072, 10.0, 88.0), 100: (65536, 1e3, 88.1), 1000: (1048576, 1e3, 79.1), 1500: (1048576, 1e3, 70.5)}),
    "table-b.4": ("original", 0.1, "record", {
        1: (256, 0.0, 88.0), 2: (1024, 0.0, 90.7), 5: (4096, 0.0, 85.9), 10: (4096, 0.0, 61.6), 20: (8192, 0.0, 55.8),
        50: (1048576, 0.0, 66.9), 100: (524288, 0.0, 50.7), 1000: (1048576, 0.0, 49.6), 1500: (1048576, 0.0, 50.1)}),
    "table-b.5": ("improved", 0.1, "record", {
        1: (128, 0.0, 88.0), 2: (512, 0.0, 89.9), 5: (4096, 0.0, 86.9), 10: (4096, 0.0, 82.4), 20: (8192, 0.0, 68.4),
        50: (1048576, 0.0, 75.2), 100: (524288, 0.0, 68.1), 1000: (1048576, 0.0, 50.9), 1500: (1048576, 0.0, 50.6)}),
    "table-b.6": ("PrivateERM", 0.01, "record", {
        1: (4096, 0.01, 89.9), 2: (8192, 1e-5, 88.2), 5: (16384, 1e3, 88.3), 10: (32768, 1e3, 88.3),
        20: (131072, 1e3, 88.6)}),
    "table-b.7": ("improved", 0.01, "record", {
        1: (4096, 0.0, 89.9), 2: (8192, 0.0, 88.1), 5: (65536, 0.0, 88.3), 10: (131072, 0.0, 88.2),
        20: (262144, 0.0, 77.5)}),
    "table-b.8": ("PrivateERM", 0.1, "dataset", {
        1: (512, 0.1, 88.1), 2: (2048, 0.01, 91.0), 5: (2048, 1e2, 88.0), 10: (4096, 1e2, 84.2),
        20: (8192, 1e2, 82.7)}),
}  # fmt: skip
# the largest D of an item; the two beyond have items of their own, because they take minutes
LARGE = 100


def toy_records(records: int, dimension: int, rng: np.random.Generator) -> tuple[FloatArray, NDArray[np.intp]]:
    """Return records of two Gaussian classes, N(0, I) and N(a 1, I), and their classes (Antonova 2016, A.7).

    With this a, the best classifier is right with probability 0.9.
    """
    codes = rng.integers(0, 2, records)
    X = rng.standard_normal((records, dimension))
    X += separation(dimension) * codes[:, None]
    return X, codes


def scale_toy(X: NDArray[np.floating], scaling: str) -> NDArray[np.floating]:
    """Scale records into the unit ball by public metadata alone.

    Each column is clipped to the bounds -3 and a + 3, and scaled to [-1, 1]. Antonova (2016) uses the minimum and
    maximum of the data instead (A.8), which are private. Then "record" divides each record that is longer than 1 by
    its own length; "dataset" divides all records by √D. Antonova (2016) mentions two types of scaling without
    defining them. These are the two readings of "scaled so that their Euclidean norm is at most 1". The classes meet
    at the middle of the bounds, so that no intercept is needed.

    >>> X, codes = toy_records(1000, 4, np.random.default_rng(0))
    >>> [round(float(np.linalg.norm(scale_toy(X, scaling), axis=1).mean()), 2) for scaling in SCALINGS]
    [0.62, 0.31]
    """
    check_choice(scaling, "scaling", SCALINGS)
    D = X.shape[1]
    a = separation(D)
    Z = X - a / 2
    Z /= a / 2 + DEVIATIONS
    np.clip(Z, -1.0, 1.0, out=Z)
    if scaling == "dataset":
        Z /= math.sqrt(D)
    else:
        Z /= np.maximum(np.sqrt(np.einsum("ij,ij->i", Z, Z)), 1.0)[:, None]
    return Z


class Stream:
    """Scaled records of two classes, in blocks that are drawn again each time unless all of them are few."""

    def __init__(self, records: int, dimension: int, scaling: str, *seed: int):
        self.records, self.dimension, self.scaling, self.seed = records, dimension, scaling, seed
        self._kept: list | None = list(self._draw()) if records * dimension <= KEPT_CELLS else None

    def _draw(self) -> Iterator[tuple[NDArray[np.float32], NDArray[np.intp]]]:
        size = max(BLOCK_CELLS // self.dimension, 1)
        for start in range(0, self.records, size):
            rng, n = np.random.default_rng([*self.seed, start]), min(size, self.records - start)
            codes = rng.integers(0, 2, n)
            X = rng.standard_normal((n, self.dimension), dtype=np.float32)
            X += np.float32(separation(self.dimension)) * codes[:, None].astype(np.float32)
            yield scale_toy(X, self.scaling), codes

    def blocks(self) -> Iterator[tuple[Any, NDArray[np.intp]]]:
        """Yield all records, in the same order and with the same values each time."""
        yield from self._draw() if self._kept is None else self._kept

    def accuracy(self, theta: FloatArray) -> FloatArray:
        """Return the share of the records that each row of theta gets right."""
        right = sum(((X @ theta.T.astype(np.float32) > 0) == (y == 1)[:, None]).sum(axis=0) for X, y in self.blocks())
        return right / self.records


def streamed_minimisers(stream: Stream, reg_lambda: FloatArray, linear: FloatArray) -> FloatArray:
    """Return the minimisers of J(θ) + λ_k/2·‖θ‖² + b_k·θ, shape (K, D), with a pass over the records for each step.

    All steps have the curvature at 0, the largest of the logistic loss, estimated from the first records, so that
    one decomposition serves all λ. A run ends when every gradient is a ten-thousandth of its first one.
    """
    D, seen = stream.dimension, 0
    curvature = np.zeros((D, D))
    for X, _ in stream.blocks():
        curvature += X.T @ X
        seen += len(X)
        if seen >= CURVATURE_RECORDS:
            break
    # 5 % more, because a sample may have less curvature than all records
    values, vectors = np.linalg.eigh(curvature * (stream.records / seen / 4 * (1.05 if seen < stream.records else 1.0)))
    theta, first = np.zeros(linear.shape), np.zeros(len(linear))
    for step in range(MOST_STEPS):
        gradient = linear + reg_lambda[:, None] * theta
        low = theta.astype(np.float32)
        for X, codes in stream.blocks():
            gradient += (expit(X @ low.T) - (codes == 1)[:, None]).T.astype(np.float32) @ X
        norms = np.linalg.norm(gradient, axis=1)
        first = norms if step == 0 else first
        if (norms <= 1e-4 * first).all():
            break
        theta -= (gradient @ vectors) / (values + reg_lambda[:, None]) @ vectors.T
    return theta


def _erm(stream: Stream, epsilon: float, kinds: dict[str, tuple[float, str]], runs: int, rng) -> dict[str, FloatArray]:
    """Return the weights of objective perturbation (Algorithm 7) for each (λ, calibration)."""
    if stream.records * stream.dimension <= WHOLE_CELLS:
        X, codes = (np.concatenate(part) for part in zip(*stream.blocks(), strict=True))
        # rounding in single precision may leave a record just outside the ball
        X, signs, options = (
            X.astype(float) * (1 - 1e-6),
            2.0 * codes - 1,
            {"tolerance": 1e-5, "draws": runs, "rng": rng},
        )
        return {k: release_objective(X, signs, epsilon, v, calibration=c, **options) for k, (v, c) in kinds.items()}
    D, lambdas, noise = stream.dimension, [], []
    for reg_lambda, calibration in kinds.values():
        rate, reg_lambda = objective_noise(epsilon, reg_lambda, calibration=calibration)
        noise.append(np.asarray(NormGamma(rate, 1.0, D).release(np.zeros(D), draws=runs, rng=rng)))
        lambdas.append(reg_lambda)
    theta = streamed_minimisers(stream, np.repeat(lambdas, runs), np.concatenate(noise))
    return dict(zip(kinds, np.split(theta, len(kinds)), strict=True))


def _coefficients(stream: Stream) -> TaylorCoefficients:
    """Return the coefficients of `taylor_coefficients`; rounding in single precision is far below their noise."""
    linear: Any = 0.0
    quadratic: Any = 0.0
    for X, codes in stream.blocks():
        linear = linear + (0.5 - (codes[None] == 1)) @ X
        quadratic = quadratic + X.T @ X / 8.0
    return TaylorCoefficients(linear, quadratic)


def _weights(method: str, stream: Stream, epsilon: float, reg_lambda: float, runs: int, rng) -> dict[str, FloatArray]:
    """Return the weights of all runs of a method as published and, where there is one, repaired."""
    D = stream.dimension
    if method == "LR":
        if stream.records * D > WHOLE_CELLS:
            return {"no privacy": streamed_minimisers(stream, np.array([reg_lambda]), np.zeros((1, D)))}
        X, codes = (np.concatenate(part) for part in zip(*stream.blocks(), strict=True))
        return {
            "no privacy": minimiser(X.astype(float) * (1 - 1e-6), 2.0 * codes - 1, reg_lambda, tolerance=1e-5)[None]
        }
    if method == "PrivateERM":
        public = default_reg_lambda(epsilon, D, method="objective")
        kinds = {"as published": (reg_lambda, "published"), "repaired, λ by the public rule": (public, "tight")}
        return _erm(stream, epsilon, kinds, runs, rng)
    coefficients, result = _coefficients(stream), {}
    for name, dimension, kind in (("as published", None, method), ("FMsens3, λ by the public rule", D, "exact")):
        noisy = release_coefficients(coefficients, epsilon, sensitivity=kind, draws=runs, rng=rng)
        penalty = functional_lambda(epsilon, functional_sensitivity(D, sensitivity=kind), dimension)
        result[name] = polynomial_minimisers(noisy, penalty)[:, 0]
    return result


def table(item: str, large: bool, draws: int, random_state: int) -> Iterator[Measured]:
    """Tables B.2 to B.8: test accuracy in % at the D, N and λ of each row."""
    method, epsilon, scaling, rows = TABLES[item]
    for D, (n, reg_lambda, paper) in rows.items():
        if (D > LARGE) is not large:
            continue
        test = Stream(TEST_RECORDS, D, scaling, random_state, 2, D)
        # short tables are drawn anew for each run; a long one says as much as several
        samples = draws if n * D <= SMALL_CELLS or method == "LR" else 1
        accuracies: dict[str, list[float]] = {}
        for sample, share in enumerate(np.array_split(np.arange(draws), samples)):
            stream = Stream(n, D, scaling, random_state, 3, D, sample)
            rng = np.random.default_rng([random_state, 4, D, sample])
            for title, theta in _weights(method, stream, epsilon, reg_lambda, len(share), rng).items():
                accuracies.setdefault(title, []).extend(100 * test.accuracy(theta))
        for title, values in accuracies.items():
            name = {"original": "FMsens1", "improved": "FMsens2"}.get(method, method)
            stated = paper if title in ("no privacy", "as published") else None
            yield measured(f"D = {D:,}, N = {n:,}, {name}, {title}", stated, values)


EXPERIMENTS: dict[str, Experiment] = {
    **{item: partial(table, item, False) for item in TABLES},
    **{f"{item}-large": partial(table, item, True) for item in TABLES if max(TABLES[item][3]) > LARGE},
}
