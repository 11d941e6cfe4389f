"""Public facts about a table, and safe reading of unchecked records."""

from dpml.schema.schema import Feature, Schema, resolve_schema

__all__ = [
    "Feature",
    "Schema",
    "resolve_schema",
]
