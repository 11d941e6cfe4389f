"""Classifier of a table of few attributes: private bins, a privately selected grid, and an additive part.

Statistics: counts of histograms, grids and groups. Release: `release_table`, in three steps whose shares of ε the plan
states. Model: `TableModel`, which reads released values only.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit

from dpml._validate import check_integer
from dpml.classifiers.automatic.additive import (
    LOSS,
    Additive,
    columns_of_attributes,
    group_counts,
    of_columns,
    others_of,
    release_others,
    release_started,
    scores_of_counts,
)
from dpml.classifiers.automatic.bins import histograms, quantile_levels, release_histograms
from dpml.classifiers.automatic.layout import Layout
from dpml.classifiers.automatic.plan import Plan
from dpml.classifiers.grid import NoisyGrid, Records, cell_probabilities, release_grid
from dpml.classifiers.grid.cells import consistent
from dpml.classifiers.linear_models import row_log_softmax
from dpml.mechanisms.private import repeated, statistic

__all__ = ["TableModel", "release_bins", "release_table"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class TableModel:
    """A released model of a table.

    Attributes
    ----------
    layout : Layout
        With the bins that were used.
    grid : NoisyGrid
    additive : Additive
    """

    layout: Layout
    grid: NoisyGrid
    additive: Additive

    def log_probabilities(self, X: Any) -> FloatArray:
        """Return log probabilities of the classes for a checked table, shape (n, C)."""
        return self.log_probabilities_at(*self.located(X))

    def located(self, X: Any) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the cell of each record of a checked table, and its columns of the additive part."""
        places = self.layout.places(X)
        return cells_of(self.grid, places), self.layout.groups(places)

    def log_probabilities_at(self, cell: NDArray[np.intp], groups: NDArray[np.intp]) -> FloatArray:
        """Return log probabilities of the classes for located records, which models of one grid have in common."""
        scores = self.additive.scores(cell, groups)
        if not self.additive.margins:
            return row_log_softmax(scores)
        if scores.shape[1] > 1:
            return row_log_softmax(LOSS.log_odds(scores - scores.max(axis=1, keepdims=True)))
        scores = self.additive.slope * LOSS.log_odds(scores)
        return np.column_stack([log_expit(-scores[:, 0]), log_expit(scores[:, 0])])


@statistic
def cells_of(grid: NoisyGrid, places: Any) -> NDArray[np.intp]:
    """Return the cell of each record."""
    cell = np.zeros(len(places[0]), dtype=np.intp)
    for a in grid.attributes:
        taxonomy, level = grid.taxonomies[a], grid.levels[a]
        cell = cell * taxonomy.sizes[level] + taxonomy.above(level)[places[a]]
    return cell


def release_bins(layout: Layout, X: Any, plan: Plan, epsilon: float, **noise: Any) -> Layout:
    """Return the layout with private bins of numbers. Privacy: ε, by `release_histograms`."""
    noisy, scale = release_histograms(histograms(layout, X, plan.n_cells), len(layout.numbers), epsilon, **noise)
    levels = {}
    for row, a in zip(noisy, layout.numbers, strict=True):
        feature = layout.attributes[a].feature
        cuts = quantile_levels(row, scale, float(feature.lower or 0), float(feature.upper or 0))
        if cuts:
            levels[a] = cuts
    return layout.with_levels(levels)


def release_table(
    layout: Layout,
    X: Any,
    codes: Any,
    plan: Plan,
    epsilon: float,
    *,
    relation: str = "add-remove",
    draws: int = 1,
    rng: np.random.Generator | None = None,
    secure: bool = False,
) -> list[TableModel]:
    """Release the model of a table, one for each draw.

    It releases noisy histograms of numbers, a grid and its noisy counts, and noisy counts or weights of the additive
    part, the first two where the plan gives them a share.

    Privacy: ε, and the plan's δ, for `relation` by composition of these releases, if there is one draw. Each depends on
    the records and on released values only. Several draws, for simulations, share the bins and the grid and differ in
    the additive part.

    Parameters
    ----------
    layout : Layout
    X, codes
        A checked table and its classes 0..C-1, plain or private.
    plan : Plan
        The kind "table".
    epsilon : float
    relation : {"add-remove", "replace-one"}
    rng : numpy.random.Generator
        For simulations.
    draws : int
    secure : bool
        Secure noise, without an `rng`.
    """
    noise: dict[str, Any] = {"relation": relation, "rng": rng, "secure": secure}
    layout = replace(layout, most_groups=plan.most_groups)
    for_bins, for_grid, for_rest = plan.divided(epsilon)
    if plan.n_cells:
        layout = release_bins(layout, X, plan, for_bins, **noise)
    records = layout.records(X, codes)
    grid = no_grid(layout, records.n_classes)
    if plan.grid_share:
        grid = release_grid(records, for_grid, cell_records=plan.cell_records, **noise)
    added = _added(layout, grid, records, plan, for_rest, check_integer(draws, "draws", 1), noise)
    return [TableModel(layout, grid, additive) for additive in added]


def no_grid(layout: Layout, n_classes: int) -> NoisyGrid:
    """Return a grid of one cell without information: all classes are equally probable in it."""
    levels = (0,) * len(layout.taxonomies)
    return NoisyGrid(layout.taxonomies, levels, np.zeros((n_classes, 1)), math.inf)


def _added(
    layout: Layout, grid: NoisyGrid, records: Records, plan: Plan, epsilon: float, draws: int, noise: dict[str, Any]
) -> list[Additive]:
    probabilities = cell_probabilities(grid)
    groups = layout.groups(records.places)
    if plan.addition == "weights":
        options = {"draws": draws, "trust": plan.trust, "reg_factor": plan.reg_factor, "delta": plan.delta, **noise}
        cell = cells_of(grid, records.places)
        return release_started(records, groups, cell, probabilities, layout, epsilon, **options)
    others = others_of(layout, grid)
    if plan.addition == "none" or not others:
        return [Additive(np.log(probabilities), np.zeros((records.n_classes, int(sum(layout.sizes)))), False)] * draws
    exact = group_counts(groups, records.codes, layout, records.n_classes)
    exact = repeated(of_columns(exact, columns_of_attributes(layout, others)), draws)
    class_sizes = consistent(grid.counts, grid.total).sum(axis=1) if plan.grid_share else None
    noisy, scale = release_others(exact, [layout.sizes[a] for a in others], class_sizes, epsilon, **noise)
    models = []
    for counts in noisy:
        if not plan.grid_share:
            sizes = counts[:, : layout.sizes[others[0]]].sum(axis=1, keepdims=True)
            probabilities = sizes / sizes.sum()
        models.append(scores_of_counts(counts, scale, layout, others, np.log(probabilities)))
    return models
