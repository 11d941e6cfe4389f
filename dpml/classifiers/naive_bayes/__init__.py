"""Naive Bayes for binary features and for mixed tables."""

from dpml.classifiers.naive_bayes.bernoulli import (
    BernoulliNB,
    default_class_share,
    default_row_bound,
    default_shrinkage,
    models_from_published,
    models_from_row_bounded,
)
from dpml.classifiers.naive_bayes.mixed import MixedNB

__all__ = [
    "BernoulliNB",
    "MixedNB",
    "default_class_share",
    "default_row_bound",
    "default_shrinkage",
    "models_from_published",
    "models_from_row_bounded",
]
