"""PrivPfC's noisy cells as a classifier, without a synthetic table in between."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml.classifiers.grid.cells import GridEstimator, NoisyGrid, TaxonomyClassifier
from dpml.classifiers.grid.counts import places_of
from dpml.estimators.base import CheckedTable

FloatArray = NDArray[np.float64]
# the weight of a coarser cell, in standard deviations of the noise on a class count: the best or within its error of
# 1, 2, 4 and 8 on bank, with both labels, mushrooms and the synthetic census at ε = 0.1 and 1
BACK_OFF = 4.0


def coarser_grids(grid: NoisyGrid) -> list[tuple[tuple[int, ...], FloatArray, float]]:
    """Return a chain of grids from the released one to one cell, each with one attribute a level coarser.

    Each entry has the levels, the noisy class counts (C, cells) and how many released cells are in one of its cells on
    average. A step takes the attribute whose coarser cells keep most of the lead that stands out of the noise.
    """
    counts, levels = grid.counts, list(grid.levels)
    chain = [(tuple(levels), counts, 1.0)]
    while any(levels):
        steps = []
        for axis, j in enumerate(j for j, level in enumerate(levels) if level):
            coarse = _one_coarser(grid, counts, levels, axis, j)
            merged = grid.counts.shape[1] / coarse.shape[1]
            lead = np.sort(coarse, axis=0)[-2:]
            # the standard deviation of a difference of two class counts
            standing = np.maximum(lead[-1] - lead[0] - 2 * np.sqrt(merged) * grid.scale, 0.0).sum()
            steps.append((standing, -j, coarse, merged))
        _, j, counts, merged = max(steps, key=lambda step: step[:2])
        levels[-j] -= 1
        chain.append((tuple(levels), counts, merged))
    return chain


def _one_coarser(grid: NoisyGrid, counts: FloatArray, levels: list[int], axis: int, attribute: int) -> FloatArray:
    shape = [grid.taxonomies[j].sizes[level] for j, level in enumerate(levels) if level]
    runs = grid.taxonomies[attribute].runs(levels[attribute], levels[attribute] - 1)
    table = counts.reshape(len(counts), *shape)
    return np.add.reduceat(table, runs, axis=axis + 1).reshape(len(counts), -1)


def cell_probabilities(grid: NoisyGrid) -> FloatArray:
    """Return the class probabilities of each cell, shape (C, cells), with back-off to coarser cells.

    From one cell down the chain of `coarser_grids`, a cell's probabilities are its counts plus those of the coarser
    cell that it lies in, with the weight of the noise: `BACK_OFF` standard deviations of one of its counts.
    """
    chain = coarser_grids(grid)
    _, top, _ = chain[-1]
    least = np.maximum(top, 0.0) + 1.0
    known = least / least.sum(axis=0)
    above = chain[-1][0]
    for levels, counts, merged in chain[-2::-1]:
        attribute = next(j for j, (fine, coarse) in enumerate(zip(levels, above, strict=True)) if fine > coarse)
        coarser = _spread(grid, known, above, levels, attribute)
        weight = BACK_OFF * np.sqrt(2 * merged) * grid.scale
        kept = np.maximum(counts, 0.0)
        known = (kept + weight * coarser) / (kept.sum(axis=0) + weight)
        above = levels
    return known


def _spread(
    grid: NoisyGrid, known: FloatArray, coarse: tuple[int, ...], fine: tuple[int, ...], attribute: int
) -> FloatArray:
    """Return each coarse cell's values for the finer cells in it; the two grids differ in one attribute."""
    taxonomy = grid.taxonomies[attribute]
    runs = taxonomy.runs(fine[attribute], coarse[attribute])
    group = np.searchsorted(runs, np.arange(taxonomy.sizes[fine[attribute]]), side="right") - 1
    shape = [grid.taxonomies[j].sizes[coarse[j]] for j, level in enumerate(fine) if level]
    axis = [j for j, level in enumerate(fine) if level].index(attribute)
    return np.take(known.reshape(len(known), *shape), group, axis=axis + 1).reshape(len(known), -1)


class PrivPfCClassifier(GridEstimator, TaxonomyClassifier):
    """Classifier by the noisy cells of a privately selected grid, the release of PrivPfC without a synthetic table.

    It releases a noisy number of records, one grid over the attributes' taxonomies, and the noisy class counts of its
    cells. A record gets the probabilities of its cell. A cell whose counts are dominated by noise uses those of coarser
    cells.

    Attributes
    ----------
    levels_ : dict of str to int
        Level of each attribute that the grid distinguishes.
    n_candidates_ : int
        Number of candidate grids.
    n_noisy_ : float
        Noisy number of records.
    cell_counts_ : ndarray of float, shape (C, cells)
        Noisy class counts.
    cell_probabilities_ : ndarray of float, shape (C, cells)
        Class probabilities of each cell, with back-off to coarser cells.

    See Also
    --------
    AutoClassifier : Default classifier, which uses such a grid with few records.
    dpml.publishing.PrivPfC : Synthetic table from the same release.

    Notes
    -----
    Privacy: ε = `epsilon` per fit, divided by `shares`. δ = 0. Relation: `relation`. Sensitivity: 1 for the number of
    records, the range of the grid's quality (`dpml.classifiers.grid.GridQuality`), and 1 in L1 norm for the class
    counts (2 under replace-one).

    `dpml.classifiers.grid.cells.release_grid` has the derivation.

    References
    ----------
    Su et al. (2018), Algorithm 2, with the range of the quality derived in `dpml.classifiers.grid.GridQuality`. The
    back-off is this project's.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=2000)
    >>> X = (rng.random((2000, 5)) < np.where(y, 0.8, 0.3)[:, None]).astype(int)
    >>> model = PrivPfCClassifier(epsilon=1.0, random_state=0).fit(X, y)
    >>> model.predict([[1, 1, 1, 1, 1], [0, 0, 0, 0, 0]]).tolist()
    [1, 0]
    """

    def _model(self, grid: NoisyGrid, table: CheckedTable) -> None:
        self._grid = grid
        self.levels_ = {table.schema.feature_names[j]: grid.levels[j] for j in grid.attributes}
        self.n_candidates_, self.n_noisy_ = grid.n_candidates, grid.n
        self.cell_counts_ = grid.counts
        self.cell_probabilities_ = cell_probabilities(grid)

    def _probabilities(self, X: Any) -> FloatArray:
        grid = self._grid
        cell = np.zeros(X.shape[0], dtype=np.intp)
        for j, places in zip(grid.attributes, self._places(X), strict=True):
            above = grid.taxonomies[j].above(grid.levels[j])
            cell = cell * grid.taxonomies[j].sizes[grid.levels[j]] + above[places]
        return self.cell_probabilities_[:, cell].T

    def _places(self, X: Any) -> list[NDArray]:
        some = list(self._grid.attributes)
        if not some:
            return []
        columns = X.iloc[:, some] if hasattr(X, "iloc") else X[:, some]
        return places_of(columns, self._schema.subset(some), [self._grid.taxonomies[j] for j in some])
