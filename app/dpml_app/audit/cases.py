"""Neighbours edited by hand: a small table of records, the one that comes or moves, and the methods that run on it.

A record is written as its class, n or y, and the features that it has: ``nab`` is class "no" with features a and b.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml.catalogue import Case, method
from dpml.catalogue._recorded import recorded
from dpml.catalogue._selectors import fitted
from dpml.classifiers import BernoulliNB
from dpml.counts import Contingency, contingency, release_published, release_row_bounded
from dpml.encoding import SHARE_GRID
from dpml.mechanisms import Geometric, Laplace
from dpml.schema import Schema
from dpml.selection import MaskSelector, mask_log_probability, scores, sensitivity
from dpml.selection.as_published import (
    cluster_selection,
    cluster_selection_log_probabilities,
    iterative_sampling,
    noisy_cut,
    private_threshold_testing,
    threshold_testing_log_probabilities,
)

__all__ = [
    "EDITABLE",
    "FEATURES",
    "MASKS",
    "case_of",
    "tables",
]

FEATURES = "abcd"
CLASSES = "ny"  # no, yes
D, T = len(FEATURES), 2
MOST_RECORDS = 8
MASKS = np.array([m for m in itertools.product((False, True), repeat=D) if sum(m) == T])
POWERS = 1 << np.arange(D)
RECORD = "[ny]a?b?c?d?"
TABLE = rf"{RECORD}(\.{RECORD}){{0,{MOST_RECORDS - 1}}}"
THRESHOLD = 1.5
Table = tuple[NDArray[np.float64], NDArray[np.intp]]


def _arrays(records: list[str]) -> Table:
    X = np.array([[float(f in r[1:]) for f in FEATURES] for r in records]).reshape(-1, D)
    return X, np.array([CLASSES.index(r[0]) for r in records], dtype=np.intp)


def tables(relation: str, table: str, record: str, replaced: int) -> tuple[Table, Table]:
    """Return both data sets: the table, and the one with `record` added, or in the place of the `replaced`-th."""
    records = table.split(".")
    if relation == "add-remove":
        return _arrays(records), _arrays([*records, record])
    at = min(replaced, len(records)) - 1
    return _arrays(records), _arrays([*records[:at], record, *records[at + 1 :]])


# ---- methods: each takes ε, the relation and a public lower bound on the number of records ------------------------


def _counts(data: Table) -> Contingency:
    X, codes = data
    return contingency(X, codes, 2)


def _score(data: Table, kind: str) -> NDArray[np.float64]:
    X, codes = data
    return scores(X, codes, kind)


def _cells(data: Table) -> NDArray[np.float64]:
    X, codes = data
    return np.bincount(2 * codes + X[:, 0].astype(int), minlength=4).astype(float)


def _histogram(noise: str):
    def build(epsilon: float, relation: str, _n: int):
        factor = 1 if relation == "add-remove" else 2
        mechanism = Laplace(epsilon, factor) if noise == "laplace" else Geometric(epsilon, factor)

        def call(data):
            return mechanism.release(_cells(data), rng=np.random.default_rng(0))

        def sample(data, draws, rng):
            return mechanism.release(_cells(data), draws=draws, rng=rng)

        return call, sample, recorded(call, pasts=1)

    return build


def _fit(epsilon: float, relation: str, **options: Any) -> Callable[[Table], Any]:
    facts: dict[str, Any] = {"relation": relation, "schema": Schema.binary(D), "random_state": 0, **options}

    def call(data):
        return BernoulliNB(epsilon, **facts).fit(*data)

    return call


def _row_bounded(epsilon: float, relation: str, _n: int):
    # a record may have all features, so none has to be cut
    share = 0.1

    def sample(data, draws, rng):
        facts: dict[str, Any] = {"relation": relation, "class_share": share, "grid": SHARE_GRID}
        noisy = release_row_bounded(_counts(data), epsilon, D, draws=draws, rng=rng, **facts)
        return np.concatenate([noisy.on.reshape(draws, -1), noisy.n], axis=1)

    call = _fit(epsilon, relation, row_bound=D, class_share=share, selection="none")
    return call, sample, recorded(call, pasts=1)


def _published(epsilon: float, relation: str, _n: int):
    def sample(data, draws, rng):
        noisy = release_published(_counts(data), epsilon, relation=relation, draws=draws, rng=rng)
        assert noisy.off is not None
        return np.concatenate([noisy.on.reshape(draws, -1), noisy.off.reshape(draws, -1)], axis=1)

    call = _fit(epsilon, relation, method="published")
    return call, sample, recorded(call, pasts=1)


class _Probabilities:
    def __init__(self, log_probabilities: Callable[[Table], Any]):
        self.log_probabilities = log_probabilities


def _masks(kind: str, calibration: str = "range"):
    def build(epsilon: float, relation: str, n: int):
        schema = Schema.binary(D, n_lower=n)
        options: dict[str, Any] = {"calibration": calibration, "relation": relation, "schema": schema}

        def make(seed):
            return MaskSelector(epsilon, T, kind, random_state=seed, **options)

        return fitted(make, schema, lambda _, weights: mask_log_probability(weights, MASKS))

    return build


def _once(sample: Callable[..., Any]) -> Callable[[Table], Any]:
    """Return one run of a function that has no other path than draws."""
    return lambda data: sample(data, 1, np.random.default_rng(0))


def _totals(data: Table) -> NDArray[np.float64]:
    return data[0].sum(axis=0)


def _threshold_testing(epsilon: float, _relation: str, _n: int):
    def sample(data, draws, rng):
        return private_threshold_testing(_totals(data), epsilon, THRESHOLD, draws=draws, rng=rng) @ POWERS

    exact = _Probabilities(lambda data: threshold_testing_log_probabilities(_totals(data), epsilon, THRESHOLD))
    return _once(sample), sample, exact


def _clusters(epsilon: float, _relation: str, _n: int):
    options: dict[str, Any] = {"centres": [1.0, 2.0]}

    def sample(data, draws, rng):
        return cluster_selection(_totals(data), epsilon, THRESHOLD, draws=draws, rng=rng, **options) @ POWERS

    return (
        _once(sample),
        sample,
        _Probabilities(lambda data: cluster_selection_log_probabilities(_totals(data), epsilon, THRESHOLD, **options)),
    )


def _noisy_cut(epsilon: float, _relation: str, _n: int):
    def sample(data, draws, rng):
        return noisy_cut(_totals(data), epsilon, THRESHOLD, draws=draws, rng=rng) @ POWERS

    return _once(sample), sample, None


def _iterative(epsilon: float, _relation: str, n: int):
    step = sensitivity("mutual_information", n_rows=n)

    def sample(data, draws, rng):
        gains = _score(data, "mutual_information")
        return iterative_sampling(gains, epsilon, T, sensitivity=step, draws=draws, rng=rng) @ POWERS

    return _once(sample), sample, None


# name: how it is set up, and what the attacker sees, in words
EDITABLE: dict[str, tuple[Callable[..., Any], str]] = {
    "laplace": (_histogram("laplace"), "noisy numbers of records with and without feature a, in either class"),
    "geometric": (_histogram("geometric"), "noisy numbers of records with and without feature a, in either class"),
    "nb-row-bounded": (_row_bounded, "noisy counts of each feature in each class, and of the classes"),
    "nb-published": (_published, "noisy counts of each feature, on and off, in each class"),
    "mask-total_count": (_masks("total_count"), "two features, chosen by their counts"),
    "mask-difference_count": (_masks("difference_count"), "two features, chosen by the difference between classes"),
    "mask-count": (_masks("count"), "two features, chosen by the count heuristic"),
    "mask-mutual_information": (_masks("mutual_information"), "two features, chosen by mutual information"),
    "mask-published": (_masks("count", "published"), "two features, chosen by the count heuristic"),
    "private-threshold-testing": (_threshold_testing, f"the features whose count passes {THRESHOLD} plus noise"),
    "cluster-selection": (_clusters, f"the features in clusters whose centre passes {THRESHOLD}"),
    "noisy-cut": (_noisy_cut, f"the features whose noisy count passes {THRESHOLD} plus noise"),
    "iterative-sampling": (_iterative, "at most two features, by one toss of a coin each"),
}


def case_of(name: str, epsilon: float, relation: str, edited: tuple[str, str, int] | None) -> Case:
    """Return the catalogue's worst neighbours, or those edited by hand as (table, record, replaced)."""
    if edited is None:
        return method(name).case(epsilon, relation)
    data, neighbour = tables(relation, *edited)
    # what is public besides the relation: that there are at least as many records as the smaller table has
    call, sample, exact = EDITABLE[name][0](epsilon, relation, len(data[1]))
    return Case(data, neighbour, call, sample, exact, words="edited by hand")
