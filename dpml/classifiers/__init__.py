"""Private classifiers with scikit-learn's interface.

Each classifier is imported at its first use, because importing all of them takes as long as importing scikit-learn's.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpml.classifiers.automatic import AutoClassifier
    from dpml.classifiers.grid import PrivPfCClassifier
    from dpml.classifiers.linear import LinearSVC, LogisticRegression
    from dpml.classifiers.linear_classifier import LinearClassifier
    from dpml.classifiers.local_search import PrivGene, PrivLocal
    from dpml.classifiers.naive_bayes import BernoulliNB
    from dpml.classifiers.naive_bayes.mixed import MixedNB
    from dpml.classifiers.private_prediction import PrivatePredictionLR, PrivatePredictionNB
    from dpml.classifiers.tree import DiffPC45, DiffPID3, RandomTrees

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
    "PrivatePredictionLR",
    "PrivatePredictionNB",
    "RandomTrees",
]

_PLACES = {
    "AutoClassifier": "dpml.classifiers.automatic",
    "BernoulliNB": "dpml.classifiers.naive_bayes",
    "DiffPC45": "dpml.classifiers.tree",
    "DiffPID3": "dpml.classifiers.tree",
    "LinearClassifier": "dpml.classifiers.linear_classifier",
    "LinearSVC": "dpml.classifiers.linear",
    "LogisticRegression": "dpml.classifiers.linear",
    "MixedNB": "dpml.classifiers.naive_bayes.mixed",
    "PrivGene": "dpml.classifiers.local_search",
    "PrivLocal": "dpml.classifiers.local_search",
    "PrivPfCClassifier": "dpml.classifiers.grid",
    "PrivatePredictionLR": "dpml.classifiers.private_prediction",
    "PrivatePredictionNB": "dpml.classifiers.private_prediction",
    "RandomTrees": "dpml.classifiers.tree",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_PLACES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
