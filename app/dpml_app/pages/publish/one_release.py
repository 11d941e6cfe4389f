"""One release of PrivPfC, looked into: its grid, the chances of all candidates, and its cells. For study."""

from typing import Any

import numpy as np

from dpml.classifiers.grid import NoisyGrid, Records, candidate_grids, grid_counts, places_of, quality_range
from dpml.classifiers.grid.cells import MOST_CELLS, SIGNAL, divided, grid_qualities, release_grid
from dpml.mechanisms import ExponentialMechanism
from dpml.schema import Taxonomy
from dpml_app.pages.publish.compute import tables
from dpml_app.pages.publish.settings import shares_of
from dpml_app.work.cache import kept

# candidates, attributes and cells that are shown
BEST, MOST_ATTRIBUTES, MOST_CELLS_SHOWN = 8, 8, 10
ALL = "all values together"


@kept(3)
def records(name: str) -> Records:
    """Return the training records as groups of the finest levels; they are private."""
    parts = tables(name)
    X, codes, schema = parts.schema.check_table(parts.train, parts.y_train)
    taxonomies = tuple(feature.taxonomy for feature in schema.features)
    return Records(places_of(X, schema, taxonomies), codes, schema.n_classes, taxonomies)


def release_facts(
    name: str, relation: str, epsilon: float, max_grids: int, share: float, seed: int, draw: int = 0
) -> dict[str, Any]:
    """Return a draw's release: the same grid and counts as those of its table.

    Result: ``levels`` and ``taxonomies`` of the chosen grid, one for each attribute. ``n_candidates``, ``n_cells``.
    ``chances`` and ``names`` of the best candidates, their ``correct`` (the share of records that a grid without noise
    classifies rightly), ``place`` of the chosen one among all (0: the best), and its own ``chance`` and ``chosen``
    name. ``cells``: names of the largest, ``true`` and ``noisy`` class counts, shape (cells, C), and the ``scale`` of
    the noise.
    """
    private = records(name)
    grid = release_grid(
        private,
        epsilon,
        max_grids=max_grids,
        shares=shares_of(share),
        relation=relation,
        rng=np.random.default_rng([seed, draw]),
    )
    true = grid_counts(private, grid.levels)
    return {
        "levels": grid.levels,
        "taxonomies": grid.taxonomies,
        "n_candidates": grid.n_candidates,
        "n_cells": true.shape[1],
        **_chances(private, grid, relation, epsilon, max_grids, share),
        **_cells(grid, true),
    }


def _chances(
    private: Records, grid: NoisyGrid, relation: str, epsilon: float, max_grids: int, share: float
) -> dict[str, Any]:
    """Return the exact probabilities of the choice, given the noisy number of records that limits the candidates."""
    _size, for_choice, for_counts = divided(epsilon, shares_of(share))
    pool = candidate_grids(private.taxonomies, max_grids, min(grid.n * for_counts / SIGNAL, float(MOST_CELLS)))
    qualities = grid_qualities(pool, private, for_counts)
    every = ExponentialMechanism(for_choice, quality_range(for_counts, relation)).probabilities(qualities)
    order = np.argsort(-qualities, kind="stable")
    best = [pool.levels(int(i)) for i in order[:BEST]]
    place = next(k for k, i in enumerate(order.tolist()) if pool.levels(i) == grid.levels)
    n = len(private.codes)
    return {
        "chances": every[order[:BEST]],
        "names": tuple(_grid_name(grid.taxonomies, levels) for levels in best),
        "correct": np.array([grid_counts(private, levels).max(axis=0).sum() / n for levels in best]),
        "place": place,
        "chance": float(every[order[place]]),
        "chosen": _grid_name(grid.taxonomies, grid.levels),
    }


def _grid_name(taxonomies: tuple[Taxonomy, ...], levels: tuple[int, ...]) -> str:
    """Return a grid in words: each attribute that it tells apart, with its number of groups."""
    parts = [f"{t.name} in {t.sizes[level]}" for t, level in zip(taxonomies, levels, strict=True) if level]
    return " × ".join(parts) or "one cell"


def _cells(grid: NoisyGrid, true: Any) -> dict[str, Any]:
    """Return the cells with the most noisy records, the largest first."""
    order = np.argsort(-grid.counts.sum(axis=0), kind="stable")[:MOST_CELLS_SHOWN]
    groups = [grid.taxonomies[j].groups(grid.levels[j]) for j in grid.attributes]
    names = []
    for cell in order.tolist():
        at = np.unravel_index(cell, grid.shape) if grid.shape else ()
        parts = [f"{grid.taxonomies[j].name}: {g[i]}" for j, g, i in zip(grid.attributes, groups, at, strict=True)]
        names.append("; ".join(parts) or ALL)
    return {"cells": tuple(names), "true": true[:, order].T, "noisy": grid.counts[:, order].T, "scale": grid.scale}
