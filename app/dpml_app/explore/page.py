"""The Explore page: accuracy against ε, a private ROC curve, a private choice of features, and how many to choose.

Three speeds. The browser draws the selection probabilities and moves the markers. The server answers every change with
the values at the current setting. Curves and map come from the worker processes, in small chunks; a newer request makes
the older one stop.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from dpml_app import data
from dpml_app.card import Results, Values
from dpml_app.cards import CardPage
from dpml_app.drawing.figure import run_script, script
from dpml_app.explore import words
from dpml_app.explore.accuracy import AccuracyCard, accuracies, statistic_key
from dpml_app.explore.controls import ExploreControls
from dpml_app.explore.map import MapCard
from dpml_app.explore.roc import RocCard
from dpml_app.explore.selection import SelectionCard
from dpml_app.explore.settings import ExploreSettings
from dpml_app.settings import DATASETS, EPSILONS
from dpml_app.work.pool import Chunk

__all__ = ["ExplorePage"]

SCRIPT = script("drawing/kernels.js", "explore/page.js")


class ExplorePage(CardPage):
    """The page of one session."""

    settings: ExploreSettings
    datasets = DATASETS
    room = "explore"
    kinds = (AccuracyCard, RocCard, SelectionCard, MapCard)
    sources = ("answer-state", "sweep-state")
    readout_name = "{}-readout"
    readout_look = MappingProxyType({"padding-left": "7px"})
    what = "curves and map"
    controls_kind = ExploreControls

    def connect(self) -> list[Any]:
        browser = self.controls.tell_browser("browser-controls", "epsilon", "n_features", "selection_share")
        figures = {name: made.figure for name, made in self.cards.items()}
        selection = figures["selection"]
        arguments = {
            "controls": browser,
            "scores": selection.scores,
            "shown": selection.shown,
            "unit": selection.unit,
            "selection": selection.drawn,
            "uniform": selection.uniform,
            "readout": self.readouts["selection"],
            "accuracy_marker": figures["accuracy"].marker,
            "map_current": figures["map"].current,
        }
        run_script(SCRIPT, arguments, browser, selection.unit)
        return [browser, selection.unit]

    async def facts(self, name: str) -> Values:
        return await self._call(data.facts, name)

    def words(self, values: Values, facts: Values, results: Mapping[str, Results]) -> str:
        return words.headline(values, facts, accuracies(results.get("accuracy", {})))

    def first(self, values: Values) -> list[Chunk]:
        """Return the slow statistics that are not here: with them the server answers at once at every ε."""
        keys = [statistic_key(values, m, e) for m in data.METHODS for e in EPSILONS]
        return [Chunk(data.statistic, key) for key in keys if key is not None and not data.is_here(key)]

    def adopt(self, chunk: Chunk, result: Any) -> None:
        """Keep a statistic that a worker has made."""
        if chunk.function is data.statistic:
            data.adopt(chunk.arguments, result)
