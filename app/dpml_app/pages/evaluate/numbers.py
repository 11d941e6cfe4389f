"""The numbers of one release that the Evaluate page shows: the server computes them while a slider moves."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.metrics import average_precision_score, log_loss, precision_recall_curve, roc_auc_score

from dpml.evaluation import PrivateEvaluation, roc_thresholds
from dpml.evaluation.private_evaluation import LOG_LOSS_CLIP
from dpml_app.pages.evaluate.compute import SCALE, exact_counts, heights, labels, scores, thinned
from dpml_app.work.cache import kept

Floats = NDArray[np.float64]
FIGURES = {
    "roc_auc": "AUC",
    "accuracy": "Accuracy",
    "log_loss": "Log loss",
    "true_positive_rate": "True positive rate (recall)",
    "false_positive_rate": "False positive rate",
    "prevalence": "Share of the positive class",
}
WITH_CUT = ("accuracy", "true_positive_rate", "false_positive_rate")
LEVEL = 0.9
N_BOOT = 300
# releases whose intervals are drawn
SHOWN = 10
RECALLS = np.linspace(0.0, 1.0, 41)


@kept(64)
def true_figures(name: str, kind: str, weakened: str, cut: float) -> dict[str, Any]:
    """Return what the test records truly give, without bins; ``confusion`` is [[TN, FP], [FN, TP]].

    The log loss is of the classifier's own probabilities, kept as far from 0 and 1 as the private one keeps them.
    """
    y, s = labels(name), scores(name, kind, weakened)
    predicted = s >= cut
    p = np.clip(expit(s), LOG_LOSS_CLIP, 1 - LOG_LOSS_CLIP)
    confusion = np.array([[np.sum((y == c) & (predicted == guess)) for guess in (0, 1)] for c in (0, 1)])
    rates = confusion[:, 1] / np.maximum(confusion.sum(axis=1), 1)
    return {
        "roc_auc": float(roc_auc_score(y, s)),
        "accuracy": float(np.mean(predicted == y)),
        "log_loss": float(log_loss(y, p, labels=[0, 1])),
        "true_positive_rate": float(rates[1]),
        "false_positive_rate": float(rates[0]),
        "prevalence": float(np.mean(y == 1)),
        "n_records": len(y),
        "confusion": confusion,
    }


def intervals(released: PrivateEvaluation, cut: float) -> dict[str, tuple[float, float, float]]:
    """Return each figure of the first draw, and the ends of its 90 % interval: what one release would print."""
    first = replace(released, counts=released.counts[0])
    by_figure = {}
    for figure in FIGURES:
        value = getattr(first, figure)(cut) if figure in WITH_CUT else getattr(first, figure)()
        low, high = first.interval(figure, LEVEL, threshold=cut if figure in WITH_CUT else None, n_boot=N_BOOT)
        by_figure[figure] = value, low, high
    return by_figure


def areas(released: PrivateEvaluation) -> tuple[Floats, Floats, Floats]:
    """Return the area of each of the first draws, and the ends of its 90 % interval."""
    few = replace(released, counts=released.counts[:SHOWN])
    return np.atleast_1d(few.roc_auc()), *few.interval("roc_auc", LEVEL, n_boot=N_BOOT)


def exact_evaluation(name: str, kind: str, weakened: str) -> PrivateEvaluation:
    """Return the exact table of the default bins as an evaluation without noise: private."""
    counts = exact_counts(name, kind, weakened).astype(float)
    return PrivateEvaluation(counts, roc_thresholds(**SCALE), 0.0, np.inf, score_scale="log-odds")


@kept(16)
def true_recall(name: str, kind: str, weakened: str) -> tuple[Floats, Floats, float]:
    """Return recall and precision over all thresholds, recall rising, and the average precision."""
    y, s = labels(name), scores(name, kind, weakened)
    precision, rate, _ = precision_recall_curve(y, s)
    return *thinned((rate[::-1], precision[::-1])), float(average_precision_score(y, s))


def recall(released: PrivateEvaluation) -> dict[str, Floats]:
    """Return the median precision and 90 % of draws at each recall, and each draw's average precision."""
    precision, rate, _ = released.precision_recall_curve()
    # below the first threshold's recall its own precision holds
    rate, precision = rate[:, ::-1], precision[:, ::-1].copy()
    precision[:, 0] = precision[:, 1]
    low, mid, high = np.quantile(heights(rate, precision, RECALLS), [0.05, 0.5, 0.95], axis=0)
    curve = {"recall": RECALLS, "low": low, "mid": mid, "high": high}
    return {**curve, "average": np.asarray(released.average_precision())}


def calibration(released: PrivateEvaluation) -> dict[str, Floats]:
    """Return for each bin, lowest first, the median share of the second class and 90 % of the draws that have one."""
    share = released.calibration_curve().prob_true
    # a draw in which noise has left nothing of a bin says nothing of it
    known = np.isfinite(share)
    ends = np.full((3, share.shape[1]), np.nan)
    for k in np.flatnonzero(known.any(axis=0)):
        ends[:, k] = np.quantile(share[known[:, k], k], [0.05, 0.5, 0.95])
    return {"low": ends[0], "mid": ends[1], "high": ends[2], "said": known.mean(axis=0)}


def true_calibration(name: str, kind: str, weakened: str) -> dict[str, Any]:
    """Return for each bin, lowest first, the true share of the second class and the number of records."""
    exact = exact_evaluation(name, kind, weakened)
    curve = exact.calibration_curve()
    return {"share": curve.prob_true, "stated": curve.prob_pred, "records": curve.n_records}
