"""Private projected histograms: a few privately selected attributes, and the noisy counts of their cells."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_integer
from dpml.budget.shares import equal_share
from dpml.classifiers.grid import NoisyGrid, Records
from dpml.classifiers.grid.cells import MOST_CELLS, SHARES, divided, noisy_grid, noisy_size, records_of
from dpml.counts import FACTOR
from dpml.estimators.base import CheckedTable
from dpml.mechanisms.private import statistic
from dpml.mechanisms.source import Source
from dpml.publishing._publisher import GridPublisher
from dpml.publishing.tables.uniform import binned, number_of_cells

# the range of the change of `discernibility` under add/remove, derived there
DISCERNIBILITY_RANGE = 1.0
# a noisy number of records has no limit; a number in more bins would fit into no grid
MOST_BINS = MOST_CELLS
LABELS = ("PPH, number of records", "PPH, attributes", "PPH, counts")


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
    _labels = LABELS

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer(self.n_attributes, "n_attributes", 1)

    def _statistics(self, table: CheckedTable) -> CheckedTable:
        return table  # a noisy number of records sets the groups in which they are counted

    def _release(self, statistics: CheckedTable, table: CheckedTable) -> NoisyGrid:
        options: dict[str, Any] = {"n_attributes": self.n_attributes, "shares": self.shares}
        return release_projection(statistics, self.epsilon, **options, **table.noise)
