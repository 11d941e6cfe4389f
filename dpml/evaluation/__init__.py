"""Looking at a classifier and a selection: private ROC curves, quality, and the best of all for one ε."""

from dpml.evaluation.attack import (
    attack_bound,
    attack_success,
    best_attack_success,
    labels_from_curve,
    recover_label,
    recover_label_from_counts,
)
from dpml.evaluation.best import BestSelector
from dpml.evaluation.comparison import Comparison, compare_classifiers
from dpml.evaluation.cross_validation import PrivateCrossValidation, private_cross_val_score
from dpml.evaluation.curves import area_between
from dpml.evaluation.figures import PrivateEvaluation
from dpml.evaluation.published_roc import published_roc_curve, published_roc_is_private, roc_from_sums
from dpml.evaluation.quality import expected_f1, selection_quality
from dpml.evaluation.report import release_evaluation
from dpml.evaluation.roc import (
    private_roc_auc,
    private_roc_curve,
    release_histogram,
    roc_from_histogram,
    roc_histogram,
    roc_thresholds,
)
from dpml.evaluation.several import (
    MulticlassEvaluation,
    PrivateConfusionMatrix,
    private_confusion_matrix,
    release_multiclass_evaluation,
)
from dpml.evaluation.stopping import (
    expected_runs,
    random_stopping,
    stopping_distribution,
    stopping_epsilon,
    truncated_negative_binomial,
)
from dpml.evaluation.thresholds import (
    alpha_fixed_space,
    fixed_space,
    noisy_n,
    quantile_thresholds,
    recursive_medians,
)
from dpml.evaluation.tuning import PrivateSearch
from dpml.evaluation.tuning_plan import search_costs

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
