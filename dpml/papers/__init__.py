"""The five papers that the library is built on: what each of them claims, and what became of it."""

from dpml.papers.rows import VERDICTS, Item, Paper, items, papers

__all__ = ["VERDICTS", "Item", "Paper", "items", "papers"]
