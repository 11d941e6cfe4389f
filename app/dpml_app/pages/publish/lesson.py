"""What lessons show and name of this page: the plot of an exported step, and figures."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml_app.drawing.styles import EXACT, REFERENCE
from dpml_app.drawing.sweep import Sweep, band, level
from dpml_app.jobs import Task
from dpml_app.pages.publish import compute
from dpml_app.pages.publish.compute import WEIGHT_METHODS, WEIGHT_STYLES, PublishSettings, PublishValues, facts
from dpml_app.pages.publish.figures import STYLES
from dpml_app.settings import EPSILONS, SWEEP_EPSILONS


def lesson_plot(settings: PublishSettings, card: str, named: Sequence[str]) -> Sweep:
    """Return the accuracy of a classifier that is trained on published tables, or what a weighted table answers."""
    if card == "weights-query":
        return _answers(settings)
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


def _answers(settings: PublishSettings) -> Sweep:
    """Return the answers of a weighted public table against ε, and those of both tables themselves."""
    at = tuple(sorted({*SWEEP_EPSILONS, settings.epsilon}))
    lines = []
    for method in WEIGHT_METHODS:
        draws = [100 * answers(settings, method, epsilon) for epsilon in at]
        lines.append(band(WEIGHT_STYLES[method], draws))
    for label, table, color in (("Private table", "private", EXACT), ("Public table", "public", REFERENCE)):
        lines.append(level(label, 100 * float(answers(settings, table)), len(at), color))
    title = "Private records that match (%)"
    return Sweep(title, "ε", at, settings.epsilon, lines, percent=True)


def released(s: Any) -> dict[str, Any]:
    """Return what the first published table is."""
    key: tuple[Any, ...] = (*PublishValues.of(s).release_key(s.epsilon), s.seed)
    return compute.release_facts(*key)


def answers(s: Any, source: str, epsilon: float | None = None) -> NDArray[np.float64]:
    """Return what the private or the public table answers, or the draws of a method that weights the public one."""
    if source in ("private", "public"):
        by_pattern = compute.pattern_shares(s.dataset)[source]
    else:
        reg_lambda = s.publish_lambda if source == "output" else None
        at = s.epsilon if epsilon is None else epsilon
        by_pattern = compute.weighted_patterns(source, s.dataset, at, reg_lambda, compute.WEIGHT_DRAWS, s.seed)
    return np.asarray(compute.share_meeting(by_pattern, compute.mask_of(s.publish_query)))


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
    # how many percent of records meet what is asked, by a table or by the mean of a method's draws
    "answered": lambda s, source: 100 * float(answers(s, source).mean()),
    # how many points the answers of a method are off, mean over draws
    "answer_off": lambda s, method: 100 * float(np.abs(answers(s, method) - answers(s, "private")).mean()),
}
