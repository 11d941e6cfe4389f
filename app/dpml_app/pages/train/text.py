"""Captions and sentences of the Classifiers page."""

from collections.abc import Sequence
from html import escape

from dpml_app.pages.train.compute import METHODS, Row, TrainFacts, TrainValues, chosen
from dpml_app.text.phrases import about_data, percent

CAPTIONS = {
    "methods": (
        "Each method on the test records: dots are means over runs, bars cover 90% of runs, and grey ticks "
        "are the same method without noise (AutoClassifier: the best of several settings). Methods whose claim "
        "is violated are below, with their actual ε (∞: not private)."
    ),
    "accuracy": (
        "Means over runs, with bands that cover 90% of runs. Short dashes: the claim is violated, and the "
        "axis shows the stated ε. Click a name in the legend to hide its "
        "line."
    ),
    "lambda": (
        "Dotted: without noise, so its fall to the right is bias. The gap below it is the cost of noise. "
        "The best λ of this plot is chosen on the test records, so it is <b>not private</b>."
    ),
    "threshold": (
        "Algorithm 1 of Antonova (2016) raises noisy counts below a percentile of the noise to that "
        "percentile. A feature with only raised counts no longer separates the classes. The threshold spends "
        "no ε, because it uses noisy counts only."
    ),
}


def headline(values: TrainValues, facts: TrainFacts, rows: Sequence[Row]) -> str:
    """Return the most accurate method, with its accuracy without privacy, as HTML."""
    guess = f"Majority-class baseline: {percent(facts.majority)}"
    sound = [row for row in rows if not row.true_epsilon]
    if not sound:
        return f"<p>{guess}.</p>"
    best = max(sound, key=lambda row: row.mean)
    far = "" if len(rows) >= len(chosen(values, facts)) else " so far"
    text = f"Best{far} at ε = {values.epsilon:g}: <b>{escape(best.style.label)}, {percent(best.mean)}</b>"
    if best.without is not None:
        text += f" (non-private {percent(best.without)})"
    return f"<p>{text}. {guess}.</p>"


def dataset_note(facts: TrainFacts) -> str:
    """Return one line about the data set.

    >>> from types import SimpleNamespace
    >>> facts = SimpleNamespace(n_train=900, n_test=900, classes=("x", "y"), numeric=2, categorical=1)
    >>> facts.table, facts.binary = True, 4
    >>> "2 numeric and 1 other feature (4 binary columns). Classes: x or y." in dataset_note(facts)
    True
    """
    classes = " or ".join(escape(str(c)) for c in facts.classes)
    columns = f"{facts.binary:,} binary columns"
    if facts.table:
        others = "other feature" if facts.categorical == 1 else "other features"
        columns = f"{facts.numeric} numeric and {facts.categorical} {others} ({columns})"
    return about_data(f"{facts.n_train:,} training and {facts.n_test:,} test records, {columns}. Classes: {classes}.")


def fewer_draws(methods: tuple[str, ...], draws: int) -> str:
    """Return a sentence that lists the methods with fewer runs than chosen. It is empty if there are none.

    >>> fewer_draws(("output", "objective"), 50)
    ' Fewer runs, because each trains a model: 20 of Objective L2.'
    """
    fewer = [
        f"{METHODS[m].draws(draws)} of {METHODS[m].look.label}" for m in methods if METHODS[m].draws(draws) < draws
    ]
    return f" Fewer runs, because each trains a model: {', '.join(fewer)}." if fewer else ""
