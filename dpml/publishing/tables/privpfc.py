"""PrivPfC: a synthetic table for classification from the noisy cells of a privately chosen grid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

from dpml._validate import check_choice
from dpml.budget import Budget
from dpml.classifiers.grid import NoisyGrid
from dpml.classifiers.grid.cells import SHARES, grid_shares, released_grid
from dpml.classifiers.grid.fitting import Checked
from dpml.classifiers.grid.quality import CALIBRATIONS
from dpml.publishing._publisher import CONSISTENCIES, GridPublisher
from dpml.schema import Schema

__all__ = ["PrivPfC", "PrivPfCSelNF"]


@dataclass(eq=False, repr=False)
class PrivPfC(GridPublisher):
    """Publish a synthetic table for classification (Su et al. 2018).

    Released: a noisy number of records, one grid over the attributes' taxonomies, and the noisy class counts of its
    cells. Tables are drawn from these alone, so any number of them costs nothing more.

    Privacy: ε per fit, for `relation`, in three shares (see `dpml.classifiers.grid.cells.release_grid`).

    Parameters
    ----------
    epsilon : float
        Privacy parameter of one fit, finite and > 0.
    max_grids : int
        Θ, the largest number of candidate grids.
    taxonomies : mapping of str to levels, optional
        Levels of some attributes, instead of the schema's (`dpml.schema.Feature.levels`).
    schema : Schema, optional
        Public facts. None: the canonical binary schema.
    budget : Budget, optional
        Charged in three rows, before the first draw.
    on_invalid : {"raise", "clip"}
        What to do with a value outside its domain or a label that is not a class. A release always clips.
    release : bool
        Use secure integer noise and secure noisy max; forbids `random_state`.
    random_state : int, Generator, RandomState or None
        Seed of the noise and of the tables, for study.
    relation : {"add-remove", "replace-one"}
    calibration : {"range", "lemma", "published"}
        Of the choice: by the range of the change, by Lemma 1, or by the paper's 1.1.
    shares : (float, float, float)
        Shares of ε for the number of records, the choice and the counts.
    consistency : {"back-off", "total", "floor"}
        How noisy counts become numbers of records. "total": the nearest counts of at least 0 that add up to the noisy
        number of records. "back-off": the same for the cells, and within a cell the class probabilities of
        `PrivPfCClassifier`. "floor": rounded down and at least 0, as published.

    Attributes
    ----------
    levels_ : dict of str to int
        The level of each attribute that the grid tells apart. All other columns of a table are uniform noise.
    n_candidates_ : int
        The number of candidate grids.
    n_noisy_ : float
        The noisy number of records.
    cell_counts_ : ndarray of float, shape (C, cells)
        The counts that tables are drawn from.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if the table was a DataFrame.

    Raises
    ------
    InvalidParameter, InvalidTaxonomy, InvalidData, BudgetExceeded, RelationMismatch, MissingExtra

    Notes
    -----
    Source: Su et al. 2018, Algorithm 2, with the range of the quality's change derived in
    `dpml.classifiers.grid.quality`. Columns are drawn by themselves within a cell, so state a table with its raw
    columns: of the one-hot columns of an attribute a drawn record may have several that are 1, or none.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from dpml.schema import Feature
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

    epsilon: float
    _: KW_ONLY
    max_grids: int = 10_000
    taxonomies: Mapping | None = None
    schema: Schema | None = None
    budget: Budget | None = None
    on_invalid: str = "raise"
    release: bool = False
    random_state: Any = None
    relation: str = "add-remove"
    calibration: str = "range"
    shares: tuple[float, float, float] = SHARES
    consistency: str = "back-off"

    def _parts(self) -> dict[str, float]:
        check_choice(self.consistency, "consistency", CONSISTENCIES)
        check_choice(self.calibration, "calibration", CALIBRATIONS)
        return grid_shares(self)

    def _release(self, table: Checked) -> NoisyGrid:
        grid = released_grid(self, table)
        self.n_candidates_, self.n_noisy_ = grid.n_candidates, grid.n
        return grid


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
