"""Private publishing: synthetic tables, and weights that make a public table resemble a private one."""

from dpml.publishing.graphical.estimators import AIM, MST
from dpml.publishing.tables.diffgen import DiffGen, DiffGenStructNF
from dpml.publishing.tables.pph import PPH
from dpml.publishing.tables.privbayes import PrivBayes, PrivBayesStructNF
from dpml.publishing.tables.privpfc import PrivPfC, PrivPfCSelNF
from dpml.publishing.tables.uniform import UniformGrid
from dpml.publishing.weights.baselines import release_answers, release_table
from dpml.publishing.weights.importance import ImportanceWeights
from dpml.publishing.weights.weighted_table import WeightedTable

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
