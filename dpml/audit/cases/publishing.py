"""Claims of PrivPfC: the synthetic table, the classifier from its cells, and their release."""

import math
from functools import partial
from typing import Any

import numpy as np

from dpml.audit import recorded_releases
from dpml.audit.cases.base import DELTA, Case, CaseMaker, recorded
from dpml.classifiers import DiffPC45, DiffPID3, PrivPfCClassifier, RandomTrees
from dpml.classifiers.grid import Records, places_of, quality_range, release_grid
from dpml.classifiers.grid.cells import SHARES
from dpml.publishing import (
    PPH,
    DiffGen,
    DiffGenStructNF,
    ImportanceWeights,
    PrivBayes,
    PrivBayesStructNF,
    PrivPfC,
    PrivPfCSelNF,
    UniformGrid,
    release_answers,
    release_table,
)
from dpml.publishing.density_ratio import (
    balanced_minimiser,
    release_balanced_objective,
    release_balanced_output,
    release_sums,
)
from dpml.publishing.graphical import release_aim, release_mst
from dpml.publishing.ratio_features import RatioFeatures
from dpml.schema import Feature, Schema

GRID_SCHEMA = Schema((Feature("a", "categorical", (0, 1, 2)), Feature("b", "categorical", (0, 1))), (0, 1))
TAXONOMIES = tuple(feature.taxonomy for feature in GRID_SCHEMA.features)
# one cell, the groups of b, and the groups of a: the layer of one attribute and no more
MAX_GRIDS = 3
TIED = "a record decides which of two attributes is better"
WORDS = "a record joins the majority in a cell of one grid, and the minority in a cell of the best one"


def _grid_tables(epsilon: float, relation: str) -> tuple[Any, Any]:
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


def _grid_case(
    estimator: Any,
    calibration: str,
    epsilon: float,
    relation: str,
    *,
    release: bool = False,
    tables: Any = _grid_tables,
    words: str = WORDS,
) -> Case:
    options: dict[str, Any] = {"max_grids": MAX_GRIDS, "relation": relation, "calibration": calibration}

    def call(data):
        seed = None if release else 0
        return estimator(epsilon, schema=GRID_SCHEMA, release=release, random_state=seed, **options).fit(*data)

    def sample(data, draws, rng):
        X, codes, schema = GRID_SCHEMA.check_table(*data)
        records = Records(places_of(X, schema, TAXONOMIES), codes, 2, TAXONOMIES)
        source: dict[str, Any] = {"secure": True} if release else {"rng": rng}
        source |= {} if getattr(estimator, "private", True) else {"exact_choice": True}
        return np.array([_grid_row(release_grid(records, epsilon, **options, **source)) for _ in range(draws)])

    data, neighbour = tables(epsilon, relation)
    return Case(data, neighbour, call, sample, recorded(call), draws=2_000, words=words)


def _grid_row(grid: Any) -> Any:
    """Return a released grid as numbers, as many for each grid."""
    cells = np.zeros((2, 3))
    cells[:, : grid.counts.shape[1]] = grid.counts
    return np.concatenate([[grid.n], grid.levels, cells.ravel()])


CALIBRATIONS = {"privpfc": "range", "privpfc-lemma": "lemma", "privpfc-published": "published"}
GRIDS: dict[str, CaseMaker] = {
    **{name: partial(_grid_case, PrivPfC, calibration) for name, calibration in CALIBRATIONS.items()},
    **{
        name.replace("privpfc", "privpfc-classifier"): partial(_grid_case, PrivPfCClassifier, calibration)
        for name, calibration in CALIBRATIONS.items()
    },
    "privpfc-release": partial(_grid_case, PrivPfC, "range", release=True),
    "privpfc-selnf": partial(_grid_case, PrivPfCSelNF, "range", tables=partial(tied_tables, record=(0, 1)), words=TIED),
}


# a number in three groups for C4.5, which cuts it in two
CUT = Schema(
    (Feature("a", "numeric", lower=-0.5, upper=2.5, levels=((0.5, 1.5),)), Feature("b", "categorical", (0, 1)))
)
SCHEMA = Schema((Feature("a", "categorical", (0, 1, 2)), Feature("b", "categorical", (0, 1))))
BETTER = "a record joins the majority in a group of one attribute, and the minority in a group of the better one"
APART = "all records are alike, and one of the other class differs from them in one of two attributes"
ONE_MORE = "a record joins a cell"
ONE_OF_MANY = "a record of the other class differs from all others, which are alike, in every column but one"
UNLIKELY = "a record has ones in all columns, of which no other record has two"

FALLING = "one attribute takes the place of all others as the one that tells two records apart"


def _separated(epsilon: float, relation: str) -> tuple[Any, Any]:
    """Return tables of which a is chosen but for e^-60, by a choice with at least a seventh of ε."""
    many = math.ceil(60 * 14 / epsilon)
    return separated_tables(many, many, relation)


def _apart(epsilon: float, relation: str) -> tuple[Any, Any]:
    """Return tables of records that are alike but for the one that is added, or takes the place of one."""
    rows = [(0, 0)] * 400
    alike = np.array(rows, dtype=float), np.ones(400, dtype=int)
    X = np.array([*rows[: 399 if relation == "replace-one" else 400], (0, 1)], dtype=float)
    return alike, (X, np.array([1] * (len(X) - 1) + [0]))


# groups of records ((a, b), class), and a record before and after: what a search found where other pairs leave parts
SEARCHED: dict[str, tuple[tuple[dict[Any, int], Any, Any], ...]] = {
    # the record moves from one leaf to another
    "tree": (
        ({((0, 0), 0): 20, ((0, 1), 0): 20, ((0, 1), 1): 60, ((1, 0), 0): 1, ((1, 0), 1): 2, ((1, 1), 0): 900,
          ((1, 1), 1): 200, ((2, 0), 0): 900, ((2, 0), 1): 1, ((2, 1), 0): 20, ((2, 1), 1): 900},
         ((1, 1), 0), ((0, 0), 0)),
        ({((0, 0), 0): 900, ((0, 0), 1): 200, ((0, 1), 0): 5, ((1, 0), 0): 60, ((1, 1), 1): 20, ((2, 0), 1): 60,
          ((2, 1), 1): 20}, ((1, 1), 1), ((0, 1), 0)),
        # of two splits
        ({((0, 0), 1): 200, ((0, 1), 0): 200, ((1, 0), 1): 202, ((1, 1), 0): 900, ((2, 0), 0): 200,
          ((2, 1), 1): 200}, ((0, 1), 1), ((2, 0), 1)),
    ),
    "marginals": (
        ({((0, 0), 0): 2, ((0, 0), 1): 60, ((0, 1), 0): 1, ((1, 0), 0): 60, ((1, 0), 1): 200, ((2, 0), 0): 20,
          ((2, 0), 1): 1, ((2, 1), 0): 5}, ((2, 1), 0), ((1, 0), 1)),
        ({((0, 0), 0): 60, ((0, 0), 1): 5, ((0, 1), 0): 200, ((0, 1), 1): 20, ((1, 0), 0): 5, ((1, 0), 1): 902,
          ((1, 1), 0): 4, ((1, 1), 1): 5, ((2, 0), 0): 1, ((2, 1), 0): 2, ((2, 1), 1): 64}, ((2, 1), 1), ((0, 0), 1)),
        ({((0, 0), 0): 20, ((0, 0), 1): 60, ((0, 1), 1): 1, ((1, 0), 0): 900, ((1, 1), 0): 5, ((1, 1), 1): 200,
          ((2, 0), 0): 20, ((2, 0), 1): 200, ((2, 1), 1): 5}, ((1, 1), 1), ((1, 0), 0)),
        # all attributes change, and the distance of one pair grows by two where that of another falls by two
        ({((0, 0), 0): 900, ((0, 0), 1): 6, ((0, 1), 1): 900, ((1, 0), 1): 60, ((1, 1), 1): 900, ((2, 0), 0): 60,
          ((2, 0), 1): 60, ((2, 1), 1): 1}, ((0, 0), 1), ((2, 1), 0)),
    ),
}  # fmt: skip
COPIES = 30
# two records: where mutual information changes most
MANY = Schema.binary(COPIES, n_rows=2)
KEYS: dict[Any, str] = {DiffPC45: "tree", DiffPID3: "tree"}


def _searched(key: str, relation: str) -> tuple[tuple[Any, Any], ...]:
    return tuple(moved_tables(*one, relation) for one in SEARCHED.get(key, ()))


def _copies(call: Any) -> tuple[Any, Any]:
    """Return tables of two records of which the second is replaced, for a choice among many attributes.

    The first attribute, whose place does not depend on the records, tells the two records apart. In one table all
    others but one do so too, and in the other table that one alone: one score rises by a bit and all others fall by
    one, so the change spans what it can, and hardly changes the sum of the weights.
    """
    values = np.zeros((2, 2, COPIES + 1))
    first: list[str] = []
    recorded_releases(lambda table: first.append(call(table).network_[0][0]), *([(values[0, :, :-1], [0, 0])] * 2))
    anchor = MANY.feature_names.index(first[0]) if first[0] in MANY.feature_names else COPIES
    rising = 1 if anchor == 0 else 0
    values[0, 1] = 1.0
    values[0, 1, rising] = 0.0
    values[1, 1, [anchor, rising]] = 1.0
    one, other = ((table[:, :-1], table[:, -1].astype(int)) for table in values)
    return one, other


def _one_of_many(epsilon: float, relation: str) -> tuple[Any, Any]:
    """Return tables of records that are alike, but for one of the other class, which differs in all columns but one.

    Under replace-one it takes the place of one that differs in that column alone. So all scores but one change alike.
    """
    X = np.zeros((401, COPIES))
    other = X.copy()
    X[400, 0], other[400, 1:] = 1.0, 1.0
    y = np.array([1] * 400 + [0])
    return ((X, y) if relation == "replace-one" else (X[:400], y[:400])), (other, y)


def _bits(epsilon: float, relation: str) -> tuple[Any, Any]:
    """Return tables of two records, of which the second differs from the first in all columns but one, or in that one.

    Under add/remove it is added. So the information about the class rises by a bit in one column, and falls by one in
    all others, or rises in them.
    """
    X = np.zeros((2, COPIES))
    other = X.copy()
    X[1, 0], other[1, 1:] = 1.0, 1.0
    y = np.array([0, 1])
    return ((X, y) if relation == "replace-one" else (X[:1], y[:1])), (other, y)


def _disjoint(epsilon: float, relation: str) -> tuple[Any, Any]:
    """Return tables of columns with ones in 70 records each, no two in the same, and a record of ones alone.

    It lowers the dependence of all pairs of these, and raises that of the last column, which had no ones.
    """
    X = np.zeros((2500, COPIES + 1))
    for j in range(COPIES):
        X[70 * j : 70 * (j + 1), j] = 1.0
    more = np.vstack([X if relation == "add-remove" else X[:-1], np.ones(COPIES + 1)])
    # the class is the first of these columns
    return (X[:, 1:], X[:, 0].astype(int)), (more[:, 1:], more[:, 0].astype(int))


def _case(
    make: Any, tables: Any, words: str, schema: Schema, epsilon: float, relation: str, *, release: bool = False
) -> Case:
    def fitted(data, state):
        model = make(epsilon, schema=schema, relation=relation, release=release, random_state=state)
        return model.fit(*data)

    def call(data):
        return fitted(data, None if release else 0)

    def sample(data, draws, rng):
        return np.array([_row(fitted(data, None if release else rng)) for _ in range(draws)])

    data, neighbour = _copies(call) if tables is _copies else tables(epsilon, relation)
    others = _searched(KEYS.get(make.func, ""), relation) if getattr(make.func, "private", True) else ()
    draws = 100 if schema.n_features == COPIES else 1_000
    return Case(data, neighbour, call, sample, recorded(call), draws=draws, words=words, others=others)


def _row(model: Any) -> Any:
    """Return what was released as numbers, as many for each fit of one method."""
    if hasattr(model, "tree_"):
        leaves = _leaves(model.tree_)
        return _padded([model.tree_.attribute, len(leaves)], leaves, 12)
    if hasattr(model, "trees_"):
        return model.leaf_counts_.ravel()
    if hasattr(model, "network_"):
        network = model._network
        pairs = [8 * x + sum(1 << j for j in parents) for x, parents in network.pairs]
        return _padded([network.n, *pairs], [table.ravel() for table in network.tables], max(64, 4 * len(pairs)))
    grid = model._grid
    return _padded([grid.n, *grid.levels], [grid.counts.ravel()], 12)


def _leaves(node: Any) -> list[Any]:
    return [counts for child in node.children for counts in _leaves(child)] or [node.counts]


def _padded(first: list, parts: list, size: int) -> Any:
    flat = np.concatenate(parts)
    return np.concatenate([first, flat, np.zeros(size - len(flat))])


def _table_case(
    kind: Any,
    tables: Any = _separated,
    words: str = BETTER,
    *,
    schema: Schema = SCHEMA,
    release: bool = False,
    **options: Any,
) -> CaseMaker:
    return partial(_case, partial(kind, **options), tables, words, schema, release=release)


def _marginals_case(make: Any, epsilon: float, relation: str, *, release: bool = False, delta: float = 0.0) -> Case:
    """Return the release of marginals alone, with a model of independent attributes: no package is needed for it."""
    taxonomies = tuple(feature.taxonomy for feature in SCHEMA.features)

    def released(data, rng):
        X, codes, schema = SCHEMA.check_table(*data)
        noise = {"secure": True} if release else {"rng": rng}
        return make(
            Records(places_of(X, schema, taxonomies), codes, 2, taxonomies),
            epsilon,
            delta=delta,
            relation=relation,
            **noise,
        )

    def sample(data, draws, rng):
        rows = []
        for _ in range(draws):
            marginals = released(data, rng)
            first = [sum(1 << j for j in m.attributes) for m in marginals][:12]
            rows.append(_padded(first + [0] * (12 - len(first)), [m.counts.ravel() for m in marginals[:12]], 120))
        return np.array(rows)

    def call(data):
        return released(data, np.random.default_rng(0))

    others = _searched("marginals", relation)
    known = recorded(call, delta)
    return Case(*_apart(epsilon, relation), call, sample, known, draws=500, words=APART, others=others)


MARGINALS: dict[str, CaseMaker] = {
    f"{key}{way}{end}": partial(_marginals_case, make, release=bool(end), delta=delta)
    for key, make in (("mst", release_mst), ("aim", release_aim))
    for way, delta in (("", 0.0), ("-delta", DELTA))
    for end in ("", "-release")
}
BINARY = Schema.binary(COPIES)
# their fits are audited with the noise of a simulation and with that of a release
KINDS: dict[str, tuple[Any, Any, str, dict[str, Any]]] = {
    "diffgen": (DiffGen, _separated, BETTER, {"n_steps": 1}),
    "pph": (PPH, _one_of_many, ONE_OF_MANY, {"n_attributes": 1, "schema": BINARY}),
    "uniform-grid": (UniformGrid, _apart, ONE_MORE, {"rule": "ug"}),
    "privbayes": (PrivBayes, _disjoint, UNLIKELY, {"degree": 1, "schema": BINARY}),
    "diffp-c45": (DiffPC45, _separated, BETTER, {"max_depth": 1, "schema": CUT}),
    "random-trees": (RandomTrees, _apart, ONE_MORE, {"n_trees": 3, "max_depth": 1}),
}


COLUMNS = 12  # a record has at most half of them: two records then differ by √2 times the bound on their norms
WEIGHTS_SCHEMA = Schema.binary(2 * COLUMNS, row_bound=COLUMNS)
LAMBDA = 0.5
FAR = "a record with half of the columns is replaced by one with the other half, and the public records have one each"
ALONE = "a record is replaced by one that differs in every column"


def _weights_tables() -> tuple[Any, Any, Any]:
    """Return private tables that differ in one record, and a public one, whose minimisers lie far apart."""
    rows = np.zeros((400, 2 * COLUMNS))
    other = rows.copy()
    rows[-1, :COLUMNS] = 1
    other[-1, COLUMNS:] = 1
    return rows, other, np.eye(2 * COLUMNS)


def _weights_case(options: dict[str, Any], epsilon: float, relation: str) -> Case:
    data, neighbour, public = _weights_tables()
    release = options.get("release", False)

    def fitted(rows, state):
        return ImportanceWeights(epsilon, schema=WEIGHTS_SCHEMA, random_state=state, **options).fit(rows, public)

    def call(rows):
        return fitted(rows, None if release else 0)

    def sample(rows, draws, rng):
        if options["reg_lambda"] == "private":
            return np.array([fitted(rows, rng).coef_ for _ in range(draws)])
        return _drawn(rows, public, epsilon, draws, rng, **options)

    many = 300 if options["reg_lambda"] == "private" else 4_000
    return Case(data, neighbour, call, sample, recorded(call), draws=many, words=FAR)


def _drawn(
    rows, public, epsilon, draws, rng, *, reg_lambda, method, calibration="tight", fit_intercept=True, release=False
):
    """Return what a fit releases, many times: the coefficients, or the sums that they are made from."""
    features = RatioFeatures(WEIGHTS_SCHEMA, (), fit_intercept and method != "moments")
    X, E = (features.matrix(features.parts(table)) for table in (rows, public))
    if method == "moments":
        return release_sums(X.sum(axis=0), epsilon, features, secure=release, draws=draws, rng=None if release else rng)
    more = {"calibration": calibration, "draws": draws, "rng": rng}
    if method == "objective":
        return release_balanced_objective(X, E, epsilon, reg_lambda, features, **more)
    return release_balanced_output(balanced_minimiser(X, E, reg_lambda), epsilon, reg_lambda, features, len(X), **more)


def _answers_case(kind: Any, epsilon: float, relation: str) -> Case:
    rows = np.zeros((20, 4))
    other = rows.copy()
    other[-1] = 1

    def release(table, draws, rng):
        return np.array([kind(table, epsilon, rng).ravel() for _ in range(draws)])

    return Case.of_release(rows, other, release, one=1, pasts=1, draws=4_000, words=ALONE)


def _answered(table: Any, epsilon: float, rng: Any) -> Any:
    return release_answers(table.T, epsilon, rng=rng)


def _perturbed(table: Any, epsilon: float, rng: Any, trim: bool = False) -> Any:
    return release_table(table, RatioFeatures(Schema.binary(4)), epsilon, trim=trim, rng=rng)


WEIGHTS: dict[str, dict[str, Any]] = {
    "importance-published": {"method": "output", "calibration": "published", "fit_intercept": False},
    "importance-output": {"method": "output"},
    "importance-objective": {"method": "objective"},
    "importance-objective-published": {"method": "objective", "calibration": "published"},
    "importance-moments": {"method": "moments"},
    "importance-moments-release": {"method": "moments", "release": True},
    "importance-chosen": {"method": "output", "reg_lambda": "private"},
}
CASES: dict[str, CaseMaker] = {
    **GRIDS,
    **{name: _table_case(kind, tables, words, **options) for name, (kind, tables, words, options) in KINDS.items()},
    **{
        f"{name}-release": _table_case(kind, tables, words, release=True, **options)
        for name, (kind, tables, words, options) in KINDS.items()
    },
    "diffgen-gain": _table_case(DiffGen, _bits, FALLING, schema=BINARY, n_steps=1, score="gain"),
    # without a degree: the noisy number of records sets how many parents an attribute has
    "privbayes-mutual-information": _table_case(PrivBayes, _apart, APART, score="mutual_information"),
    "privbayes-many-attributes": _table_case(
        PrivBayes, _copies, FALLING, degree=1, score="mutual_information", schema=MANY
    ),
    "diffp-id3": _table_case(DiffPID3, max_depth=1),
    "diffp-c45-deep": _table_case(DiffPC45, max_depth=2, schema=CUT),
    "diffp-id3-gini": _table_case(DiffPID3, max_depth=1, criterion="gini"),
    "diffgen-struct-nf": _table_case(DiffGenStructNF, tied_tables, TIED, n_steps=1),
    "privbayes-struct-nf": _table_case(PrivBayesStructNF, tied_tables, TIED, degree=1),
    **MARGINALS,
    **{name: partial(_weights_case, {"reg_lambda": LAMBDA, **options}) for name, options in WEIGHTS.items()},
    "table-with-noise": partial(_answers_case, _perturbed),
    "direct-answers": partial(_answers_case, _answered),
}
