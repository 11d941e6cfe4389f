"""A classifier, a selector and a publisher that nobody else has: registering each is all that makes it known."""

import numpy as np

from dpml import registry
from dpml.audit import cases
from dpml.audit.cases import Case
from dpml.claims import claim
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


def _register(kind, family, place_of_claim, **facts):
    # here and not at the class: a collection of tests imports this module
    title = f"Made-up {family}"
    claim(f"made-up-{family}", title, "made up", relations=("add-remove",), family=place_of_claim)(kind)
    [own] = kind.claims
    cases.register(own, _case)
    place = f"{kind.__module__}.{kind.__name__}"
    registry.register(registry.Method(KEY, title, family, place, claims=(own.name,), **facts))


def register():
    """Register entry and case of each."""
    study = f"{MadeUpStudy.__module__}.MadeUpStudy"
    _register(MadeUp, "classifier", "classifier", study=study, advised=True)
    _register(MadeUpSelector, "selector", "selection")
    _register(MadeUpPublisher, "publisher", "publishing")
