"""Linear classifiers found by private selection among public candidates: PrivLocal and PrivGene."""

from dpml.classifiers.local_search.estimators import PrivGene, PrivLocal
from dpml.classifiers.local_search.search import (
    Records,
    candidate_range,
    default_decay,
    default_iterations,
    neighbourhood_range,
    offspring,
    release_genetic_search,
    release_local_search,
)

__all__ = [
    "PrivGene",
    "PrivLocal",
    "Records",
    "candidate_range",
    "default_decay",
    "default_iterations",
    "neighbourhood_range",
    "offspring",
    "release_genetic_search",
    "release_local_search",
]
