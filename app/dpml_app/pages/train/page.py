"""The Train page: private naive Bayes for every kind of data, and private linear models.

What is at the setting that is chosen is answered at once, in the server; the rest comes from the worker processes in
small tasks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dpml_app.core.card import Results
from dpml_app.core.card_page import CardPage
from dpml_app.pages.train import words
from dpml_app.pages.train.accuracy import AccuracyCard
from dpml_app.pages.train.best import BestCard
from dpml_app.pages.train.compute import nb_facts
from dpml_app.pages.train.controls import TrainControls
from dpml_app.pages.train.facts import TrainFacts
from dpml_app.pages.train.lesson import lesson_plot
from dpml_app.pages.train.linear_compute import linear_facts
from dpml_app.pages.train.parameters import ParametersCard
from dpml_app.pages.train.partition import PartitionCard
from dpml_app.pages.train.reg_lambda import LambdaCard
from dpml_app.pages.train.settings import TrainSettings, TrainValues
from dpml_app.pages.train.size import SizeCard
from dpml_app.pages.train.threshold import ThresholdCard
from dpml_app.pages.train.tuning import TuningCard
from dpml_app.pages.train.weight import WeightCard
from dpml_app.pages.train.weights import WeightsCard
from dpml_app.work.pool import Task


class TrainPage(CardPage[TrainValues, TrainFacts]):
    """The page of one session."""

    page_id = "train"
    title = "Which model?"
    settings_kind, values_kind = TrainSettings, TrainValues
    lesson_plot = staticmethod(lesson_plot)
    question = "Which model pays least?"
    lead = "Drag <b>ε</b>: left is more private. The top line makes the fewest errors."
    settings: TrainSettings
    controls: TrainControls
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
    main_card = "accuracy"
    details = ("size", "weights")
    reload = frozenset({"dataset", "train_family"})

    def facts_task(self, values: TrainValues) -> Task:
        return Task(all_facts, (values.dataset, "linear" in values.families))

    async def facts(self, values: TrainValues) -> TrainFacts:
        """Return what is known of a data set, by the families that are shown."""
        facts = await self._call(nb_facts, values.dataset)
        if "linear" not in values.families:
            return facts
        return with_levels(facts, await self._call(linear_facts, values.dataset))

    def note(self, facts: TrainFacts) -> str:
        return words.dataset_note(facts)

    def words(self, values: TrainValues, facts: TrainFacts, results: Mapping[str, Results]) -> str:
        return words.headline(values, facts)

    def offer(self, changed: set[str]) -> None:
        if {"dataset", "train_model"} & changed:
            assert self._facts is not None
            self._mention("lowered", self.controls.fit(self._facts))


def all_facts(name: str, linear: bool) -> TrainFacts:
    """Return what is known of a data set, for scripts; with the levels of linear models where they are shown."""
    facts = nb_facts(name)
    return with_levels(facts, linear_facts(name)) if linear else facts


def with_levels(facts: TrainFacts, more: Mapping[str, Mapping[str, float]]) -> TrainFacts:
    """Return facts with more levels in them."""
    accuracy, auc = ({**getattr(facts, of), **more[of]} for of in ("accuracy", "auc"))
    return replace(facts, accuracy=accuracy, auc=auc)
