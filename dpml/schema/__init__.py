"""Public facts about a table, and the reading of records that nobody has checked."""

from dpml.schema.schema import Feature, Schema, resolve_schema

__all__ = [
    "Feature",
    "Schema",
    "resolve_schema",
]
