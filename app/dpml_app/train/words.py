"""Plain words beside the numbers of the Train page. They claim what was computed and nothing more."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from dpml_app.text import RELATION_WORDS, certainty, factor, percent
from dpml_app.train.methods import families

__all__ = ["dataset_note", "headline"]


def headline(values: Mapping[str, Any], facts: Mapping[str, Any]) -> str:
    """Return, as HTML, what is trained, and what the ε that is chosen means."""
    relation, secret = RELATION_WORDS[values["relation"]]
    known, shown = facts["accuracy"], families(values)
    plain = []
    if "naive-bayes" in shown:
        plain.append(f"naive Bayes without privacy for {percent(max(known.get('table', 0.0), known['binary']))}")
    if "linear" in shown:
        plain.append(f"logistic regression without privacy for {percent(known['logistic'])}")
    what = {"naive-bayes": "Naive Bayes", "linear": "Linear models"}.get(values["train_family"], "Classifiers")
    return (
        f"<p>{what} on <b>{escape(facts['title'])}</b>: a guess is right for {percent(known['majority'])} of the "
        f"test records, {', '.join(plain)}. What lies between is what privacy can cost.</p>"
        f"<p>At <b>ε = {values['epsilon']:g}</b> ({relation}), whoever sees the model can raise the odds on "
        f"{secret} by a factor of at most <b>{factor(values['epsilon'])}</b>: a coin toss becomes at most "
        f"{certainty(values['epsilon'])} sure. For methods marked “not private” this does not hold.</p>"
    )


def dataset_note(facts: Mapping[str, Any]) -> str:
    """Return one line about the data set.

    Examples
    --------
    >>> dataset_note({"n_train": 900, "n_test": 900, "classes": ("x", "y"), "numeric": 2, "categorical": 1,
    ...               "columns": ["a", "b", "c"], "binary_columns": ["a", "b", "c1", "c2"]})
    '900 training and 900 test records, 2 numbers and 1 other feature (4 binary columns); to tell: x or y.'
    """
    classes = " or ".join(escape(str(c)) for c in facts["classes"])
    columns = f"{len(facts['binary_columns']):,} binary columns"
    if facts["columns"]:
        others = "other feature" if facts["categorical"] == 1 else "other features"
        columns = f"{facts['numeric']} numbers and {facts['categorical']} {others} ({columns})"
    return f"{facts['n_train']:,} training and {facts['n_test']:,} test records, {columns}; to tell: {classes}."
