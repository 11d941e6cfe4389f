"""The plot and the figures that lessons use of this page."""

from collections.abc import Sequence
from typing import Any

from dpml_app.core.lesson_figures import Figures
from dpml_app.data import measures
from dpml_app.drawing.styles import BLUE, Style
from dpml_app.drawing.sweep import Sweep, band, level
from dpml_app.pages.explore import cost, shipped
from dpml_app.pages.explore.main_card import by_hand, private
from dpml_app.pages.explore.main_figure import HAND
from dpml_app.pages.explore.settings import ExploreSettings, ExploreValues
from dpml_app.settings import EPSILONS, SWEEP_EPSILONS
from dpml_app.work.pool import Task


def lesson_plot(settings: ExploreSettings, card: str, named: Sequence[str]) -> Sweep:
    """Return the main plot: default classifier, non-private baseline, and the custom model if a step names one."""
    values, facts = ExploreValues.of(settings), measures.facts(settings.dataset)
    known = shipped.results(values.dataset, values.relation, values.seed)

    def result(task: Task) -> Any:
        return known[task] if task in known else task.function(*task.arguments)

    best = result(Task(cost.best, (values.dataset, values.relation)))["accuracy"]
    hand = "hand_model" in named
    at = tuple(sorted({*SWEEP_EPSILONS, values.epsilon})) if hand else EPSILONS
    private_look = Style("private", BLUE, "circle")
    lines = [
        band(private_look, [100 * result(private(values, epsilon))["accuracy"] for epsilon in at]),
        level("non-private baseline", 100 * float(best), len(at)),
        level("majority class", 100 * facts.majority, len(at)),
    ]
    if hand:
        lines.append(band(HAND, [100 * result(by_hand(values, epsilon)) for epsilon in at]))
    title = f"{facts.title}: test accuracy (%)"
    return Sweep(title, "ε", at, values.epsilon, lines, percent=True)


figure = Figures()


@figure
def found_of_second_class(s: Any) -> float:
    """Return the default classifier's recall of the positive class in percent, mean over runs."""
    task = Task(cost.private, (s.dataset, s.relation, s.epsilon, s.seed))
    result = shipped.results(s.dataset, s.relation, s.seed).get(task) or task.function(*task.arguments)
    return 100 * float(result["recall"].mean(axis=0)[1])
