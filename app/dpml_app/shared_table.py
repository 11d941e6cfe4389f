"""A session's own table, attached to the workers while it is chosen, and detached from all that had it."""

from __future__ import annotations

from dpml_app import data, own
from dpml_app.work.pool import Attachment, Chunk, Pool

__all__ = ["exchange"]


def exchange(pool: Pool, before: own.Own | None, table: own.Own | None) -> own.Own | None:
    """Detach the table before, attach another one, and return it."""
    if before is not None:
        own.forget(before.name)
        data.forget(before.name)
        pool.detach(before.name)
    if table is not None:
        give, back = Chunk(own.keep, (table.name, table.payload)), Chunk(data.detach, (table.name,))
        pool.attach(table.name, Attachment(give, back))
    return table
