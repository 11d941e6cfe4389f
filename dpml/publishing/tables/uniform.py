"""Uniform grids over all attributes: UG, EUG and Lei's rule for the number of cells."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpml._validate import check_choice, check_epsilon, check_integer
from dpml.classifiers.grid import NoisyGrid
from dpml.classifiers.grid.cells import MOST_CELLS, divided, noisy_grid, noisy_size, records_of
from dpml.estimators.checks import CheckedTable
from dpml.mechanisms.source import Source
from dpml.publishing._publisher import GridPublisher
from dpml.schema import Feature, Taxonomy
from dpml.schema.domain import inner_edges

RULES = ("ug", "eug", "lei")
LABELS = ("uniform grid, number of records", "uniform grid, counts")


def number_of_cells(n: float, n_attributes: int, rule: str = "eug", epsilon: float | None = None) -> float:
    """Return the number of cells of a uniform grid of n records, a released number. It is at least 1.

    With d attributes the rules are: "ug" (N·ε/10), made for d = 2, "eug" (N·ε/10)^(2d/(2+d)), and "lei"
    (N/√log N)^(2d/(2+d)), which has no ε. At d = 2 the first two are equal.
    """
    d = check_integer(n_attributes, "n_attributes", 1)
    if check_choice(rule, "rule", RULES) == "lei":
        base = n / math.sqrt(math.log(n)) if n > math.e else 1.0
    else:
        base = n * check_epsilon(epsilon) / 10
    exponent = 1.0 if rule == "ug" else 2 * d / (2 + d)
    return math.exp(min(exponent * math.log(base), 700.0)) if base > 1 else 1.0


def binned(feature: Feature, bins: int) -> Taxonomy:
    """Return the taxonomy of one level that has at most so many bins: of equal width, or of about as many categories.

    Categories are taken in the order of the feature's own taxonomy.
    """
    if feature.kind == "numeric":
        lower, upper = feature.lower, feature.upper
        assert lower is not None
        assert upper is not None
        # in a domain of a few floats, bins that would be empty are left out
        edges = sorted(set(inner_edges(lower, upper, bins)) - {lower, upper})
        return Taxonomy(feature.name, (lower, *edges, upper), _levels(range(len(edges) + 1)), numeric=True)
    values = feature.taxonomy.values
    bins = min(bins, len(values))
    return Taxonomy(feature.name, values, _levels(len(values) * k // bins for k in range(bins)))


def _levels(firsts: Any) -> tuple[tuple[int, ...], ...]:
    starts = tuple(firsts)
    return ((0,), starts) if len(starts) > 1 else ((0,),)


def uniform_bins(features: Sequence[Feature], most: float) -> list[int]:
    """Return the number of bins of each attribute such that the grid has at most so many cells.

    All attributes have as many, or as many as they have categories. Then those that come first have one more, as long
    as the grid keeps within the limit.
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
    _labels = LABELS

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self.rule, "rule", RULES)

    def _statistics(self, table: CheckedTable) -> CheckedTable:
        return table  # a noisy number of records sets the groups in which they are counted

    def _release(self, statistics: CheckedTable, table: CheckedTable) -> NoisyGrid:
        grid = release_uniform_grid(statistics, self.epsilon, rule=self.rule, shares=self.shares, **table.noise)
        self.bins_ = {table.schema.feature_names[j]: b for j, b in zip(grid.attributes, grid.shape, strict=True)}
        return grid
