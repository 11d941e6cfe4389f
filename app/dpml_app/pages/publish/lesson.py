"""What lessons show and name of this page: the plot of an exported step, and figures."""

from collections.abc import Callable, Sequence
from typing import Any

from dpml_app.drawing.styles import EXACT
from dpml_app.drawing.sweep import Sweep, band, level
from dpml_app.jobs import Task
from dpml_app.pages.publish import compute
from dpml_app.pages.publish.compute import PublishSettings, PublishValues, facts
from dpml_app.pages.publish.figures import STYLES
from dpml_app.settings import EPSILONS


def lesson_plot(settings: PublishSettings, card: str, named: Sequence[str]) -> Sweep:
    """Return the accuracy of a classifier that is trained on published tables."""
    values, known = PublishValues.of(settings), compute.shipped_results(settings.dataset)

    def result(task: Task) -> Any:
        return known[task] if task in known else task.function(*task.arguments)

    at = tuple(sorted({*EPSILONS[::3], settings.epsilon}))
    every = [compute.tasks_at(values, epsilon) for epsilon in at]
    lines = [band(look, [100 * result(of[series]) for of in every]) for series, look in STYLES.items()]
    lines.append(level("Non-private table", 100 * result(compute.true_task(values)), len(at), EXACT))
    lines.append(level("Majority-class baseline", 100 * facts(settings.dataset).majority, len(at)))
    title = "Test records classified correctly (%)"
    return Sweep(title, "ε", at, settings.epsilon, lines, percent=True)


def released(s: Any) -> dict[str, Any]:
    """Return what the first published table is."""
    key: tuple[Any, ...] = (*PublishValues.of(s).release_key(s.epsilon), s.seed)
    return compute.release_facts(*key)


def true_accuracy(s: Any) -> float:
    """Return the accuracy in percent of a classifier trained on the non-private table."""
    return 100 * compute.on_true_table(s.dataset, s.publish_classifier)


def table_accuracy(s: Any) -> float:
    """Return the mean accuracy in percent of a classifier trained on synthetic tables."""
    return 100 * float(compute.published(*PublishValues.of(s).table_key(s.epsilon)).mean())


def columns_kept(s: Any) -> int:
    """Return the number of columns that the chosen grid distinguishes."""
    return sum(bool(level) for level in released(s)["levels"])


FIGURES: dict[str, Callable[..., Any]] = {
    "columns_kept": columns_kept,
    "on_true_table": true_accuracy,
    "on_published_table": table_accuracy,
    "table_cost": lambda s: true_accuracy(s) - table_accuracy(s),
    # how many percent a linear model is right for which is trained with the same ε
    "linear": lambda s: 100 * float(compute.linear(s.dataset, s.relation, s.epsilon, s.publish_draws, s.seed).mean()),
    # how many columns the table has
    "columns": lambda s: len(facts(s.dataset).columns),
    # how many columns the chosen grid does not distinguish
    "columns_lost": lambda s: len(facts(s.dataset).columns) - columns_kept(s),
    # with how many percent the best grid is chosen
    "chance_of_the_best": lambda s: 100 * float(released(s)["chances"][0]),
    # which place the chosen grid has
    "place_of_the_chosen": lambda s: int(released(s)["place"]) + 1,
}
