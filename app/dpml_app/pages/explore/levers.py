"""Card: the levers that act on the plots below them, and what they make of each method."""

from __future__ import annotations

from typing import Any, ClassVar

from dpml_app.core.card import Card, Place, Results, Values
from dpml_app.pages.explore import words
from dpml_app.pages.explore.accuracy import accuracies, at_chosen
from dpml_app.work.pool import Chunk

__all__ = ["LeversCard"]


class LeversCard(Card):
    """Four controls in a row; it has no figure."""

    draw: ClassVar[Any] = None
    name, title, caption = "levers", "Levers", words.CAPTIONS["levers"]
    controls = ("n_features", "selection_share", "threshold_percentile", "reg_lambda")
    wide = True

    def work(self, values: Values, facts: Values) -> dict[Place, Chunk]:
        return at_chosen(values)

    def readout(self, values: Values, facts: Values, results: Results) -> str:
        found = accuracies(results)
        return words.levers_readout(found) if found else "Computing…"
