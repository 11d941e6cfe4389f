"""What the plot of an exported lesson's step on this page holds."""

from __future__ import annotations

from collections.abc import Sequence

from dpml_app.drawing.sweep import Sweep, band, level
from dpml_app.pages.train.card import trained
from dpml_app.pages.train.compute import nb_facts
from dpml_app.pages.train.methods import styles
from dpml_app.pages.train.settings import TrainSettings, TrainValues
from dpml_app.pages.train.tasks import measured
from dpml_app.settings import SWEEP_EPSILONS


def lesson_plot(settings: TrainSettings, card: str, named: Sequence[str]) -> Sweep:
    """Return the accuracy of the classifiers that are shown."""
    values, known = TrainValues.of(settings), nb_facts(settings.dataset)
    shown = trained(values, known)
    tasks = {m: [measured(m, values, epsilon) for epsilon in SWEEP_EPSILONS] for m in shown}
    lines = [
        band(look, [100 * task.function(*task.arguments)["accuracy"] for task in tasks[method]])
        for method, look in styles(shown, known).items()
    ]
    lines.append(level("A guess", 100 * known.majority, len(SWEEP_EPSILONS)))
    title = f"{known.title}: percent of test records that are classified rightly"
    return Sweep(title, "ε", SWEEP_EPSILONS, settings.epsilon, lines, percent=True)
