"""Private publishing: tables that satisfy the schema, and weights that make a public table resemble a private one."""

from dpml.publishing.diffgen import DiffGen, DiffGenStructNF
from dpml.publishing.importance import ImportanceWeights
from dpml.publishing.perturbed import release_answers, release_table
from dpml.publishing.pph import PPH
from dpml.publishing.privbayes import PrivBayes, PrivBayesStructNF
from dpml.publishing.privpfc import PrivPfC, PrivPfCSelNF
from dpml.publishing.uniform import UniformGrid
from dpml.publishing.weighted import WeightedTable

__all__ = [
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
