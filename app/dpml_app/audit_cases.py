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
from dpml.catalogue._method import IndependentLaplace
from dpml.counts import (
    Contingency,
    contingency,
    published_scale,
    release_published,
    release_row_bounded,
    row_bounded_scales,
)
from dpml.mechanisms import Geometric, Laplace
from dpml.selection import mask_log_probability, mask_weight, published_mask_weight, sample_masks, scores, sensitivity
from dpml.selection.published import (
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
        exact = IndependentLaplace(lambda data: [(_cells(data), factor / epsilon)])

        def sample(data, draws, rng):
            cells = _cells(data) if noise == "laplace" else _cells(data).astype(int)
            return mechanism.release(cells, draws=draws, rng=rng)

        return sample, exact

    return build


def _row_bounded(epsilon: float, relation: str, _n: int):
    # a record may have all features, so none has to be cut
    on, n = row_bounded_scales(epsilon, D, relation=relation)

    def statistics(data):
        counts = _counts(data)
        return [(counts.on, on), (counts.n, n)]

    def sample(data, draws, rng):
        noisy = release_row_bounded(_counts(data), epsilon, D, relation=relation, draws=draws, rng=rng)
        return np.concatenate([noisy.on.reshape(draws, -1), noisy.n], axis=1)

    return sample, IndependentLaplace(statistics)


def _published(epsilon: float, relation: str, _n: int):
    scale = published_scale(epsilon, D, relation=relation)

    def statistics(data):
        counts = _counts(data)
        return [(counts.on, scale), (counts.off, scale)]

    def sample(data, draws, rng):
        noisy = release_published(_counts(data), epsilon, relation=relation, draws=draws, rng=rng)
        assert noisy.off is not None
        return np.concatenate([noisy.on.reshape(draws, -1), noisy.off.reshape(draws, -1)], axis=1)

    return sample, IndependentLaplace(statistics)


class _Probabilities:
    def __init__(self, log_probabilities: Callable[[Table], Any]):
        self.log_probabilities = log_probabilities


def _masks(kind: str, calibration: str = "range"):
    def build(epsilon: float, relation: str, n: int):
        n_rows = n if kind == "mutual_information" else None
        if calibration == "published":
            weight = published_mask_weight(kind, relation, epsilon, T, n_rows=n_rows)
        else:
            weight = mask_weight(kind, relation, epsilon, T, D, n_rows=n_rows)

        def sample(data, draws, rng):
            return sample_masks(weight * _score(data, kind), T, draws, rng=rng) @ POWERS

        return sample, _Probabilities(lambda data: mask_log_probability(weight * _score(data, kind), MASKS))

    return build


def _totals(data: Table) -> NDArray[np.float64]:
    return data[0].sum(axis=0)


def _threshold_testing(epsilon: float, _relation: str, _n: int):
    def sample(data, draws, rng):
        return private_threshold_testing(_totals(data), epsilon, THRESHOLD, draws=draws, rng=rng) @ POWERS

    exact = _Probabilities(lambda data: threshold_testing_log_probabilities(_totals(data), epsilon, THRESHOLD))
    return sample, exact


def _clusters(epsilon: float, _relation: str, _n: int):
    options: dict[str, Any] = {"centres": [1.0, 2.0]}

    def sample(data, draws, rng):
        return cluster_selection(_totals(data), epsilon, THRESHOLD, draws=draws, rng=rng, **options) @ POWERS

    return sample, _Probabilities(
        lambda data: cluster_selection_log_probabilities(_totals(data), epsilon, THRESHOLD, **options)
    )


def _noisy_cut(epsilon: float, _relation: str, _n: int):
    def sample(data, draws, rng):
        return noisy_cut(_totals(data), epsilon, THRESHOLD, draws=draws, rng=rng) @ POWERS

    return sample, None


def _iterative(epsilon: float, _relation: str, n: int):
    step = sensitivity("mutual_information", n_rows=n)

    def sample(data, draws, rng):
        gains = _score(data, "mutual_information")
        return iterative_sampling(gains, epsilon, T, sensitivity=step, draws=draws, rng=rng) @ POWERS

    return sample, None


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
    sample, exact = EDITABLE[name][0](epsilon, relation, len(data[1]))
    return Case(data, neighbour, sample, exact, words="edited by hand")
