"""The map and the private ROC curve of the Explore page, as plain functions of plain values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpml.evaluation import private_roc_curve
from dpml_app.data.measures import accuracy, dataset, study

MOST_CURVE_POINTS = 400


def map_row(
    name: str, score: str, relation: str, n_features: int, epsilons: tuple, options: tuple, draws: int, seed: int
) -> NDArray[np.float64]:
    """Return accuracies of shape (ε, draws) for one feature count; `options` are selection share and percentile."""
    return np.array([accuracy(name, score, relation, e, (n_features, *options), draws, seed) for e in epsilons])


def roc(
    name: str, relation: str, row_bound: int, epsilon: float, draws: int, seed: int
) -> dict[str, NDArray[np.float64]]:
    """Return the exact and the private ROC curves of one private model on the test records.

    The model is row-bounded naive Bayes trained with ε; its curve costs ε once more, paid by the test records.
    """
    data = dataset(name)
    row_bounded = study(name, "row-bounded", relation, row_bound)
    # one model, the same whatever the number of draws of the curve
    model = row_bounded.models(epsilon, draws=1, rng=np.random.default_rng(seed))
    scores = model.decision(data.X_test)[0, :, 0]
    fpr, tpr, _ = private_roc_curve(
        data.y_test,
        scores,
        epsilon,
        rng=np.random.default_rng([seed, 1]),
        relation=relation,
        draws=draws,
        score_scale="log-odds",
    )
    exact_fpr, exact_tpr = _exact_curve(data.y_test, scores)
    return {
        "fpr": fpr,
        "tpr": tpr,
        "auc": np.clip(np.trapezoid(tpr, fpr, axis=1), 0, 1),
        "exact_fpr": exact_fpr,
        "exact_tpr": exact_tpr,
        "exact_auc": model.auc(data.X_test, data.y_test),
    }


def _exact_curve(y: NDArray, scores: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return at most `MOST_CURVE_POINTS` points of the exact curve: more than a screen can show."""
    order = np.argsort(-scores, kind="stable")
    last = np.append(np.flatnonzero(np.diff(scores[order])), len(scores) - 1)
    hits = np.cumsum(y[order] == 1)[last]
    misses = last + 1 - hits
    if len(last) > MOST_CURVE_POINTS:
        keep = np.unique(np.linspace(0, len(last) - 1, MOST_CURVE_POINTS).astype(int))
        hits, misses = hits[keep], misses[keep]
    return np.append(0.0, misses / max(misses[-1], 1)), np.append(0.0, hits / max(hits[-1], 1))
