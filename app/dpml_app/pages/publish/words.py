"""Plain words beside the numbers of the Publish page. They claim what was computed and nothing more."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml_app.core.card import Number
from dpml_app.pages.publish.compute import PublishFacts
from dpml_app.pages.publish.figures import CHOICE_STYLES, LEAST, RIVAL_STYLES
from dpml_app.pages.publish.settings import CLASSIFIER_WORDS, PublishValues
from dpml_app.text.captions import read_captions
from dpml_app.text.phrases import about_data, interval, number, percent, points

Draws = NDArray[np.float64]
CAPTIONS = read_captions(Path(__file__).with_name("captions.yaml"))


def headline(values: PublishValues, table: Draws | None, true: float | None, models: Mapping[str, Draws]) -> str:
    """Return, as HTML, what a published table costs at the ε that is chosen, and what a model for the same ε gives."""
    if table is None or true is None:
        return "<p>Computing…</p>"
    mean = float(table.mean())
    cost = f"<b>{points(true - mean)}</b>" if true - mean >= LEAST else "nothing that one can see"
    text = (
        f"<p>At ε = {values.epsilon:g} {CLASSIFIER_WORDS[values.publish_classifier]} on the published table is "
        f"right for <b>{percent(mean)}</b> (90 % of tables: {interval(table)}), on the true table for {percent(true)}: "
        f"publishing costs {cost}."
    )
    if models:
        best = max(models, key=lambda name: float(models[name].mean()))
        gain = float(models[best].mean()) - mean
        more = f"{points(abs(gain))} {'more' if gain > 0 else 'less'}" if abs(gain) >= LEAST else "as much"
        called = {"cells": "Its cells as a model", "linear": "A linear model"}[best]
        text += f" {called} for the same ε: {more}."
    return f"{text}</p>"


def models(cells: Draws | None, linear: Draws | None) -> str:
    """Return what models for the same ε reach."""
    parts = []
    for label, draws in (("PrivPfCClassifier", cells), ("LinearClassifier", linear)):
        if draws is not None:
            parts.append(f"{label} <b>{percent(float(draws.mean()))}</b> ({interval(draws)})")
    return f"The same ε spent on a model: {', '.join(parts)}." if parts else "Computing…"


def numbers(table: Draws, true: float, cells: Draws, linear: Draws) -> tuple[Number, ...]:
    """Return what a pin keeps of the page's picture."""
    private = (("right, published table", table), ("right, its cells", cells), ("right, linear model", linear))
    spreads = [Number(what, percent(float(draws.mean())), interval(draws)) for what, draws in private]
    return (spreads[0], Number("right, true table", percent(true)), *spreads[1:])


def release(card: str, facts: Mapping[str, Any]) -> str:
    """Return one release in words, as a card shows it."""
    chosen = escape(facts["chosen"])
    if card == "grid":
        return f"The first table's grid: <b>{chosen}</b>, {facts['n_cells']:,} cells."
    if card == "chances":
        best = float(facts["chances"][0])
        place = facts["place"] + 1
        drawn = "the best" if place == 1 else f"number {place:,}"
        return (
            f"Of {facts['n_candidates']:,} candidates the best has a chance of <b>{percent(best)}</b>. This draw took "
            f"{drawn}: {chosen} ({percent(facts['chance'], 2)})."
        )
    error = float(np.abs(facts["noisy"] - facts["true"]).mean())
    return (
        f"Noise of mean size {number(facts['scale'])} on each count; in these cells it was {number(error)} on average. "
        f"The smallest of them truly has {int(facts['true'].sum(axis=1).min()):,} records."
    )


_SAID = {
    "grids": lambda x: f"Θ = {x:,.0f}",
    "shares": lambda x: f"{100 * x:.0f} % for the choice",
    "columns": lambda x: f"{x:.0f} column{'s' if x > 1 else ''}",
}


def ladder(name: str, values: PublishValues, tables: Mapping[float, Draws]) -> str:
    """Return the best and the worst of what was tried."""
    if not tables:
        return "Computing…"
    ranked = sorted(tables, key=lambda x: float(tables[x].mean()))
    worst, best = ranked[0], ranked[-1]
    return (
        f"At ε = {values.epsilon:g} the best mean is <b>{percent(float(tables[best].mean()))}</b> with "
        f"{_SAID[name](best)} ({interval(tables[best])}), the worst {percent(float(tables[worst].mean()))} with "
        f"{_SAID[name](worst)}."
    )


def records(values: PublishValues, table: Mapping[float, Draws], same: Mapping[float, Draws]) -> str:
    """Return what publishing costs with the fewest and with the most records."""
    both = sorted(table.keys() & same.keys())
    if not both:
        return "Computing…"
    parts = []
    for n in (both[0], both[-1])[: len(both)]:
        private, true = float(table[n].mean()), float(same[n].mean())
        cost = f"<b>{points(true - private)}</b>" if true - private >= LEAST else "nothing that one can see"
        parts.append(f"of {n:,.0f} records {cost} ({percent(private)}, true table {percent(true)})")
    return f"At ε = {values.epsilon:g} publishing costs, for a table {', and '.join(parts)}."


def rivals(column: str, by_series: Mapping[str, Mapping[float, Draws]]) -> str:
    """Return what all publishers reach at ε = 0.1, or how long they take, best first."""
    at = {name: float(of[0.1].mean()) for name, of in by_series.items() if 0.1 in of}
    if not at:
        return "Computing…"
    ranked = sorted(at, key=lambda name: at[name], reverse=column == "accuracy")
    shown = (lambda v: percent(v)) if column == "accuracy" else (lambda v: f"{v:.2g} s")
    styles = RIVAL_STYLES | CHOICE_STYLES
    listed = [f"{styles[name].label} <b>{shown(at[name])}</b>" for name in ranked]
    return f"At ε = 0.1, mean over draws: {', '.join(listed)}."


def dataset_note(facts: PublishFacts) -> str:
    """Return one line about the data set."""
    classes = " or ".join(escape(str(c)) for c in facts.classes)
    return about_data(
        f"{facts.n_train:,} training and {facts.n_test:,} test records, {len(facts.columns)} columns and the "
        f"class: {classes}."
    )
