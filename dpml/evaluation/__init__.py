"""Evaluation of classifiers and selections: private measures, ROC curves, comparisons, and what an attacker sees."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dpml.evaluation.as_published import (
    noisy_n,
    published_roc_curve,
    published_roc_is_private,
    quantile_thresholds,
    recursive_medians,
)
from dpml.evaluation.attack import (
    attack_bound,
    attack_success,
    best_attack_success,
    labels_from_curve,
    recover_label,
    recover_label_from_counts,
)
from dpml.evaluation.comparison import Comparison, area_between, compare_classifiers, expected_f1, selection_quality
from dpml.evaluation.cross_validation import PrivateCrossValidation, private_cross_val_score
from dpml.evaluation.histogram import release_histogram, roc_from_histogram, roc_histogram, roc_thresholds
from dpml.evaluation.multiclass import (
    MulticlassEvaluation,
    PrivateConfusionMatrix,
    private_confusion_matrix,
    release_multiclass_evaluation,
)
from dpml.evaluation.private_evaluation import (
    PrivateEvaluation,
    private_roc_auc,
    private_roc_curve,
    release_evaluation,
)

if TYPE_CHECKING:
    from dpml.tuning import BestSelector, PrivateSearch

__all__ = [
    "BestSelector",
    "Comparison",
    "MulticlassEvaluation",
    "PrivateConfusionMatrix",
    "PrivateCrossValidation",
    "PrivateEvaluation",
    "PrivateSearch",
    "area_between",
    "attack_bound",
    "attack_success",
    "best_attack_success",
    "compare_classifiers",
    "expected_f1",
    "labels_from_curve",
    "noisy_n",
    "private_confusion_matrix",
    "private_cross_val_score",
    "private_roc_auc",
    "private_roc_curve",
    "published_roc_curve",
    "published_roc_is_private",
    "quantile_thresholds",
    "recover_label",
    "recover_label_from_counts",
    "recursive_medians",
    "release_evaluation",
    "release_histogram",
    "release_multiclass_evaluation",
    "roc_from_histogram",
    "roc_histogram",
    "roc_thresholds",
    "selection_quality",
]


def __getattr__(name: str) -> Any:
    # dpml.tuning imports this package, so it is loaded only for one of its names
    if name in ("BestSelector", "PrivateSearch"):
        return getattr(import_module("dpml.tuning"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
