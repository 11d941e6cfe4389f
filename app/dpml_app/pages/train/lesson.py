"""What lessons show and name of this page: the plot of an exported step, and figures."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from dpml_app.data import measures
from dpml_app.data.default_study import result_of
from dpml_app.drawing.styles import REFERENCE, Style, style_of
from dpml_app.drawing.sweep import Line, Sweep, band, level
from dpml_app.pages.train.compute import (
    EVERY,
    PERCENTILES,
    TRAIN_LAMBDAS,
    TrainSettings,
    TrainValues,
    chosen,
    lambda_without_noise,
    measured,
    nb_facts,
    nb_silenced,
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
    values, known = TrainValues.of(settings), nb_facts(settings.dataset)
    shown = chosen(values, known)
    tasks = {m: [measured(m, values, epsilon) for epsilon in SWEEP_EPSILONS] for m in shown}
    lines = [
        band(look, [100 * result_of(task)["accuracy"] for task in tasks[method]])
        for method, look in styles(shown, known).items()
    ]
    lines.append(level("Majority-class baseline", 100 * known.majority, len(SWEEP_EPSILONS)))
    return Sweep(TITLE.format(known.title), "ε", SWEEP_EPSILONS, settings.epsilon, lines, percent=True)


def _against_lambda(settings: TrainSettings) -> Sweep:
    """Return the accuracy of the linear methods that are shown against λ, and the same without noise."""
    values, known = TrainValues.of(settings), nb_facts(settings.dataset)
    lines = []
    for method, look in styles(chosen(values, known), known).items():
        if "train_lambda" in EVERY[method].options:
            tasks = [measured(method, replace(values, train_lambda=x), values.epsilon) for x in TRAIN_LAMBDAS]
            lines.append(band(look, [100 * task.function(*task.arguments)["accuracy"] for task in tasks]))
    without = [100 * float(lambda_without_noise(values.dataset, x)["accuracy"].mean()) for x in TRAIN_LAMBDAS]
    lines.append(Line(Style("Without noise", REFERENCE, "dot", "dotted"), without))
    lines.append(level("Majority-class baseline", 100 * known.majority, len(TRAIN_LAMBDAS)))
    return Sweep(TITLE.format(known.title), "λ", TRAIN_LAMBDAS, values.train_lambda, lines, percent=True)


def _against_threshold(settings: TrainSettings) -> Sweep:
    """Return the accuracy of Algorithm 1 of Antonova (2016) against the threshold percentile."""
    values, known = TrainValues.of(settings), nb_facts(settings.dataset)
    rest = values.draws, values.seed
    draws = [
        100 * nb_silenced(values.dataset, values.relation, values.epsilon, x, *rest)["accuracy"] for x in PERCENTILES
    ]
    lines = [
        band(style_of("algorithm-1"), draws),
        level("Majority-class baseline", 100 * known.majority, len(PERCENTILES)),
    ]
    chosen, name = values.threshold_percentile, "Threshold percentile"
    return Sweep(TITLE.format(known.title), name, PERCENTILES, chosen, lines, percent=True, log=False)


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
