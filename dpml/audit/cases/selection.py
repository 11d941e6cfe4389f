"""Claims of the feature selection methods."""

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml.audit.cases.base import (
    DELTA,
    Case,
    CaseMaker,
    Enumerated,
    Public,
    Sides,
    Typed,
    balanced_tables,
    first_drawn,
    fitted,
    mask_law,
    neighbouring_tables,
    recorded,
    spread_table,
    table_from_rows,
    typed_case,
)
from dpml.audit.cases.typed import Table
from dpml.mechanisms import PermuteAndFlip, SparseVector, boundary
from dpml.schema import Schema
from dpml.selection import (
    MaskSelector,
    NoisyClusterSelector,
    NoisyCountSelector,
    NoisyScoreSelector,
    SparseVectorSelector,
    SubsetSelector,
    TopSelector,
    mask_log_probability,
    scores,
    sensitivity,
)
from dpml.selection.as_published import (
    cluster_selection,
    cluster_selection_log_probabilities,
    iterative_sampling,
    noisy_cut,
    noisy_cut_log_probabilities,
    private_threshold_testing,
    threshold_testing_log_probabilities,
)
from dpml.selection.top import default_limit

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

    class Exact:
        def log_probabilities(self, data):
            return noisy_cut_log_probabilities(data[[0, -1]], (20, 20), epsilon, 0.0)

    return Case(
        high,
        low,
        lambda data: noisy_cut(data, epsilon, 0.0, rng=np.random.default_rng(0)),
        lambda data, draws, rng: noisy_cut(data, epsilon, 0.0, draws=draws, rng=rng),
        Exact(),
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


TYPED_THRESHOLD = 1.5


class _Probabilities:
    def __init__(self, log_probabilities: Callable[[Table], Any]):
        self.log_probabilities = log_probabilities


def typed_masks(kind: str, calibration: str, how: str) -> Typed:
    """Return mask sampling of two features by a score."""

    def sides(public: Public) -> Sides:
        schema = Schema.binary(public.d, n_lower=public.n)
        masks = [m for m in itertools.product((False, True), repeat=public.d) if sum(m) == T]
        options: dict[str, Any] = {"calibration": calibration, "relation": public.relation, "schema": schema}

        def make(seed):
            return MaskSelector(public.epsilon, T, kind, random_state=seed, **options)

        return fitted(make, schema, lambda _, weights: mask_log_probability(weights, np.array(masks)), masks)

    return typed_case(sides, f"two features, chosen by {how}")


def _totals(data: Table) -> NDArray[np.float64]:
    return data[0].sum(axis=0)


def _drawn_only(masks: Callable[..., Any], exact: Any = None) -> Sides:
    """Return the sides of a function that has no other path than draws, ``masks(data, draws, rng)``."""

    def sample(data, draws, rng):
        rows = masks(data, draws, rng)
        return rows @ (1 << np.arange(rows.shape[1]))

    return lambda data: sample(data, 1, np.random.default_rng(0)), sample, exact


def typed_threshold_testing() -> Typed:
    """Return private threshold testing of total counts."""

    def sides(public: Public) -> Sides:
        def masks(data, draws, rng):
            return private_threshold_testing(_totals(data), public.epsilon, TYPED_THRESHOLD, draws=draws, rng=rng)

        def probabilities(data):
            return threshold_testing_log_probabilities(_totals(data), public.epsilon, TYPED_THRESHOLD)

        return _drawn_only(masks, _Probabilities(probabilities))

    return typed_case(sides, f"the features whose count passes {TYPED_THRESHOLD} plus noise")


def typed_clusters() -> Typed:
    """Return cluster selection by total counts."""
    options: dict[str, Any] = {"centres": [1.0, 2.0]}

    def sides(public: Public) -> Sides:
        def masks(data, draws, rng):
            return cluster_selection(_totals(data), public.epsilon, TYPED_THRESHOLD, draws=draws, rng=rng, **options)

        def probabilities(data):
            return cluster_selection_log_probabilities(_totals(data), public.epsilon, TYPED_THRESHOLD, **options)

        return _drawn_only(masks, _Probabilities(probabilities))

    return typed_case(sides, f"the features in clusters whose centre passes {TYPED_THRESHOLD}")


def typed_noisy_cut() -> Typed:
    """Return NoisyCut of total counts."""

    def sides(public: Public) -> Sides:
        def masks(data, draws, rng):
            return noisy_cut(_totals(data), public.epsilon, TYPED_THRESHOLD, draws=draws, rng=rng)

        return _drawn_only(masks)

    return typed_case(sides, f"the features whose noisy count passes {TYPED_THRESHOLD} plus noise")


def typed_iterative() -> Typed:
    """Return iterative sampling by mutual information."""

    def sides(public: Public) -> Sides:
        step = sensitivity("mutual_information", n_rows=public.n)

        def masks(data, draws, rng):
            gains = scores(*data, "mutual_information")
            return iterative_sampling(gains, public.epsilon, T, sensitivity=step, draws=draws, rng=rng)

        return _drawn_only(masks)

    return typed_case(sides, "at most two features, each by one random draw")


# kinds of scores, and how the typed cases describe them
KINDS = {
    "total_count": "their counts",
    "difference_count": "the difference between classes",
    "count": "the count heuristic",
    "mutual_information": "mutual information",
}


SMALL = Schema.binary(2 * D)
UP_TO = [c for size in range(T + 1) for c in itertools.combinations(range(2 * D), size)]


def _limited(mechanism: Any, q: Any) -> Any:
    """Return log P of each set of at most T features, by its sequences, which the threshold ends."""
    kept, lead = mechanism.candidates(np.asarray(q, dtype=float))
    scores = dict(zip(kept.tolist(), lead.tolist(), strict=True))

    def of_sequence(sequence: tuple[int, ...]) -> float:
        left, total = dict(scores), 0.0
        for feature in (*sequence, *([] if len(sequence) == T else [None])):
            of_all = np.logaddexp.reduce([0.0, *left.values()])
            total += (0.0 if feature is None else left.pop(feature, -np.inf)) - of_all
        return float(total)

    return np.array([np.logaddexp.reduce([of_sequence(s) for s in itertools.permutations(c)]) for c in UP_TO])


def limited_domain_case(epsilon: float, relation: str) -> Case:
    """Two of four scores that are far above the threshold gain. The better two, and all that are far below, do not.

    Under replace-one all of these lose.
    """
    unit = T * (1 if relation == "add-remove" else 2) / epsilon  # a noise scale
    lead, behind = math.ceil(70 * unit), math.ceil(3.5 * unit)
    ones = np.array([lead, lead, lead + behind, lead + behind, *([1] * D)])
    X = (np.arange(ones.max() + 2)[:, None] < ones).astype(float)
    gain, lose = np.zeros(2 * D), np.zeros(2 * D)
    gain[:2], lose[2:] = 1.0, 1.0
    more = np.vstack([X, gain])
    data = X if relation == "add-remove" else np.vstack([X, lose])
    options: dict[str, Any] = {"method": "limited-domain", "delta": DELTA, "relation": relation, "schema": SMALL}

    def make(seed):
        return TopSelector(epsilon, T, "total_count", random_state=seed, **options)

    masks = [tuple(i in chosen for i in range(2 * D)) for chosen in UP_TO]
    one, other = ((x, np.zeros(len(x), dtype=int)) for x in (data, more))
    words = "two poorer candidates gain, two good ones do not"
    sides = fitted(make, SMALL, _limited, masks)
    further = _new_candidates(epsilon, relation), _many_choices(epsilon, relation)
    # scores on both sides of the threshold
    law = mask_law(sides, spread_table(4 * unit, 2 * D))
    return Case(one, other, *sides, words=words, law=law, further=further)


# of so many features the ten best are candidates for one choice
NOVEL = 40


def _new_candidates(epsilon: float, relation: str) -> Case:
    """Return a case where a record makes candidates of ten features that are none without it.

    Each of them is released with probability δ/10 at most, which is impossible without the record: together they need
    all of δ. Under replace-one the ten candidates of before lose.
    """
    limit = default_limit(1, NOVEL)
    gain, lose = np.zeros(NOVEL), np.zeros(NOVEL)
    gain[limit : 2 * limit], lose[:limit] = 1.0, 1.0
    # the scores are equal without the record, where the first ten are candidates
    common = np.ones((3, NOVEL)) if relation == "add-remove" else np.vstack([np.ones((3, NOVEL)), 1.0 - lose])
    data = common if relation == "add-remove" else np.vstack([common, lose])
    one, other = ((x, np.zeros(len(x), dtype=int)) for x in (data, np.vstack([common, gain])))
    schema = Schema.binary(NOVEL)
    options: dict[str, Any] = {"method": "limited-domain", "delta": DELTA, "relation": relation, "schema": schema}

    def make(seed):
        return TopSelector(epsilon, 1, "total_count", random_state=seed, **options)

    def probabilities(mechanism: Any, q: Any) -> Any:
        kept, lead = mechanism.candidates(np.asarray(q, dtype=float))
        weights = np.full(NOVEL + 1, -np.inf)
        weights[kept], weights[NOVEL] = lead, 0.0
        return weights - np.logaddexp.reduce(weights)

    masks = [tuple(np.arange(NOVEL) == i) for i in range(NOVEL + 1)]
    words = "ten features become candidates with the record"
    return Case(one, other, *fitted(make, schema, probabilities, masks), words=words)


def _many_choices(epsilon: float, relation: str) -> Case:
    """Return a case of so many choices that they compose with a part of δ."""
    n_features, T_many = 1_200, 100
    schema = Schema.binary(n_features)
    options: dict[str, Any] = {"method": "limited-domain", "delta": DELTA, "relation": relation, "schema": schema}

    def make(seed):
        return TopSelector(epsilon, T_many, "total_count", random_state=seed, **options)

    gain = (np.arange(n_features) < n_features // 2).astype(float)
    common = np.ones((1, n_features))
    data = common if relation == "add-remove" else np.vstack([common, 1.0 - gain])
    one, other = ((x, np.zeros(len(x), dtype=int)) for x in (data, np.vstack([common, gain])))
    call, sample, _ = fitted(make, schema)
    words = "half of the scores rise, in a composition of many choices"
    return Case(one, other, call, sample, recorded(call, DELTA, pasts=1), words=words)


R = 2
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
MANY_CHOSEN = 8
SETS_OF_MANY = list(itertools.combinations(range(2 * MANY_CHOSEN), MANY_CHOSEN))


def _sets_of_many(mechanism: Any, q: Any) -> Any:
    """Return log P of each set of T peeled features, step by step over all sets of one feature more."""
    features = 1 << np.arange(q.size)
    sets = np.arange(1 << q.size)
    weight = np.exp(q - q.max())
    left = np.where(sets[:, None] & features, 0.0, weight).sum(axis=1)
    chosen = np.zeros(sets.size)
    chosen[0] = 1.0
    for _ in range(MANY_CHOSEN):
        before, chosen = chosen, np.zeros(sets.size)
        for feature, part in zip(features, weight, strict=True):
            without = sets[(sets & feature == 0) & (before > 0)]
            chosen[without | feature] += before[without] * part / left[without]
    return np.log(chosen[[sum(1 << i for i in s) for s in SETS_OF_MANY]])


def _peeled_under_delta(epsilon: float, relation: str) -> Case:
    schema = Schema.binary(2 * MANY_CHOSEN)
    options: dict[str, Any] = {"method": "peeling", "delta": DELTA, "relation": relation, "schema": schema}
    data, neighbour = ((np.repeat(X, 4, axis=1), codes) for X, codes in balanced_tables(relation))

    def make(seed):
        return TopSelector(epsilon, MANY_CHOSEN, "count", random_state=seed, **options)

    masks = [tuple(i in chosen for i in range(2 * MANY_CHOSEN)) for chosen in SETS_OF_MANY]
    sides = fitted(make, schema, _sets_of_many, masks)
    law = mask_law(sides, spread_table(MANY_CHOSEN / epsilon, 2 * MANY_CHOSEN))
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


def _best_subset(epsilon: float, relation: str) -> Case:
    """Return the case of sets of two of four features, of which {2, 3} alone separates the classes.

    The record contradicts the set {0, 1}. A replaced one contradicts {2, 3} before.
    """
    unit = math.ceil((1 if relation == "add-remove" else 2) / epsilon)
    many = max(100, 8 * unit)
    base = [row for row in (([0, 1], 0), ([], 0), ([2, 3], 0), ([2], 1), ([3], 1)) for _ in range(many)]
    before = [([0, 1, 2], 0)] if relation == "replace-one" else []
    tables = table_from_rows(base + before, D), table_from_rows([*base, ([0, 1, 2], 1)], D)

    def call(data):
        return SubsetSelector(epsilon, T, relation=relation, schema=SCHEMA, random_state=0).fit(*data).get_support()

    def sample(data, draws, rng):
        mechanism, statistic = first_drawn(call, data)
        ranks = boundary.release(replace(mechanism, draws=draws), statistic, rng)
        return np.array([sum(1 << i for i in chosen) for chosen in SETS])[ranks]

    def probabilities(mechanism, statistic):
        ranks, scores, _ = statistic
        logs = mechanism.weight * scores[np.argsort(ranks)]
        return logs - np.logaddexp.reduce(logs)

    masks = [tuple(i in chosen for i in range(D)) for chosen in SETS]
    sides: tuple[Any, Any, Any] = call, sample, Enumerated(call, probabilities, masks)
    # each further feature differs from the class in more records
    records = np.arange(8 * D * unit)
    table = np.array([records % 2 ^ (records < i * unit) for i in range(D)]).T.astype(float), records % 2
    words = "the record contradicts one set of features, and agrees with the best one"
    return Case(*tables, *sides, words=words, law=mask_law(sides, table))


CASES: dict[str, CaseMaker] = {
    "best-subset": _best_subset,
    **{f"mask-{kind}": _mask(kind, "range") for kind in KINDS},
    "mask-published": _mask("count", "published"),
    "private-threshold-testing": _threshold_testing,
    "cluster-selection": _clusters,
    "noisy-cut": _noisy_cut,
    "iterative-sampling": _iterative,
    **{f"top-{method}": _top(method) for method in PROBABILITIES},
    "top-peeling-delta": _peeled_under_delta,
    "top-limited-domain": limited_domain_case,
    "mask-per-feature": _per_feature,
    "noisy-counts-selection": _from_counts(NoisyCountSelector, row_bound=R, method="row-bounded"),
    "noisy-counts-selection-published": _from_counts(NoisyCountSelector, row_bound=R, method="published"),
    "noisy-clusters-selection": _from_counts(NoisyClusterSelector, row_bound=R),
    "score-perturbation": _perturbed_scores,
    "score-perturbation-threshold": _perturbed_threshold,
    "sparse-vector-selection": _sparse_vector,
}
TYPED: dict[str, Typed] = {
    **{f"mask-{kind}": typed_masks(kind, "range", seen) for kind, seen in KINDS.items()},
    "mask-published": typed_masks("count", "published", KINDS["count"]),
    "private-threshold-testing": typed_threshold_testing(),
    "cluster-selection": typed_clusters(),
    "noisy-cut": typed_noisy_cut(),
    "iterative-sampling": typed_iterative(),
}
