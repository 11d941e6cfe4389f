"""A session's own table, attached to the workers while it is chosen, and detached from all that had it."""

from __future__ import annotations

from dpml_app.data import measures, uploaded_table
from dpml_app.work.pool import Attachment, Chunk, Pool

__all__ = ["exchange"]


def exchange(
    pool: Pool, before: uploaded_table.Own | None, table: uploaded_table.Own | None
) -> uploaded_table.Own | None:
    """Detach the table before, attach another one, and return it."""
    if before is not None:
        uploaded_table.forget(before.name)
        measures.forget(before.name)
        pool.detach(before.name)
    if table is not None:
        give, back = Chunk(uploaded_table.keep, (table.name, table.payload)), Chunk(measures.detach, (table.name,))
        pool.attach(table.name, Attachment(give, back))
    return table
