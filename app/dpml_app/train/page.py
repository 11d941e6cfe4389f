"""The Train page: private naive Bayes for every kind of data, and private linear models.

It knows its panels by `dpml_app.train.panel.TrainPanel` alone: another one is a file and a line in `PANELS`. What is at
the setting that is chosen is answered at once, in the server; the rest comes from the worker processes in small chunks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import panel as pn
from bokeh.models import ColumnDataSource
from panel.models.markup import HTML

from dpml_app.card import AT_ONCE, Slot, card, figure_pane, grid, line
from dpml_app.page import HEADLINE_STYLE, LatestPage, answer_threads
from dpml_app.train import words as train_words
from dpml_app.train.accuracy import AccuracyPanel
from dpml_app.train.compute import nb_facts
from dpml_app.train.controls import TrainControls
from dpml_app.train.linear_compute import linear_facts
from dpml_app.train.methods import families
from dpml_app.train.panel import NOW, SOON, Place, TrainPanel
from dpml_app.train.parameters import ParametersPanel
from dpml_app.train.partition import PartitionPanel
from dpml_app.train.reg_lambda import LambdaPanel
from dpml_app.train.settings import TrainSettings
from dpml_app.train.size import SizePanel
from dpml_app.train.threshold import ThresholdPanel
from dpml_app.train.tuning import TuningPanel
from dpml_app.train.weight import WeightPanel
from dpml_app.train.weights import WeightsPanel
from dpml_app.work.pool import Chunk, Pool
from dpml_app.work.train import TrainWork

__all__ = ["TrainPage"]

PANELS: tuple[type[TrainPanel], ...] = (
    AccuracyPanel,
    SizePanel,
    WeightPanel,
    ThresholdPanel,
    PartitionPanel,
    ParametersPanel,
    LambdaPanel,
    WeightsPanel,
    TuningPanel,
)
_ANSWERS = answer_threads("train")
# a slider that is being dragged should not fade and start curves at every step
DELAY = 0.15


class TrainPage(LatestPage):
    """The page of one session.

    Parameters
    ----------
    settings : TrainSettings
    pool : Pool
    """

    settings: TrainSettings
    work: TrainWork

    def __init__(self, settings: TrainSettings, pool: Pool):
        super().__init__(settings, pool)
        self.names = settings.train_names()
        self._values: Mapping[str, Any] = {}
        self._facts: Mapping[str, Any] = {}
        self._wanted: dict[str, dict[Place, Chunk]] = {}
        # those of the families that have been shown: the figures of both would take twice as long to open
        self.panels: dict[str, TrainPanel] = {}
        self.controls = TrainControls(settings, self.report)
        self.work = TrainWork(pool, spawn=self._spawn, hold=self._hold, show=self._arrived, failed=self._failed)
        self.state = ColumnDataSource({"answers": [0]}, name="train-state")
        self._build()
        settings.param.watch(self._on_change, self.names)

    # ---- layout -------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        self.headline = pn.pane.HTML(
            "", sizing_mode="stretch_width", margin=(4, 16), stylesheets=[HEADLINE_STYLE], min_height=92
        )
        self.readouts = {}
        self.contents: dict[str, pn.Column] = {}
        self.slots: list[Slot] = []
        self.grid = grid(self.slots)
        self.main = pn.Column(
            self.alerts, self.work.progress.below(self.headline), self.grid, sizing_mode="stretch_width"
        )
        self._make_panels(families(self.settings.train_values()))
        self._offer_family(families(self.settings.train_values()))
        # a model is in the document once another one refers to it
        self.panels[AccuracyPanel.name].plots[0].tags = [self.state, self.work.progress.state]

    def _make_panels(self, shown: tuple[str, ...]) -> None:
        """Make the panels of these families that are not there yet."""
        for kind in PANELS:
            if set(kind.families) & set(shown) and kind.name not in self.panels:
                self.panels[kind.name] = kind()

    def _slot(self, panel: TrainPanel) -> Slot:
        self.readouts[panel.name] = HTML(text="", name=f"train-{panel.name}-readout", sizing_mode="stretch_width")
        self.contents[panel.name] = content = pn.Column(sizing_mode="stretch_width", margin=0)

        def make() -> pn.Column:
            content.objects = [figure_pane(plot) for plot in panel.plots]
            own = [self.controls.widgets[name] for name in panel.above]
            above = line(*own) if own else None
            return card(panel.title, self.readouts[panel.name], content, panel.caption, above)

        return Slot(f"train-{panel.name}", make, wide=panel.wide)

    # ---- answers ------------------------------------------------------------------------------------------------

    async def _answer_once(self, changed: set[str]) -> None:
        if {"dataset", "train_family"} & changed and not await self._load(self.settings.dataset):
            return
        if not self._facts or "dataset" in self._changed:
            return  # nothing to show, or another data set was chosen while this one was loaded
        if {"dataset", "train_model"} & changed:
            with self._hold():
                self._offer_features()
        values, facts = self.settings.train_values(), self._facts  # offering may have changed a setting
        self._make_panels(families(values))
        shown = {name for name, panel in self.panels.items() if set(panel.families) & set(families(values))}
        refused = {name: self.panels[name].refusal(values, facts) for name in shown}
        wanted = {
            name: panel.work(values, facts) if name in shown and not refused[name] else {}
            for name, panel in self.panels.items()
        }
        now = {name: {p: c for p, c in work.items() if p[1] == NOW} for name, work in wanted.items()}
        call, at_once = self.pool.cache.call, {chunk for work in now.values() for chunk in work.values()}
        self.work.stop()
        await asyncio.gather(*(self._in_thread(_ANSWERS, call, c.function, *c.arguments) for c in at_once))
        if self._doc is None:
            return
        self._values = values
        with self._hold():
            self._offer_family(families(values))
            for name, panel in self.panels.items():
                if name not in shown:
                    panel.clear()
                    continue
                self.contents[name].visible = not refused[name]
                if refused[name]:
                    panel.clear()
                    self._read_out(name, f"Not for this choice: {refused[name]}")
                    continue
                results = self._kept({p: c for p, c in wanted[name].items() if p[1] in (NOW, SOON)})
                panel.prepare(values, facts, results)
                if results:
                    self._read_out(name, panel.readout(values, facts, results))
            self.headline.object = train_words.headline(values, facts)
        self._spawn(self._draw_curves(values, wanted))

    async def _draw_curves(self, values: Mapping[str, Any], wanted: dict[str, dict[Place, Chunk]]) -> None:
        """Fade what the setting outdates and have it computed, once no newer setting follows at once."""
        if self._missing(wanted):
            await asyncio.sleep(DELAY)
        if values is not self._values or self._doc is None:
            return
        try:
            with self._hold():
                before, self._wanted = self._wanted, wanted
                for name, work in wanted.items():
                    self.panels[name].outdate(_outdated(before.get(name, {}), work))
                self._show(set(wanted))
                self.work.request(self._missing(wanted))
                self.state.data = {"answers": [self.state.data["answers"][0] + 1]}
        except Exception as error:
            with self._hold():
                self._failed("Curves", error)

    async def _load(self, name: str) -> bool:
        """Load a data set and lay the controls out for it; without it, say so and clear the plots."""
        try:
            facts = await self._in_thread(_ANSWERS, self.pool.cache.call, nb_facts, name)
            if "linear" in families(self.settings.train_values()):
                facts = _with(facts, await self._in_thread(_ANSWERS, self.pool.cache.call, linear_facts, name))
        except Exception as error:
            self._facts, self._wanted = {}, {}
            with self._hold():
                self.work.nothing()
                for panel in self.panels.values():
                    panel.clear()
                self._failed("Data set", error)
                self.headline.object = "<p>Nothing to show for this data set.</p>"
                self.controls.dataset_note.object = ""
            return False
        if facts["name"] == self._facts.get("name"):
            self._facts = facts  # another family on the same data: what is drawn of both stays
            return True
        self._facts = facts
        with self._hold():
            self.clear("Data set")
            for panel in self.panels.values():
                panel.clear()
            self._wanted = {}
            self.controls.dataset_note.object = train_words.dataset_note(facts)
        return True

    def _offer_family(self, shown: tuple[str, ...]) -> None:
        """Show the controls and panels of these families."""
        self.controls.show(shown)
        new = [panel for panel in self.panels.values() if panel.name not in self.contents]
        if new:
            self.slots.extend(self._slot(panel) for panel in new)
            if len(self.slots) == len(new):
                for place in self.slots[:AT_ONCE]:
                    place.mount()
            self.grid.objects = self.slots
        for place, panel in zip(self.slots, self.panels.values(), strict=True):
            place.visible = bool(set(panel.families) & set(shown))
        self.on_places()

    def _offer_features(self) -> None:
        lowered = self.controls.fit(self._facts)
        if lowered:
            self.report("lowered", lowered, "info")
        else:
            self.clear("lowered")

    # ---- results ------------------------------------------------------------------------------------------------

    def _missing(self, wanted: Mapping[str, Mapping[Place, Chunk]]) -> list[Chunk]:
        """Return the chunks without a result, each once.

        First those of the setting that is chosen, then panel by panel, then the panels that can wait.
        """
        first: list[Chunk] = []
        then: list[Chunk] = []
        last: list[Chunk] = []
        for name, work in wanted.items():
            for place, chunk in work.items():
                (last if self.panels[name].patient else first if place[1] == SOON else then).append(chunk)
        chunks = dict.fromkeys([*first, *then, *last])
        return [chunk for chunk in chunks if self.pool.cache.get(chunk.key) is None]

    def _kept(self, work: Mapping[Place, Chunk]) -> dict[Place, Any]:
        """Return the results that are there."""
        kept = {place: self.pool.cache.get(chunk.key) for place, chunk in work.items()}
        return {place: result for place, result in kept.items() if result is not None}

    def _arrived(self, chunks: set[Chunk]) -> None:
        self._show({name for name, work in self._wanted.items() if chunks & set(work.values())})

    def _show(self, names: set[str]) -> None:
        for name in names:
            work = self._wanted.get(name)
            if not work:
                continue
            results = self._kept(work)
            self.panels[name].show(results, work)
            self._read_out(name, self.panels[name].readout(self._values, self._facts, results))


def _with(facts: Mapping[str, Any], more: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    """Return facts with more levels in them."""
    return {**facts, **{measure: {**facts[measure], **levels} for measure, levels in more.items()}}


def _outdated(before: Mapping[Place, Chunk], now: Mapping[Place, Chunk]) -> set[str]:
    """Return the series of which anything but the place that is chosen has changed."""
    old, new = ({(p, c) for p, c in work.items() if p[1] not in (NOW, SOON)} for work in (before, now))
    return {place[0] for place, _chunk in old ^ new}
