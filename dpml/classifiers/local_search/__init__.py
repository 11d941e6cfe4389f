"""Linear classifiers found by private selection among public candidates: PrivLocal and PrivGene."""

from dpml.classifiers.local_search._objectives import Records
from dpml.classifiers.local_search._search import (
    candidate_range,
    default_decay,
    default_iterations,
    neighbourhood_range,
    offspring,
    release_genetic_search,
    release_local_search,
)
from dpml.classifiers.local_search.estimators import PrivGene, PrivLocal

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
