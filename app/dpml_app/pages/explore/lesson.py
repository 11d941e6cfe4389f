"""What the plot of an exported lesson's step on this page holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dpml.classifiers.naive_bayes import default_row_bound
from dpml_app.data import measures
from dpml_app.drawing.styles import EXACT, REFERENCE, Style, style_of
from dpml_app.drawing.sweep import Floats, Line, Sweep, band, level
from dpml_app.pages.explore.settings import ExploreSettings, ExploreValues
from dpml_app.settings import EPSILONS, LAMBDAS

PERCENTILES = (50, 55, 60, 65, 70, 75, 80, 85, 90, 95, 99)
PLAIN = 1e9  # an ε at which noise cannot be seen
PLAIN_LOOK = Style("The same without noise", REFERENCE, "dot", "dotted")


def lesson_plot(settings: ExploreSettings, card: str, named: Sequence[str]) -> Sweep:
    """Return accuracy against ε, λ or the threshold."""
    known = measures.facts(settings.dataset)
    guess = 100 * known.majority
    title = f"{known.title}: percent of test records that are classified rightly"
    # the control that the step's link names last
    name = next((n for n in reversed(named) if n in ("reg_lambda", "threshold_percentile")), "epsilon")
    if name == "reg_lambda":
        values: Sequence[float] = LAMBDAS
        noisy = [_accuracies(settings, "logistic", settings.epsilon, reg_lambda=v) for v in values]
        plain = [float(_accuracies(settings, "logistic", PLAIN, reg_lambda=v, draws=1).mean()) for v in values]
        lines = [band(style_of("output"), noisy), Line(PLAIN_LOOK, plain)]
        lines.append(level("A guess", guess, len(values)))
        return Sweep(title, "λ", values, settings.reg_lambda, lines, percent=True)
    if name == "threshold_percentile":
        noisy = [_accuracies(settings, "published", settings.epsilon, threshold_percentile=v) for v in PERCENTILES]
        lines = [band(style_of("algorithm-1"), noisy), level("A guess", guess, len(PERCENTILES))]
        return Sweep(
            title,
            "Threshold percentile",
            PERCENTILES,
            settings.threshold_percentile,
            lines,
            percent=True,
            log=False,
        )
    schema = measures.dataset(settings.dataset).schema
    bound = settings.row_bound or default_row_bound(schema, settings.epsilon)
    own = float(_accuracies(settings, "row-bounded", PLAIN, row_bound=bound, draws=1).mean())
    lines = [
        band(style_of("algorithm-1"), [_accuracies(settings, "published", e) for e in EPSILONS]),
        band(style_of("row-bounded"), [_accuracies(settings, "row-bounded", e) for e in EPSILONS]),
        level("Algorithm 1 without noise", 100 * known.non_private, len(EPSILONS)),
        level("Row-bounded without noise", own, len(EPSILONS), EXACT),
        level("A guess", guess, len(EPSILONS)),
    ]
    return Sweep(title, "ε", EPSILONS, settings.epsilon, lines, percent=True)


def _accuracies(settings: ExploreSettings, method: str, epsilon: float, **changes: Any) -> Floats:
    values = replace(ExploreValues.of(settings), **changes)
    return 100 * measures.accuracy(*values.accuracy_key(method, epsilon))
