"""Evaluation of classifiers and selections: private measures, ROC curves, comparisons, and what an attacker sees."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dpml.evaluation.attack import (
    attack_bound,
    attack_success,
    best_attack_success,
    labels_from_curve,
    recover_label,
    recover_label_from_counts,
)
from dpml.evaluation.comparison import Comparison, compare_classifiers
from dpml.evaluation.cross_validation import PrivateCrossValidation, private_cross_val_score
from dpml.evaluation.histogram import release_histogram, roc_from_histogram, roc_histogram, roc_thresholds
from dpml.evaluation.multiclass import (
    MulticlassEvaluation,
    PrivateConfusionMatrix,
    private_confusion_matrix,
    release_multiclass_evaluation,
)
from dpml.evaluation.private_evaluation import PrivateEvaluation
from dpml.evaluation.release import release_evaluation
from dpml.evaluation.roc.area import area_between
from dpml.evaluation.roc.as_published import published_roc_curve, published_roc_is_private, roc_from_sums
from dpml.evaluation.roc.curve import private_roc_auc, private_roc_curve
from dpml.evaluation.roc.thresholds import (
    alpha_fixed_space,
    fixed_space,
    noisy_n,
    quantile_thresholds,
    recursive_medians,
)
from dpml.evaluation.selection_quality import expected_f1, selection_quality

if TYPE_CHECKING:
    from dpml.tuning import (
        BestSelector,
        PrivateSearch,
        expected_runs,
        random_stopping,
        search_costs,
        stopping_distribution,
        stopping_epsilon,
        truncated_negative_binomial,
    )

__all__ = [
    "BestSelector",
    "Comparison",
    "MulticlassEvaluation",
    "PrivateConfusionMatrix",
    "PrivateCrossValidation",
    "PrivateEvaluation",
    "PrivateSearch",
    "alpha_fixed_space",
    "area_between",
    "attack_bound",
    "attack_success",
    "best_attack_success",
    "compare_classifiers",
    "expected_f1",
    "expected_runs",
    "fixed_space",
    "labels_from_curve",
    "noisy_n",
    "private_confusion_matrix",
    "private_cross_val_score",
    "private_roc_auc",
    "private_roc_curve",
    "published_roc_curve",
    "published_roc_is_private",
    "quantile_thresholds",
    "random_stopping",
    "recover_label",
    "recover_label_from_counts",
    "recursive_medians",
    "release_evaluation",
    "release_histogram",
    "release_multiclass_evaluation",
    "roc_from_histogram",
    "roc_from_sums",
    "roc_histogram",
    "roc_thresholds",
    "search_costs",
    "selection_quality",
    "stopping_distribution",
    "stopping_epsilon",
    "truncated_negative_binomial",
]


def __getattr__(name: str) -> Any:
    # dpml.tuning imports this room, so it is loaded only when one of its names is used here
    if name in __all__:
        return getattr(import_module("dpml.tuning"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
