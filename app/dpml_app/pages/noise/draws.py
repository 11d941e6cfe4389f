"""Card: what the noise looks like, of one number or of two."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from bokeh.models import Plot

from dpml_app.core.card import IMMEDIATE, Card, ResultKey, Results
from dpml_app.data.facts import NoFacts
from dpml_app.pages.noise import compute, words
from dpml_app.pages.noise.figures import HistogramFigure, PlaneFigure
from dpml_app.pages.noise.models import Numbers, has_scale, model
from dpml_app.pages.noise.settings import BETA_SHARES, NoiseValues
from dpml_app.work.pool import Task

# what a mechanism is made of
MECHANISM = frozenset({"noise_mechanism", "noise_epsilon", "noise_sensitivity", "noise_delta", "noise_beta"})


def numbers_of(values: NoiseValues) -> Numbers:
    """Return ε, Δ, δ and β's share."""
    share = BETA_SHARES[values.noise_beta]
    return values.noise_epsilon, values.noise_sensitivity, values.noise_delta, share


def no_scale(values: NoiseValues) -> str:
    """Return why there is no such noise; empty if there is."""
    return "" if has_scale(values.noise_mechanism, BETA_SHARES[values.noise_beta]) else words.NO_SCALE


class DrawsCard(Card[NoiseValues, NoFacts]):
    """Bars of draws in one dimension, dots in two."""

    name, title, caption = "draws", "What the noise looks like", words.CAPTIONS["draws"]
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
