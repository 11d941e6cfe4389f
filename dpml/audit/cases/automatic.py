"""Claims of the default classifier: one for each way that its public rule takes."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dpml.audit.cases.base import DELTA, Case, CaseMaker, recorded
from dpml.classifiers import AutoClassifier
from dpml.schema import Feature, Schema

NUMBER = Feature("x", "numeric", lower=0, upper=8)
TABLE = (NUMBER, Feature("a", "categorical", (0, 1, 2)), Feature("b"), Feature("c"))
# so many values that weights would need more records
MANY = (NUMBER, Feature("a", "categorical", tuple(range(60))), *TABLE[2:])
# three numbers of one domain, and so few records that they share a histogram
SHARING = (*(replace(NUMBER, name=name) for name in "xab"), TABLE[3])
# the same beside so many values that Gaussian noise on weights is smaller
MANY_SHARING = (*MANY[:2], *(replace(NUMBER, name=name) for name in "bc"))
WIDE = Schema.binary(70)
WORDS = 1000

# records of large groups, and the lead at which the quality of a grid changes most, for the shares of ε of the ways
LEADS = ((16, 6), (30, 6), (300, 7), (300, 12), (300, 23), (1000, 7))
# the public number of records times ε decides the way; it is a statement, which the small tables of an audit contradict
RECORDS = {
    "counts": 2_500,
    "bins": 2_500,
    "shared": 2_000,
    "shared-gaussian": 2_000,
    "classes": 3_000,
    "alone": 500,
    "gaussian": 1_500,
    "weights": 100_000,
    "dense": 500,
    "mixed": 10_000,
}
SCHEMAS: dict[str, Schema] = {
    "counts": Schema(MANY, tuple(range(7))),
    "number": Schema(TABLE),
    "bins": Schema(MANY, (0, 1, 2)),
    "shared": Schema(SHARING),
    "classes": Schema(TABLE, (0, 1, 2)),
    "alone": Schema(TABLE),
    "weights": Schema(TABLE),
    "gaussian": Schema(MANY),
    "shared-gaussian": Schema(MANY_SHARING),
    "words": Schema.binary(WORDS, n_rows=2 * WORDS, row_bound=WORDS - 1),
    "columns": Schema.binary(WORDS, n_rows=2 * WORDS),
    # too few for a look at how many ones they have
    "few-words": Schema(WIDE.features, n_rows=15),
    "dense": WIDE,
    "mixed": Schema((*WIDE.features, NUMBER)),
}


def _tables(schema: Schema, relation: str) -> list[tuple[Any, Any]]:
    """Return pairs of tables; each way of the rule has one of them that costs its parts most, found by a search.

    A record that is in the minority of every group is added, or replaces one of the majority; a record changes its
    class; and for choices and for records of many ones, tables where a record moves between large groups.
    """
    D, last = schema.n_features, len(schema.classes) - 1
    low, high, half = np.zeros(D), np.ones(D), np.zeros(D)
    half[: D // 2] = 1.0
    groups = [(low, 0, 6), (high, 1, 6)]
    if len(TABLE) == D:
        high = np.array([8.0, 2.0, 1.0, 1.0])
        groups = [(low, 0, 6), (high, 1, 6)]
        one, other = np.array([8.0, 0.0, 0.0, 0.0]), np.array([0.0, 1.0, 1.0, 0.0])
        chosen = [(np.array([1.0, 0.0, 1.0, 0.0]), 1, 500), (one, 1, 6), (np.array([4.0, 1.0, 1.0, 1.0]), last, 6)]
        chosen += [(other, 1, 100)]
        moved = (np.array([0.0, 2.0, 1.0, 1.0]), 1), (np.array([8.0, 0.0, 0.0, 1.0]), last)
    elif D == WORDS:
        high[2:] = 0.0  # a record of many words adds less than one to each count
        groups = [(low, 0, 6), (high, 1, 6)]
        chosen, moved = groups, ((np.eye(D)[4] + np.eye(D)[5], 0), (high, 1))
    else:
        few = np.eye(D)[2] + np.eye(D)[10]
        chosen = [(few, 1, 500), (high, 1, 26), (np.eye(D)[28], 1, 20), (high, 0, 100)]
        moved = (np.eye(D)[15] + np.eye(D)[55], 0), (half, 1)

    def table(groups: list, record: Any) -> Any:
        rows = [(values, label) for values, label, times in groups for _ in range(times)] + ([record] if record else [])
        return np.array([values for values, _ in rows]), np.array([label for _, label in rows])

    pairs: list[tuple[list, Any, Any]] = [
        (groups, (low, 0), (high, 0)),
        (groups, (high, 1), (high, 0)),
        (chosen, *moved),
    ]
    if len(TABLE) == D:
        pairs += [_separated(*sizes) for sizes in LEADS]
    elif D == WORDS:  # half of the columns lose a record of the first class and the others win one
        pairs += [([(low, 0, 6), (np.ones(D), 1, 6)], (1 - half, 1), (half, 1))]
    if relation == "add-remove":
        pairs = [(rows, None, record) for rows, _, record in pairs]
    return [(table(rows, before), table(rows, after)) for rows, before, after in pairs]


def _separated(many: int, lead: int) -> tuple[list, Any, Any]:
    """Return groups that a tells apart and b does not, as `separated_tables` does, and a record."""
    rows = [((0, 0), 0, many), ((2, 0), 1, many), ((1, 0), 1, lead), ((0, 1), 0, lead - 1)]
    record = np.array([0.0, 1.0, 1.0, 0.0])
    return [(np.array([0.0, *cells, 0.0]), label, times) for cells, label, times in rows], (record, 1), (record, 0)


def _case(way: str, epsilon: float, relation: str, release: bool = False) -> Case:
    schema = SCHEMAS[way]
    if way in RECORDS:
        schema = replace(schema, n_rows=round(RECORDS[way] / epsilon))
    options: dict[str, Any] = {"schema": schema, "relation": relation, "on_invalid": "clip", "release": release}
    if way.endswith("gaussian"):
        options["delta"] = DELTA

    def call(data):
        return AutoClassifier(epsilon, random_state=None if release else 0, **options).fit(*data)

    def sample(data, draws, rng):
        seeds = [None if release else rng] * draws
        fits = [AutoClassifier(epsilon, random_state=seed, **options).fit(*data) for seed in seeds]
        return np.array([fit.decision_function(data[0][[0, -1]]) for fit in fits])

    words = "a record of the minority of its groups is added, or replaces one of the majority"
    first, *others = _tables(schema, relation)
    return Case(
        *first, call, sample, recorded(call, options.get("delta", 0.0)), draws=100, words=words, others=tuple(others)
    )


RELEASES = ("bins", "shared", "classes", "alone", "weights", "words", "columns", "few-words")
CASES: dict[str, CaseMaker] = {
    **{f"auto-{way}": partial(_case, way) for way in SCHEMAS},
    **{f"auto-{way}-release": partial(_case, way, release=True) for way in RELEASES},
}
