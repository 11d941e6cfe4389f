"""Claims of the selectors that rank noisy scores, choose the best ones, or ask each feature for a threshold."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from dpml.catalogue._method import Case, IndependentLaplace, Method, neighbouring_tables
from dpml.counts import contingency
from dpml.mechanisms import PermuteAndFlip, SparseVector
from dpml.schema import Schema
from dpml.selection import (
    MaskSelector,
    NoisyScoreSelector,
    SparseVectorSelector,
    TopSelector,
    mask_log_probability,
    scores,
)

D, T = 4, 2
SCHEMA = Schema.binary(D)
SETS = list(itertools.combinations(range(D), T))
SEQUENCES = list(itertools.permutations(range(D), T))


def _sampler(selector: Any, schema: Schema = SCHEMA):
    def sample(data, draws, rng):
        masks = selector.masks(contingency(*data, 2), schema, draws=draws, rng=rng)
        return masks @ (1 << np.arange(schema.n_features))

    return sample


class _Sets:
    """The probabilities of `TopSelector`'s sets on (X, codes) by count, from the definition of each method."""

    def __init__(self, selector: TopSelector, span: float):
        self.epsilon, self.method, self.span = selector.epsilon, selector.method, span

    def log_probabilities(self, data: Any) -> Any:
        q = scores(data[0], data[1], "count") * self.epsilon / self.span
        if self.method == "one-shot":
            return np.array([_one_shot_log_probability(q / T, chosen) for chosen in SETS])
        of_sequence = self._joint(q) if self.method == "joint" else [self._peeled(q / T, s) for s in SEQUENCES]
        logs = dict(zip(SEQUENCES, of_sequence, strict=True))
        return np.array([np.logaddexp.reduce([logs[s] for s in itertools.permutations(c)]) for c in SETS])

    def _joint(self, q: Any) -> list[float]:
        best = -np.sort(-q)
        logs = np.array([-(best[:T] - q[list(s)]).max() / 2 for s in SEQUENCES])
        return list(logs - np.logaddexp.reduce(logs))

    def _peeled(self, q: Any, sequence: tuple[int, ...]) -> float:
        left, total = list(range(D)), 0.0
        for feature in sequence:
            values, place = q[left], left.index(feature)
            if self.method == "peeling":
                total += values[place] - np.logaddexp.reduce(values)
            else:
                total += np.log(PermuteAndFlip(1.0, 1.0).probabilities(values)[place])
            left.remove(feature)
        return float(total)


def _one_shot_log_probability(q: Any, chosen: tuple[int, ...]) -> float:
    """Return log P(the chosen are the largest) for q plus exponential noise, by quadrature over the best other."""
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
        selector = TopSelector(epsilon, T, "count", method=method, relation=relation)
        span = 1.0 if relation == "add-remove" else 2.0
        data, neighbour = neighbouring_tables("count", relation, epsilon / span / T)
        exact = _Sets(selector, span)
        return Case(data, neighbour, _sampler(selector), exact, words="two poor features gain, two good ones lose")

    return case


def _per_feature(epsilon: float, relation: str) -> Case:
    many, schema = 2 * D, Schema.binary(2 * D)
    selector = MaskSelector(epsilon, D, "count", calibration="per-feature", relation=relation)
    weight = selector.weight(schema)
    masks = np.array([m for m in itertools.product((False, True), repeat=many) if sum(m) == D])

    class Exact:
        def log_probabilities(self, data):
            return mask_log_probability(weight * scores(data[0], data[1], "count"), masks)

    data, neighbour = ((np.repeat(X, 2, axis=1), codes) for X, codes in neighbouring_tables("count", relation, weight))
    return Case(data, neighbour, _sampler(selector, schema), Exact(), words="four poor features gain, four good lose")


def _perturbed_scores(epsilon: float, relation: str) -> Case:
    selector = NoisyScoreSelector(epsilon, T, "count", relation=relation)
    scale = selector.noise(SCHEMA).scale

    def statistics(data):
        X, codes = data
        # the order of the scores does not change with what they have in common, half the difference of the classes
        return [(scores(X, codes, "count") - abs(codes.sum() - (1 - codes).sum()) / 2, scale)]

    data, neighbour = neighbouring_tables("count", relation, epsilon)
    words = "two features gain from the record, two lose"
    return Case(data, neighbour, _sampler(selector), IndependentLaplace(statistics), words=words)


def _perturbed_threshold(epsilon: float, relation: str) -> Case:
    selector = NoisyScoreSelector(epsilon, score="total_count", threshold=60.0, row_bound=2, relation=relation)
    scale = selector.noise(SCHEMA).scale

    def statistics(data):
        return [(scores(data[0], data[1], "total_count"), scale)]

    data, neighbour = neighbouring_tables("total_count", relation, 1.0)
    sample = _sampler(selector)
    return Case(data, neighbour, sample, IndependentLaplace(statistics), words="a record of r ones comes, or moves")


def _sparse_vector(epsilon: float, relation: str) -> Case:
    threshold = 60.0
    selector = SparseVectorSelector(epsilon, threshold, 1, "difference_count", relation=relation)
    technique: SparseVector = selector.technique(SCHEMA)
    # the order is public: the answers in one order have the largest ratio that they have in any, by symmetry of roles
    answers = [(0,) * k + (1,) + (-1,) * (D - 1 - k) for k in range(D)] + [(0,) * D]

    class Exact:
        def log_probabilities(self, data):
            values = scores(data[0], data[1], "difference_count")
            orders = itertools.permutations(range(D))
            return np.concatenate(
                [[technique.log_probability(a, values[list(order)], threshold) for a in answers] for order in orders]
            )

    data, neighbour = neighbouring_tables("difference_count", relation, 1.0)
    return Case(data, neighbour, _sampler(selector), Exact(), words="two differences rise and two fall")


_TOP = {
    "joint": (
        "Joint exponential mechanism",
        "sample_joint",
        "Gillenwater et al. 2022, Algorithm 1; the range: derived",
    ),
    "one-shot": (
        "One shot of exponential noise",
        "one_shot",
        "derived here; Qiao, Su and Zhang 2021 with Laplace noise",
    ),
    "peeling": ("Peeling", "peel", "Durfee and Rogers 2019, Lemma 4.2"),
    "permute-and-flip": ("Peeling by permute-and-flip", "peel", "McKenna and Sheldon 2020"),
}

METHODS = (
    *(
        Method(
            f"top-{name}",
            title,
            "selection",
            (f"dpml.selection.TopSelector[{name}]", f"dpml.selection.{function}"),
            source,
            "ε for the set of the T best features",
            True,
            _top(name),
        )
        for name, (title, function, source) in _TOP.items()
    ),
    Method(
        "mask-per-feature",
        "Mask sampling with a weight of ε/(2Δ) for each feature",
        "selection",
        ("dpml.selection.MaskSelector[per-feature]",),
        "000 section 3.5.3 and Fig. 3.11, 3.12, 3.18, which state ε for each feature; audited with T = 4 of 8",
        "ε for each feature",
        True,
        _per_feature,
        cost="up to min(T, D - T)·ε for the set; half of it with the count heuristic: 2ε for 4 of 8",
        true_epsilon=lambda epsilon: 2 * epsilon,
    ),
    Method(
        "score-perturbation",
        "Score perturbation, the T best",
        "selection",
        ("dpml.selection.NoisyScoreSelector",),
        "002 section 3.2; 000 Algorithm 3; up to a common shift: derived",
        "ε for the set of features",
        True,
        _perturbed_scores,
    ),
    Method(
        "score-perturbation-threshold",
        "Score perturbation, all above a threshold",
        "selection",
        ("dpml.selection.NoisyScoreSelector",),
        "002 section 3.2",
        "ε for the set of features",
        True,
        _perturbed_threshold,
    ),
    Method(
        "sparse-vector-selection",
        "Sparse vector selection",
        "selection",
        ("dpml.selection.SparseVectorSelector",),
        "Lyu, Su and Li 2017, Algorithm 1; the repair of 002's threshold testing",
        "ε for any number of features, up to the cut-off of them kept",
        True,
        _sparse_vector,
    ),
)
