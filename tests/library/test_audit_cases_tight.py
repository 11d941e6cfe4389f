"""The worst neighbours of each claim reach .95 of it in every part, or it is listed here how far they get, and why.

An exact audit finds no more than the claim.

A claim is a sum over the kinds of release of a call, and no kind costs more than its share. So where the largest costs
of all kinds over an entry's neighbours add up to .95 of the claim, no kind is further than .05 from its share. Only
kinds that one call releases together are added.
"""

import numpy as np
import pytest
from each_commit import others_in_full

from dpml.audit import recorded_releases
from dpml.audit.cases import AUDITED
from dpml.audit.cases.base import RecordedLoss
from dpml.mechanisms.boundary import Loss

TIGHT = 0.95
CLAIMS = [
    (name, relation)
    for name, entry in AUDITED.items()
    if np.isfinite(entry.true_epsilon(1.0))
    for relation in entry.relations
]
# under one relation at each commit: a release has the neighbours of its study, and these take long
ONCE = [
    (name, relation)
    for name, relation in CLAIMS
    if relation == AUDITED[name].relations[-1]
    or not (name.endswith("-release") or name.startswith(("auto-", "search-")))
]


def attained(name, relation, pasts=2):
    """Return the largest part of the claim at ε = 1 that the entry's neighbours reach: in one call, or in its parts."""
    entry = AUDITED[name]
    cases = entry.case(1.0, relation).all_cases
    together, add_up = 0.0, not (entry.delta or "random-stopping" in name)
    by_sum = add_up and all(type(case.exact) is RecordedLoss for case in cases)  # the sum of the losses below
    if cases[0].exact is not None and not by_sum:
        result = entry.audit(1.0, relation)
        assert result.exact
        together = result.epsilon_lower
        assert together <= entry.true_epsilon(1.0) + 1e-9
    if not add_up:
        return together / entry.true_epsilon(1.0)
    ways = {}
    for call, pair in ((case.call, pair) for case in cases for pair in case.pairs):
        for past in range(pasts):
            costs = {}
            for release in recorded_releases(call, *pair, past=past):
                kind = type(release.mechanism).__name__
                costs[kind] = costs.get(kind, Loss()) + release.loss
            cost = sum(loss.pure for loss in costs.values())
            assert not by_sum or cost <= entry.true_epsilon(1.0) + 1e-9
            way = ways.setdefault(frozenset(costs), dict.fromkeys(costs, 0.0))
            for kind, loss in costs.items():
                way[kind] = max(way[kind], loss.pure)
    return max(together, *(sum(way.values()) for way in ways.values())) / entry.true_epsilon(1.0)


# ---- claims that no neighbours here reach ----------------------------------------------------------------------------

PUBLISHED = "published constants that are larger than they need be: the true cost is below the claim on all tables"
SMOOTH = "the noise is for a shift and a change of its scale at once, and no pair of tables known here has both in full"
NUMBER = (
    "a part pays for a number of records, which a replaced record does not change, or (a label that is no class) by "
    "one, where the noise is for two: a root has a quarter of a tree's ε"
)
BOUNDED = (
    "the range of a gain is for one bit up and one bit down at once, as a replaced record can; a new record of a table "
    "of two or more takes no whole bit away, and beside a new bit nothing falls"
)
INFORMATION = (
    "the range allows for two scores that change by the bound in opposite directions, under replace-one twice; found "
    "by a search. The bound of mutual information is 1.377 bits for two records, of which one is there to be gained"
)
MINIMISER = "the bound is over all directions of a minimiser, which the other records pull back; found by a search"
CONVERSION = "zCDP allows each moment of a normal loss; eight choices of bounded range have less"
STOPPING = "the bound is over all distributions of scores; the two scores of this entry reach less"
SEARCHED = "no reason known why it should not be reached: the best pair known, and a better one is wanted"
# name: the part that is reached under add-remove, and under replace-one; None where it is .95 or there is no such claim
LISTED = {
    PUBLISHED: {
        "arsinh-normal-bun-steinke": (0.071, None),
        "cauchy-algorithm-1": (0.693, None),
        "cauchy-theorem-2": (0.167, None),
        "functional-improved": (0.214, 0.288),
        "functional-original": (0.094, 0.126),
        "importance-published": (None, 0.599),
        "laplace-log-normal-bun-steinke": (0.174, None),
        "logistic-objective-published": (0.455, 0.549),
        "logistic-output-published": (0.249, 0.495),
        "mask-published": (0.5, 0.5),
        "mixed-nb-bun-steinke-cauchy": (0.824, 0.871),
        "mixed-nb-bun-steinke-laplace-log-normal": (0.0, 0.0),
        "mixed-nb-bun-steinke-student-t": (0.788, 0.846),
        "mixed-nb-bun-steinke-uniform-log-normal": (0.0, 0.0),
        "priv-gene-published": (0.265, 0.488),
        "priv-local-published": (0.254, 0.441),
        "published-roc-medians-published": (0.425, 0.412),
        "recursive-medians-published": (0.125, 0.062),
        "smooth-gaussian-nissim": (0.127, None),
        "smooth-laplace-nissim": (0.5, None),
        "student-t-bun-steinke": (0.499, None),
        "svc-objective-published": (0.5, 0.75),
        "svc-output-published": (0.5, None),
        "uniform-log-normal-bun-steinke": (0.109, None),
    },
    SMOOTH: {
        "arsinh-normal-derived": (0.45, None),
        "laplace-log-normal-derived": (0.174, None),
        "mixed-nb-smooth-arsinh-normal": (0.0, 0.0),
        "mixed-nb-smooth-cauchy": (0.654, 0.758),
        "mixed-nb-smooth-gaussian": (0.634, 0.714),
        "mixed-nb-smooth-laplace": (0.641, 0.724),
        "mixed-nb-smooth-student-t": (0.645, 0.734),
        "published-roc-medians-exact": (0.582, 0.489),
        "recursive-medians-exact": (None, 0.461),
        "smooth-gaussian-exact": (0.72, None),
        "smooth-laplace-exact": (0.723, None),
        "student-t-exact": (0.893, None),
        "uniform-log-normal-derived": (0.195, None),
    },
    NUMBER: {
        "diffp-c45": (None, 0.75),
        "diffp-c45-deep": (None, 0.79),
        "diffp-c45-release": (None, 0.75),
        "diffp-id3": (None, 0.75),
        "diffp-id3-gini": (None, 0.75),
    },
    BOUNDED: {
        "diffgen-gain": (0.735, None),
    },
    INFORMATION: {
        "mask-mutual_information": (0.892, 0.617),
        "privbayes": (None, 0.805),
        "privbayes-many-attributes": (None, 0.862),
        "privbayes-mutual-information": (0.701, 0.671),
        "privbayes-release": (None, 0.813),
    },
    MINIMISER: {
        "auto-gaussian": (0.911, 0.896),
        "auto-shared-gaussian": (0.945, 0.856),
        "importance-chosen": (None, 0.641),
        "importance-output": (None, 0.597),
        "logistic-approximate-minima": (0.902, 0.279),
        "logistic-output": (0.497, 0.495),
        "search-stability": (0.248, 0.242),
        "svc-approximate-minima": (0.544, 0.52),
    },
    CONVERSION: {"top-peeling-delta": (0.847, 0.841)},
    STOPPING: {
        "random-stopping-geometric": (0.378, 0.378),
        "random-stopping-logarithmic": (0.53, 0.53),
    },
    SEARCHED: {
        "best-selector-descent": (0.887, 0.735),
        "functional": (None, 0.855),
        "functional-fit": (None, 0.637),
        "nb-private-prediction": (0.788, 0.387),
        "priv-gene": (None, 0.896),
        "priv-local": (None, 0.844),
        "quantile-thresholds": (None, 0.878),
        "secure-discrete-gaussian": (0.742, 0.742),
    },
}
EXPECTED = {
    (name, relation): part
    for entries in LISTED.values()
    for name, parts in entries.items()
    for relation, part in zip(("add-remove", "replace-one"), parts, strict=True)
    if part is not None
}


@pytest.mark.parametrize(("name", "relation"), others_in_full(CLAIMS, *ONCE))
def test_neighbours_reach_each_part_of_a_claim(name, relation):
    reached = attained(name, relation)
    assert reached >= EXPECTED.get((name, relation), TIGHT + 0.005) - 0.005
    # what is reached after all is no exception
    assert ((name, relation) in EXPECTED) == (reached < TIGHT)


# what the neighbours need of a δ, as a part of it, where they are there to need it
WITH_DELTA = {
    "gaussian": 0.99,
    "mst-delta": 0.99,
    "private-categories": 0.4,  # the threshold is a whole number
    "private-facts": 0.9,
    "svc-noisy-descent": 0.99,
    "top-limited-domain": 0.99,
}


@pytest.mark.parametrize("name", WITH_DELTA)
def test_neighbours_need_their_part_of_delta(name):
    entry = AUDITED[name]
    for relation in entry.relations:
        result = entry.audit(1.0, relation)
        assert result.passed
        assert WITH_DELTA[name] * entry.delta <= result.delta_lower <= entry.delta * (1 + 1e-6)


def test_what_is_listed_is_a_claim():
    assert set(EXPECTED) <= set(CLAIMS)
