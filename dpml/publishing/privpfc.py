"""PrivPfC: a synthetic table for classification from the noisy cells of a privately chosen grid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from dpml._validate import as_generator, check_choice, check_integer
from dpml.budget import Budget
from dpml.classifiers.grid import NoisyGrid, cell_probabilities, consistent
from dpml.classifiers.grid.cells import SHARES, fit_grid
from dpml.classifiers.grid.quality import CALIBRATIONS
from dpml.estimators.base import PrivateEstimator
from dpml.exceptions import InvalidData, shown
from dpml.mechanisms import door
from dpml.schema import Schema
from dpml.schema.untrusted import read_frame

__all__ = ["PrivPfC"]

CONSISTENCIES = ("back-off", "total", "floor")
LABEL = "label"


@dataclass(eq=False, repr=False)
class PrivPfC(PrivateEstimator):
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

    def fit(self, frame: Any, label: Any) -> PrivPfC:
        """Release a grid and its noisy counts.

        Parameters
        ----------
        frame : DataFrame, array or sparse matrix of shape (n, D)
            A DataFrame's columns are looked up in the schema by name; others follow its order.
        label : str, or array of shape (n,)
            The column of the frame that holds the class, or the classes themselves.
        """
        check_choice(self.consistency, "consistency", CONSISTENCIES)
        check_choice(self.calibration, "calibration", CALIBRATIONS)
        name = LABEL
        if isinstance(label, str):
            table = read_frame(frame)
            if not isinstance(table, pd.DataFrame) or label not in table.columns:
                raise InvalidData(f"column {shown(label)} is missing: the table must have it, with the class")
            name, frame, label = label, table.drop(columns=label), table[label]
        elif isinstance(getattr(label, "name", None), str):
            name = label.name
        self._grid, schema, named = fit_grid(self, frame, label)
        self._schema = schema
        # a feature may have the name already
        self.label_name_ = name if name not in schema.feature_names else _free(schema.feature_names)
        self.n_features_in_ = schema.n_features
        if named:
            self.feature_names_in_ = np.asarray(schema.feature_names, dtype=object)
        self.levels_ = {schema.feature_names[j]: self._grid.levels[j] for j in self._grid.attributes}
        self.n_candidates_, self.n_noisy_ = self._grid.n_candidates, self._grid.n
        self.cell_counts_ = self._fitting_counts(self._grid)
        return self

    def _fitting_counts(self, grid: NoisyGrid) -> NDArray[np.float64]:
        if self.consistency == "floor":
            return np.maximum(np.floor(grid.counts), 0.0)
        if self.consistency == "total":
            return consistent(grid.counts, grid.total)
        return consistent(grid.counts.sum(axis=0), grid.total) * cell_probabilities(grid)

    def sample(self, n: int | None = None, *, random_state: Any = None) -> pd.DataFrame:
        """Draw a synthetic table. It satisfies the schema, whatever was released.

        Parameters
        ----------
        n : int, optional
            Number of records. None: the released number, at most 10,000,000.
        random_state : int, Generator, RandomState or None
            Seed of the table, which protects nothing. None: follows the estimator's.

        Returns
        -------
        DataFrame
            The columns of the table that was fitted, and the class as the last one. A value is uniform in the group of
            its record's cell; an attribute that the grid does not tell apart is uniform in its domain.
        """
        check_is_fitted(self, "cell_counts_")
        released = min(round(min(float(self.cell_counts_.sum()), 1e7)), 10_000_000)
        n = released if n is None else check_integer(n, "n", 0)
        rng = self._table_rng() if random_state is None else as_generator(random_state)
        return door.coins(lambda rng: self._drawn(n, rng), rng)

    def _table_rng(self) -> np.random.Generator:
        state = self.random_state
        # not the numbers that the noise was made from
        return np.random.default_rng([int(state), 1]) if isinstance(state, (int, np.integer)) else as_generator(state)

    def _drawn(self, n: int, rng: np.random.Generator) -> pd.DataFrame:
        grid, schema = self._grid, self._schema
        weights = self.cell_counts_.ravel()
        largest = weights.max()
        weights = weights / largest if largest > 0 else np.ones_like(weights)
        bounds = np.cumsum(weights)
        # the last bound is above every share
        at = np.searchsorted(bounds, rng.random(n) * bounds[-1], side="right")
        codes, cell = np.divmod(np.minimum(at, len(bounds) - 1), grid.counts.shape[1])
        places: Any = np.unravel_index(cell, grid.shape) if grid.shape else ()
        groups = dict(zip(grid.attributes, places, strict=True))
        columns: dict[str, Any] = {}
        for j, feature in enumerate(schema.features):
            group = groups.get(j, np.zeros(n, dtype=np.intp))
            values = grid.taxonomies[j].draw(grid.levels[j], group, rng)
            columns[feature.name] = _typed(values, feature)
        labels = np.empty(len(schema.classes), dtype=object)
        labels[:] = schema.classes
        drawn = pd.Series(labels[codes], dtype=object)
        # classes of several types, or None, stay what they are
        alike = len({type(c) for c in schema.classes}) == 1
        columns[self.label_name_] = drawn.infer_objects() if alike else drawn
        return pd.DataFrame(columns)


def _typed(values: NDArray, feature: Any) -> Any:
    if feature.kind == "binary":
        return values.astype(int)
    return pd.Categorical(values, categories=feature.categories) if feature.kind == "categorical" else values


def _free(names: list[str]) -> str:
    """Return a name for the label that no feature has."""
    name = LABEL
    while name in names:
        name += "_"
    return name
