"""Publishers of one noisy grid: PrivPfC, uniform grids (UG, EUG and Lei's rule), PPH and DiffGen."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_choice, check_epsilon, check_integer, check_relation
from dpml.budget.shares import equal_share
from dpml.claims import claim
from dpml.classifiers.grid import NoisyGrid, Records
from dpml.classifiers.grid.cells import (
    MOST_CELLS,
    SHARES,
    GridEstimator,
    calibrated_cost,
    divided,
    noisy_grid,
    noisy_size,
    records_of,
)
from dpml.counts import FACTOR
from dpml.estimators.base import CheckedTable
from dpml.mechanisms.private import statistic
from dpml.mechanisms.source import Source
from dpml.publishing._publisher import GridPublisher
from dpml.schema import Feature, Taxonomy
from dpml.schema.domain import inner_edges

CELL_RULES = ("ug", "eug", "lei")
UNIFORM_LABELS = ("uniform grid, number of records", "uniform grid, counts")
# the range of the change of `discernibility` under add/remove, derived there
DISCERNIBILITY_RANGE = 1.0
# a noisy number of records has no limit, but a grid has one
MOST_BINS = MOST_CELLS
PPH_LABELS = ("PPH, number of records", "PPH, attributes", "PPH, counts")
DIFFGEN_SCORES = ("max", "gain")
DIFFGEN_LABELS = ("DiffGen, specialisations", "DiffGen, counts")
# a group of an attribute: its first finest group and the one after its last
Run = tuple[int, int]


@claim("privpfc", "PrivPfC", "[su2018], Algorithm 2 (range derived here)", options={"calibration": "range"})
@claim(
    "privpfc-lemma",
    "PrivPfC, sensitivity of Lemma 1",
    "[su2018], Lemma 1",
    cost="less than ε: 0.83·ε at ε = 1",
    true_epsilon=lambda epsilon: calibrated_cost(epsilon, "lemma"),
    options={"calibration": "lemma"},
)
@claim(
    "privpfc-published",
    "PrivPfC, published sensitivity",
    "[su2018], Algorithm 2",
    cost="less than ε: 0.83·ε at ε = 1",
    true_epsilon=lambda epsilon: calibrated_cost(epsilon, "published"),
    options={"calibration": "published"},
)
@claim("privpfc-release", "PrivPfC, release", "[su2018], Algorithm 2, with integer noise and permute-and-flip")
@dataclass(eq=False, repr=False)
class PrivPfC(GridPublisher, GridEstimator):
    """Synthetic tables for classification with differential privacy, from a privately selected grid.

    It releases a noisy number of records, one grid over the attributes' taxonomies, and the noisy class counts of its
    cells. Tables are drawn from these alone, so any number of them costs nothing more. Use it if the table serves one
    classification task: only the attributes of the grid are informative.

    Attributes
    ----------
    levels_ : dict of str to int
        Level of each attribute that the grid distinguishes. All other columns of a table are uniform noise.
    n_candidates_ : int
        Number of candidate grids.
    n_noisy_ : float
        Noisy number of records.

    See Also
    --------
    PrivBayes : Synthetic tables for more than one purpose, from a Bayesian network.
    dpml.classifiers.PrivPfCClassifier : Classifier from the same release.

    Notes
    -----
    Privacy: ε = `epsilon` per fit, divided by `shares`. δ = 0. Relation: `relation`. Sensitivity: 1 for the number of
    records, the range of the grid's quality (`dpml.classifiers.grid.GridQuality`), and 1 in L1 norm for the class
    counts (2 under replace-one).

    `dpml.classifiers.grid.cells.release_grid` has the derivation. Columns are drawn independently within a cell, so fit
    a table with its raw columns. With the one-hot columns of an attribute, a drawn record may have several ones, or
    none.

    References
    ----------
    Su et al. (2018), Algorithm 2, with the range of the quality derived in `dpml.classifiers.grid.GridQuality`.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from dpml.schema import Feature, Schema
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame({"age": rng.uniform(0, 80, 2000), "pet": rng.choice(["cat", "dog"], 2000)})
    >>> frame["rich"] = np.where(frame["age"] >= 40, "yes", "no")
    >>> schema = Schema(
    ...     (Feature("age", "numeric", lower=0, upper=80), Feature("pet", "categorical", ("cat", "dog"))), ("no", "yes")
    ... )
    >>> published = PrivPfC(1.0, schema=schema, random_state=0).fit(frame, "rich")
    >>> list(published.levels_)
    ['age']
    >>> table = published.sample(1000)
    >>> list(table.columns), float(round((table["age"] >= 40).eq(table["rich"] == "yes").mean(), 2))
    (['age', 'pet', 'rich'], 1.0)
    """

    def _model(self, grid: NoisyGrid, table: CheckedTable) -> None:
        super()._model(grid, table)
        self.n_candidates_, self.n_noisy_ = grid.n_candidates, grid.n


@claim(
    "privpfc-selnf",
    "PrivPfC-SelNF, the best grid without noise",
    "[su2018], section 5.5",
    "none: simulation only",
    private=False,
    cost="∞: the choice has no noise",
    options={"calibration": ("range", "lemma", "published")},
)
class PrivPfCSelNF(PrivPfC):
    """PrivPfC with a selection without noise: NOT private, for simulations only (PrivPfC-SelNF in Su et al. 2018).

    Only the number of records and the counts have noise, with the same shares of ε, which shows the cost of the
    selection. The parameters are those of `PrivPfC`, but `budget` and `release` raise `NotPrivate`.

    See Also
    --------
    PrivPfC : The private method.

    Notes
    -----
    Privacy: ε = infinity, because the grid is selected without noise. δ = 0. Relation: `relation`. Sensitivity: 1 in L1
    norm for the class counts (2 under replace-one).
    """

    private = False


def number_of_cells(n: float, n_attributes: int, rule: str = "eug", epsilon: float | None = None) -> float:
    """Return the number of cells of a uniform grid of n records, a released number. It is at least 1.

    With d attributes the rules are: "ug" (N·ε/10), made for d = 2, "eug" (N·ε/10)^(2d/(2+d)), and "lei"
    (N/√log N)^(2d/(2+d)), which has no ε. At d = 2 the first two are equal.
    """
    d = check_integer(n_attributes, "n_attributes", 1)
    if check_choice(rule, "rule", CELL_RULES) == "lei":
        base = n / math.sqrt(math.log(n)) if n > math.e else 1.0
    else:
        base = n * check_epsilon(epsilon) / 10
    exponent = 1.0 if rule == "ug" else 2 * d / (2 + d)
    return math.exp(min(exponent * math.log(base), 700.0)) if base > 1 else 1.0


def binned(feature: Feature, bins: int) -> Taxonomy:
    """Return the taxonomy of one level with at most so many bins, of equal width or of as many ordered categories."""
    if feature.kind == "numeric":
        lower, upper = feature.lower, feature.upper
        assert lower is not None
        assert upper is not None
        # without the empty bins of a domain of a few floats
        edges = sorted(set(inner_edges(lower, upper, bins)) - {lower, upper})
        return Taxonomy(feature.name, (lower, *edges, upper), _levels(range(len(edges) + 1)), numeric=True)
    values = feature.taxonomy.values
    bins = min(bins, len(values))
    return Taxonomy(feature.name, values, _levels(len(values) * k // bins for k in range(bins)))


def _levels(firsts: Any) -> tuple[tuple[int, ...], ...]:
    starts = tuple(firsts)
    return ((0,), starts) if len(starts) > 1 else ((0,),)


def uniform_bins(features: Sequence[Feature], most: float) -> list[int]:
    """Return the number of bins of each attribute for a grid of at most `most` cells.

    The attributes get one more bin in turn, up to their number of categories.
    """
    limits = [MOST_CELLS if f.kind == "numeric" else len(f.taxonomy.values) for f in features]
    bins = [1] * len(features)
    cells = 1
    grown = True
    while grown:
        grown = False
        for j, limit in enumerate(limits):
            if bins[j] < limit and cells // bins[j] * (bins[j] + 1) <= most:
                cells = cells // bins[j] * (bins[j] + 1)
                bins[j] += 1
                grown = True
    return bins


def release_uniform_grid(
    table: CheckedTable,
    epsilon: float,
    *,
    rule: str = "eug",
    shares: Sequence[float] = (0.03, 0.97),
    rng: np.random.Generator | None = None,
    secure: bool = False,
) -> NoisyGrid:
    """Release the noisy class counts of a uniform grid over all attributes (Qardaji et al. 2013; Su et al. 2016).

    Privacy: ε for the table's relation, in two shares: a noisy number of records, which sets the number of cells by a
    `rule` of `number_of_cells`, and the counts, where a record is in one cell.
    """
    source = Source(rng, secure)
    for_size, for_counts = divided(epsilon, shares, 2)
    features = table.schema.features
    n = noisy_size(table, for_size, source)
    cells = number_of_cells(n, len(features), rule, for_counts)
    bins = uniform_bins(features, min(cells, MOST_CELLS))
    records = records_of(table, [binned(f, b) for f, b in zip(features, bins, strict=True)])
    levels = [taxonomy.n_levels - 1 for taxonomy in records.taxonomies]
    return noisy_grid(records, levels, for_counts, table.relation, source, n=n, n_scale=1 / for_size)


@claim("uniform-grid", "Uniform grid", "[su2018], section 3.5")
@claim("uniform-grid-release", "Uniform grid, release", "[su2018], section 3.5")
@dataclass(eq=False, repr=False, kw_only=True)
class UniformGrid(GridPublisher):
    """Synthetic tables with differential privacy from a uniform grid over all attributes.

    It releases a noisy number of records, which sets the number of cells, and the noisy class counts of the cells. No
    attribute is selected, so with many attributes each is cut in two at best.

    Parameters
    ----------
    taxonomies : mapping of str to levels, optional
        Levels of some attributes by name, instead of the schema's. Only the order of the categories is used.
    rule : {"eug", "ug", "lei"}, default "eug"
        Rule for the number of cells: Su et al. (2016), Qardaji et al. (2013), or Lei (2011).
    shares : (float, float), default (0.03, 0.97)
        Shares of ε for the number of records and the counts. They add up to 1.

    Attributes
    ----------
    levels_ : dict of str to int
        Value 1 for each attribute that is cut.
    bins_ : dict of str to int
        Number of bins of each attribute that is cut.

    See Also
    --------
    PPH : Synthetic tables from a few privately selected attributes.
    PrivPfC : Synthetic tables from a privately selected grid.

    Notes
    -----
    Privacy: ε = `epsilon` per fit, divided by `shares`. δ = 0. Relation: `relation`. Sensitivity: 1 for the number of
    records, and 1 in L1 norm for the class counts (2 under replace-one).

    `release_uniform_grid` in the module has the derivation. The release adds the noisy number of records, which the
    paper takes as known.

    References
    ----------
    Su et al. (2018), section 3.5.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(2, size=(3000, 2))
    >>> published = UniformGrid(1.0, random_state=0).fit(X, X[:, 0])
    >>> published.bins_
    {'x0': 2, 'x1': 2}
    >>> table = published.sample(100)
    >>> bool((table["x0"] == table["label"]).mean() > 0.95)
    True
    """

    rule: str = "eug"
    shares: tuple[float, float] = (0.03, 0.97)
    _labels = UNIFORM_LABELS

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self.rule, "rule", CELL_RULES)

    def _statistics(self, table: CheckedTable) -> CheckedTable:
        return table  # the counts need the groups, which a noisy number of records sets

    def _release(self, statistics: CheckedTable, table: CheckedTable) -> NoisyGrid:
        grid = release_uniform_grid(statistics, self.epsilon, rule=self.rule, shares=self.shares, **table.noise)
        self.bins_ = {table.schema.feature_names[j]: b for j, b in zip(grid.attributes, grid.shape, strict=True)}
        return grid


@statistic
def discernibility(cells: NDArray[np.intp], n_cells: int, codes: NDArray[np.intp], n_classes: int) -> float:
    r"""Return minus the pairs of records in one cell with different classes, divided by the number of records.

    Attributes that put such pairs into different cells discern them, so the best has the most. The number of pairs
    alone changes by as much as n with one record. Divided by n its range is bounded. Let U be the number of pairs in
    one cell with different classes, and d of them come with a new record: the score changes by

        U/n - (U + d)/(n + 1) = (U - n·d)/(n·(n + 1)).

    For two candidates the difference of the changes is (U' - U + n·(d - d'))/(n(n+1)), at most with d' = 0. The new
    record shares its cell with d records of other classes. Let m >= d records in all be of other classes than its own.
    Pairs among the d are in U. So U' - U is at most m·(n - m), pairs with its own class, plus pairs of the m that are
    not both among the d, at most d·(m - d) + (m - d)²/2. Then n·d + m·(n - m) + d·(m - d) + (m - d)²/2 grows with d up
    to d = m, where it is m·(2n - m), at most n². So the range is at most n/(n + 1) < 1, for any number of classes.
    """
    counts = np.bincount(codes * n_cells + cells, minlength=n_classes * n_cells).reshape(n_classes, n_cells)
    counts = counts.astype(float)
    pairs = (counts.sum(axis=0) ** 2 - (counts**2).sum(axis=0)).sum() / 2
    return -float(pairs) / max(len(codes), 1)


@statistic
def _one_cell(codes: NDArray[np.intp]) -> NDArray[np.intp]:
    return np.zeros(len(codes), dtype=np.intp)


@statistic
def _finer(records: Records, cells: NDArray[np.intp], attribute: int) -> NDArray[np.intp]:
    """Return the cell of each record if cells are divided by the finest groups of an attribute too."""
    return cells * records.taxonomies[attribute].sizes[-1] + records.places[attribute]


def release_projection(
    table: CheckedTable,
    epsilon: float,
    *,
    n_attributes: int = 4,
    shares: Sequence[float] = SHARES,
    rng: np.random.Generator | None = None,
    secure: bool = False,
) -> NoisyGrid:
    """Release attributes that discern the classes, and the noisy class counts of their cells (Vinterbo 2012).

    There are at most `n_attributes`, and fewer where any more would give over 131,072 cells.

    Privacy: ε for the table's relation, in three shares: (1) a noisy number of records, which sets the number of bins
    of a numeric attribute, (2) one exponential mechanism for each attribute, with equal parts, by `discernibility`, and
    (3) the counts, where a record is in one cell.
    """
    source = Source(rng, secure)
    for_size, for_choice, for_counts = divided(epsilon, shares)
    features = table.schema.features
    most = min(check_integer(n_attributes, "n_attributes", 1), len(features))
    step_epsilon = equal_share(for_choice, most)
    n = noisy_size(table, for_size, source)
    bins = min(max(int(number_of_cells(n, most, "lei") ** (1 / most)), 2), MOST_BINS)
    full = [binned(f, bins if f.kind == "numeric" else MOST_CELLS) for f in features]
    records = records_of(table, full)
    levels = [0] * len(full)
    sizes = [taxonomy.sizes[-1] for taxonomy in full]
    cells, n_cells = _one_cell(table.codes), 1
    for _ in range(most):
        left = [j for j, size in enumerate(sizes) if not levels[j] and 1 < size <= MOST_CELLS // n_cells]
        if not left:
            break
        finer = {j: (_finer(records.exact, cells, j), n_cells * sizes[j]) for j in left}
        scores = [discernibility(*finer[j], table.codes, records.n_classes) for j in left]
        chosen = left[source.choice(scores, step_epsilon, FACTOR[table.relation] * DISCERNIBILITY_RANGE)]
        levels[chosen] = 1
        cells, n_cells = finer[chosen]
    return noisy_grid(records, levels, for_counts, table.relation, source, n=n, n_scale=1 / for_size)


@claim("pph", "Private projected histogram", "[vinterbo2012] (score and range derived here)")
@claim("pph-release", "Private projected histogram, release", "[vinterbo2012] (score and range derived here)")
@dataclass(eq=False, repr=False, kw_only=True)
class PPH(GridPublisher):
    """Synthetic tables with differential privacy from a projected histogram, PPH.

    It releases a noisy number of records, a few attributes that discern the classes, and the noisy class counts of
    their cells. A category is a cell of its own, and a number has bins of equal width.

    Parameters
    ----------
    taxonomies : mapping of str to levels, optional
        Levels of some attributes by name, instead of the schema's. Only the order of the categories is used.
    n_attributes : int, default 4
        Largest number k of attributes. More attributes make a finer histogram, but each cell has fewer records. It is
        public: choose it without looking at the records.
    shares : (float, float, float), default (0.03, 0.37, 0.6)
        Shares of ε for the number of records, the attributes and the counts. They add up to 1.

    Attributes
    ----------
    levels_ : dict of str to int
        Value 1 for each selected attribute, in the schema's order.

    See Also
    --------
    PrivPfC : Synthetic tables from a grid that is selected at once.
    UniformGrid : Synthetic tables from a grid over all attributes.

    Notes
    -----
    Privacy: ε = `epsilon` per fit, divided by `shares`. δ = 0. Relation: `relation`. Sensitivity: 1 for the number of
    records, a range below 1 of the `discernibility` (add/remove), and 1 in L1 norm for the class counts, where the last
    two have twice these values under replace-one.

    `release_projection` in the module has the derivation. The published score, the number of discerned pairs, changes
    by up to the number of records. Here it is divided by that number, which bounds its range.

    References
    ----------
    Vinterbo (2012), as described in Su et al. (2018), section 3.5, with the number of bins of Lei (2011).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(2, size=(2000, 5))
    >>> PPH(1.0, n_attributes=2, random_state=0).fit(X, X[:, 1] | X[:, 3]).levels_
    {'x1': 1, 'x3': 1}
    """

    n_attributes: int = 4
    shares: tuple[float, float, float] = SHARES
    _labels = PPH_LABELS

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer(self.n_attributes, "n_attributes", 1)

    def _statistics(self, table: CheckedTable) -> CheckedTable:
        return table  # the counts need the groups, which a noisy number of records sets

    def _release(self, statistics: CheckedTable, table: CheckedTable) -> NoisyGrid:
        options: dict[str, Any] = {"n_attributes": self.n_attributes, "shares": self.shares}
        return release_projection(statistics, self.epsilon, **options, **table.noise)


def specialisation_range(score: str, n_classes: int, relation: str = "add-remove") -> float:
    """Return the range of a score, the length of the interval of changes by one record, for the exponential mechanism.

    - "max": for each child the records of its largest class. A new record adds 0 or 1 to every candidate's score: the
      range is 1, where the paper's sensitivity of 1 in both directions gives 2.
    - "gain": the information gain of a group, in bits. It lies in [0, log2 C], so for every change of a record its
      sensitivity is at most log2 C and the range twice that, as published.

    A replaced record is one removed and one added: twice the range of "max".
    """
    if check_choice(score, "score", DIFFGEN_SCORES) == "gain":
        return 2 * float(np.log2(n_classes))
    return float(FACTOR[check_relation(relation)])


def specialisation_score(children: NDArray[np.int64], score: str) -> float:
    """Return the score of a group from the class counts of its children, shape (C, children)."""
    if score == "max":
        return float(children.max(axis=0).sum())
    total = children.sum()
    return (_entropy(children.sum(axis=1)) - sum(map(_entropy, children.T))) / total if total else 0.0


def _entropy(counts: NDArray[np.int64]) -> float:
    """Return the entropy of counts in bits, times their sum."""
    kept = counts[counts > 0]
    return float(kept.sum() * np.log2(kept.sum()) - (kept * np.log2(kept)).sum()) if len(kept) else 0.0


def release_specialisations(
    records: Records,
    epsilon: float,
    *,
    n_steps: int = 10,
    score: str = "max",
    shares: Sequence[float] = (0.5, 0.5),
    relation: str = "add-remove",
    rng: np.random.Generator | None = None,
    secure: bool = False,
    exact_choice: bool = False,
) -> NoisyGrid:
    """Release a grid by specialisation, and its noisy class counts (Mohammed et al. 2011).

    Each attribute begins with all values together. A step selects one group of one attribute and replaces it by its
    children in the taxonomy. A cell of the grid is a combination of groups. There are at most `n_steps` steps, and
    fewer where no group is left, or where any more would give over 131,072 cells. An attribute's taxonomy has a level
    for each of its specialisations. `exact_choice` selects the best step without noise, which is not private and only
    for simulations.

    Privacy: ε. The selections are `n_steps` exponential mechanisms with equal parts of the first share. The candidates
    of a step depend on earlier selections only. The counts have the second share: a record is in one cell.
    """
    source = Source(rng, secure, exact_choice)
    for_choice, for_counts = divided(epsilon, shares, 2)
    step_epsilon = equal_share(for_choice, check_integer(n_steps, "n_steps", 1))
    width = specialisation_range(score, records.n_classes, relation)
    cuts: list[list[list[int]]] = [[[0]] for _ in records.taxonomies]  # for each attribute, its cuts one by one
    by_attribute = [_running_counts(records.exact, j) for j in range(len(cuts))]
    children = [_children(taxonomy) for taxonomy in records.taxonomies]
    for _ in range(n_steps):
        candidates = _candidates(cuts, children, records.taxonomies)
        if not candidates:
            break
        scores = [_score(by_attribute[j], [*children[j][run], run[1]], score) for j, run in candidates]
        j, run = candidates[source.choice(scores, step_epsilon, width)]
        cuts[j].append(sorted({*cuts[j][-1], *children[j][run]}))
    return noisy_grid(_regrouped(records, cuts), [len(c) - 1 for c in cuts], for_counts, relation, source)


@statistic
def _running_counts(records: Records, attribute: int) -> NDArray[np.int64]:
    """Return the class counts of all finest groups before each one, shape (C, groups + 1)."""
    size = records.taxonomies[attribute].sizes[-1]
    code = records.codes * size + records.places[attribute]
    counts = np.bincount(code, minlength=records.n_classes * size).reshape(records.n_classes, size)
    return np.pad(np.cumsum(counts, axis=1), ((0, 0), (1, 0)))


@statistic
def _score(running_counts: NDArray[np.int64], edges: Sequence[int], score: str) -> float:
    """Return the score of a group whose children lie between these finest groups."""
    return specialisation_score(np.diff(running_counts[:, edges], axis=1), score)


def _children(taxonomy: Taxonomy) -> dict[Run, list[int]]:
    """Return where the children of each group that can be specialised begin; a group is a run of finest groups."""
    starts = [np.searchsorted(taxonomy.firsts[-1], level).tolist() for level in taxonomy.firsts]
    children: dict[Run, list[int]] = {}
    for coarse, fine in pairwise(starts):
        for first, last in zip(coarse, [*coarse[1:], taxonomy.sizes[-1]], strict=True):
            inside = [start for start in fine if first <= start < last]
            if len(inside) > 1:
                children.setdefault((first, last), inside)
    return children


def _candidates(
    cuts: list[list[list[int]]], children: list[dict[Run, list[int]]], taxonomies: Sequence[Taxonomy]
) -> list[tuple[int, Run]]:
    """Return the groups of all cuts that have children, where the grid stays small enough."""
    cells = int(np.prod([len(cut[-1]) for cut in cuts], dtype=object))
    candidates = []
    for j, (cut, taxonomy) in enumerate(zip(cuts, taxonomies, strict=True)):
        now = cut[-1]
        for run in zip(now, [*now[1:], taxonomy.sizes[-1]], strict=True):
            more = len(children[j].get(run, ())) - 1
            if more > 0 and cells // len(now) * (len(now) + more) <= MOST_CELLS:
                candidates.append((j, run))
    return candidates


def _regrouped(records: Records, cuts: list[list[list[int]]]) -> Records:
    """Return the records in the groups of taxonomies whose levels are the cuts of each attribute."""
    taxonomies, groups = [], []
    for taxonomy, cut in zip(records.taxonomies, cuts, strict=True):
        begins = taxonomy.firsts[-1]
        levels = tuple(tuple(begins[start] for start in level) for level in cut)
        taxonomies.append(Taxonomy(taxonomy.name, taxonomy.values, levels, taxonomy.numeric))
        groups.append(np.searchsorted(cut[-1], np.arange(len(begins)), side="right") - 1)
    return Records(_in_groups(records.places, groups), records.codes, records.n_classes, tuple(taxonomies))


@statistic
def _in_groups(places: Sequence[NDArray], groups: Sequence[NDArray[np.intp]]) -> list[NDArray]:
    return [group[place] for group, place in zip(groups, places, strict=True)]


@claim("diffgen", "DiffGen", "[mohammed2011], Algorithm 1 (range derived here)")
@claim("diffgen-release", "DiffGen, release", "[mohammed2011], Algorithm 1 (range derived here)")
@claim("diffgen-gain", "DiffGen by information gain", "[mohammed2011]")
@dataclass(eq=False, repr=False, kw_only=True)
class DiffGen(GridPublisher):
    """Synthetic tables with differential privacy by specialisation of a grid, DiffGen.

    It finds a grid by selecting one group of an attribute after another and replacing it by its children in the
    taxonomy. It releases the grid and the noisy class counts of its cells. Tables are drawn from these alone.

    Parameters
    ----------
    n_steps : int, default 10
        Number of specialisations. More steps make a finer grid, but each selection has an equal part of the first share
        and each cell fewer records.
    score : {"max", "gain"}, default "max"
        Score of a group: for each of its children the records of the largest class, or its information gain.
    shares : (float, float), default (0.5, 0.5)
        Shares of ε for the selections and the counts. They add up to 1.

    Attributes
    ----------
    levels_ : dict of str to int
        Number of specialisations of each attribute, without those that have none.

    See Also
    --------
    PrivPfC : Synthetic tables from a grid that is selected at once.
    PrivBayes : Synthetic tables from a Bayesian network.

    Notes
    -----
    Privacy: ε = `epsilon` per fit, divided by `shares`. δ = 0. Relation: `relation`. Sensitivity: the range of a score
    (`specialisation_range` in the module), 1 for "max" and 2·log2(C) for "gain", and 1 in L1 norm for the class counts,
    where "max" and the counts have twice these values under replace-one.

    `release_specialisations` in the module has the derivation. Numbers are cut at the cut points of their public
    taxonomies, so no ε is spent on cut points. The range of a score is half of the published one for "max". That score
    counts all records of a group, so groups at the top of a taxonomy, which have the most, come first, even if their
    children do not differ.

    References
    ----------
    Mohammed et al. (2011), Algorithm 1, as described in Su et al. (2018).

    Examples
    --------
    >>> import pandas as pd
    >>> from dpml.schema import Feature, Schema
    >>> rng = np.random.default_rng(0)
    >>> X, pet = rng.uniform(0, 80, 2000), rng.choice(["cat", "dog"], 2000)
    >>> frame = pd.DataFrame({"age": X, "pet": pet, "rich": np.where(X >= 40, "yes", "no")})
    >>> schema = Schema(
    ...     (Feature("age", "numeric", lower=0, upper=80), Feature("pet", "categorical", ("cat", "dog"))), ("no", "yes")
    ... )
    >>> published = DiffGen(1.0, n_steps=1, schema=schema, random_state=0).fit(frame, "rich")
    >>> published.levels_
    {'age': 1}
    >>> table = published.sample(1000)
    >>> float(round((table["age"] >= 40).eq(table["rich"] == "yes").mean(), 2))
    1.0
    """

    n_steps: int = 10
    score: str = "max"
    shares: tuple[float, float] = (0.5, 0.5)
    _labels = DIFFGEN_LABELS

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self.score, "score", DIFFGEN_SCORES)
        check_integer(self.n_steps, "n_steps", 1)

    def _release(self, records: Any, table: CheckedTable) -> NoisyGrid:
        options: dict[str, Any] = {"n_steps": self.n_steps, "score": self.score, "shares": self.shares}
        return release_specialisations(records, self.epsilon, relation=table.relation, **options, **table.noise)


@claim(
    "diffgen-struct-nf",
    "DiffGen-Struct-NF, specialised without noise",
    "[su2018], section 5.5",
    "none: simulation only",
    private=False,
    cost="∞: the choices have no noise",
)
class DiffGenStructNF(DiffGen):
    """DiffGen with selections without noise: NOT private, for simulations only (DiffGen-Struct-NF in Su et al. 2018).

    Only the counts have noise, with the same share of ε, which shows the cost of the selections. The parameters are
    those of `DiffGen`, but `budget` and `release` raise `NotPrivate`.

    See Also
    --------
    DiffGen : The private method.

    Notes
    -----
    Privacy: ε = infinity, because the specialisations are selected without noise. δ = 0. Relation: `relation`.
    Sensitivity: 1 in L1 norm for the class counts (2 under replace-one).
    """

    private = False
