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


@claim("made-up-classifier", "Made-up classifier", "made up", relations=("add-remove",), family="classifier")
class MadeUp(BernoulliNB):
    """Row-bounded naive Bayes under another name."""


@claim("made-up-selector", "Made-up selector", "made up", relations=("add-remove",), family="selection")
class MadeUpSelector(NoisyCountSelector):
    """Noisy counts under another name."""


@claim("made-up-publisher", "Made-up publisher", "made up", relations=("add-remove",), family="publishing")
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


def _register(kind, family, **facts):
    [own] = kind.claims
    cases.register(own, _case)
    place = f"{kind.__module__}.{kind.__name__}"
    registry.register(registry.Method(KEY, f"Made-up {family}", family, place, claims=(own.name,), **facts))


def register():
    """Register entry and case of each."""
    study = f"{MadeUpStudy.__module__}.MadeUpStudy"
    _register(MadeUp, "classifier", study=study, advised=True)
    _register(MadeUpSelector, "selector")
    _register(MadeUpPublisher, "publisher")
