"""Naive Bayes by its posterior against what was there: accuracy, log loss and calibration on the same noisy counts.

python benchmarks/posterior_nb.py [draws] [--results]     # the sets, and the coverage; needs the real files (DPML_DATA)
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from result_files import write_results
from scipy.special import log_softmax
from timing import seconds

from dpml.classifiers import BernoulliNB, MixedNB
from dpml.classifiers.linear_models import LinearModels
from dpml.classifiers.naive_bayes.bernoulli import (
    default_class_share,
    default_row_bound,
    default_shrinkage,
    models_from_posterior,
    models_from_row_bounded,
)
from dpml.classifiers.naive_bayes.cells import Design, cell_counts, default_n_bins, entry_bounds, models_from_cells
from dpml.classifiers.naive_bayes.posterior import POSTERIOR, ReleasedRates
from dpml.counts import NoisyCounts, release_row_bounded, row_bounded_scales
from dpml.datasets import Dataset, load
from dpml.evaluation.histogram import LOWERED
from dpml.studies.accuracy import RowBoundedNBStudy

EPSILONS = (0.05, 0.1, 0.5, 1.0, 3.0)
BINARY = ("breast_cancer", "newsgroup1", "mushrooms", "xwindows", "adult", "sms")
MIXED = ("seeds", "glass", "mushrooms", "adult", "bank", "skin")
LEAST_PROBABILITY, N_BINS = 1e-6, 10
Ways = dict[str, Callable[[], LinearModels]]


def _lowered(noisy: NoisyCounts, scale: float) -> NoisyCounts:
    """Return counts lowered by a share of the noise scale and cut at 0, as those of a published curve are."""
    return NoisyCounts(np.maximum(noisy.on - LOWERED * scale, 0.0), n=noisy.n)


def binary_ways(data: Dataset) -> tuple[Any, Callable[..., Ways]]:
    study = RowBoundedNBStudy(data)

    def ways(epsilon: float, draws: int) -> Ways:
        schema = study.schema
        r = min(default_row_bound(schema, epsilon), schema.row_bound)
        options: dict[str, Any] = {"class_share": default_class_share(schema.n_features)}
        rng = np.random.default_rng(0)
        noisy = release_row_bounded(study.tables(r), epsilon, r, draws=draws, rng=rng, **options)
        scales = row_bounded_scales(epsilon, r, **options)
        pooled = default_shrinkage(schema) * scales[0]
        return {
            "plain": lambda: models_from_row_bounded(noisy, schema=schema),
            "shrinkage": lambda: models_from_row_bounded(noisy, pooled=pooled, schema=schema),
            "lowered": lambda: models_from_row_bounded(_lowered(noisy, scales[0]), schema=schema),
            POSTERIOR: lambda: models_from_posterior(noisy, schema, r, scales),
        }

    return data.X_test, ways


def mixed_ways(data: Dataset) -> tuple[Callable[[float], Any], Callable[..., Ways]]:
    schema = data.frame_schema
    train, test = (schema.check_features(data.frame.loc[split][schema.feature_names])[0] for split in ("train", "test"))

    def design(epsilon: float) -> Design:
        return Design(schema, default_n_bins(schema, epsilon))

    def ways(epsilon: float, draws: int) -> Ways:
        bounds = entry_bounds(schema, epsilon)
        exact = cell_counts(design(epsilon), train, data.y_train, bounds)
        rng = np.random.default_rng(0)
        noisy = release_row_bounded(exact, epsilon, sum(bounds), class_share=0.05, draws=draws, rng=rng)
        scale = row_bounded_scales(epsilon, sum(bounds), class_share=0.05)[0]
        facts = design(epsilon), epsilon, bounds
        return {
            "plain": lambda: models_from_cells(noisy, *facts, shrinkage=0.0),
            "shrinkage": lambda: models_from_cells(noisy, *facts),
            "lowered": lambda: models_from_cells(_lowered(noisy, scale), *facts, shrinkage=0.0),
            POSTERIOR: lambda: models_from_cells(noisy, *facts, shrinkage=POSTERIOR),
        }

    def linear(epsilon: float, draws: int) -> Ways:
        return {name: lambda m=models: m().linear() for name, models in ways(epsilon, draws).items()}

    return lambda epsilon: design(epsilon).matrix(test), linear


def quality(scores: np.ndarray, codes: np.ndarray) -> tuple[float, float, float]:
    """Return accuracy, log loss, and the expected calibration error of the predicted class's probability."""
    if scores.shape[1] == 1:
        scores = np.column_stack([np.zeros(len(scores)), scores])
    log_p = log_softmax(scores, axis=1)
    right = log_p.argmax(axis=1) == codes
    loss = -np.maximum(log_p[np.arange(len(codes)), codes], np.log(LEAST_PROBABILITY)).mean()
    confidence = np.exp(log_p.max(axis=1))
    part = np.minimum((confidence * N_BINS).astype(int), N_BINS - 1)
    gap = np.bincount(part, right - confidence, N_BINS)
    return float(right.mean()), float(loss), float(np.abs(gap).sum() / len(codes))


def accuracies(draws: int) -> pd.DataFrame:
    rows = []
    for estimator, names, build in (("BernoulliNB", BINARY, binary_ways), ("MixedNB", MIXED, mixed_ways)):
        for name in names:
            data = load(name)
            test, ways = build(data)
            for epsilon in EPSILONS:
                X = test(epsilon) if callable(test) else test
                for way, models in ways(epsilon, draws).items():
                    measured = np.array([quality(scores, data.y_test) for scores in models().decision(X)])
                    row: dict[str, Any] = {"estimator": estimator, "data": name, "epsilon": epsilon, "way": way}
                    error = measured.std(axis=0, ddof=1) / np.sqrt(draws)
                    for place, measure in enumerate(("accuracy", "log_loss", "calibration_error")):
                        row |= {measure: measured[:, place].mean(), f"{measure}_se": error[place]}
                    rows.append(row)
            print(pd.DataFrame(rows[-4 * len(EPSILONS) :]).round(4).to_string(), flush=True)
    return pd.DataFrame(rows)


def generated(kind: str, n_columns: int, rng: np.random.Generator) -> np.ndarray:
    """Return rates of two classes, (2, columns): alike, not alike, rare, or the same."""
    shared = rng.beta(0.5, 10, n_columns) if kind == "rare" else rng.uniform(size=n_columns)
    concentration = {"alike": 64.0, "rare": 50.0, "not alike": 4.0, "same": 1e6}[kind]
    return rng.beta(concentration * shared, concentration * (1 - shared), (2, n_columns)).clip(1e-9, 1 - 1e-9)


def coverage(tables: int = 10, n_columns: int = 100) -> pd.DataFrame:
    """Return how often 95 % intervals of 200 rates hold the rate that made the table, over generated tables."""
    rows = []
    for kind in ("alike", "not alike", "rare", "same"):
        for sizes in ((600, 200), (20_000, 5_000)):
            for epsilon in EPSILONS:
                scales = row_bounded_scales(epsilon, 10, class_share=0.1)
                shares, widths = [], []
                for seed in range(tables):
                    rng = np.random.default_rng(seed)
                    rates, n = generated(kind, n_columns, rng), np.array(sizes)
                    on = rng.binomial(n[:, None], rates) + rng.laplace(0, scales[0], rates.shape)
                    n_values = np.full(n_columns, 2)
                    released = ReleasedRates(on, n + rng.laplace(0, scales[1], 2), *scales, n_values)
                    lower, upper = released.posterior().interval(0.95)
                    shares.append(((lower <= rates) & (rates <= upper)).mean())
                    widths.append((upper - lower).mean())
                error = np.std(shares, ddof=1) / np.sqrt(tables)
                facts = {"rates": kind, "records": sum(sizes), "epsilon": epsilon, "row_bound": 10}
                rows.append(facts | {"coverage": np.mean(shares), "se": error, "width": np.mean(widths)})
    return pd.DataFrame(rows)


def times() -> None:
    """Print the processor seconds of a fit on adult at ε = 1."""
    data = load("adult")
    frame = data.frame.loc["train"][data.frame_schema.feature_names]
    labels = data.frame_schema.class_labels[data.y_train]
    tables = {BernoulliNB: (data.schema, data.X_train, data.y_train), MixedNB: (data.frame_schema, frame, labels)}
    for estimator, (schema, X, y) in tables.items():
        model = estimator(1.0, schema=schema, shrinkage=POSTERIOR, random_state=0)
        fit, intervals = seconds(lambda m=model, X=X, y=y: m.fit(X, y), model.rates_interval, repeats=3)
        print(f"{estimator.__name__} on adult: fit {fit:.2f} s, intervals {intervals:.2f} s", flush=True)


def main() -> None:
    arguments = [argument for argument in sys.argv[1:] if argument != "--results"]
    times()
    tables = {
        "posterior_nb": lambda: accuracies(int(arguments[0]) if arguments else 20),
        "posterior_nb_coverage": coverage,
    }
    for name, measured in tables.items():
        table = measured()
        print(table.round(4).to_string(), flush=True)
        if "--results" in sys.argv:
            write_results(name, table.round(5), "posterior_nb")


if __name__ == "__main__":
    main()
