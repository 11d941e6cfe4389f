"""A session's own table, attached to the workers while it is chosen, and detached from all that had it."""

from dpml_app import uploaded_table
from dpml_app.data import measures
from dpml_app.work.pool import Attachment, Pool, Task


def exchange(
    pool: Pool, before: uploaded_table.UploadedTable | None, table: uploaded_table.UploadedTable | None
) -> uploaded_table.UploadedTable | None:
    """Detach the table before, attach another one, and return it."""
    if before is not None:
        measures.detach(before.name)
        pool.detach(before.name)
    if table is not None:
        give, back = Task(uploaded_table.keep, (table.name, table.payload)), Task(measures.detach, (table.name,))
        pool.attach(table.name, Attachment(give, back))
    return table
