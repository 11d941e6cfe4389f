"""What My data says as HTML, in which every text of the table is escaped."""

import base64
import csv
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape

import pandas as pd

from dpml import exceptions
from dpml.exceptions import DpmlError, InvalidParameter, InvalidSchema, MissingExtra
from dpml.release.forecast import Forecast
from dpml.studies import Advice, sensible
from dpml.tables.reading import Question
from dpml_app.drawing.styles import phrase_of
from dpml_app.pages.mydata import compute
from dpml_app.pages.mydata.compute import CONFIRMED, DERIVED, PAID, Draft
from dpml_app.text.phrases import RELATION_WORDS, factor, number, percent, right_of_hundred, shortened

BADGES = {
    DERIVED: '<span class="proposed">data-derived</span>',
    CONFIRMED: '<span class="confirmed">confirmed</span>',
    PAID: '<span class="confirmed">released with noise</span>',
}
INSTALL = exceptions.install_command("release")
# where OpenDP is missing, from the first step on
NO_NOISE = (
    f"<p>You can simulate a release, but not make one. Install secure noise with <code>{INSTALL}</code> and restart "
    "the app.</p>"
)
LONGEST_NAME, LONGEST_WORDS, MOST_WORDS = 30, 200, 200
FACT_TITLES = {
    "lower": "lower bound",
    "upper": "upper bound",
    "categories": "categories",
    "kind": "kind",
    "classes": "labels",
    "n_lower": "number of records",
    "row_bound": "ones per record",
    "format": "file format",
}
# of a column's cells, those that are looked at for a few examples
LOOKED_AT, EXAMPLES, LONGEST_EXAMPLE = 200, 3, 24
QUOTED = re.compile(r'[,"\r\n]')


def _heads(*titles: str) -> str:
    heads = "".join(f"<th scope='col'>{title}</th>" for title in titles)
    return f"<tr>{heads}</tr>"


# ---- the table and its file ------------------------------------------------------------------------------------------


def facts(draft: Draft) -> str:
    """Return all facts that a release takes for public, in full, with what was read off the data."""
    # while one of its facts is not confirmed a column is data-derived
    rows = [
        (name, column.description, next((mark for mark in compute.MARKS if column.marked(mark)), ""))
        for name, column in draft.columns.items()
    ]
    of_table = {"classes": (f"{draft.label} (label)", ", ".join(map(str, draft.classes)))}
    if draft.row_bound is not None:
        of_table["row_bound"] = "Ones per record, at most", str(draft.row_bound)
    of_table["n_lower"] = "Records, at least", str(draft.n_lower)
    rows += [(name, value, draft.marks.get(fact, "")) for fact, (name, value) in of_table.items()]
    lines = "".join(
        f"<tr><th scope='row'>{escape(name)}</th><td>{escape(value)} {BADGES.get(mark, '')}</td></tr>"
        for name, value, mark in rows
    )
    return f"<div tabindex='0' role='region' aria-label='Public metadata'><table>{lines}</table></div>"


def column_words(draft: Draft, name: str) -> str:
    """Return examples of a column's values, how many are missing, and why it is left out."""
    cells, column = draft.frame[name], draft.columns[name]
    examples = cells.iloc[:LOOKED_AT].dropna().unique()[:EXAMPLES].tolist()
    texts = (f"{value:.12g}" if isinstance(value, float) else str(value) for value in examples)
    shown = " · ".join(shortened(each, LONGEST_EXAMPLE) for each in texts)
    gaps = int(cells.isna().sum())
    missing = f"{gaps:,} ({percent(gaps / len(cells))})" if gaps else "none"
    note = column.note or (column.reason if column.kind == "ignored" else "")
    note = note and f"{note[:1].upper()}{note[1:]}."
    return f"<p>Examples: {escape(shown)}. Missing values: {missing}. {escape(note)}</p>"


def reading_words(draft: Draft) -> str:
    """Return how the file was read."""
    first, *rest = [escape(shortened(each, LONGEST_WORDS)) for each in draft.reading.words[:MOST_WORDS]] or [""]
    items = "".join(f"<li>{each}</li>" for each in rest)
    return f"<p>{first}</p>{f'<ul>{items}</ul>' if items else ''}" if first else ""


def reading_label(question: Question, place: int) -> str:
    """Return a reading in words, with three example cells."""
    reading = question.readings[place]
    # the names of encodings are in lower case
    is_sentence = " " in reading.rule
    words = reading.words[:1].upper() + reading.words[1:] if is_sentence else reading.words
    cells = [shortened(cell, 41) for cell in reading.cells[:3] if cell not in words]
    return f"{words} ({', '.join(cells)})" if cells else words


def status(draft: Draft | None, held: bool, releasing: bool = False, *, secure: bool = True) -> str:
    """Return what this session has, how much of it was read off the data, and whether it can be released at all."""
    missing = "" if secure else NO_NOISE
    if draft is None:
        return f"<p>No table yet. Your upload stays in memory and is deleted when you close the page.</p>{missing}"
    table = f"<b>{escape(shortened(draft.file, LONGEST_NAME))}</b>: {len(draft.frame):,} records."
    if releasing:
        return f"<p>{table}</p>"
    state = "Pages with a data set list it as <b>My table</b>." if held else "Not in use yet."
    count = len(draft.unconfirmed)
    entries = f"{count} metadata {'entries' if count > 1 else 'entry'} {BADGES[DERIVED]}"
    marked = f"<p>{entries}. A release needs a public source for each.</p>" if count else ""
    return f"<p>{table} {state}</p>{marked}{missing}"


def saved(text: str) -> str:
    """Return a link that saves a text, which the browser has already."""
    content = base64.b64encode(text.encode()).decode()
    href = f'href="data:text/yaml;base64,{content}"'
    return f'<a download="schema.yaml" {href}>Save the schema (YAML)</a>' if text else ""


# ---- advice ----------------------------------------------------------------------------------------------------------


def advice_html(advice: Mapping[float, Advice]) -> str:
    """Return what is known so far, as HTML: the next sensible step, and a row for each ε."""
    whole = [advice[epsilon] for epsilon in compute.ADVICE_EPSILONS if epsilon in advice]
    if len(whole) < len(compute.ADVICE_EPSILONS):
        return "<p>Estimating…</p>"
    rows = "".join(_advice_row(one) for one in whole)
    first = any(one.estimated for one in whole)
    part = "<p>≈ marks a first estimate from part of the records.</p>" if first else ""
    test = percent(max(one.test_error for one in whole))
    about = (
        "<details><summary>How certain is this?</summary><p>Accuracy is the mean of runs that were not used to choose "
        "the method. The brackets contain 90% of the runs. An AUC (area under the ROC curve) of 0.5 is chance. The "
        f"finite test set adds a standard error of up to {test}. “Or n more” counts methods not clearly worse. "
        "This simulation uses your exact records. Do not publish it.</p></details>"
    )
    table = f"<table>{_heads('ε', 'Best method', 'Accuracy', 'Privacy risk')}{rows}</table>"
    return f"<p>{_step(whole)}</p>{table}{part}{about}"


# where no ε gives a model that is better than a guess
NO_STEP = {
    "no signal": "<b>No signal</b>: a {}. The columns do not predict the label, and more records would not help. Check "
    "the choice of the label column, or add columns.",
    "guess": "<b>No better than the majority-class baseline</b>: a {}. The columns change the probability of each "
    "label, but not the most probable label. Judge a model by its AUC.",
    "too few records": "<b>Too few records</b> at each of these ε: one run in twenty does not beat the majority-class "
    "baseline. A {}, so the columns do predict the label. Collect more records, leave out columns, or merge "
    "categories.",
}
VERDICTS = {
    "no signal": "no signal",
    "guess": "no better than the majority-class baseline",
    "too few records": "too few records",
}


def _advice_row(one: Advice) -> str:
    others = f" (or {one.equal - 1} more)" if one.equal > 1 else ""
    about = "≈ " if one.estimated else ""
    right = f"{about}<b>{percent(one.mean)}</b> ({percent(one.low)} to {percent(one.high)})"
    if one.auc == one.auc:
        right += f", AUC {one.auc:.2f}"
    verdict = f"<br><b>{VERDICTS[one.verdict]}</b>" if one.verdict in VERDICTS else ""
    risk = f"odds × {factor(one.epsilon)}, attack accuracy up to {right_of_hundred(one.epsilon)}%"
    name = f"{escape(phrase_of(one.method))}{others}"
    return f"<tr><th scope='row'>{one.epsilon:g}</th><td>{name}</td><td>{right}{verdict}</td><td>{risk}</td></tr>"


def _step(steps: list[Advice]) -> str:
    fit, best = steps[-1].signal, sensible(steps)
    if best is not None:
        most = max(one.mean for one in steps)
        without = f" Non-private baseline: {percent(fit.accuracy)}." if fit else ""
        return (
            f"Start with <b>ε = {best.epsilon:g}</b> and {escape(phrase_of(best.method))}: accuracy "
            f"{percent(best.mean)}. The highest accuracy at any ε in this table is {percent(most)}.{without}"
        )
    levels = f" has {percent(fit.accuracy)} accuracy, the majority-class baseline {percent(fit.guess)}" if fit else ""
    return NO_STEP[steps[-1].verdict].format(f"non-private fit{levels}")


# ---- a release -------------------------------------------------------------------------------------------------------

# errors of these classes are about what a person asked for, and never hold a value from the data
SAFE = (
    exceptions.BudgetExceeded,
    exceptions.LedgerError,
    exceptions.MissingExtra,
    exceptions.NoSecureSampler,
    exceptions.NotPrivate,
    exceptions.RelationMismatch,
)
MEASURES = {
    "accuracy": "Accuracy",
    "majority_accuracy": "Majority-class baseline",
    "recall": "Recall of the positive class",
    "roc_auc": "AUC",
    "macro_auc": "AUC, mean of all classes",
}


def forecast_html(forecast: Forecast) -> str:
    """Return a forecast and its warnings in words; the warnings alone where no model is planned."""
    measures = (
        f"<p>Forecast: accuracy <b>{percent(forecast.accuracy)}</b> (majority-class baseline "
        f"{percent(forecast.majority)}), AUC <b>{forecast.auc:.2f}</b>. It uses your exact records. Do not publish it."
        "</p>"
    )
    sentences = "".join(
        f"<li><b>Warning.</b> {escape(each.text[:1].upper() + each.text[1:])}</li>" for each in forecast.warnings
    )
    items = re.sub("`([^`]*)`", r"<code>\1</code>", sentences)
    warnings = f"<ul class='problems'>{items}</ul>" if items else ""
    return warnings if math.isnan(forecast.accuracy) else measures + warnings


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
    last = f"<tr><th scope='row'>Total</th><td></td><td><b>{whole}</b></td></tr>"
    return (
        f"<table aria-label='Plan'>{_heads('Part', 'Released', 'ε')}{rows}{last}</table>"
        f"<details><summary>Charges and noise</summary><p>Neighbouring tables: {relation}.</p>"
        f"<table aria-label='Charges'>{_heads('Charge', 'Noise', 'ε')}{each}</table></details>"
    )


def safe(error: BaseException) -> str:
    """Return an error as a sentence without a value from the data."""
    if isinstance(error, SAFE):
        return str(error)
    what = "the records do not match the schema" if isinstance(error, DpmlError) else "the release failed"
    return f"{what} ({type(error).__name__})"


def against(error: BaseException) -> tuple[str, str]:
    """Return a problem of a plan and what to do next. A plan looks at no record: its words are public facts."""
    if isinstance(error, MissingExtra):
        return "Secure noise is not installed.", INSTALL
    if isinstance(error, InvalidSchema):
        # what is stated may have been read off the data
        return f"{error.name} must be {error.allowed}", "Go back to the table and correct it."
    text = str(error) if isinstance(error, DpmlError) else safe(error)
    if isinstance(error, InvalidParameter | exceptions.BudgetExceeded):
        return text, "Change the sliders."
    return text, "" if isinstance(error, SAFE) else "Leave out a part or choose another ε."


def problems(pairs: Iterable[tuple[str, str]], *, known: bool) -> str:
    """Return what is in the way, each with what to do next; `known`: whether the plan was tried out."""
    items = "".join(f"<li>{escape(text)}{' ' if text else ''}<b>{escape(step)}</b></li>" for text, step in pairs)
    if not items:
        return "<p>Ready.</p>" if known else ""
    return f"<ul class='problems'>{items}</ul>"


def spent(total: float, already: float, releases: int, noun: str) -> str:
    """Return what is left of a session's ε, once something is spent."""
    if not already and not releases:
        return ""
    return (
        f"<p>{releases} {noun}{'' if releases == 1 else 's'} in this session. Privacy budget ε = {total:g}: "
        f"<b>{number(already)}</b> spent, <b>{number(max(total - already, 0.0))}</b> left.</p>"
    )


def undelivered(charged: float) -> str:
    """Return the cost of a release that failed."""
    return f"ε = {number(charged)} was charged, but nothing was released." if charged else "Nothing was charged."


def ledger(charges: pd.DataFrame) -> str:
    """Return a session's ledger as a table."""
    rows = "".join(
        f"<tr><td>{escape(str(label))}</td><td>{number(epsilon)}</td></tr>"
        for label, epsilon in zip(charges["label"], charges["epsilon"], strict=True)
    )
    return (
        f"<details><summary>Ledger of this session: {len(charges)} charges</summary><div tabindex='0' role='region' "
        f"aria-label='Ledger'><table>{_heads('Charge', 'ε')}{rows}</table></div></details>"
    )


def evaluation(measures: pd.DataFrame | None) -> str:
    """Return the measures of a release, if it has any, with the intervals for new people."""
    if measures is None:
        return ""
    rows = "".join(
        f"<tr><th scope='row'>{MEASURES.get(row.measure, escape(str(row.measure)))}</th>"
        f"<td><b>{percent(row.value)}</b> ({percent(row.low)} to {percent(row.high)})</td></tr>"
        for row in measures.itertuples(index=False)
    )
    return f"<table><caption>Measured on the test set, with 95% confidence intervals</caption>{rows}</table>"


# ---- lists that a person types ---------------------------------------------------------------------------------------


def as_line(values: Sequence) -> str:
    """Return values as one line, which `listed` takes apart."""
    texts = map(str, values)
    return ", ".join(f'"{text.replace(chr(34), 2 * chr(34))}"' if QUOTED.search(text) else text for text in texts)


def listed(text: str) -> tuple[str, ...]:
    r"""Return the values of a text, each once: commas or lines stand between them, quotes around one that has either.

    >>> listed('cat,  dog, "fish, large"\n\ncat')
    ('cat', 'dog', 'fish, large')
    """
    lines = csv.reader(text.splitlines(keepends=True), skipinitialspace=True)
    values = (value.strip() for line in lines for value in line)
    return tuple(dict.fromkeys(value for value in values if value))
