"""What lessons show and name of this page: the plot of an exported step, and figures."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dpml.evaluation import attack_bound, best_attack_success
from dpml_app.drawing.styles import EXACT, REFERENCE, Style, style_of
from dpml_app.drawing.sweep import Line, Sweep, level
from dpml_app.pages.evaluate.compute import EvaluateSettings, EvaluateValues, errors, exact_attack, labels, victims
from dpml_app.settings import EPSILONS


def lesson_plot(settings: EvaluateSettings, card: str, named: Sequence[str]) -> Sweep:
    """Return how far a private curve is from the true one, or how well labels are guessed from it."""
    s = settings
    if card != "errors":
        exact = level("From the non-private curve", 100.0, len(EPSILONS), EXACT)
        bound = Style("Bound at ε", REFERENCE, "dot", "dashed")
        best = Style("Best attack on the release", style_of("histogram", "curve").color, "circle")
        lines = [
            exact,
            Line(bound, [100 * attack_bound(e) for e in EPSILONS]),
            Line(best, [100 * best_attack_success(e, s.relation) for e in EPSILONS]),
        ]
        return Sweep("Labels guessed correctly (%)", "ε", EPSILONS, s.epsilon, lines, percent=True)
    values = tuple(sorted({*EPSILONS[::3], s.epsilon}))
    lines = []
    for method in ("histogram", "recursive-medians", "fixed-space"):
        draws = []
        for epsilon in values:
            key = EvaluateValues.of(s).curve_key(method, epsilon)
            draws.append(errors(*key))
        low, middle, high = np.quantile(draws, [0.05, 0.5, 0.95], axis=1)
        lines.append(Line(style_of(method, "curve"), middle.tolist(), low.tolist(), high.tolist()))
    return Sweep("Area to the non-private curve", "ε", values, s.epsilon, lines, percent=False)


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
