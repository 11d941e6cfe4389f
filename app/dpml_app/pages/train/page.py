"""The Train page: private naive Bayes for every kind of data, and private linear models.

What is at the setting that is chosen is answered at once, in the server; the rest comes from the worker processes in
small chunks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpml_app.core.card import Results, Values
from dpml_app.core.card_page import CardPage
from dpml_app.pages.train import words
from dpml_app.pages.train.accuracy import AccuracyCard
from dpml_app.pages.train.best import BestCard
from dpml_app.pages.train.compute import nb_facts
from dpml_app.pages.train.controls import TrainControls
from dpml_app.pages.train.linear_compute import linear_facts
from dpml_app.pages.train.methods import families
from dpml_app.pages.train.parameters import ParametersCard
from dpml_app.pages.train.partition import PartitionCard
from dpml_app.pages.train.reg_lambda import LambdaCard
from dpml_app.pages.train.settings import TrainSettings
from dpml_app.pages.train.size import SizeCard
from dpml_app.pages.train.threshold import ThresholdCard
from dpml_app.pages.train.tuning import TuningCard
from dpml_app.pages.train.weight import WeightCard
from dpml_app.pages.train.weights import WeightsCard
from dpml_app.work.pool import Chunk

__all__ = ["TrainPage", "all_facts"]


class TrainPage(CardPage):
    """The page of one session."""

    question = "Which model pays least?"
    lead = "Drag <b>ε</b>: left is more private. The top line makes the fewest errors."
    settings: TrainSettings
    controls: TrainControls
    room = "train"
    kinds = (
        AccuracyCard,
        BestCard,
        SizeCard,
        WeightCard,
        ThresholdCard,
        PartitionCard,
        ParametersCard,
        LambdaCard,
        WeightsCard,
        TuningCard,
    )
    sources = ("train-state", "train-work")
    readout_name = "train-{}-readout"
    controls_kind = TrainControls
    hero = "accuracy"
    why = ("size", "weights")
    reload = frozenset({"dataset", "train_family"})

    def facts_chunk(self, values: Values) -> Chunk:
        return Chunk(all_facts, (values["dataset"], "linear" in families(values)))

    async def facts(self, name: str) -> Values:
        """Return what is known of a data set, by the families that are shown."""
        found = await self._call(nb_facts, name)
        if "linear" not in families(self.values()):
            return found
        more = await self._call(linear_facts, name)
        return with_levels(found, more)

    def note(self, facts: Values) -> str:
        return words.dataset_note(facts)

    def words(self, values: Values, facts: Values, results: Mapping[str, Results]) -> str:
        return words.headline(values, facts)

    def offer(self, changed: set[str]) -> None:
        if {"dataset", "train_model"} & changed:
            self._mention("lowered", self.controls.fit(self._facts or {}))


def all_facts(name: str, linear: bool) -> dict[str, Any]:
    """Return what is known of a data set, for scripts; with the levels of linear models where they are shown."""
    found = nb_facts(name)
    return with_levels(found, linear_facts(name)) if linear else found


def with_levels(facts: Values, more: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    """Return facts with more levels in them."""
    return {**facts, **{measure: {**facts[measure], **levels} for measure, levels in more.items()}}
