"""Stoddard, Chen and Machanavajjhala 2014, sections 4 and 5.2: private ROC curves on SMS.

Each run holds out its own tenth of the messages (558, as in the paper) and trains Bernoulli naive Bayes on the rest, so
that the standard errors count partitions and noise. The paper has ten runs of one partition, and TWITTER, which is not
available.
"""

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.metrics import roc_curve
from sklearn.naive_bayes import BernoulliNB

from benchmarks.papers.measured import Experiment, Measured, bootstrapped, exact, percent
from benchmarks.papers.stoddard import held_out
from dpml.evaluation import area_between, attack_success, private_roc_curve, published_roc_curve, recursive_medians
from dpml.mechanisms import Hierarchy, IdentityRanges, Laplace, Privelet

FloatArray = NDArray[np.float64]
EPSILONS = (1.0, 0.5, 0.25, 0.1)
METHODS = ("laplace", "fixed-space", "recursive-medians")
# Table 1, SMS: at ε = 1, 0.5, 0.25 and 0.1, with t = k = 10 and α = 1
TABLE_1 = {
    "laplace": (0.218, 0.343, 0.372, 0.442),
    "fixed-space": (0.034, 0.042, 0.079, 0.146),
    "recursive-medians": (0.023, 0.029, 0.054, 0.092),
}
# Fig. 7: numbers of thresholds of each method
SIZES = {10: 1.0, 9: 0.5, 8: 0.25, 7: 0.125}
POINTS = (0.02, 0.1, 0.3)


class _Held:
    """Labels, log-odds and true curve of the held-out messages of one run."""

    def __init__(self, part: Any, seed: list[int]):
        self.rng, self.y = np.random.default_rng(seed), part.y_test
        joint = BernoulliNB().fit(part.X_train, part.y_train).predict_joint_log_proba(part.X_test)
        self.log_odds = joint[:, 1] - joint[:, 0]
        self.fpr, self.tpr, _ = roc_curve(self.y, self.log_odds, drop_intermediate=False)

    def curve(self, method: str, epsilon: float, size: int) -> tuple[FloatArray, FloatArray]:
        """Return a private curve: `size` is t, k, or stands for α (`SIZES`)."""
        if method == "default":
            return private_roc_curve(self.y, self.log_odds, epsilon, rng=self.rng, score_scale="log-odds")[:2]
        sizes: dict[str, dict[str, Any]] = {"laplace": {"n_thresholds": size}, "fixed-space": {"alpha": SIZES[size]}}
        options: dict[str, Any] = sizes.get(method, {"k": size})
        return published_roc_curve(self.y, expit(self.log_odds), epsilon, method=method, rng=self.rng, **options)[:2]

    def area(self, method: str, epsilon: float, size: int = 10) -> float:
        """Return the area between the true and a private curve."""
        return float(area_between(self.fpr, self.tpr, *self.curve(method, epsilon, size)))


def _held_out(draws: int, random_state: int) -> list[_Held]:
    return [_Held(part, [random_state, k]) for k, part in enumerate(held_out(draws, random_state))]


def table_1(draws: int, random_state: int) -> Iterator[Measured]:
    """Table 1: median area between the true and the private curve."""
    held = _held_out(draws, random_state)
    for method in (*METHODS, "default"):
        for epsilon, paper in itertools.zip_longest(EPSILONS, TABLE_1.get(method, ())):
            yield bootstrapped(f"{method}, ε = {epsilon:g}", paper, [part.area(method, epsilon) for part in held])


def fig_6(draws: int, random_state: int) -> Iterator[Measured]:
    """Fig. 6: heights of the true and the private curve by recursive medians, in per cent, and the area between."""
    held = _held_out(draws, random_state)
    for x in POINTS:
        yield percent(
            f"true positives at {x:.0%} false ones, true curve", None, [_height(p.fpr, p.tpr, x) for p in held]
        )
    for epsilon in EPSILONS:
        curves = [part.curve("recursive-medians", epsilon, 10) for part in held]
        for x in POINTS:
            heights = [_height(*curve, x) for curve in curves]
            yield percent(f"true positives at {x:.0%} false ones, ε = {epsilon:g}", None, heights)
        areas = [area_between(p.fpr, p.tpr, *curve) for p, curve in zip(held, curves, strict=True)]
        yield bootstrapped(f"median area between the curves, ε = {epsilon:g}", None, areas)


def _height(fpr: FloatArray, tpr: FloatArray, x: float) -> float:
    return float(tpr[np.searchsorted(fpr, x, side="right") - 1])


def fig_7(draws: int, random_state: int) -> Iterator[Measured]:
    """Fig. 7: median area error of three methods at each number of thresholds and ε."""
    held = _held_out(draws, random_state)
    for size, alpha in SIZES.items():
        for method in METHODS:
            for epsilon in EPSILONS:
                areas = [part.area(method, epsilon, size) for part in held]
                yield bootstrapped(f"t = k = {size}, α = {alpha:g}, ε = {epsilon:g}, {method}", None, areas)


def fig_8(draws: int, random_state: int) -> Iterator[Measured]:
    """Fig. 8: median area error of recursive medians at each k and ε, and of the differences to k = 10."""
    held = _held_out(draws, random_state)
    for epsilon in EPSILONS:
        first: FloatArray | None = None
        for k in SIZES:
            areas = np.array([part.area("recursive-medians", epsilon, k) for part in held])
            yield bootstrapped(f"ε = {epsilon:g}, k = {k}", None, areas)
            if first is None:
                first = areas
            else:
                yield bootstrapped(f"ε = {epsilon:g}, k = {k}, less that of k = 10", None, areas - first)


# ---- section 4 -------------------------------------------------------------------------------------------------------


def definition_5(draws: int, random_state: int) -> Iterator[Measured]:
    """One-sided range queries: sums of the first counts, from exact answers of each strategy."""
    counts = np.random.default_rng(random_state).integers(0, 9, (draws, 32))
    for strategy in (IdentityRanges, Hierarchy, Privelet):
        ranges = strategy(1.0, 32)
        sums = ranges.reconstruct(ranges.measure(counts))
        yield exact(
            f"{strategy.__name__}: largest difference from the sums", 0.0, np.abs(sums - counts.cumsum(1)).max()
        )


def theorem_3(draws: int, random_state: int) -> Iterator[Measured]:
    """Exact ε of one level's noise, Cauchy of 8·S/ε for a β-smooth S with β = ε/2, as a share of ε.

    Two Cauchy densities whose scale changes by e^λ and whose centre moves by S have a largest log ratio of
    arccosh(cosh λ + e^-λ/(2c²)) for scales c·S; it counts at λ = 0 and λ = β (docs/explanation/errata.md).
    """
    for epsilon in (0.01, 0.1, 1.0, 5.0):
        c, beta = 8 / epsilon, epsilon / 2
        cost = max(math.acosh(math.cosh(x) + math.exp(-x) / (2 * c**2)) for x in (0.0, beta))
        yield exact(f"share of ε = {epsilon:g} that a level uses (at most 1)", 1.0, cost / epsilon)


def algorithm_4(draws: int, random_state: int) -> Iterator[Measured]:
    """Count the cuts of k levels of recursive medians of 500 scores."""
    rng = np.random.default_rng(random_state)
    for k in (2, 5, 10):
        # the first threshold is infinite, and the last the lowest score
        cuts = recursive_medians(rng.random(500), 1.0, k, rng=rng).shape[-1] - 2
        yield exact(f"cuts of {k} levels", 2.0**k, cuts)


def prefix_sums(draws: int, random_state: int) -> Iterator[Measured]:
    """Mean squared error of the sums of n counts in units of 1/ε²: noise on each sum, on each count, or on a tree."""
    for n in (4, 16, 64, 256, 1024):
        # a record changes all n sums
        yield exact(f"n = {n}, noise on each sum", 2.0 * n**2, 2 * Laplace(1.0, n).scale ** 2)
        for strategy in (IdentityRanges, Hierarchy, Privelet):
            yield exact(f"n = {n}, {strategy.__name__}", None, strategy(1.0, n).mean_squared_error())


def attack(draws: int, random_state: int) -> Iterator[Measured]:
    """Share of labels that an attacker who knows all other records finds, from an exact and a private curve."""
    for k, part in enumerate(_held_out(draws, random_state)[:3]):
        for epsilon in (None, 1.0, 0.1):
            found = attack_success(part.y, expit(part.log_odds), epsilon, rng=part.rng, trials=100 * draws)
            curve = "exact curve" if epsilon is None else f"private curve, ε = {epsilon:g}"
            yield exact(
                f"partition {k + 1}, {curve}: labels found (%)", 100.0 if epsilon is None else None, 100 * found.success
            )


EXPERIMENTS: dict[str, Experiment] = {
    "table-1": table_1,
    "fig-6": fig_6,
    "fig-7": fig_7,
    "fig-8": fig_8,
    "definition-5": definition_5,
    "theorem-3": theorem_3,
    "algorithm-4": algorithm_4,
    "claim-prefix-sums": prefix_sums,
    "claim-attack": attack,
}
