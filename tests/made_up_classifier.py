"""A classifier that nobody else has: it guesses a coin, and registering it is all that makes it known."""

import numpy as np

from dpml import catalogue, methods
from dpml.catalogue import Case
from dpml.classifiers import BernoulliNB

KEY, TITLE = "made-up", "Made-up classifier"


class MadeUp(BernoulliNB):
    """Row-bounded naive Bayes under another name."""


class MadeUpStudy:
    """Its accuracy."""

    def __init__(self, dataset, *, relation="add-remove"):
        self.dataset, self.relation = dataset, relation

    def __call__(self, epsilon, *, draws, rng, auc=False):
        found = {"accuracy": rng.uniform(0.4, 0.6, draws)}
        return {**found, "auc": rng.uniform(0.4, 0.6, draws)} if auc else found


def _case(epsilon, relation):
    def call(data):
        return np.zeros(1)

    return Case([0.0], [0.0, 1.0], call, lambda data, draws, rng: np.zeros((draws, 1)))


def register():
    """Register class, entry and claim."""
    place = f"{MadeUp.__module__}.MadeUp"
    catalogue.register(
        catalogue.Method(KEY, TITLE, "classifier", (place,), "made up", "ε", True, _case, relations=("add-remove",))
    )
    study = f"{MadeUpStudy.__module__}.MadeUpStudy"
    return methods.register(
        methods.Method(KEY, TITLE, "classifier", place, label="Made-up", study=study, advised=True, claims=(KEY,))
    )
