"""The figures of the page Classifiers in lessons."""

from collections.abc import Callable
from typing import Any

import numpy as np

from dpml.studies.accuracy import non_private_nb
from dpml.studies.mixed import non_private_mixed_nb
from dpml_app.data import measures
from dpml_app.data.default_study import result_of
from dpml_app.jobs import Task
from dpml_app.pages.train.compute import (
    TrainValues,
    measured,
    train_facts,
    without_privacy,
)


def _percent(task: Task) -> Any:
    return 100 * np.asarray(result_of(task)["accuracy"])


def trained(s: Any, method: str) -> float:
    """Return how many percent a method of "Which model?" is right for, mean over draws."""
    return float(_percent(measured(method, TrainValues.of(s), s.epsilon)).mean())


def without_noise(s: Any) -> float:
    """Return how many percent logistic regression is right for without noise, at the step's λ."""
    return float(_percent(without_privacy("output", TrainValues.of(s))).mean())


def naive_bayes_without_privacy(s: Any) -> float:
    """Return how many percent naive Bayes without privacy is right for."""
    data = measures.dataset(s.dataset)
    binary = float(non_private_nb(data).accuracy(data.X_test, data.y_test)[0])
    return 100 * max(binary, float(non_private_mixed_nb(data)["accuracy"]) if train_facts(s.dataset).numeric else 0.0)


FIGURES: dict[str, Callable[..., Any]] = {
    **{each.__name__: each for each in (trained, without_noise, naive_bayes_without_privacy)},
    # by how many percentage points noise lowers the accuracy of logistic regression
    "noise_cost": lambda s, method: without_noise(s) - trained(s, method),
}
