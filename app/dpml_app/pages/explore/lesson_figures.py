"""Figures of the default classifier that lessons name."""

from __future__ import annotations

from typing import Any

from dpml_app.core.lesson_figures import Figures
from dpml_app.pages.explore import cost, shipped
from dpml_app.work.pool import Task

figure = Figures()


@figure
def found_of_second_class(s: Any) -> float:
    """Return how many percent of the second class the default classifier finds, mean over runs."""
    task = Task(cost.private, (s.dataset, s.relation, s.epsilon, s.seed))
    result = shipped.results(s.dataset, s.relation, s.seed).get(task) or task.function(*task.arguments)
    return 100 * float(result["recall"].mean(axis=0)[1])
