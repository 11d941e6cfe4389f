"""What the page and its releases say, as HTML in which every text of the table is escaped."""

import base64
from collections.abc import Iterable
from html import escape
from typing import Any

import pandas as pd

from dpml.exceptions import (
    BudgetExceeded,
    DpmlError,
    InvalidParameter,
    InvalidSchema,
    LedgerError,
    MissingExtra,
    NoSecureSampler,
    NotPrivate,
    RelationMismatch,
    install_command,
)
from dpml_app.pages.mydata.column import Column
from dpml_app.pages.mydata.draft import Draft
from dpml_app.text.phrases import RELATION_WORDS, number, percent

MARKS = {
    "data_derived": '<span class="proposed">proposed from the data</span>',
    "confirmed": '<span class="confirmed">confirmed</span>',
    "paid": '<span class="confirmed">paid for</span>',
}
INSTALL = install_command("release")
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


# errors of these classes are about what a person asked for, and never hold a value from the data
SAFE = (BudgetExceeded, LedgerError, MissingExtra, NoSecureSampler, NotPrivate, RelationMismatch)


def facts(draft: Draft) -> str:
    """Return all facts that a release takes for public, open to be read before they are confirmed."""
    return f"<p>These facts will be published as they are:</p>{every_fact(draft)}"


def plan(preview: pd.DataFrame) -> str:
    """Return what will be spent, on what, before it is: a row for each part, and behind it one for each charge."""
    rows = ""
    for part, charges in preview.groupby("part", sort=False):
        # what it is, as far as the first comma; in full it stands with its charges
        what = str(charges["released"].iloc[0]).partition(" (")[0].partition(",")[0]
        epsilon = number(float(charges["epsilon"].sum()))
        rows += (
            f"<tr><th scope='row'>{escape(str(part)).capitalize()}</th><td>{escape(what)}</td><td>{epsilon}</td></tr>"
        )
    each = "".join(
        f"<tr><td>{escape(str(row.released))}</td><td>{escape(str(row.noise))}</td><td>{number(row.epsilon)}</td></tr>"
        for row in preview.itertuples(index=False)
    )
    relation = " and ".join(RELATION_WORDS[each][0] for each in preview["relation"].unique())
    whole = number(float(preview["epsilon"].sum()))
    head = "<tr><th scope='col'>Part</th><th scope='col'>What will be released</th><th scope='col'>ε</th></tr>"
    last = f"<tr><th scope='row'>Together</th><td></td><td><b>{whole}</b></td></tr>"
    heads = "".join(f"<th scope='col'>{title}</th>" for title in ("Charge", "Noise", "ε"))
    return (
        f"<table aria-label='Plan'>{head}{rows}{last}</table>"
        f"<details><summary>Every charge, and its noise</summary><p>Neighbours: {relation}.</p>"
        f"<table aria-label='Charges'><tr>{heads}</tr>{each}</table></details>"
    )


def safe(error: BaseException) -> str:
    """Return an error as a sentence without a value from the data."""
    if isinstance(error, SAFE):
        return str(error)
    if isinstance(error, DpmlError):
        return f"the records or their facts do not fit the release ({type(error).__name__})"
    return f"the release failed ({type(error).__name__})"


def against(error: BaseException) -> tuple[str, str]:
    """Return a problem of a plan and what to do next. A plan looks at no record: its words are public facts."""
    text = str(error) if isinstance(error, DpmlError) else safe(error)
    if isinstance(error, MissingExtra):
        return "Noise that is safe to publish is not installed.", INSTALL
    if isinstance(error, InvalidSchema):
        # what is stated may have been read off the data
        return f"{error.name} must be {error.allowed}", "Leave this mode and state the fact."
    if isinstance(error, InvalidParameter | BudgetExceeded):
        return text, "Change the sliders."
    return text, "" if isinstance(error, SAFE) else "Leave out a part, or choose another ε."


def problems(pairs: Iterable[tuple[str, str]], *, known: bool) -> str:
    """Return what is in the way, each with what to do next; `known`: whether the plan was tried out."""
    items = "".join(f"<li>{escape(text)}{' ' if text else ''}<b>{escape(step)}</b></li>" for text, step in pairs)
    if not items:
        return "<p>Nothing prevents the release.</p>" if known else ""
    return f"<ul class='problems'>{items}</ul>"


def spent(total: float, already: float, releases: int, *, demonstration: bool) -> str:
    """Return what is left of a session's ε, once something is spent."""
    if not already and not releases:
        return ""
    what = "demonstration runs" if demonstration else "releases"
    left = max(total - already, 0.0)
    return (
        f"<p>{releases} {what if releases != 1 else what[:-1]} in this session: <b>{number(already)}</b> of ε = "
        f"{total:g} spent, <b>{number(left)}</b> left.</p>"
    )


def cancelled(charged: float) -> str:
    """Return what a cancelled release has cost.

    >>> cancelled(0.0)
    '<p>Cancelled before it began: nothing is spent.</p>'
    >>> cancelled(0.5)
    '<p>Cancelled: nothing is shown. It had begun, so its <b>ε = 0.5</b> is spent.</p>'
    """
    if not charged:
        return "<p>Cancelled before it began: nothing is spent.</p>"
    return f"<p>Cancelled: nothing is shown. It had begun, so its <b>ε = {number(charged)}</b> is spent.</p>"


def undelivered(charged: float) -> str:
    """Return what a release or paid bounds have cost that failed.

    >>> undelivered(0.0)
    'Nothing was charged.'
    >>> undelivered(0.5)
    'ε = 0.5 was charged, and nothing was delivered.'
    """
    return f"ε = {number(charged)} was charged, and nothing was delivered." if charged else "Nothing was charged."


def ledger(charges: pd.DataFrame) -> str:
    """Return a session's ledger as a table."""
    rows = "".join(
        f"<tr><td>{escape(str(label))}</td><td>{number(epsilon)}</td></tr>"
        for label, epsilon in zip(charges["label"], charges["epsilon"], strict=True)
    )
    head = "<tr><th scope='col'>Charge</th><th scope='col'>ε</th></tr>"
    return (
        f"<details><summary>Ledger of this session: {len(charges)} charges</summary>"
        f"<div tabindex='0' role='region' aria-label='Ledger'><table>{head}{rows}</table></div></details>"
    )


def evaluation(measures: pd.DataFrame) -> str:
    """Return the measures of a release with the intervals for new people."""
    area = "Area under the ROC curve"
    names = {
        "accuracy": "Accuracy",
        "majority_accuracy": "Majority-class baseline",
        "recall": "Recall of the positive class",
    }
    names |= {"roc_auc": area, "macro_auc": f"{area}, mean of all classes"}
    rows = "".join(
        f"<tr><th scope='row'>{names.get(row.measure, escape(str(row.measure)))}</th>"
        f"<td><b>{percent(row.value)}</b> ({percent(row.low)} to {percent(row.high)})</td></tr>"
        for row in measures.itertuples(index=False)
    )
    return f"<table><caption>Measured on records held out; in brackets 95 % intervals</caption>{rows}</table>"
