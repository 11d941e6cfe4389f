"""Claims of private prediction by logistic regression."""

from typing import Any

import numpy as np

from dpml.catalogue._laws import in_the_middle
from dpml.catalogue._method import Case, Method
from dpml.catalogue._recorded import Enumerated, of_choice, recorded
from dpml.classifiers import PrivatePredictionLR
from dpml.classifiers.private_prediction import (
    margin_range,
    margin_scores,
    minimisers,
    release_labels,
    unit_records,
    vote_range,
    vote_scores,
    weights_of_parts,
)
from dpml.mechanisms import boundary
from dpml.schema import Feature, Schema

PARTS, ONE = 64, Schema.binary(1)
COLUMNS, LAMBDA = 70, 2.0
NUMBERS = Schema(tuple(Feature(f"x{i}", "numeric", lower=-1, upper=1) for i in range(COLUMNS)))


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
        "reg_lambda": LAMBDA,
        "relation": relation,
        "schema": NUMBERS,
    }

    def with_record(record, code):
        return np.vstack([base[0], record]), np.append(base[1], code)

    def call(data):
        return PrivatePredictionLR(epsilon, random_state=0, **options).fit(*data).predict(query)

    def sample(data, draws, rng):
        Z, Q = (unit_records(NUMBERS.check_features(X)[0], NUMBERS) for X in (data[0], query))
        theta = minimisers(Z, data[1], 2, LAMBDA)
        span = margin_range(LAMBDA, 2, relation)
        return release_labels(margin_scores(theta, Q), epsilon, span, draws=draws, rng=rng)

    opposite = query.copy()
    opposite[0, 0] = 1.0
    data = base if relation == "add-remove" else with_record(opposite, 0)
    words = "a record that the weights have wrong is added, or replaces one of the other class that they have wrong"
    return Case(data, with_record(query, 1), call, sample, Enumerated(call, of_choice), words=words)


SOURCE = "[dwork-feldman2018] (range derived here)"

METHODS = tuple(
    Method(
        f"logistic-private-prediction-{name}",
        f"Private prediction by logistic regression, {words}",
        "classifier",
        (f"dpml.classifiers.PrivatePredictionLR[{name}]",),
        SOURCE,
        "ε for each label",
        case,
    )
    for name, words, case in (("votes", "votes of parts", _votes), ("margin", "one regression's margin", _margin))
)
