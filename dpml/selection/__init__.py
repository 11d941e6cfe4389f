"""Private feature selection: scores, the exact mask distribution and selectors."""

from dpml.selection.masks import inclusion_probabilities, log_normaliser, mask_log_probability, sample_masks
from dpml.selection.scores import (
    KINDS,
    features_touched,
    mask_change_range,
    mask_weight,
    scores,
    scores_from_counts,
    sensitivity,
)
from dpml.selection.selectors import MaskSelector, public_n_rows, published_mask_weight

__all__ = [
    "KINDS",
    "MaskSelector",
    "features_touched",
    "inclusion_probabilities",
    "log_normaliser",
    "mask_change_range",
    "mask_log_probability",
    "mask_weight",
    "public_n_rows",
    "published_mask_weight",
    "sample_masks",
    "scores",
    "scores_from_counts",
    "sensitivity",
]
