"""The plot and the figures of the page Privacy cost in lessons."""

from collections.abc import Callable, Sequence
from typing import Any

from dpml_app.data import measures
from dpml_app.drawing.styles import BLUE, Style
from dpml_app.drawing.sweep import Sweep, band, level
from dpml_app.pages.explore import compute
from dpml_app.pages.explore.compute import ExploreSettings, ExploreValues
from dpml_app.pages.explore.figures import CUSTOM
from dpml_app.settings import EPSILONS, SWEEP_EPSILONS
from dpml_app.work.pool import Task


def lesson_plot(settings: ExploreSettings, card: str, named: Sequence[str]) -> Sweep:
    """Return the main plot: default classifier, non-private baseline, and the custom model if a step names one."""
    values, facts = ExploreValues.of(settings), measures.facts(settings.dataset)
    best = _result(compute.non_private, values.dataset, values.relation)["accuracy"]
    custom = "hand_model" in named
    at = tuple(sorted({*SWEEP_EPSILONS, values.epsilon})) if custom else EPSILONS
    runs = [_result(compute.default_runs, values.dataset, values.relation, e, values.seed) for e in at]
    lines = [
        band(Style("private", BLUE, "circle"), [100 * one["accuracy"] for one in runs]),
        level("non-private baseline", 100 * float(best), len(at)),
        level("majority class", 100 * facts.majority, len(at)),
    ]
    if custom:
        lines.append(band(CUSTOM, [100 * _result(compute.custom_accuracy, *values.custom_key(e)) for e in at]))
    title = f"{facts.title}: test accuracy (%)"
    return Sweep(title, "ε", at, values.epsilon, lines, percent=True)


def _result(function: Callable[..., Any], name: str, relation: str, *rest: Any) -> Any:
    """Return the result of a computation, from the results that ship if it is there."""
    task = Task(function, (name, relation, *rest))
    shipped = compute.shipped_results(name, relation, rest[-1] if rest else 0)
    return shipped[task] if task in shipped else function(*task.arguments)


def found_of_second_class(s: Any) -> float:
    """Return the default classifier's recall of the positive class in percent, mean over runs."""
    runs = _result(compute.default_runs, s.dataset, s.relation, s.epsilon, s.seed)
    return 100 * float(runs["recall"].mean(axis=0)[1])


FIGURES: dict[str, Callable[..., Any]] = {"found_of_second_class": found_of_second_class}
