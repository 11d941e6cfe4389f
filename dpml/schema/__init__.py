"""Public metadata of a table, and safe reading of unchecked records."""

from dpml.schema.describe import Proposal
from dpml.schema.domain import Taxonomy
from dpml.schema.feature import Feature
from dpml.schema.schema import Schema, resolve_schema

__all__ = [
    "Feature",
    "Proposal",
    "Schema",
    "Taxonomy",
    "resolve_schema",
]
