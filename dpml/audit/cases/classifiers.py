"""Claims of the classifiers."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from dpml.audit.cases.base import (
    DELTA,
    Case,
    CaseMaker,
    Enumerated,
    EvenlyDivided,
    Public,
    Sides,
    Typed,
    in_the_middle,
    of_choice,
    recorded,
    table_from_rows,
    typed_case,
)
from dpml.audit.cases.typed import Table
from dpml.classifiers import BernoulliNB, MixedNB, PrivatePredictionLR, PrivatePredictionNB
from dpml.classifiers.naive_bayes.as_published import (
    class_sums_by_width,
    published_moments,
    resampled_count,
    resampled_count_loss,
    vaidya_moments,
)
from dpml.classifiers.naive_bayes.bernoulli import contingency_of_partition, release_partitioned
from dpml.classifiers.naive_bayes.cells import Design, cell_counts
from dpml.classifiers.naive_bayes.moments import APPROXIMATE, CONCENTRATED, class_statistics, release_moments
from dpml.classifiers.private_prediction import (
    label_scores,
    margin_range,
    margin_scores,
    minimisers,
    release_labels,
    score_range,
    unit_records,
    vote_range,
    vote_scores,
    weights_of_parts,
)
from dpml.counts import contingency, release_published, release_row_bounded
from dpml.encoding import SHARE_GRID, share_rows
from dpml.mechanisms import boundary
from dpml.schema import Feature, Schema

D, R = 3, 2
BINARY = Schema.binary(D)
CLASS_SHARE = 0.1
BINARY_BASE = [([0, 1], 0), ([1], 0), ([2], 1), ([0, 2], 1)]


def _binary_tables(relation: str) -> tuple[Any, Any]:
    before: list = [] if relation == "add-remove" else [([0, 1], 0)]
    return table_from_rows(BINARY_BASE + before, D), table_from_rows([*BINARY_BASE, ([1, 2], 1)], D)


def _many_ones(relation: str) -> tuple[Any, Any]:
    """Return tables where a record of too many ones is added, or replaces one whose label is no class."""
    X, codes = table_from_rows([*BINARY_BASE, ([0, 1, 2], 1)], D)
    if relation == "add-remove":
        return (X[:-1], codes[:-1]), (X, codes)
    return (X, np.append(codes[:-1], 7)), (X, codes)


def _row_bounded(
    neighbours: Any = _binary_tables, words: str = "a record of r ones is added, or replaced", **options: Any
):
    def case(epsilon: float, relation: str) -> Case:
        more: dict[str, Any] = {"row_bound": R, "relation": relation, "class_share": CLASS_SHARE, "selection": "none"}
        if not options.get("release"):
            more["random_state"] = 0

        def call(data):
            return BernoulliNB(epsilon, schema=BINARY, **more, **options).fit(*data)

        def sample(data, draws, rng):
            X, codes = data
            known = codes < 2  # a record whose label is no class is dropped
            exact = contingency(share_rows(X[known], R), codes[known], 2)
            facts: dict[str, Any] = {"relation": relation, "grid": SHARE_GRID, "class_share": CLASS_SHARE}
            noise: dict[str, Any] = {"secure": True} if options.get("release") else {"rng": rng}
            noisy = release_row_bounded(exact, epsilon, R, draws=draws, **facts, **noise)
            return np.concatenate([noisy.on.reshape(draws, -1), noisy.n], axis=1)

        draws = 2_000 if options.get("release") else 20_000
        data, neighbour = neighbours(relation)
        others = () if neighbours is _binary_tables else (_binary_tables(relation),)
        return Case(data, neighbour, call, sample, recorded(call), draws=draws, words=words, others=others)

    return case


def _published_counts(epsilon: float, relation: str) -> Case:
    def call(data):
        model = BernoulliNB(epsilon, method="published", relation=relation, schema=BINARY, random_state=0)
        return model.fit(*data)

    def sample(data, draws, rng):
        noisy = release_published(contingency(*data, 2), epsilon, relation=relation, draws=draws, rng=rng)
        return np.concatenate([noisy.on.reshape(draws, -1), noisy.off.reshape(draws, -1)], axis=1)

    return Case(*_binary_tables(relation), call, sample, recorded(call), words="a record is added, or replaced")


MANY_COLUMNS, SIGNAL, OTHER = 400, list(range(20)), list(range(20, 40))


def few_of_many(relation: str) -> tuple[Any, Any]:
    """Return tables so wide that a few features are chosen first. Class 1 has 20 features, and so has one of class 0.

    Whichever of the 20 features is chosen, this record is counted in it. Under replace-one it is of class 1 first, and
    has 20 features of class 0 too, which then gain what the others lose.
    """
    if relation == "replace-one":
        rows = [(SIGNAL, 1), ([], 0)] * 45 + [(SIGNAL, 1), (OTHER, 0)] * 5
        sides = [[*rows, (SIGNAL + OTHER, label)] for label in (1, 0)]
    else:
        rows = [(SIGNAL, 1), ([], 0)] * 50
        sides = [rows, [*rows, (SIGNAL, 0)]]
    return table_from_rows(sides[0], MANY_COLUMNS), table_from_rows(sides[1], MANY_COLUMNS)


def _selecting(make: Any, shown: Any):
    """Return a case of an estimator that chooses features first. ``make(epsilon, relation, seed)`` returns it."""

    def case(epsilon: float, relation: str) -> Case:
        def call(data):
            return make(epsilon, relation, 0).fit(*data)

        def sample(data, draws, rng):
            fits = [make(epsilon, relation, np.random.default_rng(rng.integers(2**63))) for _ in range(draws)]
            return np.array([shown(fit.fit(*data)) for fit in fits])

        words = "a record that contradicts the chosen features is added, or replaces one that agrees"
        return Case(*few_of_many(relation), call, sample, recorded(call), draws=100, words=words)

    return case


WIDE_SCHEMA = Schema.binary(MANY_COLUMNS, n_lower=100)


def counts_of(model: Any) -> Any:
    """Return what a fit of naive Bayes released, as one array."""
    return np.append(np.ravel(model.feature_log_prob_), model.class_log_prior_)


def _nb(epsilon: float, relation: str, seed: Any) -> BernoulliNB:
    return BernoulliNB(epsilon, relation=relation, schema=WIDE_SCHEMA, random_state=seed)


def _resampled(epsilon: float, relation: str) -> Case:
    class Exact:
        def privacy_loss(self, data, neighbour):
            return resampled_count_loss(data, neighbour, epsilon)

    def call(data):
        return resampled_count(data, epsilon, rng=np.random.default_rng(0))

    return Case(
        0,
        1,
        call,
        lambda data, draws, rng: resampled_count(data, epsilon, draws=draws, rng=rng),
        Exact(),
        score=lambda outputs: -outputs,
        draws=400_000,
        words="a count of 0, and one record is added",
    )


def _width(epsilon: float, relation: str) -> Case:
    values, codes = np.full(100, 100.5), np.arange(100) % 2
    moved = codes.copy()
    moved[0] = 1

    def sample(data, draws, rng):
        values, codes = data
        return class_sums_by_width(values, codes, 100.0, 101.0, epsilon, draws=draws, rng=rng)

    words = "100 records in [100, 101], and one label changes"
    return Case.of_release((values, codes), (values, moved), sample, one=1, words=words)


def _typed_fit(public: Public, **options: Any) -> Callable[[Table], Any]:
    facts: dict[str, Any] = {"relation": public.relation, "schema": Schema.binary(public.d), "random_state": 0}

    def call(data):
        return BernoulliNB(public.epsilon, **facts, **options).fit(*data)

    return call


def typed_row_bounded() -> Typed:
    """Return row-bounded naive Bayes. A record may have all features, so that none has to be cut."""
    share = 0.1

    def sides(public: Public) -> Sides:
        facts: dict[str, Any] = {"relation": public.relation, "class_share": share, "grid": SHARE_GRID}

        def sample(data, draws, rng):
            noisy = release_row_bounded(contingency(*data, 2), public.epsilon, public.d, draws=draws, rng=rng, **facts)
            return np.concatenate([noisy.on.reshape(draws, -1), noisy.n], axis=1)

        call = _typed_fit(public, row_bound=public.d, class_share=share, selection="none")
        return call, sample, recorded(call, pasts=1)

    return typed_case(sides, "noisy counts of each feature in each class, and of the classes")


def typed_published() -> Typed:
    """Return naive Bayes by Algorithm 1."""

    def sides(public: Public) -> Sides:
        def sample(data, draws, rng):
            noisy = release_published(
                contingency(*data, 2), public.epsilon, relation=public.relation, draws=draws, rng=rng
            )
            assert noisy.off is not None
            return np.concatenate([noisy.on.reshape(draws, -1), noisy.off.reshape(draws, -1)], axis=1)

        call = _typed_fit(public, method="published")
        return call, sample, recorded(call, pasts=1)

    return typed_case(sides, "noisy counts of each feature, on and off, in each class")


SCHEMA = Schema(
    (Feature("x", "numeric", lower=100, upper=101), Feature("c", "categorical", (0, 1, 2)), Feature("b")), (0, 1)
)
DISCRETE = SCHEMA.subset(["c", "b"])
BINNED, NUMBERS, CELLS = Design(SCHEMA, 4), Design(SCHEMA, binary_cells=True), Design(DISCRETE, binary_cells=True)
ALL = (2, 1)  # a record keeps all of its attributes and ones
BASE = [([100.0, 0, 1], 0), ([100.2, 1, 0], 0), ([100.4, 2, 1], 1), ([100.9, 1, 1], 1)]
WORDS = "a record at the end of [100, 101] is added, or changes its class"


def _tables(relation: str) -> tuple[Any, Any]:
    """Return two tables (X, codes): a record is added, or changes its label."""

    def table(rows: list) -> Any:
        return np.array([x for x, _ in rows]), np.array([c for _, c in rows])

    one = [101.0, 2, 1]
    return table(BASE + ([(one, 0)] if relation == "replace-one" else [])), table([*BASE, (one, 1)])


def _of(design: Design, data: Any) -> Any:
    X, codes = data
    return class_statistics(design, design.schema.check_features(X[:, -design.schema.n_features :])[0], codes)


def _flat(moments: Any) -> Any:
    parts = (moments.n, moments.cells, moments.mean, moments.variance)
    return np.concatenate([part.reshape(len(part), -1) for part in parts], axis=1)


def _fitted(neighbours: tuple[Any, Any], sample: Any, words: str, **options: Any) -> Case:
    """Return a case of one fit of `MixedNB`."""

    def call(data):
        return MixedNB(random_state=0, **options).fit(*data)

    return Case(*neighbours, call, sample, recorded(call), draws=4_000, words=words)


def _binned(epsilon: float, relation: str) -> Case:
    def sample(data, draws, rng):
        X, codes = data
        table = SCHEMA.check_features(X)[0]
        options = {"relation": relation, "class_share": 0.05, "draws": draws, "rng": rng, "grid": SHARE_GRID}
        noisy = release_row_bounded(cell_counts(BINNED, table, codes, ALL), epsilon, sum(ALL), **options)
        return np.concatenate([noisy.on.reshape(draws, -1), noisy.n], axis=1)

    options: dict[str, Any] = {"n_bins": 4, "row_bound": sum(ALL), "relation": relation, "schema": SCHEMA}
    return _fitted(_tables(relation), sample, WORDS, epsilon=epsilon, **options)


def _moments(kind: str, noise: str, trim: int = 0):
    def case(epsilon: float, relation: str) -> Case:
        delta, claim = DELTA if noise in APPROXIMATE else 0.0, epsilon
        if noise in CONCENTRATED:
            # ½ε²-CDP is (½ε² + ε·sqrt(2·log(1/δ)), δ)-DP: solve claim = ½ε² + ε·sqrt(2·log(1/δ)) for ε
            log = math.log(1 / DELTA)
            epsilon = math.sqrt(2) * (math.sqrt(log + claim) - math.sqrt(log))
        options: dict[str, Any] = {"noise": noise, "delta": delta, "trim": trim, "relation": relation}

        def sample(data, draws, rng):
            return _flat(release_moments(_of(NUMBERS, data), NUMBERS, epsilon, kind, draws=draws, rng=rng, **options))

        more: dict[str, Any] = {"method": kind, "epsilon": epsilon, "schema": SCHEMA, **options}
        case = _fitted(_tables(relation), sample, WORDS, **more)
        if noise in APPROXIMATE:
            return replace(case, exact=EvenlyDivided(case.call, DELTA, pasts=1))
        # the claim adds up ρ, but the recorder would add up (ε, δ) of each release: audited from draws only
        return replace(case, exact=None) if noise in CONCENTRATED else case

    return case


def _vaidya(epsilon: float, relation: str) -> Case:
    def sample(data, draws, rng):
        return _flat(vaidya_moments(_of(CELLS, data), CELLS, epsilon, draws=draws, rng=rng))

    pair = [(X[:, 1:], codes) for X, codes in _tables(relation)]
    options: dict[str, Any] = {"method": "vaidya", "relation": relation, "schema": DISCRETE}
    return _fitted((pair[0], pair[1]), sample, WORDS, epsilon=epsilon, **options)


FOUR_NUMBERS = Schema(tuple(Feature(f"x{i}", "numeric", lower=-1, upper=1) for i in range(4)))


def _vaidya_numbers(epsilon: float, relation: str) -> Case:
    design = Design(FOUR_NUMBERS)

    def sample(data, draws, rng):
        statistics = class_statistics(design, FOUR_NUMBERS.check_features(data[0])[0], data[1])
        return _flat(vaidya_moments(statistics, design, epsilon, draws=draws, rng=rng))

    # the noise of four means and four deviations of the first class halves when its first record is added
    before, after = (np.zeros((1, 4)), np.array([1])), (np.vstack([np.zeros(4), np.ones(4)]), np.array([1, 0]))
    words = "the first record of a class is added, at the ends of four domains"
    case = _fitted((after, before), sample, words, method="vaidya", epsilon=epsilon, schema=FOUR_NUMBERS)
    return replace(case, draws=20_000, score=lambda outputs: outputs[:, 0] + outputs[:, 2:6].sum(axis=1))


def _published(epsilon: float, relation: str) -> Case:
    schema = Schema((Feature("x", "numeric", lower=0, upper=1),))
    design = Design(schema)

    def sample(data, draws, rng):
        statistics = class_statistics(design, schema.check_features(data[0])[0], data[1])
        return _flat(published_moments(statistics, design, epsilon, draws=draws, rng=rng))

    X, codes = np.zeros((20_000, 1)), np.arange(20_000) % 2
    moved = X.copy()
    moved[0] = 1.0
    options: dict[str, Any] = {"method": "published", "relation": relation, "schema": schema}
    words = "10,000 equal records in each class, and one value moves to the other end of its domain"
    case = _fitted(((moved, codes), (X, codes)), sample, words, epsilon=epsilon, **options)
    # the first class's variance, which is 0 on one side and 4e-4 on the other, in units of half the domain
    return replace(case, draws=20_000, score=lambda outputs: -np.abs(np.sqrt(outputs[:, 4]) - 0.02))


def _partitioned(epsilon: float, relation: str) -> Case:
    # with one feature, records are not dealt at random
    before = [([0], 0), ([], 1)]
    data = table_from_rows(before + ([([0], 0)] if relation == "replace-one" else []), 1)
    # with two features they are, each by itself: a record among the others moves none of them
    three = [([0], 0), ([1], 1), ([1], 0)] * 2
    ends = [([0], 0)] if relation == "replace-one" else [], [([0, 1], 1)]
    others = (in_the_middle(*(table_from_rows(three + end, 2) for end in ends)),)

    def sample(data, draws, rng):
        counts = contingency_of_partition(*data, 2, subsamples=draws, rng=rng)
        noisy = release_partitioned(counts, epsilon, relation=relation, draws=draws, rng=rng)
        return np.concatenate([noisy.on.reshape(draws, -1), noisy.off.reshape(draws, -1)], axis=1)

    def call(data):
        schema = Schema.binary(data[0].shape[1])
        options: dict[str, Any] = {"method": "partitioned", "relation": relation, "schema": schema}
        return BernoulliNB(epsilon, random_state=0, **options).fit(*data)

    neighbour = table_from_rows([*before, ([0], 1)], 1)
    return Case(data, neighbour, call, sample, recorded(call), words="a record is added, or replaced", others=others)


ALPHA = 1.0
QUERY = np.array([[0, 1.0]])


def _prediction(epsilon: float, relation: str) -> Case:
    options: dict[str, Any] = {"pseudocount": ALPHA, "relation": relation, "schema": DISCRETE}

    def call(data):
        return PrivatePredictionNB(epsilon, random_state=0, **options).fit(*data).predict(QUERY)

    def sample(data, draws, rng):
        X, codes = data
        counts = cell_counts(CELLS, DISCRETE.check_features(X)[0], codes, (2, 0))
        scores = label_scores(counts, CELLS, DISCRETE.check_features(QUERY)[0], ALPHA)
        return release_labels(scores, epsilon, score_range(CELLS.sizes, ALPHA, relation), draws=draws, rng=rng)

    # class 1 is unlikely in both tables, so that the ratio of its probabilities equals that of its weights
    other, match = np.array([[2, 0.0]]), np.array([[0, 1.0]])
    X, codes = (
        np.vstack([np.repeat(match, 100_000, axis=0), np.repeat(other, 10, axis=0)]),
        np.repeat([0, 1], (100_000, 10)),
    )
    data = (X, codes) if relation == "add-remove" else (np.vstack([X, match]), np.append(codes, 0))
    more = (np.vstack([X, match]), np.append(codes, 1))
    words = "the first record of class 1 that matches the query is added, or its label changes to class 1"
    return Case(data, more, call, sample, Enumerated(call, of_choice), words=words)


PARTS, ONE = 64, Schema.binary(1)
COLUMNS, STRENGTH = 70, 2.0
NUMERIC = Schema(tuple(Feature(f"x{i}", "numeric", lower=-1, upper=1) for i in range(COLUMNS)))


def _votes(epsilon: float, relation: str) -> Case:
    query = np.ones((1, 1))
    options: dict[str, Any] = {"n_parts": PARTS, "relation": relation, "schema": ONE}

    def call(data):
        return PrivatePredictionLR(epsilon, random_state=0, **options).fit(*data).predict(query)

    def sample(data, draws, rng):
        X, codes = data
        part = boundary.public_randomness(rng, "integers", PARTS, size=len(X))
        theta = weights_of_parts(unit_records(X, ONE), codes, part, PARTS, 2, 0.1)
        scores = vote_scores(theta, unit_records(query, ONE))
        return release_labels(scores, epsilon, vote_range(), draws=draws, rng=rng)

    # parts without records vote for class 0, so that class 1 is unlikely
    none = np.ones((0, 1)), np.zeros(0, dtype=np.intp)
    data = none if relation == "add-remove" else (np.ones((1, 1)), np.array([0]))
    words = "64 parts that agree, and the only record is added, or changes its class, and its part votes for the other"
    neighbour, further = (np.ones((1, 1)), np.array([1])), (_dealt(epsilon, relation),)
    return Case(data, neighbour, call, sample, Enumerated(call, of_choice), words=words, further=further)


def _dealt(epsilon: float, relation: str) -> Case:
    """Return a case where a record among the others must move none of them to another part."""
    options: dict[str, Any] = {"n_parts": 8, "relation": relation, "schema": ONE}

    def call(data):
        return PrivatePredictionLR(epsilon, random_state=0, **options).fit(*data).predict(np.ones((1, 1)))

    # in turn, a part would have records of one class, and of both with a record more before the second half
    codes = np.tile([0, 1], 8)
    ends = np.append(codes, 0)[: 16 + (relation == "replace-one")], np.append(codes, 1)
    pair = in_the_middle(*((np.ones((len(each), 1)), each) for each in ends))

    def sample(data, draws, rng):
        seeds = rng.integers(2**31, size=draws)
        models = (PrivatePredictionLR(epsilon, random_state=int(seed), **options).fit(*data) for seed in seeds)
        return np.array([model.predict(np.ones((1, 1)))[0] for model in models])

    words = "sixteen records in eight parts, and a record is added, or replaced, in the middle"
    return Case(*pair, call, sample, recorded(call, pasts=8), draws=1_000, words=words)


def _margin(epsilon: float, relation: str) -> Case:
    # short records along the first column make a long weight there; the query is the record that is wrong for it
    pairs, short = 9_000, np.zeros((2, COLUMNS))
    short[:, 0] = 0.2, -0.2
    query = np.array([[-1.0] + [1.0] * (COLUMNS - 1)])
    base = np.repeat(short, pairs, axis=0), np.repeat([1, 0], pairs)
    options: dict[str, Any] = {
        "method": "margin",
        "reg_lambda": STRENGTH,
        "relation": relation,
        "schema": NUMERIC,
    }

    def with_record(record, code):
        return np.vstack([base[0], record]), np.append(base[1], code)

    def call(data):
        return PrivatePredictionLR(epsilon, random_state=0, **options).fit(*data).predict(query)

    def sample(data, draws, rng):
        Z, Q = (unit_records(NUMERIC.check_features(X)[0], NUMERIC) for X in (data[0], query))
        theta = minimisers(Z, data[1], 2, STRENGTH)
        span = margin_range(STRENGTH, 2, relation)
        return release_labels(margin_scores(theta, Q), epsilon, span, draws=draws, rng=rng)

    opposite = query.copy()
    opposite[0, 0] = 1.0
    data = base if relation == "add-remove" else with_record(opposite, 0)
    words = "a record that the weights have wrong is added, or replaces one of the other class that they have wrong"
    return Case(data, with_record(query, 1), call, sample, Enumerated(call, of_choice), words=words)


INVALID = "a record of too many ones is added, or replaces an invalid one"
CASES: dict[str, CaseMaker] = {
    "nb-row-bounded": _row_bounded(),
    "nb-row-bounded-clip": _row_bounded(_many_ones, INVALID, on_invalid="clip"),
    "nb-row-bounded-release": _row_bounded(_many_ones, INVALID, release=True),
    "nb-posterior": _row_bounded(shrinkage="posterior"),
    "nb-selecting": _selecting(_nb, shown=counts_of),
    "nb-published": _published_counts,
    "resampled-count": _resampled,
    "class-sums-by-width": _width,
    "mixed-nb-binned": _binned,
    "mixed-nb-global": _moments("global", "cauchy"),
    **{
        f"mixed-nb-smooth-{noise}": _moments("smooth", noise)
        for noise in ("cauchy", "student-t", "laplace", "gaussian", "arsinh-normal")
    },
    **{
        f"mixed-nb-bun-steinke-{noise}": _moments("bun-steinke", noise, trim=1)
        for noise in ("cauchy", "student-t", "laplace-log-normal", "uniform-log-normal")
    },
    "mixed-nb-vaidya-add-remove": _vaidya,
    "mixed-nb-vaidya-replace-one": _vaidya,
    "mixed-nb-vaidya-numbers": _vaidya_numbers,
    "gaussian-nb-published": _published,
    "nb-partitioned": _partitioned,
    "nb-private-prediction": _prediction,
    "logistic-private-prediction-votes": _votes,
    "logistic-private-prediction-margin": _margin,
}
TYPED: dict[str, Typed] = {"nb-row-bounded": typed_row_bounded(), "nb-published": typed_published()}
