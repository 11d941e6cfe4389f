"""A classifier, a selector and a publisher that nobody else has: registering each is all that makes it known."""

import numpy as np

from dpml import catalogue, methods
from dpml.catalogue import Case
from dpml.classifiers import BernoulliNB
from dpml.publishing import PPH
from dpml.selection import NoisyCountSelector

KEY = "made-up"


class MadeUp(BernoulliNB):
    """Row-bounded naive Bayes under another name."""


class MadeUpSelector(NoisyCountSelector):
    """Noisy counts under another name."""


class MadeUpPublisher(PPH):
    """PPH under another name."""


class MadeUpStudy:
    """The accuracy of the classifier: it guesses a coin."""

    def __init__(self, dataset, *, relation="add-remove"):
        self.dataset, self.relation = dataset, relation

    def __call__(self, epsilon, *, draws, rng, auc=False):
        found = {"accuracy": rng.uniform(0.4, 0.6, draws)}
        return {**found, "auc": rng.uniform(0.4, 0.6, draws)} if auc else found


def _case(epsilon, relation):
    def call(data):
        return np.zeros(1)

    return Case([0.0], [0.0, 1.0], call, lambda data, draws, rng: np.zeros((draws, 1)))


def _register(kind, family, of_claims, **facts):
    title, place, claim = f"Made-up {family}", f"{kind.__module__}.{kind.__name__}", f"made-up-{family}"
    catalogue.register(
        catalogue.Method(claim, title, of_claims, (place,), "made up", "ε", _case, relations=("add-remove",))
    )
    methods.register(methods.Method(KEY, title, family, place, claims=(claim,), **facts))


def register():
    """Register class, entry and claim of each."""
    study = f"{MadeUpStudy.__module__}.MadeUpStudy"
    _register(MadeUp, "classifier", "classifier", label="Made-up", study=study, advised=True)
    _register(MadeUpSelector, "selector", "selection")
    _register(MadeUpPublisher, "publisher", "publishing")
