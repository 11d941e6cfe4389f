"""Figures of ROC curves."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpml.evaluation import attack_bound, best_attack_success
from dpml_app.core.lesson_figures import Figures
from dpml_app.pages.evaluate import attack, compute
from dpml_app.pages.evaluate.settings import EvaluateValues

figure = Figures()


@figure
def area(s: Any) -> float:
    """Return the area under the exact curve."""
    fpr, tpr = compute.exact_curve(*EvaluateValues.of(s).classifier_key())
    return float(np.trapezoid(tpr, fpr))


@figure
def labels_attacked(s: Any) -> float:
    """Return how many labels the attack is tried on."""
    return len(attack.victims(*EvaluateValues.of(s).classifier_key()))


@figure
def labels_found(s: Any) -> float:
    """Return how many labels the exact curve gives away."""
    key = EvaluateValues.of(s).classifier_key()
    guesses, truth = attack.exact_attack(*key), compute.labels(s.dataset)[attack.victims(*key)]
    return int((guesses == truth).sum())


@figure
def one_step_of_the_curve(s: Any) -> float:
    """Return how many percent of the curve's height one record of the second class is."""
    return 100 / int((compute.labels(s.dataset) == 1).sum())


@figure
def best_attack(s: Any) -> float:
    """Return how many percent of labels the best attack finds."""
    return 100 * best_attack_success(s.epsilon, s.relation)


@figure
def bound_on_attacks(s: Any) -> float:
    """Return how many percent of labels ε allows an attack to find."""
    return 100 * attack_bound(s.epsilon)


@figure
def off(s: Any, method: str) -> float:
    """Return the median area between a private curve and the true one."""
    key = EvaluateValues.of(s).curve_key(method, compute.draws_of(method, s.draws), s.epsilon)
    return float(np.median(compute.errors(*key)))
