"""The Publish page: what a published table is worth, and whether the same ε is better spent on a model.

Two speeds. What ships is in the document when it opens. All else comes from the worker processes in small chunks, that
of the chosen ε first; a newer request makes the older one stop.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpml_app.core.card import Results, Values, here
from dpml_app.core.card_page import CardPage
from dpml_app.pages.publish import compute, shipped, words
from dpml_app.pages.publish.controls import PublishControls
from dpml_app.pages.publish.curves import (
    ChoicesCard,
    ColumnsCard,
    GridsCard,
    RecordsCard,
    RivalsCard,
    SharesCard,
    TimeCard,
)
from dpml_app.pages.publish.hero import AccuracyCard
from dpml_app.pages.publish.machines_cards import (
    WeightsMachineCard,
    WeightsPlaneCard,
    WeightsTablesCard,
    WeightsTaughtCard,
)
from dpml_app.pages.publish.release import CellsCard, ChancesCard, GridCard
from dpml_app.pages.publish.sensitivity import SensitivityCard
from dpml_app.pages.publish.settings import MOST_COLUMNS, PUBLISH_DATASETS, PublishSettings
from dpml_app.pages.publish.weights_cards import WeightsHistogramCard, WeightsPenaltyCard, WeightsQueryCard
from dpml_app.work.pool import Chunk, Pool

__all__ = ["PublishPage"]


class PublishPage(CardPage):
    """The page of one session."""

    question = "Can the data be published?"
    lead = "Drag <b>ε</b>: left is more private."
    settings: PublishSettings
    datasets = PUBLISH_DATASETS
    unsupported_reason = f"has more than {MOST_COLUMNS} columns, and a published table tells few apart"
    room = "publish"
    kinds = (
        *(AccuracyCard, GridCard, ChancesCard, CellsCard, GridsCard, SharesCard, ColumnsCard, RecordsCard),
        *(RivalsCard, ChoicesCard, SensitivityCard, TimeCard),
        *(WeightsQueryCard, WeightsPenaltyCard, WeightsPlaneCard, WeightsHistogramCard),
        *(WeightsMachineCard, WeightsTablesCard, WeightsTaughtCard),
    )
    sources = ("publish-state", "publish-work")
    readout_name = "publish-{}-readout"
    what = "tables"
    controls_kind = PublishControls
    hero = "accuracy"
    why = ("grid", "chances")

    def __init__(self, settings: PublishSettings, pool: Pool):
        super().__init__(settings, pool)
        self._open()

    def _open(self) -> None:
        """Fill the picture and its sentence with what ships, so that they come with the document."""
        values = self.values()
        self.pool.keep(shipped.results(values["dataset"]))
        hero = self.cards[self.hero]
        assert isinstance(hero, AccuracyCard)
        found = hero.open(values)
        if found:
            self._opened = values["dataset"]
            facts = shipped.first_facts(values["dataset"])
            self.headline.object = self.words(values, facts, {self.hero: found})
            self._read_out(self.hero, hero.readout(values, facts, found))
        self.show_risk()

    def facts_chunk(self, values: Values) -> Chunk:
        return Chunk(compute.facts, (values["dataset"],))

    async def facts(self, name: str) -> Values:
        self.pool.keep(shipped.results(name))
        return await self._call(compute.facts, name)

    def note(self, facts: Values) -> str:
        return words.dataset_note(facts)

    def offer(self, changed: set[str]) -> None:
        """Do nothing: no setting depends on the data set."""

    def words(self, values: Values, facts: Values, results: Mapping[str, Results]) -> str:
        found = results.get(self.hero, {})
        models: dict[str, Any] = {name: here(found, name) for name in ("cells", "linear")}
        known = {name: draws for name, draws in models.items() if draws is not None}
        return words.headline(values, here(found, "table"), here(found, "true"), known)
