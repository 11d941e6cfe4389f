"""Table of the parts of a fit of the default classifier, from released values and public metadata alone."""

import math
from collections.abc import Iterable
from typing import Any

import pandas as pd

from dpml.classifiers.automatic.layout import Layout
from dpml.classifiers.automatic.plan import Plan
from dpml.classifiers.automatic.tables import TableModel
from dpml.counts import FACTOR

__all__ = ["explained"]

COLUMNS = ["part", "epsilon", "share", "noise_scale", "columns"]


def explained(
    plan: Plan, model: TableModel | None, before: dict[str, tuple[float, float]], epsilon: float, relation: str
) -> pd.DataFrame:
    """Return a row for each part of a fit that had a share of ε.

    Parameters
    ----------
    plan : Plan
    model : TableModel or None
        None: words or naive Bayes, which are one part here.
    before : dict
        ε and scale of the noise of each look before the plan.
    epsilon : float
        Of the whole fit.
    relation : {"add-remove", "replace-one"}
    """
    left = epsilon - math.fsum(spent for spent, _ in before.values())
    rows: list[tuple[Any, ...]] = [(part, spent, scale, "") for part, (spent, scale) in before.items()]
    if model is None:
        rows.append(({"words": "words", "mixed": "naive Bayes"}[plan.kind], left, math.nan, "all"))
    else:
        rows += _parts(plan, model, left, FACTOR[relation])
    return pd.DataFrame([(part, spent, spent / epsilon, *rest) for part, spent, *rest in rows], columns=COLUMNS)


def _parts(plan: Plan, model: TableModel, epsilon: float, factor: int) -> list[tuple[Any, ...]]:
    layout, grid, rows = model.layout, model.grid, []
    for_bins, for_grid, for_rest = plan.divided(epsilon)
    if plan.n_cells:
        numbers = [layout.attributes[a].feature.name for a in layout.numbers]
        rows.append(("histograms", for_bins, factor * len(numbers) / for_bins, ", ".join(numbers)))
    if plan.grid_share:
        rows.append(("grid", for_grid, grid.scale, _listed(layout, grid.attributes, grid.levels)))
    added = _added(model)
    if plan.grid_share < 1 and (added or plan.addition == "weights"):
        names = ", ".join(layout.attributes[a].feature.name for a in added)
        rows.append((plan.addition, for_rest, math.nan, names))
    return rows


def _added(model: TableModel) -> list[int]:
    """Return the attributes to which the additive part gives scores."""
    layout, groups = model.layout, model.additive.groups
    spans = zip(layout.starts, layout.sizes, strict=True)
    return [a for a, (first, size) in enumerate(spans) if groups[:, first : first + size].any()]


def _listed(layout: Layout, some: Iterable[int], levels: tuple[int, ...]) -> str:
    """Return attributes and into how many groups the grid tells them apart."""
    of = layout.everything
    return ", ".join(f"{of[a].feature.name} ({of[a].taxonomy.sizes[levels[a]]})" for a in some)
