"""Sentences of the Synthetic data page."""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml_app.core.card import Number
from dpml_app.pages.publish.compute import PublishFacts
from dpml_app.pages.publish.figures import CHOICE_STYLES, LEAST, RIVAL_STYLES
from dpml_app.pages.publish.settings import CLASSIFIER_WORDS, PublishValues
from dpml_app.text.phrases import about_data, interval, number, percent, points, read_captions

Draws = NDArray[np.float64]
CAPTIONS = read_captions(Path(__file__).with_name("captions.yaml"))


def headline(values: PublishValues, table: Draws | None, true: float | None, drawn: Mapping[str, Any] | None) -> str:
    """Return the columns that the table shown keeps, and the cost of synthetic tables at the chosen ε, as HTML."""
    if table is None or true is None:
        return "<p>Computing…</p>"
    mean = float(table.mean())
    kept = "" if drawn is None else f"{_kept(drawn)} "
    learner = CLASSIFIER_WORDS[values.publish_classifier].removeprefix("a ")
    return (
        f"<p>{kept}Accuracy of {learner}: <b>{percent(mean)}</b> if trained on a synthetic table (90% of tables: "
        f"{interval(table)}), {percent(true)} on the non-private table. Cost: {_cost(true - mean)}.</p>"
    )


def _cost(lost: float) -> str:
    """Return the accuracy that is lost, in points."""
    return f"<b>{points(lost)}</b>" if lost >= LEAST else f"less than {100 * LEAST:g} points"


def _kept(drawn: Mapping[str, Any]) -> str:
    """Return in a sentence which columns a table keeps."""
    names = [escape(name) for name in drawn["kept"]]
    listed = f": {', '.join(names)}" if names else ""
    return f"<b>{len(names)} of {drawn['n_columns']} columns</b> kept{listed}. The others are noise."


def shown(values: PublishValues, drawn: Mapping[str, Any], table: Draws, true: float) -> str:
    """Return the table that is shown in words, among those that are drawn."""
    return (
        f"{_kept(drawn)} Table {values.draw + 1} of {len(table)}: accuracy <b>{percent(float(table[values.draw]))}</b> "
        f"(90% of the tables: {interval(table)}). Non-private table: {percent(true)}."
    )


def tables(drawn: Mapping[str, Any], values: PublishValues) -> str:
    """Return, as HTML, the first rows of both tables, under the names of their columns."""
    kept = [place == 0 or name in drawn["kept"] for place, name in enumerate(drawn["names"])]

    def cells(texts: Sequence[str], tag: str) -> str:
        each = zip(texts, kept, strict=True)
        return "".join(
            f'<{tag} title="{escape(text)}"{" class=kept" if own else ""}>{escape(text)}</{tag.split()[0]}>'
            for text, own in each
        )

    true, published = (f"{drawn['n'][of]:,}" for of in ("true", "published"))
    heads = {
        "true": f"Non-private table: {true} records",
        "published": f"Synthetic table {values.draw + 1} of {values.publish_draws}: {published} records",
    }
    bodies = "".join(
        f'<tbody class={of}><tr><th scope="rowgroup">{heads[of]}</th></tr>'
        + "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
        + "</tbody>"
        for of, rows in drawn["rows"].items()
    )
    return f"<table><thead><tr>{cells(drawn['names'], 'th scope=col')}</tr></thead>{bodies}</table>"


def models(cells: Draws | None, linear: Draws | None) -> str:
    """Return what models for the same ε reach."""
    parts = []
    for label, draws in (("PrivPfCClassifier", cells), ("LinearClassifier", linear)):
        if draws is not None:
            parts.append(f"{label} <b>{percent(float(draws.mean()))}</b> ({interval(draws)})")
    return f"Models at the same ε: {', '.join(parts)}." if parts else "Computing…"


def numbers(table: Draws, true: float) -> tuple[Number, ...]:
    """Return what a pin keeps of the page's picture."""
    mean = float(table.mean())
    return (
        Number("accuracy, synthetic table", percent(mean), interval(table)),
        Number("accuracy, non-private table", percent(true)),
        Number("cost", points(true - mean)),
    )


def release(card: str, facts: Mapping[str, Any]) -> str:
    """Return one release in words, as a card shows it."""
    chosen = escape(facts["chosen"])
    if card == "grid":
        return f"Grid of this table: <b>{chosen}</b>, {facts['n_cells']:,} cells."
    if card == "chances":
        best = float(facts["chances"][0])
        place = facts["place"] + 1
        drawn = "the best" if place == 1 else f"number {place:,}"
        return (
            f"The best of {facts['n_candidates']:,} candidates has a probability of <b>{percent(best)}</b>. This table "
            f"has {drawn}: {chosen} ({percent(facts['chance'], 2)})."
        )
    error = float(np.abs(facts["noisy"] - facts["true"]).mean())
    return (
        f"The noise on each count has a mean size of {number(facts['scale'])}, and {number(error)} in these cells. "
        f"The smallest of them has {int(facts['true'].sum(axis=1).min()):,} records."
    )


_SAID = {
    "grids": lambda x: f"Θ = {x:,.0f}",
    "shares": lambda x: f"{100 * x:.0f}% for the selection",
    "columns": lambda x: f"{x:.0f} column{'s' if x > 1 else ''}",
}


def ladder(name: str, values: PublishValues, tables: Mapping[float, Draws]) -> str:
    """Return the best and the worst of what was tried."""
    if not tables:
        return "Computing…"
    ranked = sorted(tables, key=lambda x: float(tables[x].mean()))
    worst, best = ranked[0], ranked[-1]
    at = f"At ε = {values.epsilon:g} the"
    reached = f"<b>{percent(float(tables[best].mean()))}</b> with {_SAID[name](best)} ({interval(tables[best])})"
    # while others are computed there is nothing to compare
    if best == worst:
        return f"{at} mean is {reached}."
    return f"{at} best mean is {reached}, the worst {percent(float(tables[worst].mean()))} with {_SAID[name](worst)}."


def records(values: PublishValues, table: Mapping[float, Draws], same: Mapping[float, Draws]) -> str:
    """Return the cost with the fewest and with the most records."""
    both = sorted(table.keys() & same.keys())
    if not both:
        return "Computing…"
    parts = []
    for n in (both[0], both[-1])[: len(both)]:
        private, true = float(table[n].mean()), float(same[n].mean())
        parts.append(f"{_cost(true - private)} with {n:,.0f} records ({percent(private)}, non-private {percent(true)})")
    return f"Cost at ε = {values.epsilon:g}: {' and '.join(parts)}."


def rivals(column: str, by_series: Mapping[str, Mapping[float, Draws]]) -> str:
    """Return what all publishers reach at ε = 0.1, or how long they take, best first."""
    at = {name: float(of[0.1].mean()) for name, of in by_series.items() if 0.1 in of}
    if not at:
        return "Computing…"
    ranked = sorted(at, key=lambda name: at[name], reverse=column == "accuracy")
    shown = (lambda v: percent(v)) if column == "accuracy" else (lambda v: f"{v:.2g} s")
    styles = RIVAL_STYLES | CHOICE_STYLES
    listed = [f"{styles[name].label} <b>{shown(at[name])}</b>" for name in ranked]
    return f"Mean at ε = 0.1: {', '.join(listed)}."


def dataset_note(facts: PublishFacts) -> str:
    """Return one line about the data set."""
    classes = " or ".join(escape(str(c)) for c in facts.classes)
    return about_data(
        f"{facts.n_train:,} training and {facts.n_test:,} test records, {len(facts.columns)} columns. "
        f"Classes: {classes}."
    )
