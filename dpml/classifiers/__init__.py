"""Private classifiers with scikit-learn's interface."""

from dpml.classifiers.linear import LogisticRegression
from dpml.classifiers.mixed import MixedNB
from dpml.classifiers.naive_bayes import BernoulliNB
from dpml.classifiers.prediction import PrivatePredictionNB

__all__ = ["BernoulliNB", "LogisticRegression", "MixedNB", "PrivatePredictionNB"]
