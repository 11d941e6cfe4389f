"""Card: the private ROC curve of the model by hand."""

from __future__ import annotations

from collections.abc import Mapping

from dpml_app.core.card import DEFERRED, Card, ResultKey, Results
from dpml_app.data.facts import BinaryFacts
from dpml_app.pages.explore import compute, words
from dpml_app.pages.explore.figures import RocFigure
from dpml_app.pages.explore.settings import ExploreValues
from dpml_app.work.pool import Task


class RocCard(Card[ExploreValues, BinaryFacts]):
    """Exact and private curves."""

    draw = RocFigure
    name, title, caption = "roc", "Private ROC curve", words.CAPTIONS["roc"]

    def work(self, values: ExploreValues, facts: BinaryFacts) -> dict[ResultKey, Task]:
        # the point of the main picture does not wait for it
        return {("roc", DEFERRED): Task(compute.roc, values.roc_key())}

    def prepare(self, values: ExploreValues, facts: BinaryFacts, now: Results) -> None:
        self.clear()
        self.show(now, {})

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        for curves in results.values():
            self.figure.show(curves)

    def readout(self, values: ExploreValues, facts: BinaryFacts, results: Results) -> str:
        curves = results.get(("roc", DEFERRED))
        return "Computing…" if curves is None else words.roc_readout(curves)
