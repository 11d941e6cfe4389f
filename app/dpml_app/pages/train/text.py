"""Captions and sentences of the Classifiers page."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from dpml_app.pages.train.compute import EVERY, Row, TrainFacts, TrainValues, chosen
from dpml_app.text.phrases import about_data, percent

CAPTIONS = {
    "methods": (
        "Each method on the test records: dots are means over runs, bars cover 90% of runs, and grey ticks "
        "are the same method without noise (AutoClassifier: the best of several settings). Methods whose claim "
        "is violated are below, with their actual ε (∞: not private)."
    ),
    "accuracy": (
        "Means over runs, with bands that cover 90% of runs. Short dashes: the claim is violated, and the "
        "axis shows the stated ε. Dash-dotted: the method needs a δ. Click a name in the legend to hide its "
        "line."
    ),
    "best": (
        "Precomputed with 30 runs at each ε, for methods whose claim holds. Colour: percentage points behind "
        "the best. Black dots: within two standard errors of it. Red line: your ε. Choosing from private data would "
        "spend ε."
    ),
    "lambda": (
        "Dotted: without noise, so its fall to the right is bias. The gap below it is the cost of noise. "
        "Diamonds: λ of the public rule. The best λ of this plot is chosen on the test records, so it is "
        "<b>not private</b>."
    ),
    "threshold": (
        "Algorithm 1 of Antonova (2016) raises noisy counts below a percentile of the noise to that "
        "percentile. A feature with only raised counts no longer separates the classes. The threshold spends "
        "no ε, because it uses noisy counts only."
    ),
}


def headline(values: TrainValues, facts: TrainFacts, rows: Sequence[Row]) -> str:
    """Return the most accurate method, with its accuracy without privacy, as HTML."""
    majority = facts.majority if values.train_measure == "accuracy" else 0.5
    guess = f"Majority-class baseline: {percent(majority)}"
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


def fewer_draws(methods: tuple[str, ...], draws: int) -> str:
    """Return a sentence that lists the methods with fewer runs than chosen. It is empty if there are none.

    >>> fewer_draws(("output", "l1", "descent"), 50)
    ' Fewer runs, because each trains a model: 20 of Objective L1, 10 of Descent.'
    """
    fewer = [f"{EVERY[m].draws(draws)} of {EVERY[m].look.label}" for m in methods if EVERY[m].draws(draws) < draws]
    return f" Fewer runs, because each trains a model: {', '.join(fewer)}." if fewer else ""


def best_in_words(cells: Mapping[str, list[Any]], epsilon: float) -> str:
    """Return the best method at an ε, with its standard error, and how many candidates are as good."""
    each = (dict(zip(cells, values, strict=True)) for values in zip(*cells.values(), strict=True))
    row = next(row for row in each if row["epsilon"] == epsilon and row["best"])
    setting = f" with {row['setting']}" if row["setting"] else ""
    mean = f"<b>{percent(row['mean'])}</b> (± {100 * row['se']:.1f})"
    as_good = f"Equally good: {row['good'] - 1} of {row['candidates'] - 1} other candidates"
    return f"At ε = {epsilon:g}: <b>{row['method']}</b>{setting}, {mean}. {as_good}."
