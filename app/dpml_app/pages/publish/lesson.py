"""What the plot of an exported lesson's step on this page holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpml_app.drawing.styles import EXACT, REFERENCE
from dpml_app.drawing.sweep import Sweep, band, level
from dpml_app.pages.publish import compute, lesson_figures, shipped
from dpml_app.pages.publish.figures import STYLES
from dpml_app.pages.publish.settings import PublishSettings, PublishValues
from dpml_app.pages.publish.weights import WEIGHT_METHODS
from dpml_app.pages.publish.weights_figures import WEIGHT_STYLES
from dpml_app.settings import EPSILONS, SWEEP_EPSILONS
from dpml_app.work.pool import Task


def lesson_plot(settings: PublishSettings, card: str, named: Sequence[str]) -> Sweep:
    """Return the accuracy of a classifier that is trained on published tables, or what a weighted table answers."""
    if card == "weights-query":
        return _answers(settings)
    values, known = PublishValues.of(settings), shipped.results(settings.dataset)

    def result(task: Task) -> Any:
        return known[task] if task in known else task.function(*task.arguments)

    at = tuple(sorted({*EPSILONS[::3], settings.epsilon}))
    every = [shipped.tasks(values, epsilon) for epsilon in at]
    lines = [band(look, [100 * result(of[series]) for of in every]) for series, look in STYLES.items()]
    lines.append(level("The true table", 100 * result(shipped.true_task(values)), len(at), EXACT))
    lines.append(level("A guess", 100 * compute.facts(settings.dataset).majority, len(at)))
    title = "Percent of test records that are classified rightly"
    return Sweep(title, "ε", at, settings.epsilon, lines, percent=True)


def _answers(settings: PublishSettings) -> Sweep:
    """Return the answers of a weighted public table against ε, and those of both tables themselves."""
    at = tuple(sorted({*SWEEP_EPSILONS, settings.epsilon}))
    lines = []
    for method in WEIGHT_METHODS:
        draws = [100 * lesson_figures.answers(settings, method, epsilon) for epsilon in at]
        lines.append(band(WEIGHT_STYLES[method], draws))
    for label, table, color in (("Private table", "private", EXACT), ("Public table", "public", REFERENCE)):
        lines.append(level(label, 100 * float(lesson_figures.answers(settings, table)), len(at), color))
    title = "Percent of private records that are asked for"
    return Sweep(title, "ε", at, settings.epsilon, lines, percent=True)
