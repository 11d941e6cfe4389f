"""Private tuning: the selection of hyperparameters, of features and of the best of several runs, with its cost in ε."""

from dpml.tuning.best_selector import BestSelector
from dpml.tuning.search import PrivateSearch, search_costs
from dpml.tuning.stopping import (
    random_stopping,
    stopping_distribution,
    stopping_epsilon,
    truncated_negative_binomial,
)

__all__ = [
    "BestSelector",
    "PrivateSearch",
    "random_stopping",
    "search_costs",
    "stopping_distribution",
    "stopping_epsilon",
    "truncated_negative_binomial",
]
