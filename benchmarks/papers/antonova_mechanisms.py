"""Antonova (2016), chapter 2 and section 3.5.6: mechanisms, their properties, and strategies of private learning."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.papers import properties
from benchmarks.papers.measured import Experiment, Measured, exact, measured, percent
from dpml.audit import recorded_cost
from dpml.audit.cases import AUDITED
from dpml.counts import contingency
from dpml.datasets import load
from dpml.mechanisms import ExponentialMechanism, Geometric, Laplace, NormGamma, SampleAndAggregate, Staircase
from dpml.selection import MaskSelector, SparseVectorSelector, scores_from_counts
from dpml.studies import majority_accuracy

FloatArray = NDArray[np.float64]


def attackers_test(draws: int, random_state: int) -> Iterator[Measured]:
    """Eq. 2.6 and 2.7: false alarms and missed detections of the test "is the record in?" on a Laplace count.

    The test says "in" above a threshold. Both sums must be at least 1.
    """
    rng = np.random.default_rng(random_state)
    for epsilon in (0.1, 1.0):
        noise, law = Laplace(epsilon), stats.laplace(scale=1 / epsilon)
        thresholds = np.linspace(-5, 6, 1101)
        false, missed = law.sf(thresholds), law.cdf(thresholds - 1)
        for number, sums in (("2.6", math.exp(epsilon) * missed + false), ("2.7", missed + math.exp(epsilon) * false)):
            yield exact(f"ε = {epsilon:g}, eq. {number}: smallest sum over thresholds (at least 1)", 1.0, sums.min())
        yield exact(f"ε = {epsilon:g}: least total of both errors", None, (false + missed).min())
        without, with_record = (noise.release(x, draws=5000 * draws, rng=rng) for x in (0.0, 1.0))
        totals = (without > 0.5) + 0.0 + (with_record <= 0.5)
        yield measured(f"ε = {epsilon:g}: the same from samples, threshold 1/2", float((false + missed).min()), totals)


def theorem_2_2_2(draws: int, random_state: int) -> Iterator[Measured]:
    """Largest error of D Laplace counts at ε = 1: the bound log(D/p), the exact quantile, and its coverage."""
    rng = np.random.default_rng(random_state)
    for D, p in ((1_000, 0.05), (1_000, 0.5), (10, 0.05)):
        bound = math.log(D / p)
        needed = -math.log(-math.expm1(math.log1p(-p) / D))
        yield exact(f"D = {D:,}, p = {p:g}: error that is enough, the theorem's {bound:.2f}", bound, needed)
        largest = np.abs(Laplace(1.0).release(np.zeros(D), draws=200 * draws, rng=rng)).max(axis=1)
        yield percent(f"D = {D:,}, p = {p:g}: runs within the bound", 100 * (1 - p), largest <= bound)


def count_error(draws: int, random_state: int) -> Iterator[Measured]:
    """Section 3.3.4: log(600/0.05)/ε, and the same with noise for all 600 counts of a record."""
    for epsilon, paper in ((0.1, 94.0), (0.01, None)):
        yield exact(f"ε = {epsilon:g}, noise for one count", paper, math.log(600 / 0.05) / epsilon)
    yield exact("ε = 0.1, noise for 600 counts", None, 600 * math.log(600 / 0.05) / 0.1)


def laplace_and_geometric(draws: int, random_state: int) -> Iterator[Measured]:
    """Section 2.2.1: mean size of Laplace, geometric and staircase noise, in units of the Laplace noise's."""
    rng = np.random.default_rng(random_state)
    for epsilon in (0.1, 1.0, 3.0, 10.0):
        for noise in (Geometric(epsilon), Staircase(epsilon)):
            sizes = np.abs(noise.release(np.zeros(5_000, dtype=int), draws=draws, rng=rng)).mean(axis=1) * epsilon
            yield measured(f"ε = {epsilon:g}, {type(noise).__name__.lower()}", 1.0, sizes)


def fig_2_1(draws: int, random_state: int) -> Iterator[Measured]:
    """Fig. 2.1: directions of noise of three norms. Uniform ones are near an axis in half of the samples."""
    rng = np.random.default_rng(random_state)
    for p in (1.0, 2.0, 10.0):
        sample = NormGamma(1.0, 1.0, 2, p=p).release(np.zeros(2), draws=1_000 * draws, rng=rng)
        slope = np.abs(sample).min(axis=1) / np.abs(sample).max(axis=1)
        yield percent(f"p = {p:g}: directions within 22.5° of an axis", 50.0, slope < math.tan(math.pi / 8))
        # the norm has a Gamma(2, 1) distribution
        yield measured(f"p = {p:g}: mean p-norm", 2.0, np.linalg.norm(sample, ord=p, axis=1))


def _clamped(x: FloatArray, thetas: FloatArray, bound: float) -> FloatArray:
    """Return log N(x; θ, 1), cut to ±`bound`, for records (rows) and candidates (columns)."""
    logs = -((x[:, None] - thetas) ** 2) / 2 - math.log(2 * math.pi) / 2
    return logs.clip(-bound, bound)


def clamped_likelihood(draws: int, random_state: int) -> Iterator[Measured]:
    """Section 2.2.2: the mean of 1,000 records by the exponential mechanism on a clamped log likelihood, ε = 1."""
    thetas = np.linspace(-10, 10, 401)
    for bound in (1.0, 3.0, 10.0):
        # a record moves the score of a candidate by -bound to bound
        mechanism = ExponentialMechanism(1.0, 2 * bound)
        table = _clamped(np.array([0.0, 0.4, 9.0]), thetas, bound)

        def chosen(rows: FloatArray, mechanism: ExponentialMechanism = mechanism) -> Any:
            return mechanism.release(rows.sum(axis=0), rng=np.random.default_rng(0))

        cost = recorded_cost(chosen, table, table[:2])
        yield exact(f"cut at {bound:g}: cost of one record (at most 1)", 1.0, cost)
        for name, degrees in (("normal", math.inf), ("thick tails (Student, 2 degrees)", 2.0)):
            errors, cut = [], []
            for run in range(draws):
                rng = np.random.default_rng([random_state, run])
                x = rng.normal(size=1_000) if degrees == math.inf else rng.standard_t(degrees, size=1_000)
                found = mechanism.release(_clamped(x + 1, thetas, bound).sum(axis=0), rng=rng)
                errors.append(abs(float(thetas[int(found)]) - 1))
                cut.append(np.mean(x**2 / 2 + math.log(2 * math.pi) / 2 > bound))
            yield measured(f"cut at {bound:g}, {name}: mean error of the centre", None, errors)
            yield percent(f"cut at {bound:g}, {name}: records that are cut at the true centre", None, cut)


def input_perturbation(draws: int, random_state: int) -> Iterator[Measured]:
    """Section 2.4: noise on every cell of mushrooms (eq. 2.66) against noise on the sums of its columns, ε = 1.

    Under replace-one a record of 21 attributes changes by 42 in L1 norm.
    """
    dataset, epsilon, rng = load("mushrooms"), 1.0, np.random.default_rng(random_state)
    X = np.asarray(dataset.X_train, dtype=float)
    reach = 2.0 * dataset.schema.row_bound
    first, second = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    first[: dataset.schema.row_bound] = 1
    second[-dataset.schema.row_bound :] = 1
    for name, scale in (("eq. 2.66, density exp(-ε/(2Δ)·‖b‖)", 2 * reach), ("density exp(-ε/Δ·‖b‖)", reach)):

        def noisy_record(row: FloatArray, scale: float = scale) -> Any:
            return Laplace(epsilon, scale).release(row, rng=np.random.default_rng(0))

        cost = recorded_cost(noisy_record, first, second)
        yield exact(f"{name}: cost of a replaced record at a claim of 1", 1.0, cost)
    means = X.mean(axis=0)
    cells, sums = [], []
    for _ in range(draws):
        noisy = Laplace(epsilon, reach).release(X, rng=rng)
        cells.append(np.abs(noisy.mean(axis=0) - means).mean())
        sums.append(np.abs(Laplace(epsilon, reach).release(X.sum(axis=0), rng=rng) / len(X) - means).mean())
    yield percent("mean error of a column's mean, noise on every cell", None, cells)
    yield percent("mean error of a column's mean, noise on the sums", None, sums)


def sample_and_aggregate(draws: int, random_state: int) -> Iterator[Measured]:
    """Section 2.4: cost of the mean of block results, and the error of a median by numbers of blocks."""
    entry = AUDITED["sample-and-aggregate"]
    for relation in entry.relations:
        yield exact(f"cost at a claim of 1, {relation}", 1.0, entry.audit(1.0, relation).epsilon_lower)
    for blocks in (5, 20, 100, 400):
        errors = []
        for run in range(draws):
            rng = np.random.default_rng([random_state, run])
            x = rng.lognormal(size=4_000)
            mechanism = SampleAndAggregate(0.5, blocks, 0.0, 10.0)
            errors.append(abs(mechanism.release(x, np.median, rng=rng) - 1.0))
        yield measured(f"median of 4,000 log-normal records at ε = 0.5, {blocks} blocks: mean error", None, errors)


def sparse_against_masks(draws: int, random_state: int) -> Iterator[Measured]:
    """Section 3.5.6: ten features by Sparse and by Algorithm 5 with count heuristics at the same ε."""
    for name in ("sparse-vector-selection", "mask-published", "mask-count"):
        yield exact(f"{name}: ε at a claim of 1", 1.0, AUDITED[name].audit(1.0).epsilon_lower)
    for name, epsilon in (("newsgroup1", 0.1), ("newsgroup1", 1.0), ("mushrooms", 0.1)):
        dataset = load(name)
        counts = contingency(dataset.X_train, dataset.y_train, 2)
        scores = np.asarray(scores_from_counts(counts, "count"))
        best = np.argsort(-scores, kind="stable")[:10]
        selectors: dict[str, Any] = {
            # the threshold must be public: the tenth best score is what it should be in hindsight
            "Sparse, best threshold in hindsight": SparseVectorSelector(epsilon, float(scores[best[-1]]), 10, "count"),
            "Sparse, threshold twice as high": SparseVectorSelector(epsilon, 2 * float(scores[best[-1]]), 10, "count"),
            "Algorithm 5, as published": MaskSelector(epsilon, 10, "count", calibration="published"),
            "Algorithm 5, by the range": MaskSelector(epsilon, 10, "count"),
        }
        for title, selector in selectors.items():
            masks = selector.masks(counts, dataset.schema, draws=draws, rng=np.random.default_rng(random_state))
            found = masks[:, best].mean(axis=1)
            yield percent(f"{name}, ε = {epsilon:g}, {title}: of the ten best features", None, found)


def majority(draws: int, random_state: int) -> Iterator[Measured]:
    """Definition 2.6.2 and Table A.1: share of the larger class of the test records."""
    for name, paper in MAJORITY.items():
        yield exact(name, paper, 100 * majority_accuracy(load(name)))


MAJORITY = {
    "xwindows": 50.0,
    "mushrooms": 52.0,
    "adult": 76.0,
    "newsgroup1": 57.0,
    "newsgroup2": 81.0,
    "newsgroup3": 82.0,
}
EXPERIMENTS: dict[str, Experiment] = {
    "definition-2.6.2": majority,
    "theorem-2.2.2": theorem_2_2_2,
    "theorem-2.3.1": properties.post_processing,
    "theorem-2.3.2": properties.sequential,
    "theorem-2.3.3": properties.parallel,
    "fig-2.1": fig_2_1,
    "claim-attackers-test": attackers_test,
    "claim-group-privacy": properties.group,
    "claim-clamped-likelihood": clamped_likelihood,
    "claim-input-perturbation": input_perturbation,
    "claim-sample-and-aggregate": sample_and_aggregate,
    "claim-sparse": sparse_against_masks,
    "claim-count-error": count_error,
    "claim-laplace-geometric": laplace_and_geometric,
}
