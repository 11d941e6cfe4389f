"""Public facts about a table, and safe reading of unchecked records."""

from dpml.schema.describe import Proposal
from dpml.schema.resolve import resolve_schema
from dpml.schema.schema import Feature, Schema
from dpml.schema.taxonomy import Taxonomy

__all__ = [
    "Feature",
    "Proposal",
    "Schema",
    "Taxonomy",
    "resolve_schema",
]
