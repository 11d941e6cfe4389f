"""Private publishing: tables that satisfy the schema, and weights that make a public table resemble a private one."""

from dpml.publishing.tables import (
    PPH,
    DiffGen,
    DiffGenStructNF,
    PrivBayes,
    PrivBayesStructNF,
    PrivPfC,
    PrivPfCSelNF,
    UniformGrid,
)
from dpml.publishing.weights import ImportanceWeights, WeightedTable, release_answers, release_table

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
