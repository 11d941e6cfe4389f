"""What My data says as HTML, in which every text of the table is escaped, and the rows of the table of facts."""

import base64
import csv
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from dpml import exceptions
from dpml.exceptions import DpmlError, InvalidParameter, InvalidSchema, MissingExtra
from dpml.mechanisms import PrivateBounds
from dpml.mechanisms.columns.numbers import LARGEST
from dpml.release.forecast import Forecast
from dpml.studies import Advice, sensible
from dpml.tables import TextFormat
from dpml.tables.cells import NumberReader
from dpml.tables.reading import Question
from dpml_app.drawing.styles import phrase_of
from dpml_app.pages.mydata import compute
from dpml_app.pages.mydata.compute import CONFIRMED, DERIVED, GAP, NAMED, OF_KIND, PAID, Column, Draft
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
COMPUTING = "<p>Computing…</p>"
LONGEST_NAME, LONGEST_WORDS, MOST_WORDS = 30, 200, 200


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
    return (
        "<p>The release publishes this metadata unchanged:</p>"
        f"<div tabindex='0' role='region' aria-label='Public metadata'><table>{lines}</table></div>"
    )


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
    state = "All pages list it as <b>My table</b>." if held else "Not in use yet."
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


# ---- bounds ----------------------------------------------------------------------------------------------------------

# of columns whose bounds in study runs are shown
SHOWN_BOUNDS = 6
BEYOND = f"beyond ±{LARGEST:.0e}: state them yourself"


def bounds_preview(frame: pd.DataFrame, names: list[str], epsilon: float) -> str:
    """Return what study runs find at an ε for all columns together, as HTML."""
    rows = "".join(
        f"<tr><th scope='row'>{escape(name)}</th>{_found(compute.study_bounds(frame[name], epsilon / len(names)))}</tr>"
        for name in names[:SHOWN_BOUNDS]
    )
    return (
        "<table aria-label='Simulated bounds'><caption>Range in 80% of simulations at this ε. Do not publish it"
        f"</caption>{_heads('Column', 'Lower bound', 'Upper bound')}{rows}</table>"
    )


def _found(runs: list[PrivateBounds]) -> str:
    """Return two table cells: the range of each bound over the runs, or why most runs find none."""
    if np.mean([run.hidden or run.only_zero for run in runs]) > 0.5:
        return "<td colspan='2'>hidden by noise: choose more ε or fewer columns</td>"
    bounded = [run for run in runs if run.found and not run.only_zero]
    if len(bounded) < len(runs) / 2:
        return f"<td colspan='2'>{BEYOND}</td>"
    cells = ""
    for end in ("lower", "upper"):
        ends = np.quantile([getattr(run, end) for run in bounded], (0.1, 0.9))
        low, high = (f"{float(f'{value:.3g}'):,.12g}" for value in ends)
        cells += f"<td>{low if low == high else f'{low} to {high}'}</td>"
    return cells


def bounds_offer(draft: Draft, names: list[str]) -> str:
    """Return the columns with private bounds on offer as HTML, with a note that types were read from the data."""
    whole = ", ".join(escape(name) for name in names if draft.has_whole_numbers(name))
    return (
        "<h3>No public bounds?</h3><p>Spend part of the privacy budget on noisy bounds near the 1st and 99th "
        "percentiles. A release can use these bounds.</p><p>You state that these columns contain numbers"
        f"{whole and f', whole numbers in {whole}'}.</p>"
    )


def paid_words(paid: Mapping[str, PrivateBounds], names: list[str], epsilon: float, *, secure: bool) -> str:
    """Return what a payment for the bounds of columns has found."""
    known = [name for name, bounds in paid.items() if bounds.found and not bounds.only_zero]
    hidden = [name for name, bounds in paid.items() if bounds.hidden or bounds.only_zero]
    beyond = [name for name in names if name not in known and name not in hidden]
    sentence = f"Charged ε = {epsilon:g}: bounds for {len(known)} of {len(names)} columns."
    sentence += f" Noise hides {', '.join(hidden)}." if hidden else ""
    sentence += f" Not found: {', '.join(beyond)} ({BEYOND})." if beyond else ""
    return sentence + ("" if secure else " Simulation: the bounds stay data-derived. Do not publish them.")


# ---- a release -------------------------------------------------------------------------------------------------------

PART_TITLES = {part: part.capitalize() for part in compute.START}
# white is read on each of them (at least 4.9 to 1), and each is seen on a light and on a dark page (at least 3 to 1)
COLOURS = {"selection": "#0b6fb8", "training": "#8a4bc0", "evaluation": "#b45309", "publishing": "#0f766e"}
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


def budget_bar(epsilon: float, shares: Mapping[str, float]) -> str:
    """Return the bar of one ε as HTML, and the share of each part."""
    parts = items = ""
    for part, share in shares.items():
        title, colour = PART_TITLES[part], COLOURS[part]
        parts += f'<span style="width:{100 * share:.3f}%;background:{colour}"><b>{title}</b></span>'
        has = f"<b>{number(epsilon * share)}</b>" if share else "left out"
        items += f'<li style="--part:{colour}">{title} {has}</li>'
    listed = f'<ul aria-label="Parts of ε = {epsilon:g}">{items}</ul>'
    return f'<div class="bar" aria-hidden="true">{parts}</div>{listed}<p>The sliders weigh the parts of ε.</p>'


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
    """Return what a release or paid bounds have cost that failed."""
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


def evaluation(measures: pd.DataFrame) -> str:
    """Return the measures of a release with the intervals for new people."""
    rows = "".join(
        f"<tr><th scope='row'>{MEASURES.get(row.measure, escape(str(row.measure)))}</th>"
        f"<td><b>{percent(row.value)}</b> ({percent(row.low)} to {percent(row.high)})</td></tr>"
        for row in measures.itertuples(index=False)
    )
    return f"<table><caption>Measured on the test set, with 95% confidence intervals</caption>{rows}</table>"


# ---- the rows of the table of facts ----------------------------------------------------------------------------------

LABEL = "label"
# how a fact is known, as a person says it
PROPOSED, STATED = "proposed", "stated"
OF_TABLE_TITLES = {"n_lower": "Records, at least", "row_bound": "Ones per record, at most", "format": "File format"}
# the cell of the table that an error of the schema names first
CELLS = {"bounds": "upper", "whole": "upper", "lower": "lower", "upper": "upper", "missing": "missing"}
LONGEST_LIST, LONGEST_VALUE = 40_000, 24
# of a column's cells, those that are looked at for a few values, and of its categories those offered for missing cells
LOOKED_AT, SHOWN, MOST_GAPS = 200, 3, 200
QUOTED = re.compile(r'[,"\r\n]')


class Rows:
    """The rows of one draft, as a browser shows them, and what it says of one.

    Texts of the table stand here as they are: the browser writes them as text. What comes back is not trusted.
    """

    def __init__(self, draft: Draft):
        self.draft = draft
        form = draft.reading.format or TextFormat()
        self.decimal = form.decimal
        self.numbers = NumberReader(form.decimal, form.thousands or ("." if form.decimal == "," else ","))

    def every(self) -> list[dict[str, Any]]:
        """Return all rows: facts of the table, the label, and the columns in their order."""
        draft = self.draft
        of_table = [self.of_table(fact) for fact in OF_TABLE_TITLES if fact == "n_lower" or fact in draft.marks]
        return [*of_table, *(self.of(name) for name in (draft.label, *draft.columns))]

    def of_table(self, fact: str) -> dict[str, Any]:
        """Return the row of a fact of the whole table."""
        draft, form = self.draft, self.draft.reading.format
        value = self._text(getattr(draft, fact)) if fact != "format" else "" if form is None else form.words
        values = f"{len(draft.frame):,} in the file" if fact == "n_lower" else ""
        facts = [self._fact("", fact, value, self._fault_of_table(fact))]
        return {"key": f"table/{fact}", "column": "", "name": OF_TABLE_TITLES[fact], "facts": facts, "values": values}

    def of(self, name: str) -> dict[str, Any]:
        """Return the row of a column, or of the label."""
        draft, cells = self.draft, self.draft.frame[name]
        gaps, some = int(cells.isna().sum()), cells.iloc[:LOOKED_AT].dropna().unique()[:SHOWN].tolist()
        row: dict[str, Any] = {
            "key": f"column/{name}",
            "column": name,
            "name": name,
            "values": " · ".join(shortened(self._text(value), LONGEST_VALUE) for value in some),
            "gaps": f"{gaps:,} ({percent(gaps / len(cells))})" if gaps else "none",
        }
        if name == draft.label:
            classes = self._fact("", "classes", _line(draft.classes), self._fault_of_table("classes"))
            return row | {"column": "", "kind": LABEL, "facts": [self._fact("", LABEL, ""), classes]}
        column = draft.columns[name]
        faults, values = self._faults(column), {"categories": _line(column.categories)}
        values |= {end: self._text(getattr(column, end)) for end in ("lower", "upper")}
        facts = [self._fact(name, fact, values.get(fact, ""), faults.get(fact, "")) for fact in OF_KIND[column.kind]]
        note = column.note or (column.reason if column.kind == "ignored" else "")
        row |= {"kind": column.kind, "facts": facts, "note": note}
        if column.kind != "ignored" and (gaps or column.missing is not None):
            row |= {"missing": self._text(column.missing), "missing_error": faults.get("missing", "")}
            if column.kind != "numeric":
                titles = _gap_values(column)
                row["missing"] = next(title for title, value in titles.items() if value == column.missing)
                row["choices"] = list(titles)
        return row

    def _fact(self, column: str, fact: str, value: str, error: str = "") -> dict[str, Any]:
        source = self.draft.source(column, fact)
        # a fact that was read off the data can be called proposed again
        first = source if source in (NAMED, PAID) else PROPOSED if self.draft.was_read_off(column, fact) else ""
        return {"fact": fact, "value": value, "source": source, "first": first, "error": error}

    def _fault_of_table(self, fact: str) -> str:
        draft, most = self.draft, len(self.draft.frame)
        if fact == "classes" and 0 < len(draft.classes) < 2:
            return "must be two or more labels"
        known = isinstance(draft.n_lower, int) and 1 <= draft.n_lower <= most
        return "" if fact != "n_lower" or known or draft.n_lower is None else f"must be an integer from 1 to {most:,}"

    def _faults(self, column: Column) -> dict[str, str]:
        """Return the faults by cell. A fact that is not stated yet is no fault."""
        numeric = column.kind == "numeric"
        typed = [fact for fact in ("lower", "upper", "missing") if numeric and isinstance(getattr(column, fact), str)]
        missing = (
            None in (column.lower, column.upper) if numeric else column.kind == "categorical" and not column.categories
        )
        if typed or missing:
            return dict.fromkeys(typed, f"must be a number, for example 1{self.decimal}5")
        try:
            _ = column.feature
        except InvalidParameter as error:
            other = "categories" if column.kind == "categorical" else "upper"
            return {CELLS.get(str(error.name).partition(" ")[0], other): f"must be {error.allowed}"}
        return {}

    def _text(self, value: Any) -> str:
        if value is None:
            return ""
        return f"{value:.12g}".replace(".", self.decimal) if isinstance(value, (int, float)) else str(value)

    def say(self, message: Any) -> None:
        """Take what a browser says of one fact; what is no fact of a row is left alone."""
        if not isinstance(message, dict):
            return
        name, fact = message.get("column"), message.get("fact")
        if not isinstance(name, str) or not isinstance(fact, str) or (name and name not in self.draft.columns):
            # the label's own column can only become another one's
            return
        if isinstance(source := message.get("source"), str):
            facts = OF_KIND[self.draft.columns[name].kind] if name else (LABEL, "classes", *OF_TABLE_TITLES)
            if source in (PROPOSED, STATED) and fact in facts:
                self.draft.say_source(name, fact, source)
        elif isinstance(value := message.get("value"), str):
            self._say_value(name, fact, value[:LONGEST_LIST])

    def _say_value(self, name: str, fact: str, value: str) -> None:
        draft = self.draft
        if not name:
            if fact == "classes":
                draft.say_classes(_listed(value))
            elif fact == "n_lower":
                typed = self._number(value)
                draft.say_records(int(typed) if isinstance(typed, float) and typed.is_integer() else typed)
        elif fact == "kind" and value == LABEL:
            draft.say_label(name)
            draft.say_source("", LABEL, STATED)
        elif fact == "kind" and value in OF_KIND:
            draft.say(name, kind=value)
        elif fact in ("lower", "upper"):
            draft.say(name, **{fact: self._number(value)})
        elif fact == "categories":
            draft.say(name, categories=_listed(value))
        elif fact == "missing":
            column = draft.columns[name]
            draft.say_gaps(name, self._number(value) if column.kind == "numeric" else _gap_values(column).get(value))

    def _number(self, text: str) -> Any:
        """Return the number that a text spells, None where it is empty, and the text itself where it spells none."""
        text = text.strip()
        read = self.numbers.read(text)
        return (text or None) if read is None or read[1] else read[0]


def _gap_values(column: Column) -> dict[str, Any]:
    """Return, by their titles, what a missing cell of a column that is no number can count as."""
    if column.kind == "binary":
        return {"0 (none expected)": None, "0": 0, "1": 1}
    own = {} if GAP in column.categories else {"separate category": GAP}
    categories = column.categories[:MOST_GAPS]
    chosen = () if column.missing is None or column.missing in categories else (column.missing,)
    return {"first category": None, **own, **{f"“{category}”": category for category in (*categories, *chosen)}}


def _line(values: Sequence) -> str:
    """Return values as one line, which `_listed` takes apart."""
    texts = map(str, values)
    return ", ".join(f'"{text.replace(chr(34), 2 * chr(34))}"' if QUOTED.search(text) else text for text in texts)


def _listed(text: str) -> tuple[str, ...]:
    r"""Return the values of a text, each once: commas or lines stand between them, quotes around one that has either.

    >>> _listed('cat,  dog, "fish, large"\n\ncat')
    ('cat', 'dog', 'fish, large')
    """
    lines = csv.reader(text.splitlines(keepends=True), skipinitialspace=True)
    values = (value.strip() for line in lines for value in line)
    return tuple(dict.fromkeys(value for value in values if value))
