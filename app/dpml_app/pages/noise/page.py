"""The page Noise: the noise of each mechanism, and its size. The server answers every change at once."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import panel as pn
import panel_material_ui as pmui

from dpml_app.core.card import IMMEDIATE, WHOLE, Card, ResultKey, Results
from dpml_app.core.curves_card import CurvesCard
from dpml_app.core.layout import figure_pane, line
from dpml_app.core.page import CardPage
from dpml_app.core.widgets import Controls, note
from dpml_app.data.facts import NoFacts
from dpml_app.jobs import Task
from dpml_app.pages.noise import compute, text
from dpml_app.pages.noise.compute import NoiseSettings, NoiseValues
from dpml_app.pages.noise.figures import RIVAL_STYLES, CountFigure, EnvelopeFigure, ReleaseFigure
from dpml_app.pages.noise.lesson import FIGURES
from dpml_app.text.phrases import risk
from dpml_app.views.frame import Axis


class NoiseControls(Controls):
    """The widgets of the page."""

    settings: NoiseSettings
    in_top = "noise_epsilon"
    seed = "noise_seed"

    def lay_out(self) -> None:
        """Make the widgets beside the picture and under "Advanced"."""
        self.side = pn.Column(self.add("noise_mechanism"), self.add("noise_sensitivity"), self.redraw, **WHOLE)
        self.advanced = pn.Column(
            self.add("noise_delta"),
            note("Probability that the guarantee of Gaussian noise fails."),
            self.add("noise_seed", pmui.IntInput),
            **WHOLE,
        )

    def in_cards(self) -> None:
        self.add("noise_beta", pmui.DiscreteSlider)


class CountCard(Card[NoiseValues, NoFacts]):
    """Two densities, their overlap, and releases as dots."""

    draw = CountFigure
    name, title, caption = "count", "Count with and without you", text.CAPTIONS["count"]

    def work(self, values: NoiseValues, facts: NoFacts) -> dict[ResultKey, Task]:
        return {("pair", IMMEDIATE): Task(compute.pair, values.pair_key())}

    def show(self, values: NoiseValues, facts: NoFacts, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        self.figure.show(results["pair", IMMEDIATE])

    def readout(self, values: NoiseValues, facts: NoFacts, results: Results) -> str:
        return text.count_readout(values, results["pair", IMMEDIATE])


class RivalsCard(CurvesCard[NoiseValues, NoFacts]):
    """The mean size of each mechanism's noise against ε: exact, so that the server answers at once."""

    plot_name, styles, ylim = "noise-rivals", RIVAL_STYLES, (1e-4, 1.5e6)
    y = Axis("mean size (log scale)", log=True, ticks=tuple(10.0**k for k in range(-4, 7, 2)))
    look: ClassVar[Mapping[str, Any]] = {"tip": "0.000 a"}
    name, title, caption = "rivals", "Noise size by mechanism", text.CAPTIONS["rivals"]
    controls = ("noise_touched",)

    def at(self, values: NoiseValues) -> float:
        return values.noise_epsilon

    def work(self, values: NoiseValues, facts: NoFacts) -> dict[ResultKey, Task]:
        key = values.noise_sensitivity, values.noise_delta, values.noise_touched
        return {("curves", IMMEDIATE): Task(compute.rival_sizes, key)}

    def series(self, results: Results) -> Mapping[str, Mapping[float, np.ndarray]]:
        found: Mapping[str, Mapping[float, np.ndarray]] = results["curves", IMMEDIATE]
        return found

    def readout(self, values: NoiseValues, facts: NoFacts, results: Results) -> str:
        sizes = {name: float(curve[values.noise_epsilon][0]) for name, curve in self.series(results).items()}
        return text.rivals_readout(values, sizes)


class SmoothCard(Card[NoiseValues, NoFacts]):
    """The points with samples of two releases, and the envelope of the sensitivities."""

    name, title, caption = "smooth", "Smooth sensitivity of points", text.CAPTIONS["smooth"]
    wide = True
    controls = ("noise_preset", "noise_size", "noise_statistic", "noise_beta")

    def __init__(self) -> None:
        self.envelope, self.release = EnvelopeFigure(), ReleaseFigure()
        super().__init__(self.release, self.envelope)

    def content(self) -> list[Any]:
        return [line(*map(figure_pane, self.plots), least=480)]

    def work(self, values: NoiseValues, facts: NoFacts) -> dict[ResultKey, Task]:
        return {("smooth", IMMEDIATE): Task(compute.smooth, values.smooth_key())}

    def show(self, values: NoiseValues, facts: NoFacts, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        self.envelope.show_envelope(results["smooth", IMMEDIATE])
        self.release.show_releases(results["smooth", IMMEDIATE])

    def readout(self, values: NoiseValues, facts: NoFacts, results: Results) -> str:
        return text.smooth_readout(values, results["smooth", IMMEDIATE])


class NoisePage(CardPage[NoiseValues, NoFacts]):
    """The page of one session."""

    page_id = "noise"
    title = "Noise"
    settings_kind, values_kind = NoiseSettings, NoiseValues
    lesson_figures = FIGURES
    question = "How much noise protects one person?"
    lead = "Drag <b>ε</b>: smaller values give more privacy, larger values smaller errors."
    settings: NoiseSettings
    kinds = (CountCard, RivalsCard, SmoothCard)
    controls_kind = NoiseControls
    main_card = "count"
    details = ("rivals",)
    risk_of = ("noise_epsilon", "relation")

    def show_risk(self) -> None:
        # the picture is of a person who is in the count or not; the relation is of the points' card
        self.risk.object = risk(self.settings.noise_epsilon, "add-remove")

    def words(self, values: NoiseValues, facts: NoFacts, results: Mapping[str, Results]) -> str:
        pair = results.get(self.main_card, {}).get(("pair", IMMEDIATE))
        return "" if pair is None else text.headline(pair)
