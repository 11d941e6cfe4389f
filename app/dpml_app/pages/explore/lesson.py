"""The figures of the page Privacy cost in lessons."""

from collections.abc import Callable
from typing import Any

from dpml_app.data.default_study import default_runs, result_of
from dpml_app.jobs import Task


def found_of_second_class(s: Any) -> float:
    """Return the default classifier's recall of the positive class in percent, mean over runs."""
    runs = result_of(Task(default_runs, (s.dataset, s.relation, s.epsilon, s.seed)))
    return 100 * float(runs["recall"].mean(axis=0)[1])


FIGURES: dict[str, Callable[..., Any]] = {"found_of_second_class": found_of_second_class}
