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
    "data_derived": '<span class="proposed">data-derived</span>',
    "confirmed": '<span class="confirmed">confirmed</span>',
    "paid": '<span class="confirmed">released with noise</span>',
}
INSTALL = install_command("release")
# where OpenDP is missing, from the first step on
NO_NOISE = (
    f"<p>You can simulate a release, but not make one. Install secure noise with <code>{INSTALL}</code> and restart "
    "the app.</p>"
)
LONGEST = 30
SHOWN = 200


def every_fact(draft: Draft) -> str:
    """Return all facts of all columns and of the table in full, with what was read off the data."""
    rows = [(name, column.whole, _mark(column)) for name, column in draft.columns.items()]
    rows.append((f"{draft.label} (label)", ", ".join(map(str, draft.classes)), _mark_of(draft, "classes")))
    if draft.row_bound is not None:
        rows.append(("Ones per record, at most", str(draft.row_bound), _mark_of(draft, "row_bound")))
    rows.append(("Records, at least", str(draft.n_lower), _mark_of(draft, "n_lower")))
    lines = "".join(
        f"<tr><th scope='row'>{escape(name)}</th><td>{escape(value)} {mark}</td></tr>" for name, value, mark in rows
    )
    return f"<div tabindex='0' role='region' aria-label='Public metadata'><table>{lines}</table></div>"


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
        return f"<p>No table yet. Your upload stays in memory and is deleted when you close the page.</p>{missing}"
    if releasing:
        return f"<p><b>{_cell(draft.file)}</b>: {len(draft.frame):,} records.</p>"
    state = "All pages list it as <b>My table</b>." if held else "Not in use yet."
    count = len(draft.unconfirmed)
    marked = (
        f"<p>{count} metadata {'entries' if count > 1 else 'entry'} {MARKS['data_derived']}. A release needs a public "
        "source for each.</p>"
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
    return f"<p>The release publishes this metadata unchanged:</p>{every_fact(draft)}"


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
    head = "<tr><th scope='col'>Part</th><th scope='col'>Released</th><th scope='col'>ε</th></tr>"
    last = f"<tr><th scope='row'>Total</th><td></td><td><b>{whole}</b></td></tr>"
    heads = "".join(f"<th scope='col'>{title}</th>" for title in ("Charge", "Noise", "ε"))
    return (
        f"<table aria-label='Plan'>{head}{rows}{last}</table>"
        f"<details><summary>Charges and noise</summary><p>Neighbouring tables: {relation}.</p>"
        f"<table aria-label='Charges'><tr>{heads}</tr>{each}</table></details>"
    )


def safe(error: BaseException) -> str:
    """Return an error as a sentence without a value from the data."""
    if isinstance(error, SAFE):
        return str(error)
    if isinstance(error, DpmlError):
        return f"the records do not match the schema ({type(error).__name__})"
    return f"the release failed ({type(error).__name__})"


def against(error: BaseException) -> tuple[str, str]:
    """Return a problem of a plan and what to do next. A plan looks at no record: its words are public facts."""
    text = str(error) if isinstance(error, DpmlError) else safe(error)
    if isinstance(error, MissingExtra):
        return "Secure noise is not installed.", INSTALL
    if isinstance(error, InvalidSchema):
        # what is stated may have been read off the data
        return f"{error.name} must be {error.allowed}", "Go back to the table and correct it."
    if isinstance(error, InvalidParameter | BudgetExceeded):
        return text, "Change the sliders."
    return text, "" if isinstance(error, SAFE) else "Leave out a part or choose another ε."


def problems(pairs: Iterable[tuple[str, str]], *, known: bool) -> str:
    """Return what is in the way, each with what to do next; `known`: whether the plan was tried out."""
    items = "".join(f"<li>{escape(text)}{' ' if text else ''}<b>{escape(step)}</b></li>" for text, step in pairs)
    if not items:
        return "<p>Ready.</p>" if known else ""
    return f"<ul class='problems'>{items}</ul>"


def spent(total: float, already: float, releases: int, *, simulated: bool) -> str:
    """Return what is left of a session's ε, once something is spent."""
    if not already and not releases:
        return ""
    what = "simulations" if simulated else "releases"
    left = max(total - already, 0.0)
    return (
        f"<p>{releases} {what if releases != 1 else what[:-1]} in this session. Privacy budget ε = {total:g}: "
        f"<b>{number(already)}</b> spent, <b>{number(left)}</b> left.</p>"
    )


def cancelled(charged: float) -> str:
    """Return what a cancelled release has cost.

    >>> cancelled(0.0)
    '<p>Cancelled. Nothing was charged.</p>'
    >>> cancelled(0.5)
    '<p>Cancelled after the charge: <b>ε = 0.5</b> was charged, nothing was released.</p>'
    """
    if not charged:
        return "<p>Cancelled. Nothing was charged.</p>"
    return f"<p>Cancelled after the charge: <b>ε = {number(charged)}</b> was charged, nothing was released.</p>"


def undelivered(charged: float) -> str:
    """Return what a release or paid bounds have cost that failed.

    >>> undelivered(0.0)
    'Nothing was charged.'
    >>> undelivered(0.5)
    'ε = 0.5 was charged, but nothing was released.'
    """
    return f"ε = {number(charged)} was charged, but nothing was released." if charged else "Nothing was charged."


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
    area = "AUC"
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
    return f"<table><caption>Measured on the test set, with 95% confidence intervals</caption>{rows}</table>"
