"""Base of all publishers: the class column, checks, the charge, and tables that satisfy the schema.

A publisher defines the steps of a fit (`dpml.estimators.base`), and the drawing of records (`_groups`).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from dpml._validate import as_generator, check_choice, check_integer
from dpml.classifiers.crowded_bins import heaviest_of_marginals, warn_of_crowded, warn_of_grid
from dpml.classifiers.grid import NoisyGrid, cell_probabilities, consistent
from dpml.classifiers.grid.cells import OverTaxonomies
from dpml.estimators.base import CheckedTable
from dpml.exceptions import InvalidData, shown
from dpml.mechanisms import boundary
from dpml.parquet import BatchedTable
from dpml.schema import Schema, Taxonomy
from dpml.schema.cells import read_frame

CONSISTENCIES = ("back-off", "total", "floor")
LABEL = "label"
# records of a table whose number is not given
MOST_RECORDS = 10_000_000

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
# the groups of each record in one feature: the taxonomy, the level, and the group of each
Groups = tuple[Taxonomy, int, IntArray]


class Publisher(OverTaxonomies):
    """Base of the publishers of synthetic tables.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε of one fit, finite and above 0. Smaller values give more privacy, larger values a synthetic
        table that is closer to the private one.
    random_state : int, Generator, RandomState or None, default None
        Seed of the noise and of the tables, for simulations.
    """

    def _groups(self, n: int, rng: np.random.Generator) -> tuple[IntArray, list[Groups]]:
        """Draw the classes of n records, and their groups in each feature, from what was released."""
        raise NotImplementedError

    def _finest_groups(self, drawn: dict[int, IntArray]) -> tuple[IntArray, list[Groups]]:
        """Return the classes, and the finest groups in each feature, of records drawn by attributes with the class."""
        taxonomies = [feature.taxonomy for feature in self._schema.features]
        return drawn[len(taxonomies)], [(t, t.n_levels - 1, drawn[j]) for j, t in enumerate(taxonomies)]

    def _warn_of_crowded(self, schema: Schema, marginals: Iterable[tuple[tuple[int, ...], FloatArray, float]]) -> None:
        """Warn of numbers of which a bin is crowded, by marginals with their noise's standard deviation."""
        warn_of_crowded(heaviest_of_marginals([f.taxonomy for f in schema.features], marginals))

    @property
    def _n_released(self) -> float:
        """The released number of records."""
        raise NotImplementedError

    def fit(self, frame: Any, label: Any) -> Self:  # type: ignore[override]
        """Release the noisy values that tables are drawn from.

        Parameters
        ----------
        frame : DataFrame, array or sparse matrix of shape (n, D)
            Private records. Columns of a DataFrame are matched by name, others by their order in the schema.
        label : str, or array of shape (n,)
            Name of the column of the frame that has the class, or the classes themselves.

        Returns
        -------
        Self
            The fitted estimator.
        """
        if isinstance(frame, BatchedTable):
            self._enter(frame)  # refuses it
        name, frame, label = _labelled(frame, label)
        super().fit(frame, label)
        # a feature may have the name already
        features = self._schema.feature_names
        self.label_name_ = name if name not in features else _free(features)
        return self

    def _check_table(self, X: Any, y: Any, schema: Schema) -> CheckedTable:
        table = super()._check_table(X, y, schema)
        return table if self.private else replace(table, noise={**table.noise, "exact_choice": True})

    def sample(self, n: int | None = None, *, random_state: Any = None) -> pd.DataFrame:
        """Draw a synthetic table, which satisfies the schema for every released value.

        Parameters
        ----------
        n : int, optional
            Number of records. By default the released number, at most 10,000,000.
        random_state : int, Generator, RandomState or None, default None
            Seed of the table, which protects nothing. By default it follows the estimator's.

        Returns
        -------
        DataFrame
            The columns of the table that was fitted, and the class as the last one. A value is uniform in its record's
            group.

        Notes
        -----
        Privacy: no data is read.

        The table is post-processing of the released values, so any number of tables costs nothing more.
        """
        check_is_fitted(self, "label_name_")
        released = round(min(max(self._n_released, 0.0), MOST_RECORDS))
        n = released if n is None else check_integer(n, "n", 0)
        return self._drawn(n, self._table_rng() if random_state is None else as_generator(random_state))

    def _table_rng(self) -> np.random.Generator:
        state = self.random_state
        if state is None:
            return np.random.default_rng(boundary.public_randomness(np.random.default_rng(), "integers", 2**63))
        # another stream than that of the noise
        return np.random.default_rng([int(state), 1]) if isinstance(state, (int, np.integer)) else as_generator(state)

    def _drawn(self, n: int, rng: np.random.Generator) -> pd.DataFrame:
        schema = self._schema
        codes, groups = self._groups(n, rng)
        columns: dict[str, Any] = {}
        for feature, (taxonomy, level, group) in zip(schema.features, groups, strict=True):
            columns[feature.name] = _typed(taxonomy.draw(level, group, rng, whole=feature.whole), feature)
        labels = np.empty(len(schema.classes), dtype=object)
        labels[:] = schema.classes
        drawn = pd.Series(labels[codes], dtype=object)
        # classes of several types, or None, keep their types
        alike = len({type(c) for c in schema.classes}) == 1
        columns[self.label_name_] = drawn.infer_objects() if alike else drawn
        return pd.DataFrame(columns)


@dataclass(eq=False, repr=False, kw_only=True)
class GridPublisher(Publisher):
    """Base of the publishers whose release is one grid and its noisy class counts.

    Parameters
    ----------
    consistency : {"back-off", "total", "floor"}, default "back-off"
        Conversion of noisy counts into numbers of records. "total" uses the nearest counts of at least 0 that add up to
        the noisy number of records. "back-off" does the same for the cells, and uses within a cell the class
        probabilities of `dpml.classifiers.PrivPfCClassifier`. "floor" rounds down to at least 0, as published. It costs
        no privacy.

    Attributes
    ----------
    cell_counts_ : ndarray of float, shape (C, cells)
        Counts that tables are drawn from.
    """

    consistency: str = "back-off"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self.consistency, "consistency", CONSISTENCIES)

    def _model(self, grid: NoisyGrid, table: CheckedTable) -> None:
        self._grid = grid
        self.levels_ = {table.schema.feature_names[j]: grid.levels[j] for j in grid.attributes}
        self.cell_counts_ = self._fitting_counts(grid)
        warn_of_grid(grid)

    def _fitting_counts(self, grid: NoisyGrid) -> FloatArray:
        if self.consistency == "floor":
            return np.maximum(np.floor(grid.counts), 0.0)
        if self.consistency == "total":
            return consistent(grid.counts, grid.total)
        return consistent(grid.counts.sum(axis=0), grid.total) * cell_probabilities(grid)

    @property
    def _n_released(self) -> float:
        return float(self.cell_counts_.sum())

    def _groups(self, n: int, rng: np.random.Generator) -> tuple[IntArray, list[Groups]]:
        grid = self._grid
        codes, cell = np.divmod(drawn_cells(self.cell_counts_.ravel(), n, rng), grid.counts.shape[1])
        places: Any = np.unravel_index(cell, grid.shape) if grid.shape else ()
        groups = dict(zip(grid.attributes, places, strict=True))
        alone = np.zeros(n, dtype=np.intp)  # of an attribute that is not in the grid
        attributes = enumerate(zip(grid.taxonomies, grid.levels, strict=True))
        return codes, [(taxonomy, level, groups.get(j, alone)) for j, (taxonomy, level) in attributes]


def drawn_cells(weights: FloatArray, n: int, rng: np.random.Generator) -> IntArray:
    """Return n cells with probabilities proportional to weights of at least 0, or uniform ones if all weights are 0."""
    largest = weights.max()
    bounds = np.cumsum(weights / largest if largest > 0 else np.ones_like(weights))
    # the last bound is above every share
    at = np.searchsorted(bounds, rng.random(n) * bounds[-1], side="right")
    return np.minimum(at, len(bounds) - 1)


def drawn_given(table: FloatArray, row: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw a value for each record from its row of weights of at least 0. A row of zeros is uniform."""
    largest = table.max(axis=1, keepdims=True)
    table = np.where(largest > 0, table / np.where(largest > 0, largest, 1.0), 1.0)
    bounds = np.cumsum(table, axis=1)
    bounds /= bounds[:, -1:]
    # rows with increasing offsets, so that one search finds the values of all records
    at = np.searchsorted((bounds + np.arange(len(bounds))[:, None]).ravel(), row + rng.random(len(row)), side="right")
    return np.clip(at - row * table.shape[1], 0, table.shape[1] - 1)


def drawn_in_order(
    tables: Iterable[tuple[int, tuple[int, ...], FloatArray]], n: int, rng: np.random.Generator
) -> dict[int, IntArray]:
    """Draw n values of each attribute given its earlier parents, from tables with an axis for each and itself last."""
    drawn: dict[int, IntArray] = {}
    for x, parents, table in tables:
        row = np.zeros(n, dtype=np.intp)
        for j, size in zip(parents, table.shape, strict=False):
            row = row * size + drawn[j]
        drawn[x] = drawn_given(table.reshape(-1, table.shape[-1]), row, rng)
    return drawn


def _labelled(frame: Any, label: Any) -> tuple[str, Any, Any]:
    """Return the name of the class column, the table without it, and the classes."""
    if isinstance(label, str):
        table = read_frame(frame)
        if not isinstance(table, pd.DataFrame) or label not in table.columns:
            raise InvalidData(f"column {shown(label)} is missing: the table must have it, with the class")
        return label, table.drop(columns=label), table[label]
    name = getattr(label, "name", None)
    return name if isinstance(name, str) else LABEL, frame, label


def _typed(values: NDArray, feature: Any) -> Any:
    if feature.kind == "binary" or feature.whole:
        return values.astype(int)
    return pd.Categorical(values, categories=feature.categories) if feature.kind == "categorical" else values


def _free(names: list[str]) -> str:
    """Return a name of the label that no feature has."""
    name = LABEL
    while name in names:
        name += "_"
    return name
