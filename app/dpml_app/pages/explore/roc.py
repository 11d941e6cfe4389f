"""Card: the private ROC curve of one model."""

from __future__ import annotations

from collections.abc import Mapping

from dpml_app.core.card import Card, Place, Results, Values, here
from dpml_app.pages.explore import compute, words
from dpml_app.pages.explore.accuracy import speed
from dpml_app.pages.explore.figures import RocFigure
from dpml_app.pages.explore.settings import ExploreSettings
from dpml_app.work.pool import Chunk

__all__ = ["RocCard"]


class RocCard(Card):
    """Exact and private curves."""

    draw = RocFigure
    name, title, caption = "roc", "Private ROC curve", words.CAPTIONS["roc"]

    def work(self, values: Values, facts: Values) -> dict[Place, Chunk]:
        return {("roc", speed(values, "row-bounded")): Chunk(compute.roc, ExploreSettings.roc_key(values))}

    def prepare(self, values: Values, facts: Values, now: Results) -> None:
        self.clear()
        self.show(now, {})

    def show(self, results: Results, wanted: Mapping[Place, Chunk]) -> None:
        for curves in results.values():
            self.figure.show(curves)

    def readout(self, values: Values, facts: Values, results: Results) -> str:
        curves = here(results, "roc")
        return "Computing…" if curves is None else words.roc_readout(curves)

    def clear(self) -> None:
        self.figure.clear()
