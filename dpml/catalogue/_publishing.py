"""Claims of PrivPfC's competitors: DiffGen, PPH, PrivBayes, uniform grids, and private decision trees."""

import math
from functools import partial
from typing import Any

import numpy as np

from dpml.auditing import recorded_releases
from dpml.catalogue._grid import TIED, moved_tables, separated_tables, tied_tables
from dpml.catalogue._method import Case, Method
from dpml.catalogue._recorded import recorded
from dpml.classifiers import DiffPC45, DiffPID3, RandomTrees
from dpml.classifiers.grid import Records, places_of
from dpml.publishing import PPH, DiffGen, DiffGenStructNF, PrivBayes, PrivBayesStructNF, UniformGrid
from dpml.publishing.graphical import release_aim, release_mst
from dpml.schema import Feature, Schema

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
DELTA = 1e-5
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


def _entry(
    name: str,
    title: str,
    kind: Any,
    covers: tuple[str, ...],
    source: str,
    tables: Any = _separated,
    words: str = BETTER,
    *,
    schema: Schema = SCHEMA,
    release: bool = False,
    relations: tuple[str, ...] = ("add-remove", "replace-one"),
    **options: Any,
) -> Method:
    room = "publishing" if hasattr(kind, "sample") else "classifiers"
    private = getattr(kind, "private", True)
    return Method(
        name,
        title,
        "publishing" if room == "publishing" else "classifier",
        (f"dpml.{room}.{kind.__name__}", *covers),
        source,
        "ε" if private else "none: simulation only",
        partial(_case, partial(kind, **options), tables, words, schema, release=release),
        private=private,
        cost="as claimed" if private else "∞: the choices have no noise",
        true_epsilon=float if private else lambda epsilon: math.inf,
        relations=relations,
    )


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


MARGINALS = tuple(
    Method(
        name,
        title,
        "publishing",
        (f"dpml.publishing.{kind}", f"dpml.publishing.graphical.{make.__name__}"),
        source if delta else f"{source}, with Laplace noise",
        f"(ε, δ), audited at δ = {DELTA:g}" if delta else "ε",
        partial(_marginals_case, make, release=release, delta=delta),
        delta=delta,
    )
    for key, kind, make, source in (
        ("mst", "MST", release_mst, "[mckenna2021]"),
        ("aim", "AIM", release_aim, "[mckenna2022]"),
    )
    for way, noise, delta in (("", "", 0.0), ("-delta", " with Gaussian noise", DELTA))
    for name, title, release in (
        (f"{key}{way}", kind + noise, False),
        (f"{key}{way}-release", f"{kind}{noise}, release", True),
    )
)
RELEASED = {
    DiffGen: ("dpml.publishing.grids.release_specialisations",),
    PPH: ("dpml.publishing.grids.release_projection",),
    UniformGrid: ("dpml.publishing.grids.release_uniform_grid",),
    PrivBayes: ("dpml.publishing.privbayes.release_network",),
    DiffPC45: ("dpml.classifiers.tree.release_tree",),
    RandomTrees: (),
}
SPECIALISED, PROJECTED = (
    "[mohammed2011], Algorithm 1 (range derived here)",
    "[vinterbo2012] (score and range derived here)",
)
TREE = "[friedman-schuster2010], Algorithm {} (range derived here)"
KINDS: tuple[tuple[Any, ...], ...] = (
    ("diffgen", "DiffGen", DiffGen, SPECIALISED, _separated, BETTER, {"n_steps": 1}),
    ("pph", "Private projected histogram", PPH, PROJECTED, _one_of_many, ONE_OF_MANY,
     {"n_attributes": 1, "schema": Schema.binary(COPIES)}),
    ("uniform-grid", "Uniform grid", UniformGrid, "[su2018], section 3.5", _apart, ONE_MORE, {"rule": "ug"}),
    ("privbayes", "PrivBayes", PrivBayes, "[zhang2014], Algorithms 1 to 4 (score as a count, derived here)",
     _disjoint, UNLIKELY, {"degree": 1, "schema": Schema.binary(COPIES)}),
    ("diffp-c45", "DiffP-C4.5", DiffPC45, TREE.format(3), _separated, BETTER, {"max_depth": 1, "schema": CUT}),
    ("random-trees", "Random decision trees", RandomTrees, "[jagannathan2012] (splits in two, noise derived here)",
     _apart, ONE_MORE, {"n_trees": 3, "max_depth": 1}),
)  # fmt: skip
METHODS = (
    *(_entry(n, t, k, RELEASED[k], s, tables, words, **o) for n, t, k, s, tables, words, o in KINDS),
    *(
        _entry(f"{n}-release", f"{t}, release", k, RELEASED[k], s, tables, words, release=True, **o)
        for n, t, k, s, tables, words, o in KINDS
    ),
    _entry("diffgen-gain", "DiffGen by information gain", DiffGen, (), "[mohammed2011]", _bits, FALLING,
           schema=Schema.binary(COPIES), n_steps=1, score="gain"),
    # without a degree: the noisy number of records sets how many parents an attribute has
    _entry("privbayes-mutual-information", "PrivBayes by mutual information", PrivBayes, (),
           "[zhang2014], Algorithms 1 to 4", _apart, APART, score="mutual_information"),
    _entry("privbayes-many-attributes", "PrivBayes by mutual information, of many attributes", PrivBayes, (),
           "[zhang2014], Algorithms 1 to 4", _copies, FALLING, degree=1, score="mutual_information", schema=MANY,
           relations=("replace-one",)),
    _entry("diffp-id3", "DiffP-ID3", DiffPID3, (), TREE.format(2), max_depth=1),
    _entry("diffp-c45-deep", "DiffP-C4.5 of two splits", DiffPC45, (), TREE.format(3), max_depth=2, schema=CUT),
    _entry("diffp-id3-gini", "DiffP-ID3 by Gini impurity", DiffPID3, (), TREE.format(2), max_depth=1, criterion="gini"),
    _entry("diffgen-struct-nf", "DiffGen-Struct-NF, specialised without noise", DiffGenStructNF, (),
           "[su2018], section 5.5", tied_tables, TIED, n_steps=1),
    _entry("privbayes-struct-nf", "PrivBayes-Struct-NF, a network without noise", PrivBayesStructNF, (),
           "[su2018], section 5.5", tied_tables, TIED, degree=1),
    *MARGINALS,
)  # fmt: skip
