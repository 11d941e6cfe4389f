"""A session's own table, lent to the workers while it is chosen, and taken back from all that had it."""

from __future__ import annotations

from dpml_app import data, own
from dpml_app.work.pool import Chunk, Loan, Pool

__all__ = ["exchange"]


def exchange(pool: Pool, before: own.Own | None, table: own.Own | None) -> own.Own | None:
    """Take back the table before, lend another one, and return it."""
    if before is not None:
        own.forget(before.name)
        data.forget(before.name)
        pool.take_back(before.name)
    if table is not None:
        give, back = Chunk(own.keep, (table.name, table.payload)), Chunk(data.take_back, (table.name,))
        pool.lend(table.name, Loan(give, back))
    return table
