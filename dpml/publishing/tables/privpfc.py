"""PrivPfC: a synthetic table for classification from the noisy cells of a privately chosen grid."""

from dataclasses import dataclass

from dpml.classifiers.grid import NoisyGrid
from dpml.classifiers.grid.cells import GridEstimator
from dpml.estimators.checks import CheckedTable
from dpml.publishing._publisher import GridPublisher


@dataclass(eq=False, repr=False)
class PrivPfC(GridPublisher, GridEstimator):
    """Publish a synthetic table for classification (Su et al. 2018).

    Released: a noisy number of records, one grid over the attributes' taxonomies, and the noisy class counts of its
    cells. Tables are drawn from these alone, so any number of them costs nothing more.

    Privacy: ε per fit, for `relation`, in three shares (see `dpml.classifiers.grid.cells.release_grid`).

    Attributes
    ----------
    levels_ : dict of str to int
        The level of each attribute that the grid tells apart. All other columns of a table are uniform noise.
    n_candidates_ : int
        The number of candidate grids.
    n_noisy_ : float
        The noisy number of records.

    Notes
    -----
    Source: Su et al. 2018, Algorithm 2, with the range of the quality's change derived in
    `dpml.classifiers.grid.quality`. Columns are drawn by themselves within a cell, so state a table with its raw
    columns: of the one-hot columns of an attribute a drawn record may have several that are 1, or none.

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
    """PrivPfC that takes the best grid without noise (Su et al. 2018, PrivPfC-SelNF): for study, and not private.

    It shows what the noise of the choice costs. Only the number of records and the counts have noise, with the same
    shares of ε. Parameters are those of `PrivPfC`; `budget` and `release` raise `NotPrivate`.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.eye(3, dtype=int)[[0] * 50 + [1] * 50], [0] * 50 + [1] * 50
    >>> PrivPfCSelNF(1.0, random_state=0).fit(X, y).levels_
    {'x0': 1}
    """

    private = False
