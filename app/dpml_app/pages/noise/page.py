"""The Noise page: what the noise of each mechanism looks like, and what it costs.

The server answers every change at once, for nothing here takes longer than some milliseconds; the browser computes what
depends on the dragged points.
"""

from collections.abc import Mapping
from typing import Any

from dpml_app.core.card import IMMEDIATE, Card, Results
from dpml_app.core.card_page import CardPage
from dpml_app.data.facts import NoFacts
from dpml_app.pages.noise import words
from dpml_app.pages.noise.controls import NoiseControls
from dpml_app.pages.noise.count import CountCard
from dpml_app.pages.noise.draws import CalibrationsCard, ChoicesCard, DrawsCard, RivalsCard, TailsCard
from dpml_app.pages.noise.lesson_figures import figure, lesson_plot
from dpml_app.pages.noise.settings import NoiseSettings, NoiseValues
from dpml_app.pages.noise.smooth import SmoothCard
from dpml_app.text.phrases import risk


class NoisePage(CardPage[NoiseValues, NoFacts]):
    """The page of one session."""

    page_id = "noise"
    title = "Noise"
    settings_kind, values_kind = NoiseSettings, NoiseValues
    lesson_plot, lesson_figures = staticmethod(lesson_plot), figure
    question = "How much noise protects one person?"
    lead = "Drag <b>ε</b>: smaller values give more privacy, larger values smaller errors."
    settings: NoiseSettings
    kinds = (CountCard, DrawsCard, RivalsCard, TailsCard, SmoothCard, ChoicesCard, CalibrationsCard)
    sources = ("noise-state", "noise-work")
    readout_name = "noise-{}-readout"
    controls_kind = NoiseControls
    main_card = "count"
    details = ("draws", "rivals")

    risk_of = ("noise_epsilon", "relation")

    def show_risk(self) -> None:
        # the picture is of a person who is in the count or not; the relation is of the points' card
        self.risk.object = risk(self.settings.noise_epsilon, "add-remove")

    def side(self) -> list[Any]:
        return [self.risk, self.controls.side]

    def words(self, values: NoiseValues, facts: NoFacts, results: Mapping[str, Results]) -> str:
        pair = results.get(self.main_card, {}).get(("pair", IMMEDIATE))
        return self.cards[self.main_card].refusal(values, facts) if pair is None else words.headline(pair)

    def make(self, kind: type[Card]) -> Card:
        return kind(self.settings, self.readouts["smooth"]) if kind is SmoothCard else kind()
