"""The claim of top-k over a limited domain: few features, features that become candidates, and many choices."""

import itertools
import math
from typing import Any

import numpy as np

from dpml.catalogue._fitted import fitted, mask_law, spread_table
from dpml.catalogue._method import Case
from dpml.catalogue._recorded import recorded
from dpml.schema import Schema
from dpml.selection import TopSelector
from dpml.selection.top import default_limit

D, T, DELTA = 4, 2, 1e-5
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
