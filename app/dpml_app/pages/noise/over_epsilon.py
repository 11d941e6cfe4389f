"""Cards of curves over ε: which noise is smallest, which choice loses least, and what calibrations cost."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from dpml_app.core.card import IMMEDIATE, Card, ResultKey, Results, figure_pane, line
from dpml_app.data.facts import NoFacts
from dpml_app.drawing.styles import REFERENCE
from dpml_app.pages.noise import compute, words
from dpml_app.pages.noise.figures import CALIBRATION_STYLES, CHOICE_STYLES, RIVAL_STYLES, CurveFigure
from dpml_app.pages.noise.settings import BETA_SHARES, NOISE_EPSILONS, NoiseValues
from dpml_app.work.pool import Task

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
    name, title, caption = "rivals", "Which noise is smallest", words.CAPTIONS["rivals"]
    controls = ("noise_touched", "noise_measure")
    depends = frozenset({"noise_epsilon", "noise_sensitivity", "noise_delta", *controls})

    def work(self, values: NoiseValues, facts: NoFacts) -> dict[ResultKey, Task]:
        key = values.noise_sensitivity, values.noise_delta, values.noise_touched, values.noise_measure
        return {("curves", IMMEDIATE): Task(compute.rival_sizes, key)}

    def readout(self, values: NoiseValues, facts: NoFacts, results: Results) -> str:
        return words.rival_words(values, _at(values, results["curves", IMMEDIATE]))


class ChoicesCard(OverEpsilonCard):
    """The loss of each private choice."""

    draw = partial(CurveFigure, "noise-choices", CHOICE_STYLES, "expected loss (log scale)", (-6, 2), "Smallest")
    name, title, caption = "choices", "Choosing one of five", words.CAPTIONS["choices"]
    controls = ("noise_gap",)
    depends = frozenset({"noise_epsilon", "noise_sensitivity", *controls})

    def work(self, values: NoiseValues, facts: NoFacts) -> dict[ResultKey, Task]:
        return {("curves", IMMEDIATE): Task(compute.choice_losses, (values.noise_gap, values.noise_sensitivity))}

    def readout(self, values: NoiseValues, facts: NoFacts, results: Results) -> str:
        return words.choice_words(values, _at(values, results["curves", IMMEDIATE]))


class CalibrationsCard(OverEpsilonCard):
    """What scale each calibration of Cauchy noise asks for, and the ε that it costs."""

    name, title, caption = "calibrations", "Three calibrations of Cauchy noise", words.CAPTIONS["calibrations"]
    wide = True
    depends = frozenset({"noise_epsilon", "noise_beta"})

    def __init__(self):
        scales = CurveFigure("noise-scales", CALIBRATION_STYLES, "Cauchy scale per unit of S (log scale)", (-3, 3))
        costs = CurveFigure("noise-costs", CALIBRATION_STYLES, "ε that is truly paid (log scale)", (-3, 2))
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
