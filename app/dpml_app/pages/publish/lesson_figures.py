"""Figures of published tables."""

from __future__ import annotations

from typing import Any

from dpml_app.core.lesson_figures import Figures
from dpml_app.pages.publish import compute
from dpml_app.pages.publish.one_release import release_facts
from dpml_app.pages.publish.settings import PublishValues

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
