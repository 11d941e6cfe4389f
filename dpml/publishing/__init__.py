"""Private publishing: synthetic tables, and weights that make a public table resemble a private one."""

from dpml.publishing.baselines import release_answers, release_table
from dpml.publishing.graphical import AIM, MST
from dpml.publishing.grids import PPH, DiffGen, DiffGenStructNF, PrivPfC, PrivPfCSelNF, UniformGrid
from dpml.publishing.importance import ImportanceWeights
from dpml.publishing.privbayes import PrivBayes, PrivBayesStructNF
from dpml.publishing.weighted_table import WeightedTable

__all__ = [
    "AIM",
    "MST",
    "PPH",
    "DiffGen",
    "DiffGenStructNF",
    "ImportanceWeights",
    "PrivBayes",
    "PrivBayesStructNF",
    "PrivPfC",
    "PrivPfCSelNF",
    "UniformGrid",
    "WeightedTable",
    "release_answers",
    "release_table",
]
