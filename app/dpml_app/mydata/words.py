"""What the page says, as HTML in which every text of the table is escaped."""

from __future__ import annotations

from html import escape
from typing import Any

import pandas as pd

from dpml_app.mydata.draft import Draft

__all__ = ["MARK", "overview", "preview", "status"]

MARK = '<span class="peeked">peeked</span>'
ROWS, COLUMNS, LONGEST = 5, 8, 30
SHOWN = 200


def overview(draft: Draft) -> str:
    """Return the columns, and what each is."""
    rows = []
    for name, column in list(draft.columns.items())[:SHOWN]:
        marked = MARK if column.peeked and column.kind not in ("ignored", "binary") else ""
        rows.append(f"<tr><th scope='row'>{_cell(name)}</th><td>{_cell(column.told, 60)} {marked}</td></tr>")
    more = len(draft.columns) - SHOWN
    rest = f"<p>And {more:,} more.</p>" if more > 0 else ""
    return f"<div tabindex='0' role='region' aria-label='Columns'><table>{''.join(rows)}</table>{rest}</div>"


def preview(frame: pd.DataFrame) -> str:
    """Return the first rows of a table."""
    names = [str(name) for name in frame.columns[:COLUMNS]]
    head = "".join(f"<th scope='col'>{_cell(name)}</th>" for name in names)
    rows = [
        "".join(f"<td>{_cell(value)}</td>" for value in row)
        for row in frame.iloc[:ROWS, :COLUMNS].itertuples(index=False, name=None)
    ]
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    more = len(frame.columns) - COLUMNS
    rest = f", and {more} more columns" if more > 0 else ""
    return (
        f"<div tabindex='0' role='region' aria-label='First rows'><table><caption>The first of {len(frame):,} records"
        f"{rest}. Only you see them.</caption><tr>{head}</tr>{body}</table></div>"
    )


def status(draft: Draft | None, held: bool, releasing: bool = False) -> str:
    """Return what this session has, and what of it is peeked."""
    if draft is None:
        return (
            "<p>No table yet. What you upload stays in this session, in memory, and goes when you close the page.</p>"
        )
    if releasing:
        return f"<p><b>{_cell(draft.file)}</b>: {len(draft.frame):,} records.</p>"
    state = "The pages can show it as <b>My table</b>." if held else "It is not in use yet."
    taken = draft.taken
    peeked = ""
    if taken:
        names = ", ".join(_cell(name) for name in taken[:4]) + (" …" if len(taken) > 4 else "")
        peeked = f"<p>{MARK} {names}: taken from the data. A release would refuse that.</p>"
    return f"<p><b>{_cell(draft.file)}</b>: {len(draft.frame):,} records. {state}</p>{peeked}"


def _cell(value: Any, longest: int = LONGEST) -> str:
    if value is None or (pd.api.types.is_scalar(value) and pd.isna(value)):
        return "–"
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return escape(text if len(text) <= longest else text[: longest - 1] + "…")
