"""How the time grows with records, features and draws: log-log slopes of the methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from benchmarks.timing import seconds, slope
from dpml.classifiers import BernoulliNB, LogisticRegression
from dpml.counts import contingency
from dpml.datasets import load
from dpml.evaluation import private_roc_curve
from dpml.mechanisms import smooth_sensitivity
from dpml.schema import Schema
from dpml.selection import MaskSelector, TopSelector, scores_from_counts
from dpml.studies import RowBoundedNBStudy, SelectedNBStudy

__all__ = ["rows"]

RECORDS = (20_000, 40_000, 80_000, 160_000, 320_000)
VALUES = (50_000, 100_000, 200_000, 400_000, 800_000)
FEATURES = (500, 1000, 2000, 4000, 8000)
DRAWS = (100, 200, 400, 800, 1600)
COLUMNS = 50


def _table(n: int, D: int) -> tuple[np.ndarray, np.ndarray, Schema]:
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=n)
    X = (rng.random((n, D)) < 0.1 + 0.2 * y[:, None]).astype(float)
    return X, y, Schema.binary(D, n_lower=n)


def _with_records() -> Iterator[tuple[str, list[Callable]]]:
    tables = [_table(n, COLUMNS) for n in RECORDS]
    fits: dict[str, Callable] = {
        "naive Bayes, a fit": lambda s: BernoulliNB(1.0, schema=s, random_state=0),
        "naive Bayes as published, a fit": lambda s: BernoulliNB(1.0, method="published", schema=s, random_state=0),
        "selection by masks, a fit": lambda s: MaskSelector(1.0, 10, "count", schema=s, random_state=0),
        "logistic regression, a fit": lambda s: LogisticRegression(1.0, schema=s, random_state=0),
    }
    for name, make in fits.items():
        yield name, [partial(make(schema).fit, X, y) for X, y, schema in tables]


def _with_values() -> Iterator[tuple[str, list[Callable]]]:
    rng = np.random.default_rng(0)
    labels = [rng.integers(2, size=n) for n in VALUES]
    scored = [(y, 1 / (1 + np.exp(-rng.normal(loc=2 * y - 1)))) for y in labels]
    yield "private ROC curve", [partial(_curve, y, p) for y, p in scored]
    for kind in ("median", "trimmed_variance"):
        values = [np.clip(rng.normal(50, 10, n), 0, 100) for n in VALUES]
        calls = [partial(smooth_sensitivity, kind, v, 0, 100, 1 / 60, "replace-one", len(v) // 100) for v in values]
        yield f"smooth sensitivity, {kind.replace('_', ' ')}", calls


def _curve(y: np.ndarray, scores: np.ndarray) -> object:
    return private_roc_curve(y, scores, 1.0, rng=np.random.default_rng(0))


def _with_features() -> Iterator[tuple[str, list[Callable]]]:
    tables = [_table(500, D) for D in FEATURES]
    exact = [(contingency(X, y, 2), schema) for X, y, schema in tables]
    selectors = {"masks": MaskSelector(1.0, 50, "count"), "top, one shot": TopSelector(1.0, 50, "count")}
    for name, selector in selectors.items():
        yield f"selection by {name}, 20 draws", [partial(_masks, selector, counts, s) for counts, s in exact]
    yield (
        "mutual information of all features",
        [partial(scores_from_counts, counts, "mutual_information") for counts, _ in exact],
    )
    yield (
        "naive Bayes, a fit",
        [
            partial(BernoulliNB(1.0, schema=schema, selection="none", random_state=0).fit, X, y)
            for X, y, schema in tables
        ],
    )


def _masks(selector: MaskSelector | TopSelector, counts: object, schema: Schema) -> object:
    return selector.masks(counts, schema, draws=20, rng=np.random.default_rng(0))  # type: ignore[arg-type]


def _with_draws() -> Iterator[tuple[str, list[Callable]]]:
    data = load("census", n=4000)
    studies = {"selection and naive Bayes": SelectedNBStudy(data), "row-bounded naive Bayes": RowBoundedNBStudy(data)}
    for name, study in studies.items():
        setting = {"n_features": 10} if name.startswith("selection") else {}
        yield f"{name}, accuracies of all draws", [partial(_drawn, study, draws, setting) for draws in DRAWS]


def _drawn(study: Callable, draws: int, setting: dict) -> object:
    return study(1.0, draws=draws, rng=np.random.default_rng(0), **setting)


def rows(repeats: int = 5) -> Iterator[tuple[str, str, str]]:
    """Yield (what, how the time grows, with what)."""
    groups = (
        (_with_records(), RECORDS, f"records n, {COLUMNS} features"),
        (_with_values(), VALUES, "values n"),
        (_with_features(), FEATURES, "features D, 500 records"),
        (_with_draws(), DRAWS, "draws"),
    )
    for calls_of_all, sizes, what in groups:
        for name, calls in calls_of_all:
            times = seconds(*calls, repeats=repeats)
            figure = f"slope {slope(sizes, times):.2f}"
            yield name, figure, f"{what}, {sizes[0]:,} to {sizes[-1]:,}; {1e3 * times[-1]:.3g} ms at the most"
