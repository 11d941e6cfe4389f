"""PrivPfC's noisy cells as a classifier, without a synthetic table in between."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml.claims import claim
from dpml.classifiers.crowded_bins import warn_of_grid
from dpml.classifiers.grid.cells import (
    GridEstimator,
    NoisyGrid,
    TaxonomyClassifier,
    calibrated_cost,
    cell_probabilities,
)
from dpml.classifiers.grid.counts import places_of
from dpml.estimators.base import CheckedTable

FloatArray = NDArray[np.float64]


@claim(
    "privpfc-classifier",
    "Classifier by PrivPfC's cells",
    "[su2018], Algorithm 2 (range derived here)",
    options={"calibration": "range"},
)
@claim(
    "privpfc-classifier-lemma",
    "Classifier by PrivPfC's cells, sensitivity of Lemma 1",
    "[su2018], Lemma 1",
    cost="less than ε: 0.83·ε at ε = 1",
    true_epsilon=lambda epsilon: calibrated_cost(epsilon, "lemma"),
    options={"calibration": "lemma"},
)
@claim(
    "privpfc-classifier-published",
    "Classifier by PrivPfC's cells, published sensitivity",
    "[su2018], Algorithm 2",
    cost="less than ε: 0.83·ε at ε = 1",
    true_epsilon=lambda epsilon: calibrated_cost(epsilon, "published"),
    options={"calibration": "published"},
)
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
        warn_of_grid(grid)

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
