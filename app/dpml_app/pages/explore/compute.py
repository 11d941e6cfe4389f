"""The custom model, its map and its ROC curve, as plain functions of plain values.

It chooses features by the exponential mechanism with a share of ε, and trains naive Bayes or logistic regression on
them with the rest. `options` are the number of features, the share, and the model's own: percentile or λ.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml.classifiers.linear_models import LinearModels
from dpml.evaluation import private_roc_curve
from dpml.studies import SelectedLogisticStudy
from dpml_app.data.measures import dataset, study
from dpml_app.work.cache import kept

MOST_CURVE_POINTS = 400
# as many as the default classifier has
DRAWS = 20
# a fit on more features takes milliseconds by the ten, so its draws share choices of features
FEW_FEATURES, DRAWS_OF_A_CHOICE = 24, 4
# of a cell of the map of logistic regression
CELL_DRAWS = 5
FloatArray = NDArray[np.float64]


@kept(8)
def _logistic(name: str, score: str, relation: str) -> SelectedLogisticStudy:
    return SelectedLogisticStudy(dataset(name), score, relation=relation)


def _models(
    name: str, relation: str, epsilon: float, model: str, score: str, options: tuple, draws: int, seed: int
) -> LinearModels:
    n_features, share, own = options
    setting: Any = {"n_features": n_features, "selection_share": share, "draws": draws}
    rng = np.random.default_rng(seed)
    if model == "logistic":
        masks = draws if n_features <= FEW_FEATURES else math.ceil(draws / DRAWS_OF_A_CHOICE)
        return _logistic(name, score, relation).models(epsilon, rng=rng, reg_lambda=own, masks=masks, **setting)
    models: LinearModels = study(name, score, relation).models(epsilon, rng=rng, threshold_percentile=own, **setting)
    return models


def by_hand(
    name: str, relation: str, epsilon: float, model: str, score: str, options: tuple, draws: int, seed: int
) -> FloatArray:
    """Return test accuracies of shape (draws,)."""
    data = dataset(name)
    return _models(name, relation, epsilon, model, score, options, draws, seed).accuracy(data.X_test, data.y_test)


def map_row(
    name: str, relation: str, epsilons: tuple, model: str, score: str, options: tuple, draws: int, seed: int
) -> FloatArray:
    """Return accuracies of shape (ε, draws) for one number of features."""
    return np.array([by_hand(name, relation, e, model, score, options, draws, seed) for e in epsilons])


def roc(
    name: str, relation: str, epsilon: float, model: str, score: str, options: tuple, draws: int, seed: int
) -> dict[str, FloatArray]:
    """Return the exact and the private ROC curves of one custom model on the test records.

    The model is trained with ε; its curve costs ε once more, paid by the test records.
    """
    data = dataset(name)
    # one model, the same whatever the number of draws of the curve
    fitted = _models(name, relation, epsilon, model, score, options, 1, seed)
    scores = fitted.decision(data.X_test)[0, :, 0]
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
        "exact_auc": fitted.auc(data.X_test, data.y_test),
    }


def _exact_curve(y: NDArray, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return at most `MOST_CURVE_POINTS` points of the exact curve: more than a screen can show."""
    order = np.argsort(-scores, kind="stable")
    last = np.append(np.flatnonzero(np.diff(scores[order])), len(scores) - 1)
    hits = np.cumsum(y[order] == 1)[last]
    misses = last + 1 - hits
    if len(last) > MOST_CURVE_POINTS:
        keep = np.unique(np.linspace(0, len(last) - 1, MOST_CURVE_POINTS).astype(int))
        hits, misses = hits[keep], misses[keep]
    return np.append(0.0, misses / max(misses[-1], 1)), np.append(0.0, hits / max(hits[-1], 1))
