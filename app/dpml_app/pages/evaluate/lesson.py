"""The figures of the page ROC curve in lessons."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from dpml.evaluation import best_attack_success
from dpml_app.pages.evaluate.compute import EvaluateValues, errors, exact_attack, labels, victims


def labels_attacked(s: Any) -> float:
    """Return how many labels the attack is tried on."""
    return len(victims(*EvaluateValues.of(s).records_key()))


def labels_found(s: Any) -> float:
    """Return how many labels the exact curve gives away."""
    key = EvaluateValues.of(s).records_key()
    guesses, truth = exact_attack(*key), labels(s.dataset, s.evaluate_tested)[victims(*key)]
    return int((guesses == truth).sum())


def off(s: Any, method: str) -> float:
    """Return the median area between a private curve and the true one."""
    return _off(EvaluateValues.of(s), method)


def _off(values: EvaluateValues, method: str) -> float:
    return float(np.median(errors(*values.curve_key(method, values.epsilon))))


def off_growth(s: Any, method: str, from_dataset: str) -> float:
    """Return the ratio of that median area to the one on another data set."""
    return off(s, method) / _off(replace(EvaluateValues.of(s), dataset=from_dataset), method)


FIGURES: dict[str, Callable[..., Any]] = {
    **{each.__name__: each for each in (labels_attacked, labels_found, off, off_growth)},
    # ratio of the median areas of two methods
    "off_ratio": lambda s, method, other: off(s, method) / off(s, other),
    # how many percent of the curve's height one record of the second class is
    "one_step_of_the_curve": lambda s: 100 / int((labels(s.dataset, s.evaluate_tested) == 1).sum()),
    # how many percent of labels the best attack finds
    "best_attack": lambda s: 100 * best_attack_success(s.epsilon, s.relation),
}
