"""Private feature selection: scores, the exact mask distribution and selectors."""

from dpml.selection._base import PrivateSelector, PublicFacts, public_n_rows
from dpml.selection.as_published import PublishedSelector
from dpml.selection.masks import (
    MaskSelector,
    inclusion_probabilities,
    mask_log_probability,
    sample_masks,
)
from dpml.selection.plan import Choice, Plan, choose_features, plan
from dpml.selection.ranking import NoisyClusterSelector, NoisyCountSelector, NoisyScoreSelector, SparseVectorSelector
from dpml.selection.scores import (
    KINDS,
    change_range,
    l1_sensitivity,
    mask_change_range,
    mask_weight,
    scores,
    scores_from_counts,
    sensitivity,
)
from dpml.selection.subsets import SubsetSelector
from dpml.selection.top import TopSelector, one_shot, peel, sample_joint

__all__ = [
    "KINDS",
    "Choice",
    "MaskSelector",
    "NoisyClusterSelector",
    "NoisyCountSelector",
    "NoisyScoreSelector",
    "Plan",
    "PrivateSelector",
    "PublicFacts",
    "PublishedSelector",
    "SparseVectorSelector",
    "SubsetSelector",
    "TopSelector",
    "change_range",
    "choose_features",
    "inclusion_probabilities",
    "l1_sensitivity",
    "mask_change_range",
    "mask_log_probability",
    "mask_weight",
    "one_shot",
    "peel",
    "plan",
    "public_n_rows",
    "sample_joint",
    "sample_masks",
    "scores",
    "scores_from_counts",
    "sensitivity",
]
