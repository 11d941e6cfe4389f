"""Private classifiers with scikit-learn's interface."""

from dpml.classifiers.linear import LogisticRegression
from dpml.classifiers.naive_bayes import BernoulliNB

__all__ = ["BernoulliNB", "LogisticRegression"]
