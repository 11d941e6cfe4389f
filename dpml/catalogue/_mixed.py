"""Claims of naive Bayes for mixed tables, of partitioned training and of private prediction."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dpml.catalogue._laws import in_the_middle
from dpml.catalogue._method import Case, Method, table_from_rows
from dpml.catalogue._recorded import Enumerated, EvenlyDivided, of_choice, recorded
from dpml.classifiers import BernoulliNB, MixedNB, PrivatePredictionNB
from dpml.classifiers.naive_bayes.as_published import published_moments, vaidya_cost, vaidya_moments
from dpml.classifiers.naive_bayes.bernoulli import contingency_of_partition, release_partitioned
from dpml.classifiers.naive_bayes.cells import Design, cell_counts
from dpml.classifiers.naive_bayes.moments import APPROXIMATE, CONCENTRATED, class_statistics, release_moments
from dpml.classifiers.private_prediction import label_scores, release_labels, score_range
from dpml.counts import release_row_bounded
from dpml.encoding import SHARE_GRID
from dpml.schema import Feature, Schema

SCHEMA = Schema(
    (Feature("x", "numeric", lower=100, upper=101), Feature("c", "categorical", (0, 1, 2)), Feature("b")), (0, 1)
)
DISCRETE = SCHEMA.subset(["c", "b"])
BINNED, NUMBERS, CELLS = Design(SCHEMA, 4), Design(SCHEMA, binary_cells=True), Design(DISCRETE, binary_cells=True)
ALL = (2, 1)  # a record keeps all of its attributes and ones
BASE = [([100.0, 0, 1], 0), ([100.2, 1, 0], 0), ([100.4, 2, 1], 1), ([100.9, 1, 1], 1)]
WORDS = "a record at the end of [100, 101] is added, or changes its class"
DELTA = 1e-5


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


WIDE = Schema(tuple(Feature(f"x{i}", "numeric", lower=-1, upper=1) for i in range(4)))


def _vaidya_numbers(epsilon: float, relation: str) -> Case:
    design = Design(WIDE)

    def sample(data, draws, rng):
        statistics = class_statistics(design, WIDE.check_features(data[0])[0], data[1])
        return _flat(vaidya_moments(statistics, design, epsilon, draws=draws, rng=rng))

    # the noise of four means and four deviations of the first class halves when its first record is added
    before, after = (np.zeros((1, 4)), np.array([1])), (np.vstack([np.zeros(4), np.ones(4)]), np.array([1, 0]))
    words = "the first record of a class is added, at the ends of four domains"
    case = _fitted((after, before), sample, words, method="vaidya", epsilon=epsilon, schema=WIDE)
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


def _entry(
    name: str, title: str, covers: str, source: str, claim: str, case: Callable[..., Case], **more: Any
) -> Method:
    paths = tuple(f"dpml.classifiers.{path}" for path in covers.split())
    return Method(name, title, "classifier", paths, source, claim, case, **more)


NOISE_CLAIMS = {
    **dict.fromkeys(("cauchy", "student-t"), "ε"),
    **dict.fromkeys(APPROXIMATE, "(ε, δ), audited at δ = 1e-5"),
    **dict.fromkeys(CONCENTRATED, "½ε²-concentrated, audited as (ε, δ) at δ = 1e-5"),
}
REPAIRED = "[zafarani-clifton2021], Algorithm 1, repaired (docs/explanation/errata.md)"
BUN = "[bun-steinke2019], as in [zafarani-clifton2021], sections 5 and 7"
SMOOTH = [
    *(("smooth", noise, 0, REPAIRED) for noise in ("cauchy", "student-t", "laplace", "gaussian", "arsinh-normal")),
    *(("bun-steinke", noise, 1, BUN) for noise in ("cauchy", "student-t", "laplace-log-normal", "uniform-log-normal")),
]
TITLES = {"smooth": "Numeric naive Bayes by smooth sensitivity", "bun-steinke": "Numeric naive Bayes by trimmed means"}

METHODS = (
    _entry(
        "mixed-nb-binned",
        "Binned naive Bayes",
        "MixedNB MixedNB[binned]",
        "derived here (docs/explanation/errata.md)",
        "ε",
        _binned,
    ),
    _entry(
        "mixed-nb-global",
        "Numeric naive Bayes by class sums",
        "MixedNB[global] naive_bayes.moments.release_moments",
        "[zafarani-clifton2021], Algorithm 1 with global sensitivities (centred sums derived here)",
        "ε",
        _moments("global", "cauchy"),
    ),
    *(
        _entry(
            f"mixed-nb-{kind}-{noise}",
            f"{TITLES[kind]}, {noise} noise",
            f"MixedNB[{kind}] naive_bayes.moments.release_moments",
            source,
            NOISE_CLAIMS[noise],
            _moments(kind, noise, trim),
            delta=DELTA if noise in APPROXIMATE + CONCENTRATED else 0.0,
        )
        for kind, noise, trim, source in SMOOTH
    ),
    *(
        _entry(
            f"mixed-nb-vaidya-{relation}",
            f"Naive Bayes of Vaidya et al., {relation}",
            "MixedNB[vaidya] naive_bayes.as_published.vaidya_moments",
            "[vaidya2013], as described in [antonova2016], section 3.3.5",
            "ε",
            _vaidya,
            cost=f"{'' if relation == 'add-remove' else '2·('}Aε + 1{'' if relation == 'add-remove' else ')'}"
            " for A categorical or binary attributes",
            true_epsilon=partial(vaidya_cost, n_attributes=2, relation=relation),
            relations=(relation,),
        )
        for relation in ("add-remove", "replace-one")
    ),
    _entry(
        "mixed-nb-vaidya-numbers",
        "Naive Bayes of Vaidya et al., numeric attributes",
        "MixedNB[vaidya] naive_bayes.as_published.vaidya_moments",
        "[vaidya2013], as compared with in [zafarani-clifton2021]",
        "ε",
        _vaidya_numbers,
        private=False,
        cost="no ε: the scale of the noise is a function of a class's size",
        true_epsilon=lambda epsilon: np.inf,
        relations=("add-remove",),
    ),
    _entry(
        "gaussian-nb-published",
        "Numeric naive Bayes by Algorithm 1 of Zafarani and Clifton",
        "MixedNB[published] naive_bayes.as_published.published_moments",
        "[zafarani-clifton2021], Algorithm 1",
        "ε under replace-one",
        _published,
        private=False,
        cost="no ε holds for all n: noise on σ is scaled by the sensitivity of σ²",
        true_epsilon=lambda epsilon: np.inf,
        relations=("replace-one",),
    ),
    _entry(
        "nb-partitioned",
        "Naive Bayes on disjoint parts",
        "BernoulliNB[partitioned] naive_bayes.bernoulli.release_partitioned",
        "[antonova2016], section 3.4 (cost derived here)",
        "ε",
        _partitioned,
    ),
    _entry(
        "nb-private-prediction",
        "Private prediction by naive Bayes",
        "PrivatePredictionNB private_prediction.release_labels",
        "derived here ([antonova2016] leaves it as future work)",
        "ε for each label",
        _prediction,
    ),
)
