"""Methods on two small tables that a person typed: what `Method.editable` holds.

Each is set up for binary tables with two classes. What is public besides the relation is that there are at least as
many records as the smaller table has.
"""

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpml.catalogue._method import Case
from dpml.catalogue._recorded import recorded
from dpml.catalogue._selectors import fitted
from dpml.catalogue.editable import Table
from dpml.classifiers import BernoulliNB
from dpml.counts import contingency, release_published, release_row_bounded
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

T = 2
THRESHOLD = 1.5
Sides = tuple[Callable[[Table], Any], Callable[..., Any], Any]
Editable = Callable[[Table, Table, float, str], Case]


class _Public(NamedTuple):
    """Facts that two neighbours share: ε, the relation, features, and a lower bound on the number of records."""

    epsilon: float
    relation: str
    d: int
    n: int


def _typed(sides: Callable[[_Public], Sides], seen: str) -> Editable:
    def case(data: Table, neighbour: Table, epsilon: float, relation: str) -> Case:
        public = _Public(epsilon, relation, data[0].shape[1], min(len(data[1]), len(neighbour[1])))
        return Case(data, neighbour, *sides(public), words="typed records", seen=seen)

    return case


# ---- counts and classifiers -----------------------------------------------------------------------------------------


def _cells(data: Table) -> NDArray[np.float64]:
    X, codes = data
    return np.bincount(2 * codes + X[:, 0].astype(int), minlength=4).astype(float)


def typed_histogram(noise: type[Laplace] | type[Geometric]) -> Editable:
    """Return noisy numbers of records by class and first feature. A record that moves changes two of them."""

    def sides(public: _Public) -> Sides:
        mechanism = noise(public.epsilon, 1 if public.relation == "add-remove" else 2)

        def call(data):
            return mechanism.release(_cells(data), rng=np.random.default_rng(0))

        def sample(data, draws, rng):
            return mechanism.release(_cells(data), draws=draws, rng=rng)

        return call, sample, recorded(call, pasts=1)

    return _typed(sides, "noisy numbers of records with and without feature a, in either class")


def _fit(public: _Public, **options: Any) -> Callable[[Table], Any]:
    facts: dict[str, Any] = {"relation": public.relation, "schema": Schema.binary(public.d), "random_state": 0}

    def call(data):
        return BernoulliNB(public.epsilon, **facts, **options).fit(*data)

    return call


def typed_row_bounded() -> Editable:
    """Return row-bounded naive Bayes. A record may have all features, so that none has to be cut."""
    share = 0.1

    def sides(public: _Public) -> Sides:
        facts: dict[str, Any] = {"relation": public.relation, "class_share": share, "grid": SHARE_GRID}

        def sample(data, draws, rng):
            noisy = release_row_bounded(contingency(*data, 2), public.epsilon, public.d, draws=draws, rng=rng, **facts)
            return np.concatenate([noisy.on.reshape(draws, -1), noisy.n], axis=1)

        call = _fit(public, row_bound=public.d, class_share=share, selection="none")
        return call, sample, recorded(call, pasts=1)

    return _typed(sides, "noisy counts of each feature in each class, and of the classes")


def typed_published() -> Editable:
    """Return naive Bayes by Algorithm 1."""

    def sides(public: _Public) -> Sides:
        def sample(data, draws, rng):
            noisy = release_published(
                contingency(*data, 2), public.epsilon, relation=public.relation, draws=draws, rng=rng
            )
            assert noisy.off is not None
            return np.concatenate([noisy.on.reshape(draws, -1), noisy.off.reshape(draws, -1)], axis=1)

        call = _fit(public, method="published")
        return call, sample, recorded(call, pasts=1)

    return _typed(sides, "noisy counts of each feature, on and off, in each class")


# ---- sets of features, drawn as the number whose binary digits they are ----------------------------------------------


class _Probabilities:
    def __init__(self, log_probabilities: Callable[[Table], Any]):
        self.log_probabilities = log_probabilities


def typed_masks(kind: str, calibration: str, how: str) -> Editable:
    """Return mask sampling of two features by a score."""

    def sides(public: _Public) -> Sides:
        schema = Schema.binary(public.d, n_lower=public.n)
        masks = [m for m in itertools.product((False, True), repeat=public.d) if sum(m) == T]
        options: dict[str, Any] = {"calibration": calibration, "relation": public.relation, "schema": schema}

        def make(seed):
            return MaskSelector(public.epsilon, T, kind, random_state=seed, **options)

        return fitted(make, schema, lambda _, weights: mask_log_probability(weights, np.array(masks)), masks)

    return _typed(sides, f"two features, chosen by {how}")


def _totals(data: Table) -> NDArray[np.float64]:
    return data[0].sum(axis=0)


def _drawn_only(masks: Callable[..., Any], exact: Any = None) -> Sides:
    """Return the sides of a function that has no other path than draws, ``masks(data, draws, rng)``."""

    def sample(data, draws, rng):
        rows = masks(data, draws, rng)
        return rows @ (1 << np.arange(rows.shape[1]))

    return lambda data: sample(data, 1, np.random.default_rng(0)), sample, exact


def typed_threshold_testing() -> Editable:
    """Return private threshold testing of total counts."""

    def sides(public: _Public) -> Sides:
        def masks(data, draws, rng):
            return private_threshold_testing(_totals(data), public.epsilon, THRESHOLD, draws=draws, rng=rng)

        def probabilities(data):
            return threshold_testing_log_probabilities(_totals(data), public.epsilon, THRESHOLD)

        return _drawn_only(masks, _Probabilities(probabilities))

    return _typed(sides, f"the features whose count passes {THRESHOLD} plus noise")


def typed_clusters() -> Editable:
    """Return cluster selection by total counts."""
    options: dict[str, Any] = {"centres": [1.0, 2.0]}

    def sides(public: _Public) -> Sides:
        def masks(data, draws, rng):
            return cluster_selection(_totals(data), public.epsilon, THRESHOLD, draws=draws, rng=rng, **options)

        def probabilities(data):
            return cluster_selection_log_probabilities(_totals(data), public.epsilon, THRESHOLD, **options)

        return _drawn_only(masks, _Probabilities(probabilities))

    return _typed(sides, f"the features in clusters whose centre passes {THRESHOLD}")


def typed_noisy_cut() -> Editable:
    """Return NoisyCut of total counts."""

    def sides(public: _Public) -> Sides:
        def masks(data, draws, rng):
            return noisy_cut(_totals(data), public.epsilon, THRESHOLD, draws=draws, rng=rng)

        return _drawn_only(masks)

    return _typed(sides, f"the features whose noisy count passes {THRESHOLD} plus noise")


def typed_iterative() -> Editable:
    """Return iterative sampling by mutual information."""

    def sides(public: _Public) -> Sides:
        step = sensitivity("mutual_information", n_rows=public.n)

        def masks(data, draws, rng):
            gains = scores(*data, "mutual_information")
            return iterative_sampling(gains, public.epsilon, T, sensitivity=step, draws=draws, rng=rng)

        return _drawn_only(masks)

    return _typed(sides, "at most two features, each by one random draw")
