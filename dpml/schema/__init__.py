"""Public metadata of a table, and safe reading of unchecked records."""

from dpml.schema.assumed import resolve_schema
from dpml.schema.describe import Proposal
from dpml.schema.feature import Feature
from dpml.schema.schema import Schema
from dpml.schema.taxonomy import Taxonomy

__all__ = [
    "Feature",
    "Proposal",
    "Schema",
    "Taxonomy",
    "resolve_schema",
]
