"""Cards: noise distribution, largest error of many queries, and curves against ε."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from bokeh.models import Plot

from dpml_app.core.card import IMMEDIATE, Card, ResultKey, Results, figure_pane, line
from dpml_app.data.facts import NoFacts
from dpml_app.drawing.figure import across
from dpml_app.drawing.styles import REFERENCE, Style
from dpml_app.pages.noise import compute, words
from dpml_app.pages.noise.figures import (
    CALIBRATION_STYLES,
    CHOICE_STYLES,
    RIVAL_STYLES,
    CurveFigure,
    HistogramFigure,
    PlaneFigure,
)
from dpml_app.pages.noise.models import Numbers, has_scale, model
from dpml_app.pages.noise.settings import BETA_SHARES, MECHANISMS, NOISE_EPSILONS, NoiseValues
from dpml_app.work.pool import Task

# what a mechanism is made of
MECHANISM = frozenset({"noise_mechanism", "noise_epsilon", "noise_sensitivity", "noise_delta", "noise_beta"})


def numbers_of(values: NoiseValues) -> Numbers:
    """Return ε, Δ, δ and β's share."""
    share = BETA_SHARES[values.noise_beta]
    return values.noise_epsilon, values.noise_sensitivity, values.noise_delta, share


def no_scale(values: NoiseValues) -> str:
    """Return the reason that this noise does not exist, or an empty text."""
    return "" if has_scale(values.noise_mechanism, BETA_SHARES[values.noise_beta]) else words.NO_SCALE


class DrawsCard(Card[NoiseValues, NoFacts]):
    """Bars of draws in one dimension, dots in two."""

    name, title, caption = "draws", "Noise distribution", words.CAPTIONS["draws"]
    controls = ("noise_dimension", "noise_reach")
    depends = MECHANISM | {"noise_draws", "noise_seed", "noise_dimension", "noise_reach"}

    def __init__(self):
        super().__init__(HistogramFigure(), PlaneFigure())

    def drawn(self, values: NoiseValues) -> Sequence[Plot]:
        return [self.plots[values.noise_dimension - 1]]

    def refusal(self, values: NoiseValues, facts: NoFacts) -> str:
        return no_scale(values)

    def work(self, values: NoiseValues, facts: NoFacts) -> dict[ResultKey, Task]:
        function = compute.histogram if values.noise_dimension == 1 else compute.plane
        drawn = values.noise_reach, values.noise_draws, values.noise_seed
        return {("draws", IMMEDIATE): Task(function, (values.noise_mechanism, numbers_of(values), *drawn))}

    def prepare(self, values: NoiseValues, facts: NoFacts, now: Results) -> None:
        if values.noise_dimension == 1:
            self.figures[0].show(now["draws", IMMEDIATE])
        else:
            self.figures[1].show(now["draws", IMMEDIATE], values.noise_reach)

    def readout(self, values: NoiseValues, facts: NoFacts, results: Results) -> str:
        drawn, reach = results["draws", IMMEDIATE], values.noise_reach
        if values.noise_dimension == 1:
            return words.draw_words(values, model(values.noise_mechanism, *numbers_of(values)), drawn)
        return words.plane_words(values, float(np.mean((np.abs(drawn.x) > reach) | (np.abs(drawn.y) > reach))))


STYLES = {
    "bound": Style("Theorem 2.2.2", "#E69F00", "square", "dashed"),
    "exact": Style("Laplace, exact", "#0072B2", "circle", "solid"),
    "own": Style("Chosen mechanism", "#D55E00", "triangle", "dotted"),
}


class TailsCard(Card[NoiseValues, NoFacts]):
    """One person counts in one of the queries."""

    name, title, caption = "tails", "Largest error of many queries", words.CAPTIONS["tails"]
    controls = ("noise_queries", "noise_failure")
    depends = MECHANISM | {"noise_queries", "noise_failure"}

    def __init__(self):
        label, axis = "probability of a larger error (log scale)", "largest error (units of Δ/ε)"
        options: dict[str, Any] = {"x_range": (0, 25), "x_axis_label": axis}
        super().__init__(CurveFigure("noise-tails", STYLES, label, (-4, 0), values="probability", **options))
        self.level = across(self.figure.plot, "width", 0.05, line_dash="dotted")

    def work(self, values: NoiseValues, facts: NoFacts) -> dict[ResultKey, Task]:
        arguments = values.noise_mechanism, numbers_of(values), values.noise_queries
        return {("tails", IMMEDIATE): Task(compute.tails, arguments)}

    def prepare(self, values: NoiseValues, facts: NoFacts, now: Results) -> None:
        epsilon, sensitivity, *_rest = numbers_of(values)
        failure = values.noise_failure
        self.figure.show(now["tails", IMMEDIATE], compute.ERRORS)
        bounds = compute.accuracy_bounds(epsilon, sensitivity, values.noise_queries, failure)
        bound, true = (t * epsilon / sensitivity for t in bounds)
        self.figure.mark(bound, {"bound": failure})
        self.figure.here.data = {"x": [bound, true], "y": [failure] * 2}
        self.level.location = failure

    def readout(self, values: NoiseValues, facts: NoFacts, results: Results) -> str:
        name, why = values.noise_mechanism, ""
        if name not in ("laplace", "norm-1") and "own" not in results["tails", IMMEDIATE]:
            known = has_scale(name, numbers_of(values)[3])
            why = "has no closed form for its largest coordinate" if known else "has no scale at this β"
            why = f" {MECHANISMS[name]} noise {why} and is not drawn."
        return words.tail_words(values, why)


Curves = Mapping[str, np.ndarray]


def _at(values: NoiseValues, curves: Curves) -> dict[str, float]:
    """Return where each curve stands at the ε that is chosen."""
    place = NOISE_EPSILONS.index(values.noise_epsilon)
    return {name: float(curve[place]) for name, curve in curves.items()}


class OverEpsilonCard(Card[NoiseValues, NoFacts]):
    """A card whose figures show curves over ε, and where they stand at the one that is chosen."""

    figures: list[CurveFigure]

    def curves(self, result: Any) -> list[Curves]:
        """Return the curves of each figure."""
        return [result]

    def prepare(self, values: NoiseValues, facts: NoFacts, now: Results) -> None:
        for f, curves in zip(self.figures, self.curves(now["curves", IMMEDIATE]), strict=True):
            # what is 0 has no place on a log axis
            drawn = {name: np.where(curve > 0, curve, np.nan) for name, curve in curves.items()}
            f.show(drawn)
            f.mark(values.noise_epsilon, _at(values, drawn))


class RivalsCard(OverEpsilonCard):
    """The size of each mechanism's noise."""

    draw = partial(CurveFigure, "noise-rivals", RIVAL_STYLES, "size of the noise (log scale)", (-4, 6), "Smallest")
    name, title, caption = "rivals", "Noise size by mechanism", words.CAPTIONS["rivals"]
    controls = ("noise_touched", "noise_measure")
    depends = frozenset({"noise_epsilon", "noise_sensitivity", "noise_delta", *controls})

    def work(self, values: NoiseValues, facts: NoFacts) -> dict[ResultKey, Task]:
        key = values.noise_sensitivity, values.noise_delta, values.noise_touched, values.noise_measure
        return {("curves", IMMEDIATE): Task(compute.rival_sizes, key)}

    def readout(self, values: NoiseValues, facts: NoFacts, results: Results) -> str:
        return words.rival_words(values, _at(values, results["curves", IMMEDIATE]))


class ChoicesCard(OverEpsilonCard):
    """The expected loss of each selection mechanism."""

    draw = partial(CurveFigure, "noise-choices", CHOICE_STYLES, "expected loss (log scale)", (-6, 2), "Smallest")
    name, title, caption = "choices", "Private selection of one of five", words.CAPTIONS["choices"]
    controls = ("noise_gap",)
    depends = frozenset({"noise_epsilon", "noise_sensitivity", *controls})

    def work(self, values: NoiseValues, facts: NoFacts) -> dict[ResultKey, Task]:
        return {("curves", IMMEDIATE): Task(compute.choice_losses, (values.noise_gap, values.noise_sensitivity))}

    def readout(self, values: NoiseValues, facts: NoFacts, results: Results) -> str:
        return words.choice_words(values, _at(values, results["curves", IMMEDIATE]))


class CalibrationsCard(OverEpsilonCard):
    """The scale of each calibration of Cauchy noise, and its actual ε."""

    name, title, caption = "calibrations", "Three calibrations of Cauchy noise", words.CAPTIONS["calibrations"]
    wide = True
    depends = frozenset({"noise_epsilon", "noise_beta"})

    def __init__(self):
        scales = CurveFigure("noise-scales", CALIBRATION_STYLES, "Cauchy scale per unit of S (log scale)", (-3, 3))
        costs = CurveFigure("noise-costs", CALIBRATION_STYLES, "actual ε (log scale)", (-3, 2))
        ends = [NOISE_EPSILONS[0] / 2, NOISE_EPSILONS[-1] * 2]
        costs.plot.line(ends, ends, color=REFERENCE, line_width=2, line_dash="dotted")
        super().__init__(scales, costs)

    def content(self) -> list[Any]:
        return [line(*map(figure_pane, self.plots), least=480)]

    def work(self, values: NoiseValues, facts: NoFacts) -> dict[ResultKey, Task]:
        return {("curves", IMMEDIATE): Task(compute.calibrations, (BETA_SHARES[values.noise_beta],))}

    def curves(self, result: Any) -> list[Curves]:
        return [{name: pair[i] for name, pair in result.items()} for i in (0, 1)]

    def readout(self, values: NoiseValues, facts: NoFacts, results: Results) -> str:
        scales, costs = (_at(values, curves) for curves in self.curves(results["curves", IMMEDIATE]))
        return words.calibration_words(values, {name: (scales[name], costs[name]) for name in scales})
