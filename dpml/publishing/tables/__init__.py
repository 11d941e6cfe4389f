"""Synthetic tables for classification that satisfy the schema: PrivPfC and its competitors."""
