"""Synthetic tables for classification that satisfy the schema: PrivPfC and its competitors."""

from dpml.publishing.tables.diffgen import DiffGen, DiffGenStructNF
from dpml.publishing.tables.pph import PPH
from dpml.publishing.tables.privbayes import PrivBayes, PrivBayesStructNF
from dpml.publishing.tables.privpfc import PrivPfC, PrivPfCSelNF
from dpml.publishing.tables.uniform import UniformGrid

__all__ = [
    "PPH",
    "DiffGen",
    "DiffGenStructNF",
    "PrivBayes",
    "PrivBayesStructNF",
    "PrivPfC",
    "PrivPfCSelNF",
    "UniformGrid",
]
