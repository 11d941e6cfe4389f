"""Every public estimator, found by looking, and one of each that can be fitted."""

import inspect

from sklearn.base import BaseEstimator

import dpml.classifiers
import dpml.evaluation
import dpml.publishing
import dpml.selection
from dpml.classifiers import BernoulliNB

PACKAGES = (dpml.classifiers, dpml.evaluation, dpml.publishing, dpml.selection)
ABSTRACT = {"PrivateSelector"}
# fitted to a private and a public table, without labels: test_publishing_importance.py has what the others share
TWO_TABLES = {"ImportanceWeights"}
# a model is compiled for seconds in each fit: test_publishing_graphical.py has what the others share
SLOW = {"AIM", "MST"}
KINDS = {
    name: getattr(package, name)
    for package in PACKAGES
    for name in package.__all__
    if inspect.isclass(getattr(package, name))
    and issubclass(getattr(package, name), BaseEstimator)
    and name not in ABSTRACT | TWO_TABLES | SLOW
}

# values of parameters that a constructor needs beyond ε
VALUES = {"estimator": BernoulliNB(1.0), "candidates": {"row_bound": [1, 2]}, "n_features": 2, "threshold": 2.0}


def needed(kind):
    """Return the parameters without a default, and of a selector the number of features if nothing else states it."""
    known = inspect.signature(kind).parameters
    own = {name: value for name, value in VALUES.items() if name in known and known[name].default is inspect._empty}
    return own or ({"n_features": 2} if {"n_features", "threshold"} <= set(known) else {})


NEEDED = {name: needed(kind) for name, kind in KINDS.items() if needed(kind)}
# its default method is for a threshold
NEEDED["PublishedSelector"] = {"threshold": 2.0}
# settings with which a release has a secure sampler, or is quick
SECURE = {
    "LogisticRegression": {"method": "functional"},
    "PrivGene": {"n_candidates": 4, "n_iterations": 2},
    "PrivLocal": {"n_iterations": 2},
    "RandomTrees": {"max_depth": 3},
    "TopSelector": {"method": "permute-and-flip"},
}
# quick settings, for study
QUICK = {"PrivGene": {"n_candidates": 4, "n_iterations": 2}, "PrivLocal": {"n_iterations": 2}}

# what publishes a table instead of predicting or choosing columns
PUBLISHING = [name for name, kind in KINDS.items() if hasattr(kind, "sample")]
# what releases labels, each for ε, and nothing in a fit
PREDICTING = ["PrivatePredictionLR", "PrivatePredictionNB"]
# what is for study alone, and takes no budget
NOT_PRIVATE = [name for name, kind in KINDS.items() if getattr(kind, "private", True) is False]


def made(name, epsilon=1.0, **options):
    """Return an estimator by its name, with settings that make it quick."""
    return KINDS[name](epsilon=epsilon, **{**NEEDED.get(name, {}), **QUICK.get(name, {}), **options})


def has_release(name):
    """Return whether an estimator states no reason against a release."""
    estimator = made(name, release=True, **SECURE.get(name, {}))
    return name not in NOT_PRIVATE and not (estimator._not_private(None) or estimator._no_sampler())


# settings of each estimator that has a release; the others must refuse one
RELEASED = {name: SECURE.get(name, {}) for name in KINDS if has_release(name)}


def released(name, **options):
    """Return an estimator that makes a release."""
    return made(name, **{**RELEASED[name], "release": True, **options})
