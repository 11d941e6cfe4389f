"""Looking at a classifier and a selection: private ROC curves, quality, and the best of all for one ε."""

from dpml.evaluation.best import BestSelector
from dpml.evaluation.curves import area_between
from dpml.evaluation.quality import expected_f1, selection_quality
from dpml.evaluation.roc import (
    private_roc_auc,
    private_roc_curve,
    release_histogram,
    roc_from_histogram,
    roc_histogram,
    roc_thresholds,
)

__all__ = [
    "BestSelector",
    "area_between",
    "expected_f1",
    "private_roc_auc",
    "private_roc_curve",
    "release_histogram",
    "roc_from_histogram",
    "roc_histogram",
    "roc_thresholds",
    "selection_quality",
]
