"""Figures of models that lessons name."""

from __future__ import annotations

from typing import Any

from dpml_app.core.lesson_figures import Figures
from dpml_app.data import measures
from dpml_app.pages.train.compute import nb_facts, nb_silenced
from dpml_app.pages.train.linear_compute import lambda_without_noise
from dpml_app.pages.train.settings import TrainValues
from dpml_app.pages.train.tasks import measured

figure = Figures()


def _silenced(s: Any) -> dict[str, Any]:
    return nb_silenced(s.dataset, s.relation, s.epsilon, s.threshold_percentile, s.draws, s.seed)


@figure
def thresholded(s: Any) -> float:
    """Return how many percent Algorithm 1 of the thesis is right for, mean over draws."""
    return 100 * float(_silenced(s)["accuracy"].mean())


@figure
def raised_for_all(s: Any) -> float:
    """Return of how many features Algorithm 1 raises the counts of all classes to the threshold, mean over draws."""
    return measures.facts(s.dataset).n_features * float(_silenced(s)["on"].mean())


@figure
def trained(s: Any, method: str) -> float:
    """Return how many percent a method of "Which model?" is right for, mean over draws."""
    task = measured(method, TrainValues.of(s), s.epsilon)
    return 100 * float(task.function(*task.arguments)["accuracy"].mean())


@figure
def without_noise(s: Any) -> float:
    """Return how many percent logistic regression is right for without noise, at the step's λ."""
    return 100 * float(lambda_without_noise(s.dataset, s.train_lambda)["accuracy"].mean())


@figure
def naive_bayes_without_privacy(s: Any) -> float:
    """Return how many percent naive Bayes without privacy is right for."""
    known = nb_facts(s.dataset).accuracy
    return 100 * max(known.get("table", 0.0), known["binary"])
