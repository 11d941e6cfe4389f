"""Antonova (2016), chapter 3: why mutual information drowns in its noise."""

import math
from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from benchmarks.papers.measured import Experiment, Measured, exact, measured
from dpml.counts import contingency, published_scale, release_published
from dpml.datasets import load
from dpml.mechanisms import Laplace
from dpml.selection import scores_from_counts, sensitivity
from dpml.selection.scores import scores_from_tables

INFORMATION = "mutual_information"
BEST = 10


def information_of_best(names: tuple[str, ...], draws: int, random_state: int) -> Iterator[Measured]:
    """Figs 3.4 and 3.13: mutual information of the best features, in bits. Nothing is drawn."""
    for name in names:
        dataset = load(name)
        counts = contingency(dataset.X_train, dataset.y_train, dataset.schema.n_classes)
        information = np.sort(np.asarray(scores_from_counts(counts, INFORMATION)))[::-1]
        for place in (1, 2, 5, 10, 20, 50, 100):
            # the text of 3.6.1: around only 0.05 bits at the most
            paper = 0.05 if (name, place) == ("newsgroup2", 1) else None
            yield exact(f"{name}, place {place}", paper, information[place - 1])


def fig_3_9(draws: int, random_state: int) -> Iterator[Measured]:
    """Fig. 3.9: the sensitivity ΔI of eq. 3.20, in bits, and the variance of its noise that the text states."""
    for n in (10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000):
        yield exact(f"ΔI at N = {n:,}, bits", None, sensitivity(INFORMATION, "replace-one", n_rows=n))
    scale = sensitivity(INFORMATION, "replace-one", n_rows=100) / 0.1
    yield exact("variance of the noise of one feature at N = 100, ε = 0.1, bits²", 0.5, 2 * scale**2)
    yield exact("the same with natural logarithms", 0.5, 2 * (scale * math.log(2)) ** 2)


def fig_3_10(draws: int, random_state: int) -> Iterator[Measured]:
    """Fig. 3.10: true and noisy mutual information of the 600 features of xwindows at ε = 0.05."""
    dataset, epsilon = load("xwindows"), 0.05
    rng, D = np.random.default_rng(random_state), dataset.schema.n_features
    counts = contingency(dataset.X_train, dataset.y_train, dataset.schema.n_classes)
    true = np.asarray(scores_from_counts(counts, INFORMATION))
    yield exact("largest true score, bits", None, true.max())
    noisy = release_published(counts, epsilon, draws=draws, rng=rng)
    floor = Laplace(1.0, published_scale(epsilon, D)).quantile(0.65)
    assert noisy.off is not None
    tables = np.maximum(noisy.on, floor), np.maximum(noisy.off, floor)
    yield from _beside("Algorithm 2", scores_from_tables(*tables, INFORMATION), true)
    noise = Laplace(epsilon, D * sensitivity(INFORMATION, n_rows=len(dataset.y_train)))
    yield from _beside("Algorithm 3", noise.release(true, draws=draws, rng=rng), true)


def _beside(title: str, noisy: NDArray[np.float64], true: NDArray[np.float64]) -> Iterator[Measured]:
    yield measured(f"{title}: mean distance from the true score, bits", None, np.abs(noisy - true).mean(axis=1))
    ranks = [np.corrcoef(rankdata(row), rankdata(true))[0, 1] for row in noisy]
    yield measured(f"{title}: rank correlation with the true scores", None, ranks)
    best = set(np.argsort(-true)[:BEST].tolist())
    kept = [len(best & set(np.argsort(-row)[:BEST].tolist())) for row in noisy]
    yield measured(f"{title}: of the {BEST} best features, found among the first {BEST}", None, kept)


EXPERIMENTS: dict[str, Experiment] = {
    "fig-3.4": partial(information_of_best, ("xwindows", "mushrooms", "newsgroup1")),
    "fig-3.9": fig_3_9,
    "fig-3.10": fig_3_10,
}
