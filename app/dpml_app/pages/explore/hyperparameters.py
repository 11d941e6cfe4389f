"""Card: the hyperparameters that act on the plots below them, and what they make of each method."""

from __future__ import annotations

from typing import Any, ClassVar

from dpml_app.core.card import Card, ResultKey, Results
from dpml_app.data.facts import BinaryFacts
from dpml_app.pages.explore import words
from dpml_app.pages.explore.accuracy import accuracies, at_chosen, statistics
from dpml_app.pages.explore.settings import ExploreValues
from dpml_app.work.pool import Task


class HyperparametersCard(Card[ExploreValues, BinaryFacts]):
    """Four controls in a row; it has no figure."""

    draw: ClassVar[Any] = None
    name, title, caption = "levers", "Levers", words.CAPTIONS["levers"]
    controls = ("n_features", "selection_share", "threshold_percentile", "reg_lambda")
    wide = True
    no_script = "it has no plot: controls alone"

    def work(self, values: ExploreValues, facts: BinaryFacts) -> dict[ResultKey, Task]:
        return at_chosen(values)

    def first(self, values: ExploreValues) -> list[Task]:
        return statistics(values)

    def readout(self, values: ExploreValues, facts: BinaryFacts, results: Results) -> str:
        draws_of = accuracies(results)
        return words.hyperparameters_readout(draws_of) if draws_of else "Computing…"
