"""Private classifiers with scikit-learn's interface."""

from dpml.classifiers.automatic import AutoClassifier
from dpml.classifiers.grid import PrivPfCClassifier
from dpml.classifiers.linear import LinearSVC, LogisticRegression
from dpml.classifiers.linear_classifier import LinearClassifier
from dpml.classifiers.local_search import PrivGene, PrivLocal
from dpml.classifiers.naive_bayes import BernoulliNB
from dpml.classifiers.naive_bayes.mixed import MixedNB
from dpml.classifiers.naive_bayes.private_prediction import PrivatePredictionNB
from dpml.classifiers.tree import DiffPC45, DiffPID3

__all__ = [
    "AutoClassifier",
    "BernoulliNB",
    "DiffPC45",
    "DiffPID3",
    "LinearClassifier",
    "LinearSVC",
    "LogisticRegression",
    "MixedNB",
    "PrivGene",
    "PrivLocal",
    "PrivPfCClassifier",
    "PrivatePredictionNB",
]
