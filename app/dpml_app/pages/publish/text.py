"""Captions and sentences of the Synthetic data page."""

from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml_app.core.card import Number
from dpml_app.pages.publish.compute import (
    CLASSIFIER_WORDS,
    LEAST,
    PublishFacts,
    PublishValues,
)
from dpml_app.text.phrases import about_data, interval, percent, points

Draws = NDArray[np.float64]
CAPTIONS = {
    "accuracy": (
        "Test accuracy of the classifier, trained on a synthetic table of PrivPfC (Su et al. 2018). The band covers "
        "90% of tables. The solid level is trained on all columns of the non-private table (simulation, never publish)."
    ),
    "tables": (
        "Share of records with each value, outlined for the non-private table (simulation, never publish) and filled "
        "for one synthetic table. PrivPfC (Su et al. 2018) keeps the blue columns and makes the others uniform."
    ),
    "chances": (
        "Exact probabilities of the exponential mechanism, given the noisy number of records, which limits "
        "the cells. A grid's quality is the expected number of records that its noisy cells classify "
        "correctly. Star: the grid of the table shown."
    ),
    "models": (
        "Test accuracy at the same ε: a classifier trained on the synthetic table, a model of the same cells "
        "(PrivPfCClassifier), and LinearClassifier on all columns. The level line is trained on all columns "
        "of the non-private table. Bands cover 90% of runs."
    ),
}


def headline(values: PublishValues, table: Draws | None, true: float | None) -> str:
    """Return the cost of synthetic tables at the chosen ε, as HTML."""
    if table is None or true is None:
        return "<p>Computing…</p>"
    mean = float(table.mean())
    learner = CLASSIFIER_WORDS[values.publish_classifier].removeprefix("a ")
    return (
        f"<p>Accuracy of {learner}: <b>{percent(mean)}</b> if trained on a synthetic table (90% of tables: "
        f"{interval(table)}), {percent(true)} on the non-private table. Cost: {_cost(true - mean)}.</p>"
    )


def _cost(lost: float) -> str:
    """Return the accuracy that is lost, in points."""
    return f"<b>{points(lost)}</b>" if lost >= LEAST else f"less than {100 * LEAST:g} points"


def kept(drawn: Mapping[str, Any]) -> str:
    """Return in a sentence which columns a table keeps."""
    names = [escape(name) for name in drawn["kept"]]
    listed = f": {', '.join(names)}" if names else ""
    number = f"<b>{len(names)} of {drawn['n_columns']} columns</b>"
    return f"{number} kept{listed}. The others are noise."


def models(found: Mapping[str, Draws]) -> str:
    """Return what models for the same ε reach, by their labels."""
    parts = [f"{label} <b>{percent(float(draws.mean()))}</b> ({interval(draws)})" for label, draws in found.items()]
    return f"Accuracy at the same ε: {', '.join(parts)}." if parts else "Computing…"


def numbers(table: Draws, true: float) -> tuple[Number, ...]:
    """Return what a pin keeps of the page's picture."""
    mean = float(table.mean())
    return (
        Number("accuracy, synthetic table", percent(mean), interval(table)),
        Number("accuracy, non-private table", percent(true)),
        Number("cost", points(true - mean)),
    )


def dataset_note(facts: PublishFacts) -> str:
    """Return one line about the data set."""
    classes = " or ".join(escape(str(c)) for c in facts.classes)
    return about_data(
        f"{facts.n_train:,} training and {facts.n_test:,} test records, {len(facts.columns)} columns. "
        f"Classes: {classes}."
    )


def choice(facts: Mapping[str, Any]) -> str:
    """Return the probability of the best candidate grid, and the grid of the table shown."""
    place = facts["place"] + 1
    drawn = "the best" if place == 1 else f"number {place:,}"
    return (
        f"The best of {facts['n_candidates']:,} candidates has a probability of "
        f"<b>{percent(float(facts['chances'][0]))}</b>. This table has {drawn}: {escape(facts['chosen'])} "
        f"({percent(facts['chance'], 2)})."
    )
