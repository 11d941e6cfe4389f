"""What lessons show and name of this page: the plot of an exported step, and figures."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dpml.studies.accuracy import non_private_nb
from dpml.studies.mixed import non_private_mixed_nb
from dpml_app.data import measures
from dpml_app.data.default_study import result_of
from dpml_app.drawing.styles import REFERENCE, Style, style_of
from dpml_app.drawing.sweep import Line, Sweep, band, level
from dpml_app.jobs import Task
from dpml_app.pages.train.compute import (
    METHODS,
    PERCENTILES,
    TRAIN_LAMBDAS,
    TrainSettings,
    TrainValues,
    chosen,
    measured,
    train_facts,
    without_privacy,
)
from dpml_app.pages.train.figures import styles
from dpml_app.settings import SWEEP_EPSILONS

TITLE = "{}: test records classified correctly (%)"


def lesson_plot(settings: TrainSettings, card: str, named: Sequence[str]) -> Sweep:
    """Return the accuracy of the classifiers that are shown, or of one against the setting that a card is about."""
    if card == "lambda":
        return _against_lambda(settings)
    if card == "threshold":
        return _against_threshold(settings)
    values, known = TrainValues.of(settings), train_facts(settings.dataset)
    shown = chosen(values, known)
    lines = [
        band(look, [_percent(measured(method, values, epsilon)) for epsilon in SWEEP_EPSILONS])
        for method, look in styles(shown, known).items()
    ]
    lines.append(level("Majority-class baseline", 100 * known.majority, len(SWEEP_EPSILONS)))
    return Sweep(TITLE.format(known.title), "ε", SWEEP_EPSILONS, settings.epsilon, lines, percent=True)


def _against_lambda(settings: TrainSettings) -> Sweep:
    """Return the accuracy of the linear methods that are shown against λ, and the same without noise."""
    values, known = TrainValues.of(settings), train_facts(settings.dataset)
    each = [replace(values, train_lambda=x) for x in TRAIN_LAMBDAS]
    lines = []
    for method, look in styles(chosen(values, known), known).items():
        if "train_lambda" in METHODS[method].options:
            lines.append(band(look, [_percent(measured(method, at, values.epsilon)) for at in each]))
    without = [float(_percent(without_privacy("output", at)).mean()) for at in each]
    lines.append(Line(Style("Without noise", REFERENCE, "dot", "dotted"), without))
    lines.append(level("Majority-class baseline", 100 * known.majority, len(TRAIN_LAMBDAS)))
    return Sweep(TITLE.format(known.title), "λ", TRAIN_LAMBDAS, values.train_lambda, lines, percent=True)


def _against_threshold(settings: TrainSettings) -> Sweep:
    """Return the accuracy of Algorithm 1 of Antonova (2016) against the threshold percentile."""
    values, known = TrainValues.of(settings), train_facts(settings.dataset)
    each = [replace(values, threshold_percentile=x) for x in PERCENTILES]
    lines = [
        band(style_of("algorithm-1"), [_percent(measured("algorithm-1", at, values.epsilon)) for at in each]),
        level("Majority-class baseline", 100 * known.majority, len(PERCENTILES)),
    ]
    chosen, name = values.threshold_percentile, "Threshold percentile"
    return Sweep(TITLE.format(known.title), name, PERCENTILES, chosen, lines, percent=True, log=False)


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
