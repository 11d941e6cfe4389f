"""Antonova (2016): records split over features (section 3.4), and records split instead of ε (section 3.6)."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.papers.antonova_logistic import logistic_accuracy
from benchmarks.papers.antonova_naive_bayes import SETS, algorithm_1, best_first
from benchmarks.papers.measured import Experiment, Measured, difference, percent
from dpml.classifiers.linear_models import LinearModels
from dpml.classifiers.naive_bayes import models_from_published
from dpml.classifiers.naive_bayes.bernoulli import contingency_of_partition, published_threshold, release_partitioned
from dpml.counts import Contingency, NoisyCounts, contingency, release_published
from dpml.datasets import Dataset, load
from dpml.selection import MaskSelector

FloatArray = NDArray[np.float64]
PARTITION_SIZES = (1, 2, 5, 10, 25, 50, 100, 200, 300)
# models of each run, with ten partitions
MODELS = 10
SELECTED = 10
# Antonova (2016) prints "≈ 0.8" and so on: each feature's probability lies this share of it to either side
SPREAD = 0.1


class _Table(NamedTuple):
    """Training and test records of two classes."""

    X: Any
    y: NDArray[np.intp]
    X_test: Any
    y_test: NDArray[np.intp]


def _drawn(theta: FloatArray, n: int, rng: np.random.Generator) -> _Table:
    """Draw n training and n test records of a naive Bayes model of two equal classes, theta of shape (2, D)."""
    y = rng.integers(0, 2, 2 * n)
    X = np.concatenate([rng.random((len(part), theta.shape[1])) < theta[part] for part in np.array_split(y, 8)])
    X = X.astype(np.uint8)
    return _Table(X[:n], y[:n], X[n:], y[n:])


def _generated(first: float, second: float, dimension: int, n: int, rng: np.random.Generator) -> _Table:
    theta = np.array([[first], [second]]) * rng.uniform(1 - SPREAD, 1 + SPREAD, (2, dimension))
    return _drawn(theta, n, rng)


def _proxy_of_xwindows(rng: np.random.Generator) -> _Table:
    """Draw 3,600 records from the naive Bayes model of xwindows."""
    dataset = load("xwindows")
    counts = contingency(dataset.X_train, dataset.y_train, 2)
    theta = (np.asarray(counts.on) + 1) / (np.asarray(counts.on) + np.asarray(counts.off) + 2)
    return _drawn(theta, 3_600, rng)


def _mushrooms(rng: np.random.Generator) -> _Table:
    dataset = load("mushrooms")
    return _Table(dataset.X_train, dataset.y_train, dataset.X_test, dataset.y_test)


# panels (a) to (f); the caption of (c) has 1,000 records and 500 features, the text 3,000 to 60,000 and 300
PANELS: dict[str, tuple[Any, float]] = {
    "dense, 1,000 records": (lambda rng: _generated(0.8, 0.5, 500, 1_000, rng), 0.1),
    "dense, 3,000 records": (lambda rng: _generated(0.8, 0.5, 300, 3_000, rng), 0.1),
    "sparse, 3,000 records": (lambda rng: _generated(0.01, 0.03, 300, 3_000, rng), 0.1),
    "mushrooms": (_mushrooms, 0.1),
    "xwindows, 3,600 drawn records": (_proxy_of_xwindows, 0.1),
    "sparse, 30,000 records": (lambda rng: _generated(0.01, 0.03, 300, 30_000, rng), 0.1),
    "sparse, 60,000 records": (lambda rng: _generated(0.01, 0.03, 300, 60_000, rng), 0.01),
}


def fig_3_8(draws: int, random_state: int) -> Iterator[Measured]:
    """Fig. 3.8: T features trained with all records, or each with a T-th of them, with and without noise.

    Each run has a table of its own where the table is generated, and the mean over its models counts once. A standard
    error therefore includes the spread of the tables and of the partitions.
    """
    for name, (make, epsilon) in PANELS.items():
        accuracies: dict[int, dict[str, list[float]]] = {}
        for run in range(draws):
            rng = np.random.default_rng([random_state, run])
            table = make(rng)
            order = best_first(contingency(table.X, table.y, 2))
            for T in (T for T in PARTITION_SIZES if len(order) >= T):
                for title, models in _four(table, order[:T], epsilon, MODELS, rng):
                    accuracies.setdefault(T, {}).setdefault(title, []).append(float(models.mean()))
        for T, of_titles in accuracies.items():
            where = f"{name}, ε = {epsilon:g}, T = {T}"
            for title, values in of_titles.items():
                yield percent(f"{where}: {title}", None, values)
            parts, whole = (np.array(of_titles[title]) for title in ("private, partitioned", "private, all records"))
            yield percent(f"{where}: gain of the private partition", None, parts - whole)


def _four(table, features, epsilon, draws, rng) -> Iterator[tuple[str, FloatArray]]:
    X, X_test, T = table.X[:, features], table.X_test[:, features], len(features)
    whole = contingency(X, table.y, 2)
    parts = contingency_of_partition(X, table.y, 2, subsamples=min(draws, 10), rng=rng)
    in_turn = parts[np.arange(draws) % len(parts)]
    noisy = release_partitioned(parts, epsilon, draws=draws, rng=rng)
    models = {
        "private, partitioned": models_from_published(noisy, published_threshold(epsilon, 1, 65.0)),
        "private, all records": models_from_published(
            release_published(whole, epsilon, draws=draws, rng=rng), published_threshold(epsilon, T, 65.0)
        ),
        "without noise, partitioned": models_from_published(NoisyCounts(in_turn[:, 0], off=in_turn[:, 1]), 0.0),
        "without noise, all records": models_from_published(NoisyCounts(whole.on[None], off=whole.off[None]), 0.0),
    }
    for title, model in models.items():
        yield title, model.accuracy(X_test, table.y_test)


def split_in_halves(dataset: Dataset, rng: np.random.Generator) -> tuple[Contingency, Contingency]:
    """Return the counts of two disjoint halves of the training records, each record's drawn on its own."""
    first = rng.random(len(dataset.y_train)) < 0.5
    X, y, C = dataset.X_train, dataset.y_train, dataset.schema.n_classes
    return contingency(X[first], y[first], C), contingency(X[~first], y[~first], C)


def split_data_or_epsilon(draws: int, random_state: int) -> Iterator[Measured]:
    """Section 3.6: half of the records at ε, or all of them at ε/2: training alone, then selection and training."""
    for name in ("newsgroup1", *(name for name in SETS if name != "newsgroup1")):
        dataset, rng = load(name), np.random.default_rng(random_state)
        train = dataset.X_train, dataset.y_train
        counts = contingency(*train, 2)
        # the text, on the training records of newsgroup1: 78.6 % at ε = 0.5, and 78.4 % at 1 with half of them
        stated = (78.6, 78.4) if name == "newsgroup1" else (None, None)
        everything = np.tile(np.arange(dataset.schema.n_features), (draws, 1))
        halves = [split_in_halves(dataset, rng) for _ in range(draws)]
        whole = algorithm_1(counts, everything, 0.5, rng).accuracy(*train)
        half = np.concatenate([algorithm_1(mine, everything[:1], 1.0, rng).accuracy(*train) for mine, _ in halves])
        rows = (
            percent(f"{name}, training alone: all records, ε = 0.5", stated[0], whole),
            percent(f"{name}, training alone: half of the records, ε = 1", stated[1], half),
        )
        yield from rows
        yield difference(f"{name}, training alone: split ε over split records", *rows)
        for epsilon in (0.1, 1.0):
            where = f"{name}, ε = {epsilon:g}, {SELECTED} features"
            features = _selected(counts, dataset, epsilon / 2, draws, rng)
            rows = (
                percent(f"{where}: split ε", None, _scores(algorithm_1(counts, features, epsilon / 2, rng), dataset)),
                percent(f"{where}: split records", None, _with_halves(dataset, halves, epsilon, rng)),
            )
            yield from rows
            yield difference(f"{where}: split ε over split records", *rows)
        if name in ("newsgroup1", "mushrooms"):
            yield from _logistic(name, dataset, draws, rng)


def _scores(models: LinearModels, dataset: Dataset) -> FloatArray:
    return models.accuracy(dataset.X_test, dataset.y_test)


def _selected(counts, dataset, epsilon, draws, rng) -> NDArray[np.intp]:
    masks = MaskSelector(epsilon, SELECTED, "count").masks(counts, dataset.schema, draws=draws, rng=rng)
    return np.nonzero(masks)[1].reshape(draws, SELECTED)


def _with_halves(dataset, halves, epsilon, rng) -> FloatArray:
    accuracies = [
        _scores(algorithm_1(train, _selected(choose, dataset, epsilon, 1, rng), epsilon, rng), dataset)
        for choose, train in halves
    ]
    return np.concatenate(accuracies)


def _logistic(name: str, dataset: Dataset, draws: int, rng: np.random.Generator) -> Iterator[Measured]:
    """Section 4.5.1: the same for logistic regression, where λ halves with the number of records."""
    everything = np.arange(dataset.schema.n_features)
    options: dict[str, Any] = {"calibration": "published", "rng": rng}
    whole = logistic_accuracy(dataset, everything, 0.5, reg_lambda=100.0, draws=draws, **options)
    half = []
    for _ in range(draws):
        kept = rng.random(len(dataset.y_train)) < 0.5
        part = _Half(dataset, kept)
        half.append(logistic_accuracy(part, everything, 1.0, reg_lambda=50.0, draws=1, **options))
    rows = (
        percent(f"{name}, logistic regression: all records, ε = 0.5", None, whole),
        percent(f"{name}, logistic regression: half of the records, ε = 1", None, np.concatenate(half)),
    )
    yield from rows
    yield difference(f"{name}, logistic regression: split ε over split records", *rows)


class _Half:
    """A data set with some of its training records."""

    def __init__(self, dataset: Dataset, kept: NDArray[np.bool_]):
        self.schema, self.X_test, self.y_test = dataset.schema, dataset.X_test, dataset.y_test
        self.X_train, self.y_train = dataset.X_train[kept], dataset.y_train[kept]


EXPERIMENTS: dict[str, Experiment] = {"fig-3.8": fig_3_8, "claim-split-data-or-epsilon": split_data_or_epsilon}
