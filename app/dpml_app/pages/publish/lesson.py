"""What the plot of an exported lesson's step on this page holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpml_app.drawing.styles import EXACT
from dpml_app.drawing.sweep import Sweep, band, level
from dpml_app.pages.publish import compute, shipped
from dpml_app.pages.publish.figures import STYLES
from dpml_app.pages.publish.settings import PublishSettings, PublishValues
from dpml_app.settings import EPSILONS
from dpml_app.work.pool import Task


def lesson_plot(settings: PublishSettings, card: str, named: Sequence[str]) -> Sweep:
    """Return the accuracy of a classifier that is trained on published tables."""
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
