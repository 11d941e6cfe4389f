"""Claims of the private facts of one column."""

import math

import numpy as np

from dpml.catalogue._method import Case, Method
from dpml.mechanisms.columns import private_bounds, private_categories, private_facts, private_quantiles

DELTA = 1e-5


def _bounds(epsilon: float, relation: str) -> Case:
    def release(data, draws, rng):
        return np.array([private_bounds(data, epsilon, relation=relation, rng=rng).counts for _ in range(draws or 1)])

    common = [1.0, 5.0, 5.0]
    data, neighbour = (common, [*common, 5.0]) if relation == "add-remove" else ([*common, 0.0], [*common, 5.0])
    words = "one number is added to a cell, or moves to another cell"
    return Case.of_release(np.array(data), np.array(neighbour), release, draws=2_000, words=words)


def _quantiles(epsilon: float, relation: str) -> Case:
    most = math.ceil(30 / epsilon)
    # the points 0, ½, 1: the one in the middle is chosen almost always, and its score alone rises
    cells, common = 2, [0.2] * most + [0.8] * (most + 1)
    data, neighbour = common, [*common, 0.2]
    if relation == "replace-one":
        # the points 0, ⅓, ⅔, 1: the score of the second rises by 1, that of the third falls by 1
        cells, common = 3, [0.5] * (2 * most) + [0.2] * (2 * most) + [0.8]
        data, neighbour = [*common, 0.8], [*common, 0.2]

    def release(data, draws, rng):
        options = {"lower": 0.0, "upper": 1.0, "n_cells": cells, "relation": relation, "rng": rng}
        return np.array([private_quantiles(data, (0.5,), epsilon, **options)[0] for _ in range(draws or 1)])

    words = "the median lies at a point; one number is added below it, or moves below it from above"
    return Case.of_release(np.array(data), np.array(neighbour), release, draws=2_000, words=words)


def _categories(epsilon: float, relation: str) -> Case:
    def release(data, draws, rng):
        options = {"relation": relation, "rng": rng}
        runs = [private_categories(data, epsilon, DELTA, **options) for _ in range(draws or 1)]
        # the number of the first category, or 0 where it was not released
        return np.array([run.counts.get("a", 0) for run in runs])

    many = math.ceil(40 / epsilon)
    common = ["a"] * many + ["b"] * many
    replaced = relation == "replace-one"
    ends, alone = (["b"] * replaced, ["a"]), (["d"] * replaced, ["c"])
    (data, neighbour), other = ([np.array([*common, *end]) for end in pair] for pair in (ends, alone))
    words = "a record is added to a category, or moves to another"
    return Case.of_release(
        data, neighbour, release, delta=DELTA, draws=2_000, words=words, others=((other[0], other[1]),)
    )


def _facts(epsilon: float, relation: str) -> Case:
    def release(data, draws, rng):
        columns = {"x": data[:, 0]}, {"t": data[:, 1]}
        runs = [private_facts(*columns, epsilon, DELTA, relation=relation, rng=rng) for _ in range(draws or 1)]
        return np.array([[*run["x"].counts, run["t"].counts.get("a", 0)] for run in runs])

    common = [[1.0, "a"], [1.0, "b"]] * math.ceil(80 / epsilon)
    ends = [[5.0, "b"]] * (relation == "replace-one"), [[1.0, "a"]]
    data, neighbour = (np.array([*common, *end], dtype=object) for end in ends)
    words = "a record is added, or replaced, with a number and a text"
    return Case.of_release(data, neighbour, release, delta=DELTA, draws=2_000, words=words)


METHODS = (
    Method(
        "private-bounds",
        "Bounds of a column of numbers",
        "mechanism",
        ("dpml.mechanisms.private_bounds",),
        "noisy counts of cells with edges at powers of two",
        "ε, under each relation",
        _bounds,
    ),
    Method(
        "private-quantiles",
        "Quantiles of a column of numbers",
        "mechanism",
        ("dpml.mechanisms.private_quantiles",),
        "[smith2011], by the exponential mechanism on a public grid",
        "ε for all quantiles together",
        _quantiles,
    ),
    Method(
        "private-categories",
        "Categories of a column above a noisy threshold",
        "mechanism",
        ("dpml.mechanisms.private_categories",),
        "[korolova2009]",
        "(ε, δ); audited at δ = 1e-5",
        _categories,
        delta=DELTA,
    ),
    Method(
        "private-facts",
        "Bounds and categories of several columns",
        "mechanism",
        ("dpml.mechanisms.private_facts", "dpml.schema.describe.describe"),
        "composition of the two",
        "(ε, δ); audited at δ = 1e-5",
        _facts,
        delta=DELTA,
    ),
)
