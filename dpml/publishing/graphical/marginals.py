"""The releases of MST and AIM: which marginals are chosen, and their noise. No model is needed to say what they cost.

Both methods were published for Gaussian noise and (ε, δ). Here they have Laplace noise and cost ε alone, like all other
publishers.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_epsilon, check_integer, check_relation
from dpml.budget.shares import equal_share
from dpml.classifiers.grid import Records
from dpml.classifiers.grid.cells import MOST_CELLS, divided
from dpml.classifiers.grid.counts import marginal_counts, side_by_side
from dpml.counts import FACTOR
from dpml.mechanisms.private import statistic
from dpml.mechanisms.source import Source

__all__ = ["AIM_SHARES", "MST_SHARES", "Marginal", "independent", "release_aim", "release_mst"]

FloatArray = NDArray[np.float64]
Attributes = tuple[int, ...]
# the expected counts of a marginal under a model
Expected = Callable[[Attributes], FloatArray]
# shares of ε for the single attributes, the choice of pairs, and the pairs
MST_SHARES = (1 / 3, 1 / 3, 1 / 3)
# shares of a round's ε for its choice and its marginal (McKenna et al. 2022)
AIM_SHARES = (0.1, 0.9)


@dataclass(frozen=True)
class Marginal:
    """A released marginal: its attributes (the class is the last one), noisy counts, and the scale of their noise."""

    attributes: Attributes
    counts: FloatArray
    scale: float


@statistic
def _distance(counts: FloatArray, expected: FloatArray) -> float:
    """Return the L1 distance of exact counts from those that a model expects."""
    return float(np.abs(counts - expected).sum())


@statistic
def _need(counts: FloatArray, expected: FloatArray, noise: float, weight: float) -> float:
    """Return by how much a model is off, more than the noise would be, times the weight of the marginal."""
    return weight * (_distance(counts, expected) - noise)


def independent(marginals: Sequence[Marginal], sizes: Sequence[int]) -> Expected:
    """Return the expected counts if all attributes are independent, from released single attributes."""
    total, shares = total_of(marginals), {}
    for marginal in marginals:
        if len(marginal.attributes) == 1:
            kept = np.maximum(marginal.counts, 0.0)
            shares[marginal.attributes[0]] = kept / kept.sum() if kept.sum() > 0 else np.full(len(kept), 1 / len(kept))

    def expected(attributes: Attributes) -> FloatArray:
        table: Any = np.array(total)
        for j in attributes:
            table = table[..., None] * shares[j]
        return table

    return expected


def total_of(marginals: Sequence[Marginal]) -> float:
    """Return the number of records: the mean of what the marginals say, weighted by precision, at least 1."""
    weights = np.array([1 / (m.counts.size * m.scale**2) for m in marginals])
    total = float((weights / weights.sum()) @ np.array([m.counts.sum() for m in marginals]))
    return max(total, 1.0)


def _singles(records: Records, epsilon: float, factor: int, source: Source) -> list[Marginal]:
    """Release all single attributes at once: a record is in one cell of each of the d, so the L1 sensitivity is d."""
    sizes = records.sizes
    exact = [marginal_counts(records, (j,)) for j in range(len(sizes))]
    sensitivity = factor * len(sizes)
    noisy = source.counts(side_by_side(exact), epsilon, sensitivity)
    parts = np.split(noisy, np.cumsum(sizes)[:-1])
    return [Marginal((j,), part, sensitivity / epsilon) for j, part in enumerate(parts)]


def release_mst(
    records: Records,
    epsilon: float,
    *,
    shares: Sequence[float] = MST_SHARES,
    relation: str = "add-remove",
    rng: np.random.Generator | None = None,
    secure: bool = False,
) -> list[Marginal]:
    """Release all single attributes and a tree of pairs of attributes (McKenna et al. 2021).

    Privacy: ε, in three shares. With d attributes, the class included: (1) their single marginals, L1 sensitivity d.
    (2) d - 1 choices of a pair between two parts of the tree that are not yet joined, each with an equal part, by the
    L1 distance of its counts from those that (1) leads to expect. One record changes one count, so a score changes by
    at most 1 in either direction: range 2. (3) The d - 1 pairs, L1 sensitivity d - 1. Twice each under replace-one.
    """
    source = Source(rng, secure)
    for_singles, for_choice, for_pairs = divided(epsilon, shares)
    factor = FACTOR[check_relation(relation)]
    sizes = records.sizes
    d = len(sizes)
    marginals = _singles(records, for_singles, factor, source)
    expected = independent(marginals, sizes)
    pairs = [pair for pair in combinations(range(d), 2) if sizes[pair[0]] * sizes[pair[1]] <= MOST_CELLS]
    distances = {p: _distance(marginal_counts(records, p), expected(p)) for p in pairs}
    part = list(range(d))
    chosen: list[Attributes] = []
    while left := [(a, b) for a, b in pairs if part[a] != part[b]]:
        scores = [distances[pair] for pair in left]
        a, b = left[source.choice(scores, equal_share(for_choice, d - 1), 2.0 * factor)]
        chosen.append((a, b))
        joined = part[b]
        part = [part[a] if p == joined else p for p in part]
    if chosen:
        sensitivity = factor * len(chosen)
        exact = side_by_side([marginal_counts(records, pair) for pair in chosen])
        noisy = source.counts(exact, for_pairs, sensitivity)
        ends = np.cumsum([sizes[a] * sizes[b] for a, b in chosen])[:-1]
        for (a, b), counts in zip(chosen, np.split(noisy, ends), strict=True):
            marginals.append(Marginal((a, b), counts.reshape(sizes[a], sizes[b]), sensitivity / for_pairs))
    return marginals


def release_aim(
    records: Records,
    epsilon: float,
    *,
    n_rounds: int | None = None,
    relation: str = "add-remove",
    estimate: Callable[[Sequence[Marginal], Sequence[int]], Expected] = independent,
    fits: Callable[[Sequence[Attributes], Sequence[int]], bool] | None = None,
    rng: np.random.Generator | None = None,
    secure: bool = False,
) -> list[Marginal]:
    """Release marginals one by one, each where the model of those before it is farthest off (McKenna et al. 2022).

    The workload is the class with each two attributes. Candidates are these triples and the pairs in them.
    ``estimate(marginals, sizes)`` returns the expected counts, a function of attributes; it sees released values.
    ``fits(sets, sizes)`` says whether a model of these marginals is small enough.

    Privacy: ε. It is spent in rounds, and what is left limits each round. ε has `n_rounds` parts at first (None: 3·d);
    a round that improved nothing doubles the part. The single attributes have as many parts as there are. A round has a
    choice and a marginal, whose L1 sensitivity is 1. A candidate's score is its weight times (L1 distance of its counts
    from the expected ones, less the noise's mean size times its cells): one record changes it by at most the largest
    weight in either direction. Twice each under replace-one. What decides on the next round's ε has been released.
    """
    source = Source(rng, secure)
    epsilon, factor = check_epsilon(epsilon), FACTOR[check_relation(relation)]
    sizes = records.sizes
    d = len(sizes)
    rounds = 3 * d if n_rounds is None else check_integer(n_rounds, "n_rounds", d + 1)
    step = equal_share(epsilon, rounds)
    marginals = _singles(records, d * step, factor, source)
    weights = _weights(d, sizes)
    spent, exact = d * step, {r: marginal_counts(records, r) for r in weights}
    cells = {r: math.prod(sizes[j] for j in r) for r in weights}
    expected = estimate(marginals, sizes)
    while weights and spent < epsilon * (1 - 1e-9):
        left = math.nextafter(epsilon - spent, 0.0) * (1 - 1e-12)
        step = left if left < 2 * step else step  # the last round has what is left
        for_choice, for_marginal = (step * share for share in AIM_SHARES)
        held = [m.attributes for m in marginals]
        candidates = [r for r in weights if fits is None or fits([*held, r], sizes)] or list(weights)[:1]
        before = {r: expected(r) for r in candidates}
        penalty = factor / for_marginal
        scores = [_need(exact[r], before[r], penalty * cells[r], weights[r]) for r in candidates]
        r = candidates[source.choice(scores, for_choice, 2.0 * factor * max(weights.values()))]
        noisy = source.counts(exact[r], for_marginal, factor)
        marginals.append(Marginal(r, noisy, penalty))
        spent += step
        expected = estimate(marginals, sizes)
        if np.abs(expected(r) - before[r]).sum() <= penalty * noisy.size:
            step *= 2
    return marginals


def _weights(d: int, sizes: Sequence[int]) -> dict[Attributes, float]:
    """Return the candidates and how much of the workload each shares, divided by the most."""
    pairs = list(combinations(range(d - 1), 2))
    workload: list[Attributes] = [(*pair, d - 1) for pair in pairs] or [tuple(range(d))]
    candidates = {part for r in workload for k in (2, 3) for part in combinations(r, k)}
    kept = sorted(r for r in candidates if math.prod(sizes[j] for j in r) <= MOST_CELLS)
    shared = {r: float(sum(len(set(r) & set(s)) for s in workload)) for r in kept}
    most = max(shared.values(), default=1.0)
    return {r: weight / most for r, weight in shared.items()}
