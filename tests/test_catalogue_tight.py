"""The worst neighbours of each claim reach .95 of it in every part, or it is listed here how far they get, and why.

A claim is a sum over the kinds of release of a call, and no kind costs more than its share. So where the largest costs
of all kinds over an entry's neighbours add up to .95 of the claim, no kind is further than .05 from its share. Only
kinds that one call releases together are added.
"""

import warnings

import numpy as np
import pytest

from dpml.auditing import recorded_releases
from dpml.catalogue import CATALOGUE
from dpml.exceptions import FactWarning
from dpml.mechanisms.door import Loss

TIGHT = 0.95
CLAIMS = [
    (name, relation)
    for name, entry in CATALOGUE.items()
    if np.isfinite(entry.true_epsilon(1.0))
    for relation in entry.relations
]


def attained(name, relation, pasts=2):
    """Return the largest part of the claim at ε = 1 that the entry's neighbours reach: in one call, or in its parts."""
    entry = CATALOGUE[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FactWarning)
        case = entry.case(1.0, relation)
        together = entry.audit(1.0, relation).epsilon_lower if case.exact is not None else 0.0
        if entry.delta or "random-stopping" in name:  # where losses do not add up
            return together / entry.true_epsilon(1.0)
        ways = {}
        for pair in case.pairs:
            for past in range(pasts):
                costs = {}
                for release in recorded_releases(case.call, *pair, past=past):
                    kind = type(release.mechanism).__name__
                    costs[kind] = costs.get(kind, Loss()) + release.loss
                way = ways.setdefault(frozenset(costs), dict.fromkeys(costs, 0.0))
                for kind, loss in costs.items():
                    way[kind] = max(way[kind], loss.pure)
    return max(together, *(sum(way.values()) for way in ways.values())) / entry.true_epsilon(1.0)
