"""Claims of PrivPfC: the synthetic table, the classifier from its cells, and their release."""

import math
from functools import partial
from typing import Any

import numpy as np

from dpml.catalogue._method import Case, Method
from dpml.catalogue._recorded import recorded
from dpml.classifiers import PrivPfCClassifier
from dpml.classifiers.grid import Records, places_of, quality_range, release_grid
from dpml.classifiers.grid.cells import SHARES
from dpml.publishing import PrivPfC, PrivPfCSelNF
from dpml.schema import Feature, Schema

SCHEMA = Schema((Feature("a", "categorical", (0, 1, 2)), Feature("b", "categorical", (0, 1))), (0, 1))
TAXONOMIES = tuple(feature.taxonomy for feature in SCHEMA.features)
# one cell, the groups of b, and the groups of a: the layer of one attribute and no more
MAX_GRIDS = 3
TIED = "a record decides which of two attributes is better"
WORDS = "a record joins the majority in a cell of one grid, and the minority in a cell of the best one"


def _tables(epsilon: float, relation: str) -> tuple[Any, Any]:
    """Return two tables (X, y) for which the change of the quality spans its whole range.

    a is chosen but for e^-60, and x is the lead at which the quality changes most.
    """
    x = _lead(SHARES[2] * epsilon)
    many = math.ceil(60 * quality_range(SHARES[2] * epsilon, relation, "published") / (SHARES[1] * epsilon)) + 2 * x
    return separated_tables(many, x, relation)


def separated_tables(many: int, x: int, relation: str) -> tuple[Any, Any]:
    """Return two tables (X, y): the groups of a tell the classes apart, those of b do not.

    The new record (1, 1) of class 0 shrinks the lead of class 1 in the group a = 1 from x, and widens the lead of class
    0 in the group b = 1 to x.
    """
    groups = {((0, 0), 0): many, ((2, 0), 1): many, ((1, 0), 1): x, ((0, 1), 0): x - 1}
    rows = [(cells, label) for (cells, label), times in groups.items() for _ in range(times)]

    before = [((1, 1), 1)] if relation == "replace-one" else []
    return _as_table(rows + before), _as_table([*rows, ((1, 1), 0)])


def tied_tables(epsilon: float, relation: str, record: tuple[int, int] = (1, 0)) -> tuple[Any, Any]:
    """Return two tables (X, y) of which one record decides whether a or b is better: both tell the classes apart.

    It is of class 0 and agrees with one of them; under replace-one a record of class 0 that agrees with both goes.
    """
    many = math.ceil(60 / epsilon)
    rows = [((0, 0), 0)] * many + [((1, 1), 1)] * many
    before = [((0, 0), 0)] if relation == "replace-one" else []
    return _as_table(rows + before), _as_table([*rows, (record, 0)])


def moved_tables(groups: dict[Any, int], before: Any, after: Any, relation: str) -> tuple[Any, Any]:
    """Return two tables (X, y) of groups of records (cells, class), to which a record is added or is replaced."""
    rows = [record for record, times in groups.items() for _ in range(times)]
    return _as_table(rows + ([before] if relation == "replace-one" else [])), _as_table([*rows, after])


def _as_table(rows: list) -> tuple[Any, Any]:
    return np.array([cells for cells, _ in rows], dtype=float), np.array([label for _, label in rows])


def _lead(epsilon: float) -> int:
    """Return the lead x at which x·t(x) falls most."""
    y = (1 + math.sqrt(3)) / epsilon
    near = [x for x in (math.floor(y), math.floor(y) + 1, math.floor(y) + 2) if x >= 1]

    def lost(x: int) -> float:
        return x * math.exp(-epsilon * x) / 2 * (1 + epsilon * x / 2)

    return max(near, key=lambda x: lost(x - 1) - lost(x))


def _case(
    estimator: Any,
    calibration: str,
    epsilon: float,
    relation: str,
    *,
    release: bool = False,
    tables: Any = _tables,
    words: str = WORDS,
) -> Case:
    options: dict[str, Any] = {"max_grids": MAX_GRIDS, "relation": relation, "calibration": calibration}

    def call(data):
        seed = None if release else 0
        return estimator(epsilon, schema=SCHEMA, release=release, random_state=seed, **options).fit(*data)

    def sample(data, draws, rng):
        X, codes, schema = SCHEMA.check_table(*data)
        records = Records(places_of(X, schema, TAXONOMIES), codes, 2, TAXONOMIES)
        source: dict[str, Any] = {"secure": True} if release else {"rng": rng}
        source |= {} if getattr(estimator, "private", True) else {"exact_choice": True}
        return np.array([_row(release_grid(records, epsilon, **options, **source)) for _ in range(draws)])

    data, neighbour = tables(epsilon, relation)
    return Case(data, neighbour, call, sample, recorded(call), draws=2_000, words=words)


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
    "range": ("", "[su2018], Algorithm 2 (range derived here)", {}),
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
    "[su2018], Algorithm 2, with integer noise and permute-and-flip",
    "ε",
    partial(_case, PrivPfC, "range", release=True),
)
WITHOUT_NOISE = Method(
    "privpfc-selnf",
    "PrivPfC-SelNF, the best grid without noise",
    "publishing",
    ("dpml.publishing.PrivPfCSelNF", *(f"dpml.publishing.PrivPfCSelNF[{calibration}]" for calibration in VARIANTS)),
    "[su2018], section 5.5",
    "none: simulation only",
    partial(_case, PrivPfCSelNF, "range", tables=partial(tied_tables, record=(0, 1)), words=TIED),
    private=False,
    cost="∞: the choice has no noise",
    true_epsilon=lambda epsilon: math.inf,
)
METHODS = (*FITS, RELEASE, WITHOUT_NOISE)
