"""Naive Bayes: for binary features, for mixed tables, and for private prediction of labels."""

from dpml.classifiers.naive_bayes.bernoulli import (
    BernoulliNB,
    default_class_share,
    default_row_bound,
    default_shrinkage,
)
from dpml.classifiers.naive_bayes.bernoulli_models import models_from_published, models_from_row_bounded
from dpml.classifiers.naive_bayes.mixed import MixedNB
from dpml.classifiers.naive_bayes.private_prediction import PrivatePredictionNB

__all__ = [
    "BernoulliNB",
    "MixedNB",
    "PrivatePredictionNB",
    "default_class_share",
    "default_row_bound",
    "default_shrinkage",
    "models_from_published",
    "models_from_row_bounded",
]
