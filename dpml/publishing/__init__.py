"""Private publishing of tables: what is published satisfies the schema, and any classifier trains on it."""

from dpml.publishing.diffgen import DiffGen, DiffGenStructNF
from dpml.publishing.pph import PPH
from dpml.publishing.privbayes import PrivBayes, PrivBayesStructNF
from dpml.publishing.privpfc import PrivPfC, PrivPfCSelNF
from dpml.publishing.uniform import UniformGrid

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
