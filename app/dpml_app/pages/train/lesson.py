"""The figures of the page Classifiers in lessons."""

from collections.abc import Callable
from typing import Any

from dpml_app.data import measures
from dpml_app.data.default_study import result_of
from dpml_app.pages.train.compute import (
    TrainValues,
    lambda_without_noise,
    measured,
    nb_facts,
    nb_silenced,
)


def _silenced(s: Any) -> dict[str, Any]:
    return nb_silenced(s.dataset, s.relation, s.epsilon, s.threshold_percentile, s.draws, s.seed)


def trained(s: Any, method: str) -> float:
    """Return how many percent a method of "Which model?" is right for, mean over draws."""
    task = measured(method, TrainValues.of(s), s.epsilon)
    return 100 * float(result_of(task)["accuracy"].mean())


def without_noise(s: Any) -> float:
    """Return how many percent logistic regression is right for without noise, at the step's λ."""
    return 100 * float(lambda_without_noise(s.dataset, s.train_lambda)["accuracy"].mean())


def naive_bayes_without_privacy(s: Any) -> float:
    """Return how many percent naive Bayes without privacy is right for."""
    known = nb_facts(s.dataset).accuracy
    return 100 * max(known.get("table", 0.0), known["binary"])


FIGURES: dict[str, Callable[..., Any]] = {
    **{each.__name__: each for each in (trained, without_noise, naive_bayes_without_privacy)},
    # by how many percentage points noise lowers the accuracy of logistic regression
    "noise_cost": lambda s, method: without_noise(s) - trained(s, method),
    # how many percent Algorithm 1 of Antonova (2016) is right for, mean over draws
    "thresholded": lambda s: 100 * float(_silenced(s)["accuracy"].mean()),
    # of how many features Algorithm 1 raises the counts of all classes to the threshold, mean over draws
    "raised_for_all": lambda s: measures.facts(s.dataset).n_features * float(_silenced(s)["on"].mean()),
}
