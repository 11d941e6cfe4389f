"""The Classifiers page: private naive Bayes for every kind of data, and private linear models.

What is at the setting that is chosen is answered at once, in the server; the rest comes from the worker processes in
small tasks.
"""

from collections.abc import Mapping
from dataclasses import replace

from bokeh.events import Tap

from dpml_app.core.card import Card, Results
from dpml_app.core.card_page import CardPage
from dpml_app.pages.train import shipped, words
from dpml_app.pages.train.accuracy import AccuracyCard, PartitionCard, SizeCard, ThresholdCard, WeightCard
from dpml_app.pages.train.best import BestCard
from dpml_app.pages.train.card import nearest
from dpml_app.pages.train.compute import nb_facts
from dpml_app.pages.train.controls import TrainControls
from dpml_app.pages.train.facts import TrainFacts
from dpml_app.pages.train.lesson_figures import figure, lesson_plot
from dpml_app.pages.train.linear_compute import linear_facts
from dpml_app.pages.train.methods_card import MethodsCard
from dpml_app.pages.train.parameters import ParametersCard
from dpml_app.pages.train.reg_lambda import LambdaCard
from dpml_app.pages.train.settings import TrainSettings, TrainValues
from dpml_app.pages.train.tuning import TuningCard
from dpml_app.pages.train.weights import WeightsCard
from dpml_app.settings import EPSILONS
from dpml_app.work.pool import Pool, Task


class TrainPage(CardPage[TrainValues, TrainFacts]):
    """The page of one session."""

    page_id = "train"
    title = "Classifiers"
    settings_kind, values_kind = TrainSettings, TrainValues
    lesson_plot, lesson_figures = staticmethod(lesson_plot), figure
    question = "Which method is most accurate for a given ε?"
    lead = "Drag <b>ε</b>: smaller means more privacy. Dot: mean. Bar: 90% of runs. Grey: without noise."
    settings: TrainSettings
    controls: TrainControls
    kinds = (
        MethodsCard,
        BestCard,
        AccuracyCard,
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
    main_card = "methods"
    details = ("best",)
    reload = frozenset({"dataset", "train_family"})

    def __init__(self, settings: TrainSettings, pool: Pool):
        super().__init__(settings, pool)
        self._open()

    def _open(self) -> None:
        """Fill the picture and its sentence with what ships, so that they come with the document."""
        values = self.values()
        self.pool.keep(shipped.results(values.dataset))
        main_card = self.cards[self.main_card]
        assert isinstance(main_card, MethodsCard)
        results = main_card.open(values)
        facts = shipped.first_facts(values.dataset)
        if results and facts is not None:
            self._opened = values.dataset
            self.headline.object = self.words(values, facts, {self.main_card: results})
            self._read_out(self.main_card, main_card.readout(values, facts, results))
        self.show_risk()

    def connect_card(self, card: Card[TrainValues, TrainFacts]) -> None:
        if isinstance(card, BestCard):
            figure = card.figure
            figure.marker.on_change("location", lambda _name, _old, new: self._choose(figure.moved(new)))
            figure.plot.on_event(Tap, lambda event: self._choose(event.x))

    def _choose(self, epsilon: float | None) -> None:
        """Take the ε to which the marker of the map was moved."""
        if epsilon is not None and epsilon > 0:
            self.settings.epsilon = nearest(EPSILONS, epsilon)

    def facts_task(self, values: TrainValues) -> Task:
        return Task(all_facts, (values.dataset, "linear" in values.families))

    async def facts(self, values: TrainValues) -> TrainFacts:
        """Return what is known of a data set, by the families that are shown."""
        self.pool.keep(shipped.results(values.dataset))
        facts = shipped.first_facts(values.dataset) or await self._call(nb_facts, values.dataset)
        if "linear" not in values.families:
            return facts
        return with_levels(facts, await self._call(linear_facts, values.dataset))

    def note(self, facts: TrainFacts) -> str:
        return words.dataset_note(facts)

    def words(self, values: TrainValues, facts: TrainFacts, results: Mapping[str, Results]) -> str:
        main_card = self.cards[self.main_card]
        assert isinstance(main_card, MethodsCard)
        rows = main_card.rows(values, facts, results.get(self.main_card, {}))
        return words.headline(values, facts, list(rows.values()))

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
