"""The Classifiers page: private naive Bayes for every kind of data, and private linear models.

What is at the setting that is chosen is answered at once, in the server; the rest comes from the worker processes in
small tasks.
"""

from collections.abc import Mapping

from dpml.datasets import NAMES
from dpml_app.core.card import Results
from dpml_app.core.page import CardPage
from dpml_app.core.widgets import Controls, note
from dpml_app.pages.train import text
from dpml_app.pages.train.compute import (
    RULE,
    TRAIN_LAMBDAS,
    TRAIN_TRIMS,
    TrainFacts,
    TrainSettings,
    TrainValues,
    known_facts,
    shipped_facts,
    shipped_results,
)
from dpml_app.pages.train.figures import AccuracyCard, LambdaCard, MethodsCard, ThresholdCard
from dpml_app.pages.train.lesson import FIGURES


class TrainControls(Controls):
    """All widgets: `side` and `advanced` are for beside the picture, `widgets` holds those of cards, too."""

    settings: TrainSettings
    datasets = NAMES
    most_classes = 100

    def middle(self) -> list:
        """Return the components of "Advanced" between relation and draws."""
        marks = "✗: claim violated. (ε, δ): a weaker guarantee, which may fail with probability δ."
        trims = {"public rule": 0, **{str(trim): trim for trim in TRAIN_TRIMS}}
        return [self.add("train_methods"), note(marks), self.add("train_trim", options=trims)]

    def in_cards(self) -> None:
        self.add("train_lambda", options={"public rule": RULE, **{f"{v:,g}": v for v in TRAIN_LAMBDAS}})


class TrainPage(CardPage[TrainValues, TrainFacts]):
    """The page of one session."""

    page_id = "train"
    title = "Classifiers"
    settings_kind, values_kind = TrainSettings, TrainValues
    lesson_figures = FIGURES
    question = "Which method is most accurate for a given ε?"
    lead = "Drag <b>ε</b>: smaller means more privacy. Dot: mean. Bar: 90% of runs. Grey: without noise."
    settings: TrainSettings
    facts_of, note = staticmethod(known_facts), staticmethod(text.dataset_note)
    shipped_facts, shipped_results = staticmethod(shipped_facts), staticmethod(shipped_results)
    controls: TrainControls
    kinds = (MethodsCard, AccuracyCard, ThresholdCard, LambdaCard)
    controls_kind = TrainControls
    main_card = "methods"
    details = ("threshold",)

    def words(self, values: TrainValues, facts: TrainFacts, results: Mapping[str, Results]) -> str:
        main_card = self.cards[self.main_card]
        assert isinstance(main_card, MethodsCard)
        rows = main_card.rows(values, facts, results.get(self.main_card, {}))
        return text.headline(values, facts, list(rows.values()))
