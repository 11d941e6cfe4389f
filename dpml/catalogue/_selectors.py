"""Claims of the selectors that rank noisy scores, choose the best features, or compare each one with a threshold."""

import itertools
import math
from typing import Any

import numpy as np

from dpml.catalogue._fitted import fitted, mask_law, spread_table
from dpml.catalogue._limited_domain import limited_domain_case
from dpml.catalogue._method import Case, Method, balanced_tables, neighbouring_tables
from dpml.catalogue._recorded import first_drawn
from dpml.mechanisms import PermuteAndFlip, SparseVector
from dpml.schema import Schema
from dpml.selection import (
    MaskSelector,
    NoisyClusterSelector,
    NoisyCountSelector,
    NoisyScoreSelector,
    SparseVectorSelector,
    TopSelector,
    mask_log_probability,
)

D, T, R = 4, 2, 2
SCHEMA = Schema.binary(D)
SETS = list(itertools.combinations(range(D), T))
SEQUENCES = list(itertools.permutations(range(D), T))


# ---- probabilities of TopSelector's sets, from the definition of each method and the scores at the boundary ----------


def _of_sequences(of_sequence: Any) -> Any:
    logs = dict(zip(SEQUENCES, of_sequence, strict=True))
    return np.array([np.logaddexp.reduce([logs[s] for s in itertools.permutations(c)]) for c in SETS])


def _joint(mechanism: Any, statistic: Any) -> Any:
    q = mechanism.weight * np.asarray(statistic)
    best = -np.sort(-q)
    logs = np.array([-(best[:T] - q[list(s)]).max() / 2 for s in SEQUENCES])
    return _of_sequences(logs - np.logaddexp.reduce(logs))


def _one_shot(mechanism: Any, q: Any) -> Any:
    return np.array([_one_shot_log_probability(q, chosen) for chosen in SETS])


def _peeled(flip: bool):
    def probabilities(mechanism: Any, q: Any) -> Any:
        return _of_sequences([sequence_log_probability(q, s) for s in SEQUENCES])

    def sequence_log_probability(q: Any, sequence: tuple[int, ...]) -> float:
        left, total = list(range(D)), 0.0
        for feature in sequence:
            values, place = q[left], left.index(feature)
            if flip:
                total += np.log(PermuteAndFlip(1.0, 1.0).probabilities(values)[place])
            else:
                total += values[place] - np.logaddexp.reduce(values)
            left.remove(feature)
        return float(total)

    return probabilities


PROBABILITIES: dict[str, Any] = {
    "joint": _joint,
    "one-shot": _one_shot,
    "peeling": _peeled(False),
    "permute-and-flip": _peeled(True),
}


def _one_shot_log_probability(q: Any, chosen: tuple[int, ...]) -> float:
    """Return log P(the chosen are the largest) of q plus exponential noise, by quadrature over the best other."""
    inside, outside = q[list(chosen)], np.delete(q, list(chosen))
    knots = np.unique(np.append(q, outside.max() + np.arange(0.0, 60.0, 1.0)))
    x, w = np.polynomial.legendre.leggauss(24)
    low, high = knots[:-1, None], knots[1:, None]
    m = ((low + high) / 2 + (high - low) / 2 * x).ravel()
    weight = ((high - low) / 2 * w).ravel()
    density, below = (f(np.maximum(m[:, None] - outside, 0.0)) for f in (lambda z: np.exp(-z), lambda z: -np.expm1(-z)))
    density = np.where(m[:, None] > outside, density, 0.0)
    best_other = sum(density[:, j] * np.delete(below, j, axis=1).prod(axis=1) for j in range(outside.size))
    tails = np.minimum(inside - m[:, None], 0.0).sum(axis=1)
    with np.errstate(divide="ignore"):
        return float(np.logaddexp.reduce(tails + np.log(best_other) + np.log(weight)))


def _top(method: str):
    def case(epsilon: float, relation: str) -> Case:
        span = 1.0 if relation == "add-remove" else 2.0
        data, neighbour = neighbouring_tables("count", relation, epsilon / span / T)
        options: dict[str, Any] = {"method": method, "relation": relation, "schema": SCHEMA}

        def make(seed):
            return TopSelector(epsilon, T, "count", random_state=seed, **options)

        words = "two poor features gain, two good ones lose"
        masks = [tuple(i in chosen for i in range(D)) for chosen in SETS]
        sides = fitted(make, SCHEMA, PROBABILITIES[method], masks)
        return Case(data, neighbour, *sides, words=words, law=mask_law(sides, spread_table(T * span / epsilon, D)))

    return case


# with fewer choices a share of ε each is no less
CHOICES, DELTA = 8, 1e-5
MANY = list(itertools.combinations(range(2 * CHOICES), CHOICES))


def _sets_of_many(mechanism: Any, q: Any) -> Any:
    """Return log P of each set of T peeled features, step by step over all sets of one feature more."""
    features = 1 << np.arange(q.size)
    sets = np.arange(1 << q.size)
    weight = np.exp(q - q.max())
    left = np.where(sets[:, None] & features, 0.0, weight).sum(axis=1)
    chosen = np.zeros(sets.size)
    chosen[0] = 1.0
    for _ in range(CHOICES):
        before, chosen = chosen, np.zeros(sets.size)
        for feature, part in zip(features, weight, strict=True):
            without = sets[(sets & feature == 0) & (before > 0)]
            chosen[without | feature] += before[without] * part / left[without]
    return np.log(chosen[[sum(1 << i for i in s) for s in MANY]])


def _peeled_under_delta(epsilon: float, relation: str) -> Case:
    schema = Schema.binary(2 * CHOICES)
    options: dict[str, Any] = {"method": "peeling", "delta": DELTA, "relation": relation, "schema": schema}
    data, neighbour = ((np.repeat(X, 4, axis=1), codes) for X, codes in balanced_tables(relation))

    def make(seed):
        return TopSelector(epsilon, CHOICES, "count", random_state=seed, **options)

    masks = [tuple(i in chosen for i in range(2 * CHOICES)) for chosen in MANY]
    sides = fitted(make, schema, _sets_of_many, masks)
    law = mask_law(sides, spread_table(CHOICES / epsilon, 2 * CHOICES))
    return Case(data, neighbour, *sides, words="eight equal scores rise, eight fall", draws=200_000, law=law)


def _per_feature(epsilon: float, relation: str) -> Case:
    many, schema = 2 * D, Schema.binary(2 * D)
    options: dict[str, Any] = {"calibration": "per-feature", "relation": relation, "schema": schema}
    weight = MaskSelector(epsilon, D, "count", **options).weight(schema)
    masks = np.array([m for m in itertools.product((False, True), repeat=many) if sum(m) == D])

    def make(seed):
        return MaskSelector(epsilon, D, "count", random_state=seed, **options)

    data, neighbour = ((np.repeat(X, 2, axis=1), codes) for X, codes in neighbouring_tables("count", relation, weight))
    sides = fitted(make, schema, lambda _, weights: mask_log_probability(weights, masks))
    return Case(data, neighbour, *sides, words="four poor scores rise, four good scores fall")


def _perturbed_scores(epsilon: float, relation: str) -> Case:
    def make(seed):
        return NoisyScoreSelector(epsilon, T, "count", relation=relation, schema=SCHEMA, random_state=seed)

    call, sample, _ = fitted(make, SCHEMA)
    # the recorder treats the noisy scores as released, but the chosen set does not depend on a shift of all scores
    data, neighbour = neighbouring_tables("count", relation, epsilon)
    exact = _UpToAShift(call)
    return Case(data, neighbour, call, sample, exact, words="two scores rise, two fall")


class _UpToAShift:
    """The cost of the order of noisy scores. A common shift does not matter: the cost is that of the best shift."""

    def __init__(self, call: Any):
        self.call = call

    def privacy_loss(self, data: Any, neighbour: Any) -> float:
        (mechanism, one), (other, two) = (first_drawn(self.call, side) for side in (data, neighbour))
        if mechanism != other:
            return math.inf
        change = np.ravel(np.subtract(one, two))
        return float(np.abs(change - np.median(change)).sum() / mechanism.scale)


def _from_counts(kind: Any, **options: Any):
    """Return a case of a selector that ranks features by released counts."""

    def case(epsilon: float, relation: str) -> Case:
        def make(seed):
            more: dict[str, Any] = {"relation": relation, "schema": SCHEMA, "random_state": seed, **options}
            return kind(epsilon, n_features=T, score="total_count", **more)

        data, neighbour = neighbouring_tables("total_count", relation, 1.0)
        if relation == "replace-one":  # the record changes its class too
            data = data[0], np.append(data[1][:-1], 0)
        draws = 300 if kind is NoisyClusterSelector else 20_000  # each draw searches for its clusters again
        return Case(
            data, neighbour, *fitted(make, SCHEMA), draws=draws, words="a record of r ones is added, or replaced"
        )

    return case


def _perturbed_threshold(epsilon: float, relation: str) -> Case:
    options: dict[str, Any] = {"threshold": 60.0, "row_bound": 2, "relation": relation, "schema": SCHEMA}

    def make(seed):
        return NoisyScoreSelector(epsilon, score="total_count", random_state=seed, **options)

    data, neighbour = neighbouring_tables("total_count", relation, 1.0)
    return Case(data, neighbour, *fitted(make, SCHEMA), words="a record of r ones is added, or replaced")


def _sparse_vector(epsilon: float, relation: str) -> Case:
    # the selector asks the features in a random order, which is public: answers are enumerated for every order
    answers = [(0,) * k + (1,) + (-1,) * (D - 1 - k) for k in range(D)] + [(0,) * D]

    def probabilities(technique: SparseVector, excess: Any) -> Any:
        values = np.ravel(excess)
        orders = itertools.permutations(range(D))
        return np.concatenate(
            [[technique.log_probability(a, values[list(order)], 0.0) for a in answers] for order in orders]
        )

    def make(seed):
        options: dict[str, Any] = {"relation": relation, "schema": SCHEMA, "random_state": seed}
        return SparseVectorSelector(epsilon, 60.0, 1, "difference_count", **options)

    data, neighbour = neighbouring_tables("difference_count", relation, 1.0)
    return Case(data, neighbour, *fitted(make, SCHEMA, probabilities), words="two scores rise, two fall")


_TOP = {
    "joint": (
        "Joint exponential mechanism",
        "sample_joint",
        "[gillenwater2022], Algorithm 1 (range derived here)",
    ),
    "one-shot": (
        "One shot of exponential noise",
        "one_shot",
        "derived here, [qiao2021] with Laplace noise",
    ),
    "peeling": ("Peeling", "peel", "[durfee-rogers2019], Lemma 4.2"),
    "permute-and-flip": ("Peeling by permute-and-flip", "peel", "[mckenna-sheldon2020]"),
}

ROWS = "derived here (docs/explanation/errata.md), with the row sampling of [stoddard2014]"

METHODS = (
    *(
        Method(
            f"top-{name}",
            title,
            "selection",
            (f"dpml.selection.TopSelector[{name}]", f"dpml.selection.{function}"),
            source,
            "ε for the set of the T best features",
            _top(name),
        )
        for name, (title, function, source) in _TOP.items()
    ),
    Method(
        "top-peeling-delta",
        "Peeling under (ε, δ)",
        "selection",
        ("dpml.selection.TopSelector[peeling]", "dpml.selection.peel", "dpml.mechanisms.choice_epsilon"),
        "[dong2020], with the conversion of [canonne2020], audited with T = 8 of 16 at δ = 1e-5",
        "(ε, δ) for the set of the T best features",
        _peeled_under_delta,
        cost="as claimed, but the conversion to (ε, δ) is loose",
        delta=DELTA,
    ),
    Method(
        "top-limited-domain",
        "Top-k over a limited domain",
        "selection",
        ("dpml.selection.TopSelector[limited-domain]", "dpml.selection.top.limited_domain"),
        "[durfee-rogers2019], Algorithm 1 (constants derived here), audited with T = 2 of 8 at δ = 1e-5",
        "(ε, δ) for the set of at most T features",
        limited_domain_case,
        delta=DELTA,
    ),
    Method(
        "mask-per-feature",
        "Mask sampling with a weight of ε/(2Δ) for each feature",
        "selection",
        ("dpml.selection.MaskSelector[per-feature]",),
        "[antonova2016], section 3.5.3, Fig. 3.11, 3.12, 3.18, which state ε for each feature, audited with T = 4 of 8",
        "ε for each feature",
        _per_feature,
        cost="up to min(T, D - T)·ε for the set, half of it with the count heuristic: 2ε for 4 of 8",
        true_epsilon=lambda epsilon: 2 * epsilon,
    ),
    *(
        Method(
            f"{name}-selection{suffix}",
            title,
            "selection",
            (f"dpml.selection.{kind.__name__}", *(f"dpml.selection.{kind.__name__}[{m}]" for m in options.values())),
            source,
            "ε for the counts, and for the set of features that they give",
            _from_counts(kind, row_bound=R, **options),
        )
        for name, suffix, title, kind, source, options in (
            ("noisy-counts", "", "Features by row-bounded counts", NoisyCountSelector, ROWS, {"method": "row-bounded"}),
            (
                "noisy-counts",
                "-published",
                "Features by the counts of Algorithm 1",
                NoisyCountSelector,
                "[antonova2016], Algorithm 1",
                {"method": "published"},
            ),
            ("noisy-clusters", "", "Clusters of row-bounded counts", NoisyClusterSelector, ROWS, {}),
        )
    ),
    Method(
        "score-perturbation",
        "Score perturbation, the T best features",
        "selection",
        ("dpml.selection.NoisyScoreSelector",),
        "[stoddard2014], section 3.2, and [antonova2016], Algorithm 3 (cost up to a common shift derived here)",
        "ε for the set of features",
        _perturbed_scores,
    ),
    Method(
        "score-perturbation-threshold",
        "Score perturbation, all features above a threshold",
        "selection",
        ("dpml.selection.NoisyScoreSelector",),
        "[stoddard2014], section 3.2",
        "ε for the set of features",
        _perturbed_threshold,
    ),
    Method(
        "sparse-vector-selection",
        "Sparse vector selection",
        "selection",
        ("dpml.selection.SparseVectorSelector",),
        "[lyu2017], Algorithm 1, which repairs the threshold testing in [stoddard2014]",
        "ε for any number of features, of which at most a stated number are selected",
        _sparse_vector,
    ),
)
