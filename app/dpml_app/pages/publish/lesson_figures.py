"""Figures of published tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml_app.core.lesson_figures import Figures
from dpml_app.pages.publish import compute, weights
from dpml_app.pages.publish.one_release import release_facts
from dpml_app.pages.publish.settings import WEIGHT_DRAWS, PublishValues

figure = Figures()


def released(s: Any) -> dict[str, Any]:
    """Return what the first published table is."""
    key: tuple[Any, ...] = (*PublishValues.of(s).release_key(s.epsilon), s.seed)
    facts: dict[str, Any] = release_facts(*key)
    return facts


@figure
def on_true_table(s: Any) -> float:
    """Return how many percent a classifier is right for that learns the true table."""
    return 100 * compute.on_true_table(s.dataset, s.publish_classifier)


@figure
def on_published_table(s: Any) -> float:
    """Return how many percent a classifier is right for that learns a published table, mean over tables."""
    return 100 * float(compute.published(*PublishValues.of(s).table_key(s.epsilon)).mean())


@figure
def linear(s: Any) -> float:
    """Return how many percent a linear model is right for which is trained with the same ε."""
    return 100 * float(compute.linear(s.dataset, s.relation, s.epsilon, s.publish_draws, s.seed).mean())


@figure
def columns(s: Any) -> float:
    """Return how many columns the table has."""
    return len(compute.facts(s.dataset).columns)


@figure
def columns_kept(s: Any) -> float:
    """Return how many columns the chosen grid distinguishes."""
    return sum(bool(level) for level in released(s)["levels"])


@figure
def chance_of_the_best(s: Any) -> float:
    """Return with how many percent the best grid is chosen."""
    return 100 * float(released(s)["chances"][0])


@figure
def place_of_the_chosen(s: Any) -> float:
    """Return which place the chosen grid has."""
    return int(released(s)["place"]) + 1


def answers(s: Any, source: str, epsilon: float | None = None) -> NDArray[np.float64]:
    """Return what the private or the public table answers, or the draws of a method that weights the public one."""
    if source in ("private", "public"):
        by_pattern = weights.both(s.dataset)[source]
    else:
        reg_lambda = s.publish_lambda if source == "output" else None
        at = s.epsilon if epsilon is None else epsilon
        by_pattern = weights.released(source, s.dataset, at, reg_lambda, WEIGHT_DRAWS, s.seed)["patterns"]
    return np.asarray(weights.answer(by_pattern, weights.mask_of(s.publish_query)))


@figure
def answered(s: Any, source: str) -> float:
    """Return how many percent of records meet what is asked, by a table or by the mean of a method's draws."""
    return 100 * float(answers(s, source).mean())


@figure
def answer_off(s: Any, method: str) -> float:
    """Return how many points the answers of a method are off, mean over draws."""
    return 100 * float(np.abs(answers(s, method) - answers(s, "private")).mean())
