"""Grids over the attributes' taxonomies: their private selection, their noisy cells, and a classifier from them."""

from dpml.classifiers.grid.cells import (
    GridQuality,
    NoisyGrid,
    consistent,
    quality_range,
    quality_sensitivity,
    release_grid,
)
from dpml.classifiers.grid.classifier import PrivPfCClassifier, cell_probabilities
from dpml.classifiers.grid.counts import Records, candidate_grids, children_counts, grid_counts, places_of

__all__ = [
    "GridQuality",
    "NoisyGrid",
    "PrivPfCClassifier",
    "Records",
    "candidate_grids",
    "cell_probabilities",
    "children_counts",
    "consistent",
    "grid_counts",
    "places_of",
    "quality_range",
    "quality_sensitivity",
    "release_grid",
]
