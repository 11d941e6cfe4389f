"""The plot and the figures of the page Privacy cost in lessons."""

from collections.abc import Callable, Sequence
from typing import Any

from dpml_app.data import measures
from dpml_app.data.default_study import default_runs, non_private, result_of
from dpml_app.drawing.styles import BLUE, Style
from dpml_app.drawing.sweep import Sweep, band, level
from dpml_app.jobs import Task
from dpml_app.pages.explore.compute import ExploreSettings, ExploreValues, custom_accuracy
from dpml_app.pages.explore.figures import CUSTOM
from dpml_app.settings import EPSILONS, SWEEP_EPSILONS


def lesson_plot(settings: ExploreSettings, card: str, named: Sequence[str]) -> Sweep:
    """Return the main plot: default classifier, non-private baseline, and the custom model if a step names one."""
    values, facts = ExploreValues.of(settings), measures.facts(settings.dataset)
    best = result_of(Task(non_private, (values.dataset, values.relation)))["accuracy"]
    custom = "hand_model" in named
    at = tuple(sorted({*SWEEP_EPSILONS, values.epsilon})) if custom else EPSILONS
    runs = [result_of(Task(default_runs, (values.dataset, values.relation, e, values.seed))) for e in at]
    lines = [
        band(Style("private", BLUE, "circle"), [100 * one["accuracy"] for one in runs]),
        level("non-private baseline", 100 * float(best), len(at)),
        level("majority class", 100 * facts.majority, len(at)),
    ]
    if custom:
        lines.append(band(CUSTOM, [100 * custom_accuracy(*values.custom_key(e)) for e in at]))
    title = f"{facts.title}: test accuracy (%)"
    return Sweep(title, "ε", at, values.epsilon, lines, percent=True)


def found_of_second_class(s: Any) -> float:
    """Return the default classifier's recall of the positive class in percent, mean over runs."""
    runs = result_of(Task(default_runs, (s.dataset, s.relation, s.epsilon, s.seed)))
    return 100 * float(runs["recall"].mean(axis=0)[1])


FIGURES: dict[str, Callable[..., Any]] = {"found_of_second_class": found_of_second_class}
