"""Private classifiers with scikit-learn's interface."""

from dpml.classifiers.leader import LinearClassifier
from dpml.classifiers.linear import LinearSVC, LogisticRegression
from dpml.classifiers.local_search import PrivGene, PrivLocal
from dpml.classifiers.mixed import MixedNB
from dpml.classifiers.naive_bayes import BernoulliNB
from dpml.classifiers.prediction import PrivatePredictionNB

__all__ = [
    "BernoulliNB",
    "LinearClassifier",
    "LinearSVC",
    "LogisticRegression",
    "MixedNB",
    "PrivGene",
    "PrivLocal",
    "PrivatePredictionNB",
]
