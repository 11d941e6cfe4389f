"""Sentences of the Classifiers page."""

from collections.abc import Sequence
from html import escape

from dpml_app.pages.train.card import trained
from dpml_app.pages.train.facts import TrainFacts
from dpml_app.pages.train.methods_figure import Row
from dpml_app.pages.train.settings import TrainValues
from dpml_app.text.phrases import about_data, percent


def headline(values: TrainValues, facts: TrainFacts, rows: Sequence[Row]) -> str:
    """Return the most accurate method, with its accuracy without privacy, as HTML."""
    majority = facts.majority if values.train_measure == "accuracy" else 0.5
    guess = f"Majority-class baseline: {percent(majority)}"
    sound = [row for row in rows if not row.true_epsilon]
    if not sound:
        return f"<p>{guess}.</p>"
    best = max(sound, key=lambda row: row.mean)
    far = "" if len(rows) >= len(trained(values, facts)) else " so far"
    text = f"Best{far} at ε = {values.epsilon:g}: <b>{escape(best.style.label)}, {percent(best.mean)}</b>"
    if best.without is not None:
        text += f" (non-private {percent(best.without)})"
    return f"<p>{text}. {guess}.</p>"


def dataset_note(facts: TrainFacts) -> str:
    """Return one line about the data set.

    >>> from types import SimpleNamespace
    >>> facts = SimpleNamespace(n_train=900, n_test=900, classes=("x", "y"), numeric=2, categorical=1)
    >>> facts.columns, facts.binary_columns = ["a", "b", "c"], ["a", "b", "c1", "c2"]
    >>> "2 numeric and 1 other feature (4 binary columns). Classes: x or y." in dataset_note(facts)
    True
    """
    classes = " or ".join(escape(str(c)) for c in facts.classes)
    columns = f"{len(facts.binary_columns):,} binary columns"
    if facts.columns:
        others = "other feature" if facts.categorical == 1 else "other features"
        columns = f"{facts.numeric} numeric and {facts.categorical} {others} ({columns})"
    return about_data(f"{facts.n_train:,} training and {facts.n_test:,} test records, {columns}. Classes: {classes}.")
