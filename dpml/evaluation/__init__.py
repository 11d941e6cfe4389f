"""Looking at a classifier: private ROC curves, private tuning."""

from dpml.evaluation.curves import area_between
from dpml.evaluation.roc import (
    private_roc_auc,
    private_roc_curve,
    release_histogram,
    roc_from_histogram,
    roc_histogram,
    roc_thresholds,
)

__all__ = [
    "area_between",
    "private_roc_auc",
    "private_roc_curve",
    "release_histogram",
    "roc_from_histogram",
    "roc_histogram",
    "roc_thresholds",
]
