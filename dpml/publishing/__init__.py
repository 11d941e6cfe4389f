"""Private publishing of tables: what is published satisfies the schema, and any classifier trains on it."""

from dpml.publishing.privpfc import PrivPfC

__all__ = ["PrivPfC"]
