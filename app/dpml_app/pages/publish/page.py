"""The Synthetic data page: the utility of a synthetic table, beside that of models at the same ε.

Two speeds. What ships is in the document when it opens. All else comes from the worker processes in small tasks, that
of the chosen ε first; a newer request makes the older one stop.
"""

from collections.abc import Mapping
from typing import ClassVar

from dpml_app.core.card import Results, here
from dpml_app.core.card_page import CardPage
from dpml_app.data.facts import FirstFacts
from dpml_app.pages.publish import compute, shipped, words
from dpml_app.pages.publish.compute import PublishFacts
from dpml_app.pages.publish.controls import PublishControls
from dpml_app.pages.publish.curves import (
    ChoicesCard,
    ColumnsCard,
    GridsCard,
    ModelsCard,
    RecordsCard,
    RivalsCard,
    SharesCard,
    TimeCard,
)
from dpml_app.pages.publish.lesson_figures import figure, lesson_plot
from dpml_app.pages.publish.main_card import TablesCard
from dpml_app.pages.publish.release import CellsCard, ChancesCard, GridCard
from dpml_app.pages.publish.sensitivity import SensitivityCard
from dpml_app.pages.publish.settings import PublishSettings, PublishValues
from dpml_app.pages.publish.weights_cards import (
    WeightedClassifierCard,
    WeightsHistogramCard,
    WeightsPenaltyCard,
    WeightsPlaneCard,
    WeightsQueryCard,
    WeightsTablesCard,
    WeightsTaughtCard,
)
from dpml_app.work.pool import Pool


class PublishPage(CardPage[PublishValues, PublishFacts]):
    """The page of one session."""

    page_id = "publish"
    title = "Synthetic data"
    settings_kind, values_kind = PublishSettings, PublishValues
    lesson_plot, lesson_figures = staticmethod(lesson_plot), figure
    question = "How useful is a synthetic table at this ε?"
    lead = "Drag <b>ε</b>. Outlines: the non-private table."
    settings: PublishSettings
    facts_of = staticmethod(compute.facts)
    unsupported_reason = "is text, and this page needs a table"
    kinds = (
        *(TablesCard, GridCard, ChancesCard, ModelsCard, CellsCard, GridsCard, SharesCard, ColumnsCard),
        *(SensitivityCard, RivalsCard, RecordsCard, ChoicesCard, TimeCard),
        *(WeightsQueryCard, WeightsPenaltyCard, WeightsPlaneCard, WeightsHistogramCard),
        *(WeightedClassifierCard, WeightsTablesCard, WeightsTaughtCard),
    )
    sources = ("publish-state", "publish-work")
    readout_name = "publish-{}-readout"
    what = "tables"
    controls_kind = PublishControls
    main_card = "tables"
    details = ("grid", "chances")
    groups: ClassVar[dict[str, tuple[str, tuple[str, ...]]]] = {
        "publishers": ("Other methods", ("rivals", "records", "choices", "time")),
        "weights": ("Weighted public tables", tuple(k.name for k in kinds if k.name.startswith("weights-"))),
    }

    def __init__(self, settings: PublishSettings, pool: Pool):
        super().__init__(settings, pool)
        self._open()

    def _open(self) -> None:
        """Fill the picture and its sentence with what ships, so that they come with the document."""
        values = self.values()
        self.pool.keep(shipped.results(values.dataset))
        main_card = self.cards[self.main_card]
        assert isinstance(main_card, TablesCard)
        results = main_card.open(values)
        if results:
            self._opened = values.dataset
            facts = shipped.first_facts(values.dataset)
            assert facts is not None
            self.headline.object = self.words(values, facts, {self.main_card: results})
            self._read_out(self.main_card, main_card.readout(values, facts, results))
        self.show_risk()

    async def facts(self, values: PublishValues) -> PublishFacts:
        self.pool.keep(shipped.results(values.dataset))
        return await super().facts(values)

    def note(self, facts: PublishFacts) -> str:
        return words.dataset_note(facts)

    def offer(self, changed: set[str]) -> None:
        """Do nothing: no setting depends on the data set."""

    def words(self, values: PublishValues, facts: FirstFacts, results: Mapping[str, Results]) -> str:
        main_results = results.get(self.main_card, {})
        return words.headline(values, *(here(main_results, name) for name in ("table", "true", "drawn")))
