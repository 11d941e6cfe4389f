"""Claims of the feature selection methods."""

import itertools
from typing import Any

import numpy as np

from dpml.catalogue._fitted import fitted
from dpml.catalogue._method import Case, Method, neighbouring_tables, table_from_rows
from dpml.catalogue._recorded import first_drawn
from dpml.catalogue._typed import typed_clusters, typed_iterative, typed_masks, typed_noisy_cut, typed_threshold_testing
from dpml.schema import Schema
from dpml.selection import MaskSelector, PublishedSelector, mask_log_probability, scores, sensitivity
from dpml.selection.as_published import (
    cluster_selection,
    cluster_selection_log_probabilities,
    iterative_sampling,
    noisy_cut,
    private_threshold_testing,
    threshold_testing_log_probabilities,
)

D, T = 4, 2
MASKS = [m for m in itertools.product((False, True), repeat=D) if sum(m) == T]


def _mask(kind: str, calibration: str, neighbours: Any = None, **options: Any):
    def case(epsilon: float, relation: str) -> Case:
        n_rows = 400 if kind == "mutual_information" else None
        schema = Schema.binary(D, n_lower=n_rows)
        more: dict[str, Any] = {"calibration": calibration, "relation": relation, "schema": schema, **options}

        def make(seed):
            return MaskSelector(epsilon, T, kind, random_state=seed, **more)

        data, neighbour = (neighbours or neighbouring_tables)(kind, relation, make(0).weight(schema))
        sides = fitted(make, schema, lambda _, weights: mask_log_probability(weights, np.array(MASKS)), MASKS)
        return Case(data, neighbour, *sides, words="two poor features gain from the record, two good lose")

    return case


def _threshold_testing(epsilon: float, relation: str) -> Case:
    def call(data):
        return private_threshold_testing(data, epsilon, 1.5, rng=np.random.default_rng(0))

    class Exact:
        def log_probabilities(self, data):
            mechanism, threshold = first_drawn(call, data)
            return threshold_testing_log_probabilities(data, mechanism.epsilon, float(np.ravel(threshold)[0]))

    return Case(
        np.array([1.0, 1.0]),
        np.array([2.0, 1.0]),
        call,
        lambda data, draws, rng: private_threshold_testing(data, epsilon, 1.5, draws=draws, rng=rng) @ [1, 2],
        Exact(),
        words="total counts (1, 1), and (2, 1) with one record more",
    )


def _clusters(epsilon: float, relation: str) -> Case:
    options: dict[str, Any] = {"centres": [1.0, 2.0]}

    class Exact:
        def log_probabilities(self, data):
            return cluster_selection_log_probabilities(data, epsilon, 1.5, **options)

    return Case(
        np.array([1.0, 1.0]),
        np.array([2.0, 1.0]),
        lambda data: cluster_selection(data, epsilon, 1.5, rng=np.random.default_rng(0), **options),
        lambda data, draws, rng: cluster_selection(data, epsilon, 1.5, draws=draws, rng=rng, **options) @ [1, 2],
        Exact(),
        words="total counts (1, 1), and (2, 1) with one record more",
    )


def _noisy_cut(epsilon: float, relation: str) -> Case:
    low, high = np.zeros(40), np.repeat([1.0, 0.0], 20)
    return Case(
        high,
        low,
        lambda data: noisy_cut(data, epsilon, 0.0, rng=np.random.default_rng(0)),
        lambda data, draws, rng: noisy_cut(data, epsilon, 0.0, draws=draws, rng=rng),
        score=lambda outputs: outputs[:, :20].sum(axis=1) - 1.0 * outputs[:, 20:].sum(axis=1),
        words="40 equal total counts, and an added record raises half of them",
    )


def _iterative(epsilon: float, relation: str) -> Case:
    features, n = 12, 400
    step = sensitivity("mutual_information", n_rows=n)
    on = list(range(features))
    rows = [(on, 1)] * (3 * n // 8) + [([], 0)] * (3 * n // 8) + [([], 1)] * (n // 8) + [(on, 0)] * (n // 8)
    # equal features; the record agrees with the class in all features but 0, which falls from first place to last
    record = [(list(range(1, features)), 1)]
    before = scores(*table_from_rows(rows, features), "mutual_information")
    after = scores(*table_from_rows(rows + record, features), "mutual_information")
    return Case(
        before,
        after,
        lambda data: iterative_sampling(data, epsilon, 1, sensitivity=step, rng=np.random.default_rng(0)),
        lambda data, draws, rng: iterative_sampling(data, epsilon, 1, sensitivity=step, draws=draws, rng=rng),
        score=lambda outputs: outputs[:, 0].astype(float),
        draws=100_000,
        words="12 equal features, and an added record moves the first one to the last place",
    )


_KINDS = {
    "total_count": "total counts",
    "difference_count": "difference counts",
    "count": "the count heuristic",
    "mutual_information": "mutual information",
}

_TYPED_KINDS = {
    **_KINDS,
    "total_count": "their counts",
    "difference_count": "the difference between classes",
}

METHODS = (
    *(
        Method(
            f"mask-{kind}",
            f"Mask sampling by {title}",
            "selection",
            ("dpml.selection.MaskSelector", "dpml.selection.MaskSelector[range]", f"dpml.selection.scores[{kind}]"),
            "[antonova2016], Algorithm 5, with weights by the range of the score change (docs/explanation/errata.md)",
            "ε for the whole set of features",
            _mask(kind, "range"),
            editable=typed_masks(kind, "range", _TYPED_KINDS[kind]),
        )
        for kind, title in _KINDS.items()
    ),
    Method(
        "mask-published",
        "Mask sampling with the weights of Antonova 2016",
        "selection",
        ("dpml.selection.MaskSelector[published]",),
        "[antonova2016], Algorithm 5, eq. 3.26 and 3.30",
        "ε for the whole set of features",
        _mask("count", "published"),
        cost="at most ε, half of it with the count heuristic under add/remove",
        editable=typed_masks("count", "published", _TYPED_KINDS["count"]),
    ),
    Method(
        "private-threshold-testing",
        "Private threshold testing",
        "selection",
        (
            "dpml.selection.as_published.private_threshold_testing",
            "dpml.selection.PublishedSelector[threshold-testing]",
        ),
        "[stoddard2014], Algorithm 2",
        "2ε for any scores, ε for total counts",
        _threshold_testing,
        private=PublishedSelector.private,
        cost="no ε: one output is possible on one side only",
        true_epsilon=lambda epsilon: np.inf,
        relations=("add-remove",),
        editable=typed_threshold_testing(),
    ),
    Method(
        "cluster-selection",
        "Cluster selection",
        "selection",
        ("dpml.selection.as_published.cluster_selection", "dpml.selection.PublishedSelector[clusters]"),
        "[stoddard2014], Algorithm 1",
        "ε",
        _clusters,
        private=PublishedSelector.private,
        cost="no ε: features join clusters by their exact counts",
        true_epsilon=lambda epsilon: np.inf,
        relations=("add-remove",),
        editable=typed_clusters(),
    ),
    Method(
        "noisy-cut",
        "NoisyCut",
        "selection",
        ("dpml.selection.as_published.noisy_cut", "dpml.selection.PublishedSelector[noisy-cut]"),
        "[stoddard2014], section 3.4, after [lee-clifton2014]",
        "ε, for any number of features",
        _noisy_cut,
        private=PublishedSelector.private,
        cost="up to ε1 + min(positives, negatives)·ε2 for monotone scores (ε1 for the threshold, ε2 for each answer)",
        true_epsilon=lambda epsilon: epsilon / 2 + 20 * epsilon / 2,
        relations=("add-remove",),
        editable=typed_noisy_cut(),
    ),
    Method(
        "iterative-sampling",
        "Iterative sampling",
        "selection",
        ("dpml.selection.as_published.iterative_sampling", "dpml.selection.PublishedSelector[iterative]"),
        "[antonova2016], Algorithm 4",
        "ε if the loop stops after T turns",
        _iterative,
        private=PublishedSelector.private,
        cost="grows with the number of features: order and shift come from the exact scores",
        true_epsilon=lambda epsilon: np.inf,
        relations=("add-remove",),
        editable=typed_iterative(),
    ),
)
