"""The Select page: private feature selection, from the weights of one feature to the accuracy of a classifier.

Three speeds. The browser draws ranked probabilities and coins. The server answers every change with words and with the
counts of the feature that is chosen. F1 and accuracy come from the worker processes; a newer request makes the older
one stop.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from dpml_app.core.card import Card, Results
from dpml_app.core.card_page import CardPage
from dpml_app.drawing.figure import run_script, script
from dpml_app.pages.select import compute, words
from dpml_app.pages.select.accuracy import AccuracyCard
from dpml_app.pages.select.compute import SelectFacts
from dpml_app.pages.select.controls import SelectControls
from dpml_app.pages.select.f1 import F1Card
from dpml_app.pages.select.feature import FeatureCard
from dpml_app.pages.select.figures import WeightFigures
from dpml_app.pages.select.lesson import lesson_plot
from dpml_app.pages.select.ranked import CoinsCard, CountCard, MutualInformationCard, RankedCard
from dpml_app.pages.select.settings import SelectSettings, SelectValues
from dpml_app.work.pool import Pool

SCRIPT = script("drawing/kernels.js", "pages/select/page.js")


class SelectPage(CardPage[SelectValues, SelectFacts]):
    """The page of one session."""

    page_id = "select"
    title = "Which features?"
    settings_kind, values_kind = SelectSettings, SelectValues
    lesson_plot = staticmethod(lesson_plot)
    question = "Which features would a private choice take?"
    lead = "Drag <b>T</b>, how many features are kept."
    settings: SelectSettings
    facts_of = staticmethod(compute.facts)
    kinds = (MutualInformationCard, CountCard, CoinsCard, FeatureCard, F1Card, AccuracyCard)
    sources = ("select-state", "select-sweep-state")
    readout_name = "select-{}-readout"
    what = "F1 and accuracy"
    controls_kind = SelectControls
    main_card = "count"
    details = ("mutual_information", "coins")

    def __init__(self, settings: SelectSettings, pool: Pool):
        self.weights = WeightFigures()
        super().__init__(settings, pool)

    def make(self, kind: type[Card]) -> Card:
        return kind(self.weights) if issubclass(kind, RankedCard | CoinsCard) else kind()

    def connect(self) -> list[Any]:
        browser = self.controls.tell_browser("select-browser", "epsilon", "n_features", "selection_share")
        arguments = {**self.weights.sources(), "controls": browser}
        run_script(SCRIPT, arguments, browser, self.weights.now)
        for kind, source in self.weights.drawn.items():
            source.selected.on_change("indices", partial(self._tapped, kind))
        return [browser, self.weights.now]

    def _tapped(self, kind: str, _attribute: str, _old: list[int], new: list[int]) -> None:
        """Show the feature whose dot was clicked."""
        if new:
            self.settings.select_feature = int(self.weights.shown[kind].data["index"][new[0]]) + 1

    def words(self, values: SelectValues, facts: SelectFacts, results: Mapping[str, Results]) -> str:
        return words.headline(values, facts)
