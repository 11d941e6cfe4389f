"""Plain words beside the numbers of the Train page. They claim what was computed and nothing more."""

from __future__ import annotations

from html import escape
from pathlib import Path

from dpml_app.pages.train.facts import TrainFacts
from dpml_app.pages.train.settings import TrainValues
from dpml_app.text.captions import read_captions
from dpml_app.text.phrases import about_data, percent

CAPTIONS = read_captions(Path(__file__).with_name("captions.yaml"))


def headline(values: TrainValues, facts: TrainFacts) -> str:
    """Return, as HTML, between what privacy costs."""
    known, shown = facts.accuracy, values.families
    plain = []
    if "naive-bayes" in shown:
        plain.append(f"naive Bayes without privacy for {percent(max(known.get('table', 0.0), known['binary']))}")
    if "linear" in shown:
        plain.append(f"logistic regression without privacy for {percent(known['logistic'])}")
    return (
        f"<p>A guess is right for {percent(known['majority'])}, {', '.join(plain)}: privacy costs what lies "
        "between.</p>"
    )


def dataset_note(facts: TrainFacts) -> str:
    """Return one line about the data set.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> facts = SimpleNamespace(n_train=900, n_test=900, classes=("x", "y"), numeric=2, categorical=1)
    >>> facts.columns, facts.binary_columns = ["a", "b", "c"], ["a", "b", "c1", "c2"]
    >>> "2 numbers and 1 other feature (4 binary columns); to tell: x or y." in dataset_note(facts)
    True
    """
    classes = " or ".join(escape(str(c)) for c in facts.classes)
    columns = f"{len(facts.binary_columns):,} binary columns"
    if facts.columns:
        others = "other feature" if facts.categorical == 1 else "other features"
        columns = f"{facts.numeric} numbers and {facts.categorical} {others} ({columns})"
    return about_data(f"{facts.n_train:,} training and {facts.n_test:,} test records, {columns}; to tell: {classes}.")
