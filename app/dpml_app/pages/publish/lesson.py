"""The figures of the page Synthetic data in lessons."""

from collections.abc import Callable
from typing import Any

from dpml_app.pages.publish import compute
from dpml_app.pages.publish.compute import PublishValues, facts


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
