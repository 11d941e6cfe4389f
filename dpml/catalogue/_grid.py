"""Claims of PrivPfC: the published table, the classifier from its cells, and their release."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from dpml.catalogue._method import Case, Method
from dpml.catalogue._recorded import recorded
from dpml.classifiers import PrivPfCClassifier
from dpml.classifiers.grid import Records, places_of, quality_range, release_grid
from dpml.classifiers.grid.cells import SHARES
from dpml.publishing import PrivPfC
from dpml.schema import Feature, Schema

SCHEMA = Schema((Feature("a", "categorical", (0, 1, 2)), Feature("b", "categorical", (0, 1))), (0, 1))
TAXONOMIES = tuple(feature.taxonomy for feature in SCHEMA.features)
# one cell, the groups of b, and the groups of a: the layer of one attribute and no more
MAX_GRIDS = 3
WORDS = "a record joins the majority in a cell of one grid, and the minority in a cell of the best one"


def _tables(epsilon: float, relation: str) -> tuple[Any, Any]:
    """Return two tables (X, y) for which the change of the quality spans its whole range.

    The groups of a tell the classes apart, those of b do not, so that a is chosen but for e^-60. With x the lead at
    which the quality changes most, the new record (1, 1) of class 0 shrinks the lead of class 1 in the group a = 1 from
    x, and widens the lead of class 0 in the group b = 1 to x.
    """
    x = _lead(SHARES[2] * epsilon)
    many = math.ceil(60 * quality_range(SHARES[2] * epsilon, relation, "published") / (SHARES[1] * epsilon)) + 2 * x
    groups = {((0, 0), 0): many, ((2, 0), 1): many, ((1, 0), 1): x, ((0, 1), 0): x - 1}
    rows = [(cells, label) for (cells, label), times in groups.items() for _ in range(times)]

    def table(rows: list) -> Any:
        return np.array([cells for cells, _ in rows], dtype=float), np.array([label for _, label in rows])

    before = [((1, 1), 1)] if relation == "replace-one" else []
    return table(rows + before), table([*rows, ((1, 1), 0)])


def _lead(epsilon: float) -> int:
    """Return the lead x at which x·t(x) falls most."""
    y = (1 + math.sqrt(3)) / epsilon
    near = [x for x in (math.floor(y), math.floor(y) + 1, math.floor(y) + 2) if x >= 1]

    def lost(x: int) -> float:
        return x * math.exp(-epsilon * x) / 2 * (1 + epsilon * x / 2)

    return max(near, key=lambda x: lost(x - 1) - lost(x))


def _case(estimator: Any, calibration: str, epsilon: float, relation: str, **more: Any) -> Case:
    options: dict[str, Any] = {"max_grids": MAX_GRIDS, "relation": relation, "calibration": calibration}
    noise = {"random_state": None if more.get("release") else 0, **more}

    def call(data):
        return estimator(epsilon, schema=SCHEMA, **options, **noise).fit(*data)

    def sample(data, draws, rng):
        X, codes, schema = SCHEMA.check_table(*data)
        records = Records(places_of(X, schema, TAXONOMIES), codes, 2, TAXONOMIES)
        source: dict[str, Any] = {"secure": True} if more.get("release") else {"rng": rng}
        return np.array([_row(release_grid(records, epsilon, **options, **source)) for _ in range(draws)])

    return Case(*_tables(epsilon, relation), call, sample, recorded(call), draws=2_000, words=WORDS)


def _row(grid: Any) -> Any:
    """Return a released grid as numbers, as many for each grid."""
    cells = np.zeros((2, 3))
    cells[:, : grid.counts.shape[1]] = grid.counts
    return np.concatenate([[grid.n], grid.levels, cells.ravel()])


def _published_epsilon(epsilon: float) -> float:
    """Return the cost of the choice by the paper's 1.1 with the other two shares, under either relation."""
    spanned = quality_range(SHARES[2] * epsilon) / quality_range(SHARES[2] * epsilon, calibration="published")
    return epsilon * (SHARES[0] + SHARES[1] * spanned + SHARES[2])


def _lemma_epsilon(epsilon: float) -> float:
    spanned = quality_range(SHARES[2] * epsilon) / quality_range(SHARES[2] * epsilon, calibration="lemma")
    return epsilon * (SHARES[0] + SHARES[1] * spanned + SHARES[2])


VARIANTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "range": ("", "[su2018], Algorithm 2; range derived here", {}),
    "lemma": (", sensitivity of Lemma 1", "[su2018], Lemma 1", {"true_epsilon": _lemma_epsilon}),
    "published": (", published sensitivity", "[su2018], Algorithm 2", {"true_epsilon": _published_epsilon}),
}
KINDS: tuple[tuple[str, str, str, Any, str], ...] = (
    ("privpfc", "PrivPfC", "publishing", PrivPfC, "dpml.publishing.PrivPfC"),
    (
        "privpfc-classifier",
        "Classifier by PrivPfC's cells",
        "classifier",
        PrivPfCClassifier,
        "dpml.classifiers.grid.PrivPfCClassifier",
    ),
)
FITS = tuple(
    Method(
        name + ("" if calibration == "range" else f"-{calibration}"),
        title + words,
        family,
        (
            path,
            f"{path}[{calibration}]",
            "dpml.classifiers.grid.release_grid",
            f"dpml.classifiers.grid.release_grid[{calibration}]",
        ),
        source,
        "ε",
        True,
        partial(_case, estimator, calibration),
        cost="as claimed" if calibration == "range" else "less than ε: 0.83·ε at ε = 1",
        **more,
    )
    for name, title, family, estimator, path in KINDS
    for calibration, (words, source, more) in VARIANTS.items()
)
RELEASE = Method(
    "privpfc-release",
    "PrivPfC, release",
    "publishing",
    ("dpml.publishing.PrivPfC", "dpml.classifiers.grid.release_grid"),
    "[su2018], Algorithm 2; integer noise and permute-and-flip",
    "ε",
    True,
    partial(_case, PrivPfC, "range", release=True),
)
METHODS = (*FITS, RELEASE)
