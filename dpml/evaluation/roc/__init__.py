"""ROC curves: from a noisy histogram and as published, with their thresholds and the area between two curves."""

from dpml.evaluation.roc.area import area_between
from dpml.evaluation.roc.as_published import published_roc_curve, published_roc_is_private, roc_from_sums
from dpml.evaluation.roc.curve import (
    private_roc_auc,
    private_roc_curve,
    release_histogram,
    roc_from_histogram,
    roc_histogram,
    roc_thresholds,
)
from dpml.evaluation.roc.thresholds import (
    alpha_fixed_space,
    check_scores,
    fixed_space,
    noisy_n,
    quantile_thresholds,
    recursive_medians,
)

__all__ = [
    "alpha_fixed_space",
    "area_between",
    "check_scores",
    "fixed_space",
    "noisy_n",
    "private_roc_auc",
    "private_roc_curve",
    "published_roc_curve",
    "published_roc_is_private",
    "quantile_thresholds",
    "recursive_medians",
    "release_histogram",
    "roc_from_histogram",
    "roc_from_sums",
    "roc_histogram",
    "roc_thresholds",
]
