"""What the page says, as HTML in which every text of the table is escaped."""

from __future__ import annotations

import base64
from html import escape
from typing import Any

import pandas as pd

from dpml_app.pages.mydata.column import Column
from dpml_app.pages.mydata.draft import Draft

MARKS = {
    "data_derived": '<span class="proposed">proposed from the data</span>',
    "confirmed": '<span class="confirmed">confirmed</span>',
    "paid": '<span class="confirmed">paid for</span>',
}
INSTALL = 'pip install "dpml[release]"'
# where OpenDP is missing, from the first step on
NO_NOISE = (
    "<p>Noise that is safe to publish is not installed: a release can be demonstrated, but not made. Install it with "
    f"<code>{INSTALL}</code> and start the app again.</p>"
)
LONGEST = 30
SHOWN = 200


def every_fact(draft: Draft) -> str:
    """Return all facts of all columns and of the table in full, with what was read off the data."""
    rows = [(name, column.whole, _mark(column)) for name, column in draft.columns.items()]
    rows.append((f"{draft.label} (the labels)", ", ".join(map(str, draft.classes)), _mark_of(draft, "classes")))
    if draft.row_bound is not None:
        rows.append(("Most ones in a record", str(draft.row_bound), _mark_of(draft, "row_bound")))
    rows.append(("Number of records, at least", str(draft.n_lower), _mark_of(draft, "n_lower")))
    lines = "".join(
        f"<tr><th scope='row'>{escape(name)}</th><td>{escape(value)} {mark}</td></tr>" for name, value, mark in rows
    )
    return f"<div tabindex='0' role='region' aria-label='Facts'><table>{lines}</table></div>"


def _mark(column: Column) -> str:
    """Return the mark of a column: while one of its facts is not confirmed, that it was proposed from the data."""
    return next((MARKS[name] for name, facts in column.marks.items() if facts), "")


def _mark_of(draft: Draft, fact: str) -> str:
    return MARKS["confirmed" if draft.marks[fact] else "data_derived"] if fact in draft.marks else ""


def reading_words(draft: Draft) -> str:
    """Return how the file was read."""
    words = draft.reading.words
    if not words:
        return ""
    items = "".join(f"<li>{_cell(each, 200)}</li>" for each in words[1:SHOWN])
    return f"<p>{_cell(words[0], 200)}</p>{f'<ul>{items}</ul>' if items else ''}"


def status(draft: Draft | None, held: bool, releasing: bool = False, *, secure: bool = True) -> str:
    """Return what this session has, how much of it was read off the data, and whether it can be released at all."""
    missing = "" if secure else NO_NOISE
    if draft is None:
        return (
            "<p>No table yet. What you upload stays in memory for this session, and is deleted when you close the page."
            f"</p>{missing}"
        )
    if releasing:
        return f"<p><b>{_cell(draft.file)}</b>: {len(draft.frame):,} records.</p>"
    state = "The pages can show it as <b>My table</b>." if held else "It is not in use yet."
    count = len(draft.unconfirmed)
    marked = (
        f"<p>{count} fact{'s' if count > 1 else ''} {MARKS['data_derived']}: a release is refused until each is "
        "confirmed.</p>"
        if count
        else ""
    )
    return f"<p><b>{_cell(draft.file)}</b>: {len(draft.frame):,} records. {state}</p>{marked}{missing}"


def _cell(value: Any, longest: int = LONGEST) -> str:
    if value is None or (pd.api.types.is_scalar(value) and pd.isna(value)):
        return "–"
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return escape(text if len(text) <= longest else text[: longest - 1] + "…")


def saved(text: str) -> str:
    """Return a link that saves a text, which the browser has already."""
    content = base64.b64encode(text.encode()).decode()
    href = f'href="data:text/yaml;base64,{content}"'
    return f'<a download="schema.yaml" {href}>Save the schema (YAML)</a>' if text else ""
