"""The Classifiers page: private naive Bayes for every kind of data, and private linear models.

What is at the setting that is chosen is answered at once, in the server; the rest comes from the worker processes in
small tasks.
"""

from collections.abc import Mapping

import panel as pn
import panel_material_ui as pmui

from dpml.datasets import NAMES
from dpml_app.core.card import WHOLE, Results
from dpml_app.core.page import CardPage
from dpml_app.core.widgets import Controls, divider, note, words_of
from dpml_app.jobs import Pool, Task
from dpml_app.pages.train import text
from dpml_app.pages.train.compute import (
    RULE,
    TRAIN_LAMBDAS,
    TrainFacts,
    TrainSettings,
    TrainValues,
    all_facts,
    linear_facts,
    nb_facts,
    shipped_facts,
    shipped_results,
    with_levels,
)
from dpml_app.pages.train.figures import AccuracyCard, BestCard, LambdaCard, MethodsCard, ThresholdCard
from dpml_app.pages.train.lesson import FIGURES


class TrainControls(Controls):
    """All widgets: `side` and `advanced` are for beside the picture, `widgets` holds those of cards, too."""

    settings: TrainSettings
    datasets = NAMES
    most_classes = 100

    def middle(self) -> list:
        """Return the components of "Advanced" between relation and draws: methods, and controls of the family."""
        rule = words_of("return tick == 0 ? 'public rule' : String(tick)")
        begin = self.add("train_begin")
        naive = (
            self.add("train_methods"),
            note("✗: claim violated. Row-bounded, Algorithm 1 (Antonova 2016) and partitioned use binary columns."),
            divider(),
            self.add("train_noise"),
            self.add("train_trim", format=rule),
            note("Removed from each class before its mean (smooth sensitivity)."),
        )
        lambdas = {"public rule": RULE, **{f"{v:,g}": v for v in TRAIN_LAMBDAS}}
        linear = (
            self.add("train_linear"),
            note("All use binary columns. (ε, δ): a weaker guarantee, which may fail with probability δ."),
            divider(),
            self.add("train_lambda", options=lambdas),
            note("Weight of the penalty. Larger: less noise, simpler model. The public rule does not use the records."),
        )
        family = self.add("train_family", pmui.RadioBoxGroup, inline=True)
        self.columns = {"naive-bayes": pn.Column(*naive, **WHOLE), "linear": pn.Column(*linear, **WHOLE)}
        self._show_family()
        self.settings.param.watch(self._show_family, "train_family")
        return [begin, family, *self.columns.values()]

    def _show_family(self, *_events) -> None:
        shown = TrainValues.of(self.settings).families
        for family, column in self.columns.items():
            column.visible = family in shown

    def in_cards(self) -> None:
        self.add("train_measure", pmui.RadioBoxGroup, inline=True)

    def fit(self, facts: TrainFacts) -> str:
        return ""  # every setting fits every data set


class TrainPage(CardPage[TrainValues, TrainFacts]):
    """The page of one session."""

    page_id = "train"
    title = "Classifiers"
    settings_kind, values_kind = TrainSettings, TrainValues
    lesson_figures = FIGURES
    question = "Which method is most accurate for a given ε?"
    lead = "Drag <b>ε</b>: smaller means more privacy. Dot: mean. Bar: 90% of runs. Grey: without noise."
    settings: TrainSettings
    shipped_facts, shipped_results = staticmethod(shipped_facts), staticmethod(shipped_results)
    controls: TrainControls
    kinds = (MethodsCard, BestCard, AccuracyCard, ThresholdCard, LambdaCard)
    sources = ("train-state", "train-work")
    readout_name = "train-{}-readout"
    controls_kind = TrainControls
    main_card = "methods"
    details = ("best",)
    reload = frozenset({"dataset", "train_family"})

    def __init__(self, settings: TrainSettings, pool: Pool):
        super().__init__(settings, pool)
        self.fill()

    def facts_task(self, values: TrainValues) -> Task:
        return Task(all_facts, (values.dataset, "linear" in values.families))

    async def facts(self, values: TrainValues) -> TrainFacts:
        """Return what is known of a data set, by the families that are shown."""
        facts = shipped_facts(values.dataset) or await self._call(nb_facts, values.dataset)
        if "linear" not in values.families:
            return facts
        return with_levels(facts, await self._call(linear_facts, values.dataset))

    def note(self, facts: TrainFacts) -> str:
        return text.dataset_note(facts)

    def words(self, values: TrainValues, facts: TrainFacts, results: Mapping[str, Results]) -> str:
        main_card = self.cards[self.main_card]
        assert isinstance(main_card, MethodsCard)
        rows = main_card.rows(values, facts, results.get(self.main_card, {}))
        return text.headline(values, facts, list(rows.values()))
