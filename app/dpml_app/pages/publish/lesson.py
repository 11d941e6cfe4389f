"""The figures of the page Synthetic data in lessons."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml_app.pages.publish import compute
from dpml_app.pages.publish.compute import PublishValues, facts


def released(s: Any) -> dict[str, Any]:
    """Return what the first published table is."""
    key: tuple[Any, ...] = (*PublishValues.of(s).release_key(s.epsilon), s.seed)
    return compute.release_facts(*key)


def answers(s: Any, source: str) -> NDArray[np.float64]:
    """Return what the private or the public table answers, or the draws of a method that weights the public one."""
    if source in ("private", "public"):
        by_pattern = compute.pattern_shares(s.dataset)[source]
    else:
        reg_lambda = s.publish_lambda if source == "output" else None
        by_pattern = compute.weighted_patterns(source, s.dataset, s.epsilon, reg_lambda, compute.WEIGHT_DRAWS, s.seed)
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
