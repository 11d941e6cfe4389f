"""Card: the levers that act on the plots below them, and what they make of each method."""

from __future__ import annotations

from typing import Any, ClassVar

from dpml_app.core.card import Card, Place, Results
from dpml_app.data.facts import BinaryFacts
from dpml_app.pages.explore import words
from dpml_app.pages.explore.accuracy import accuracies, at_chosen, statistics
from dpml_app.pages.explore.settings import ExploreValues
from dpml_app.work.pool import Chunk

__all__ = ["LeversCard"]


class LeversCard(Card[ExploreValues, BinaryFacts]):
    """Four controls in a row; it has no figure."""

    draw: ClassVar[Any] = None
    name, title, caption = "levers", "Levers", words.CAPTIONS["levers"]
    controls = ("n_features", "selection_share", "threshold_percentile", "reg_lambda")
    wide = True

    def work(self, values: ExploreValues, facts: BinaryFacts) -> dict[Place, Chunk]:
        return at_chosen(values)

    def first(self, values: ExploreValues) -> list[Chunk]:
        return statistics(values)

    def readout(self, values: ExploreValues, facts: BinaryFacts, results: Results) -> str:
        found = accuracies(results)
        return words.levers_readout(found) if found else "Computing…"
