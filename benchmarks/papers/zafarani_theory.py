"""Zafarani and Clifton 2021, definitions and theorems: sensitivities against all samples of four values, exactly."""

import itertools
from collections.abc import Iterator
from functools import cache, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.papers.measured import Experiment, Measured, exact, measured
from benchmarks.papers.properties import sequential
from dpml.datasets import load
from dpml.mechanisms import Laplace, smooth_sensitivity
from dpml.mechanisms.smooth import Cauchy, global_sensitivity, local_sensitivity, sensitivity_envelope, statistic

GRID, SIZE, BETAS = (0.0, 0.25, 0.5, 0.75, 1.0), 4, (0.1, 0.5, 1.0)
KINDS = {"mean": 0, "trimmed_mean": 1, "variance": 0, "trimmed_variance": 1}
# records and classes as printed in Table 1, which rounds the records of the larger sets
TABLE_1 = {"adult": (None, 2), "mushrooms": (None, 2), "seeds": (210, 3), "skin": (None, 2), "glass": (214, 7)}


class _Every(NamedTuple):
    """All samples, how many values two of them differ in, and the largest change of the statistic from each."""

    samples: list[tuple[float, ...]]
    distance: NDArray[np.int64]
    local: NDArray[np.float64]

    def smooth(self, beta: float) -> NDArray[np.float64]:
        return (np.exp(-beta * self.distance) * self.local).max(axis=1)


@cache
def _every(kind: str) -> _Every:
    samples = list(itertools.product(GRID, repeat=SIZE))
    values = np.array(samples)
    local = [_largest_change(kind, sample) for sample in samples]
    return _Every(samples, (values[:, None] != values).sum(axis=2), np.array(local))


def _largest_change(kind: str, sample: tuple[float, ...]) -> float:
    """Return the largest change by one other value: a bound, a value of the grid, or the mean of the rest."""
    before, largest = _value(kind, sample), 0.0
    for i in range(SIZE):
        rest = sample[:i] + sample[i + 1 :]
        for value in (*GRID, float(np.mean(rest))):
            largest = max(largest, abs(_value(kind, (*rest, value)) - before))
    return largest


def _value(kind: str, sample: tuple[float, ...]) -> float:
    return float(statistic(kind, sample, 0.0, 1.0, KINDS[kind]))


def laplace(draws: int, random_state: int) -> Iterator[Measured]:
    """Definition 2.1: the mean square of samples of scale 1, a standard deviation of √2."""
    noise = np.asarray(Laplace(1.0).release(np.zeros(1000 * draws), rng=np.random.default_rng(random_state)))
    yield measured("mean square at scale 1", 2.0, noise**2)


def largest(draws: int, random_state: int) -> Iterator[Measured]:
    """Definition 2.3 and Fig. 3: the largest change over all samples, and over those with values at L and U alone."""
    for kind, trim in KINDS.items():
        every, stated = _every(kind), global_sensitivity(kind, 0.0, 1.0, SIZE, trim=trim)
        yield exact(f"{kind}: largest change of all samples", stated, every.local.max())
        ends = [set(sample) <= {0.0, 1.0} for sample in every.samples]
        yield exact(f"{kind}: with values at L and U alone", stated, every.local[ends].max())


def local(draws: int, random_state: int) -> Iterator[Measured]:
    """Definition 3.1: the largest difference between local sensitivity and all replacements."""
    for kind, trim in KINDS.items():
        every = _every(kind)
        found = [float(local_sensitivity(kind, sample, 0, 1, trim=trim)) for sample in every.samples]
        yield exact(f"{kind}: largest difference", 0.0, float(np.abs(found - every.local).max()))


def smoothness(draws: int, random_state: int) -> Iterator[Measured]:
    """Definition 3.2: the largest change of log S between neighbours in units of β, and the least S over LS."""
    for kind, trim in KINDS.items():
        every = _every(kind)
        for beta in BETAS:
            found = np.array([smooth_sensitivity(kind, s, 0, 1, beta, trim=trim) for s in every.samples])
            change = np.abs(np.log(found[:, None] / found))[every.distance == 1].max() / beta
            yield exact(f"{kind}, β = {beta}: change of log S in units of β", 1.0, change)
            yield exact(f"{kind}, β = {beta}: least S - LS", 0.0, float((found - every.local).min()))


def smooth(draws: int, random_state: int, kinds: tuple[str, ...] = tuple(KINDS)) -> Iterator[Measured]:
    """Definitions 3.3 and 4.1, Theorems 4 and 7: the largest difference from the smallest smooth bound."""
    for kind, beta in itertools.product(kinds, BETAS):
        every = _every(kind)
        found = [float(smooth_sensitivity(kind, s, 0, 1, beta, trim=KINDS[kind])) for s in every.samples]
        difference = float(np.abs(found - every.smooth(beta)).max())
        yield exact(f"{kind}, β = {beta}: largest difference", 0.0, difference)


def at_distance(draws: int, random_state: int, kinds: tuple[str, ...] = tuple(KINDS)) -> Iterator[Measured]:
    """Definition 3.4, Figs 1 and 2: the largest difference of A(k) from the local sensitivity within k changes."""
    for kind in kinds:
        every, differences = _every(kind), np.zeros(SIZE + 1)
        for sample, distance in zip(every.samples, every.distance, strict=True):
            envelope = sensitivity_envelope(kind, sample, 0, 1, 0.5, trim=KINDS[kind], distances=SIZE + 1)
            within = [every.local[distance <= k].max() for k in range(SIZE + 1)]
            differences = np.maximum(differences, np.abs(envelope.sensitivity - within))
        for k, difference in enumerate(differences):
            yield exact(f"{kind}, {k} changes: largest difference", 0.0, float(difference))


def admissible(draws: int, random_state: int) -> Iterator[Measured]:
    """Definition 3.5 and Theorem 3: ε of published scales at β = ε/6, and of a dilation of n copies."""
    for epsilon in (0.1, 1.0, 10.0):
        for calibration in ("theorem-2", "algorithm-1", "exact"):
            cost = float(Cauchy(epsilon, epsilon / 6, calibration).cost)
            yield exact(f"ε = {epsilon:g}, {calibration}: actual ε of one number", epsilon, cost)
    z = np.linspace(-50, 50, 100_001)
    beta = 1 / 6
    one = float(np.abs(beta - np.log1p((np.exp(beta) * z) ** 2) + np.log1p(z**2)).max())
    for n in (1, 2, 3, 4, 8):
        yield exact(f"dilation of {n} copies at ε = 1, of at most 0.5", 0.5, n * one)


def subsets(draws: int, random_state: int) -> Iterator[Measured]:
    """Definitions 4.2 and 4.3, Theorems 5 and 6: extreme variances of k values, by tails, by a window, and by all."""
    rng, gaps = np.random.default_rng(random_state), {"both tails": 0.0, "a window": 0.0}
    for _ in range(15 * draws):
        n = int(rng.integers(2, 8))
        x = np.sort(rng.integers(0, 6, n)).astype(float)
        for k in range(1, n):
            variances = [float(np.var(subset)) for subset in itertools.combinations(x, k)]
            tails = max(float(np.var(np.r_[x[:i], x[n - k + i :]])) for i in range(k + 1))
            window = min(float(np.var(x[i : i + k])) for i in range(n - k + 1))
            gaps["both tails"] = max(gaps["both tails"], abs(tails - max(variances)))
            gaps["a window"] = max(gaps["a window"], abs(window - min(variances)))
    for name, gap in gaps.items():
        yield exact(f"{name}: largest difference from the extreme variance of all subsets", 0.0, gap)


def data_sets(draws: int, random_state: int) -> Iterator[Measured]:
    """Table 1: records and classes that occur, of the five sets that are available."""
    for name, printed in TABLE_1.items():
        data = load(name)
        codes = np.concatenate([data.y_train, data.y_test])
        for label, paper, found in zip(
            ("records", "classes"), printed, (len(codes), len(np.unique(codes))), strict=True
        ):
            yield exact(f"{name}: {label}", paper, found)


EXPERIMENTS: dict[str, Experiment] = {
    "definition-2.1": laplace,
    "definition-2.3": largest,
    "definition-3.1": local,
    "definition-3.2": smoothness,
    "definition-3.3": smooth,
    "definition-3.4": at_distance,
    "definition-3.5": admissible,
    "definition-4.1": partial(smooth, kinds=("trimmed_mean", "trimmed_variance")),
    "definition-4.2": subsets,
    "definition-4.3": subsets,
    "theorem-1": sequential,
    "theorem-3": admissible,
    "theorem-4": partial(smooth, kinds=("mean", "trimmed_mean")),
    "theorem-5": subsets,
    "corollary-5.1": subsets,
    "theorem-6": subsets,
    "theorem-7": partial(smooth, kinds=("variance", "trimmed_variance")),
    "fig-1": partial(at_distance, kinds=("mean", "trimmed_mean")),
    "fig-2": partial(at_distance, kinds=("variance", "trimmed_variance")),
    "fig-3": largest,
    "table-1": data_sets,
}
