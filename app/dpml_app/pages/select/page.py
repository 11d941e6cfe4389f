"""The Select page: private feature selection, from the weights of one feature to the accuracy of a classifier.

Three speeds. The browser draws probabilities and coins. The server answers every change with words, one drawn set, and
the counts of the feature that is clicked. F1 and accuracy come from the worker processes; a newer request makes the
older one stop.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from bokeh.models import ColumnDataSource

from dpml_app.core.card import Card, Results
from dpml_app.core.card_page import CardPage
from dpml_app.drawing.figure import FONT, run_script, script
from dpml_app.pages.select import compute, words
from dpml_app.pages.select.chosen import ChosenCard, CoinsCard, FeatureCard
from dpml_app.pages.select.chosen_figure import ChosenFigures
from dpml_app.pages.select.compute import SelectFacts
from dpml_app.pages.select.controls import SelectControls
from dpml_app.pages.select.curves import AccuracyCard, F1Card
from dpml_app.pages.select.leads import LeadsCard
from dpml_app.pages.select.lesson_figures import figure, lesson_plot
from dpml_app.pages.select.settings import SelectSettings, SelectValues
from dpml_app.work.pool import Pool

SCRIPT = script("drawing/kernels.js", "pages/select/page.js").replace("FONT", FONT)


class SelectPage(CardPage[SelectValues, SelectFacts]):
    """The page of one session."""

    page_id = "select"
    title = "Feature selection"
    settings_kind, values_kind = SelectSettings, SelectValues
    lesson_plot, lesson_figures = staticmethod(lesson_plot), figure
    question = "Which features does private selection keep?"
    lead = "Drag <b>T</b>, the number of selected features."
    settings: SelectSettings
    facts_of = staticmethod(compute.facts)
    kinds = (ChosenCard, FeatureCard, CoinsCard, F1Card, AccuracyCard, LeadsCard)
    sources = ("select-state", "select-sweep-state")
    readout_name = "select-{}-readout"
    what = "F1 and accuracy"
    controls_kind = SelectControls
    main_card = "chosen"
    details = ("feature", "coins")

    def __init__(self, settings: SelectSettings, pool: Pool):
        self.chosen = ChosenFigures()
        super().__init__(settings, pool)

    def make(self, kind: type[Card]) -> Card:
        return kind(self.chosen) if issubclass(kind, ChosenCard | CoinsCard) else kind()

    def connect(self) -> list[Any]:
        browser = self.controls.tell_browser("select-browser", "epsilon", "n_features", "selection_share")
        chosen = self.chosen
        draw = run_script(SCRIPT, {**chosen.sources(), "controls": browser}, browser, chosen.now, chosen.every)
        for end in ("inner_width", "outer_width"):
            chosen.plot.js_on_change(end, draw)
        # Present writes larger
        chosen.labels.glyph.js_on_change("text_font_size", draw)
        chosen.rows.selected.on_change("indices", partial(self._tapped, chosen.best))
        for kind, source in chosen.drawn.items():
            source.selected.on_change("indices", partial(self._tapped, chosen.shown[kind]))
        return [browser, chosen.now, chosen.every, chosen.best]

    def _tapped(self, source: ColumnDataSource, _attribute: str, _old: list[int], new: list[int]) -> None:
        """Show the feature whose row or dot was clicked; a row of several has none."""
        if new and new[0] < len(source.data["index"]):
            self.settings.select_feature = int(source.data["index"][new[0]]) + 1

    def words(self, values: SelectValues, facts: SelectFacts, results: Mapping[str, Results]) -> str:
        return words.headline(values, facts, results.get(self.main_card, {}))
