"""Synthetic tables for classification from the noisy cells of a privately selected grid."""

from dataclasses import dataclass

from dpml.classifiers.grid import NoisyGrid
from dpml.classifiers.grid.cells import GridEstimator
from dpml.estimators.base import CheckedTable
from dpml.publishing._publisher import GridPublisher


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
    DiffGen : Synthetic tables from a grid that is specialised step by step.
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


class PrivPfCSelNF(PrivPfC):
    """PrivPfC with a selection of the best grid without noise: NOT private, for simulations only.

    It shows the cost of the noise of the selection. Only the number of records and the counts have noise, with the same
    shares of ε. The parameters are those of `PrivPfC`, but `budget` and `release` raise `NotPrivate`.

    See Also
    --------
    PrivPfC : The private method.

    Notes
    -----
    Privacy: ε = infinity, because the grid is selected without noise. δ = 0. Relation: `relation`. Sensitivity: 1 in L1
    norm for the class counts (2 under replace-one).

    References
    ----------
    Su et al. (2018), PrivPfC-SelNF.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.eye(3, dtype=int)[[0] * 50 + [1] * 50], [0] * 50 + [1] * 50
    >>> PrivPfCSelNF(1.0, random_state=0).fit(X, y).levels_
    {'x0': 1}
    """

    private = False
