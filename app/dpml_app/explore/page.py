"""The Explore page: what goes where, and what is computed when a control changes.

Three speeds. The browser draws the selection probabilities and moves the markers. The server answers every change with
the values at the current setting. Curves and map come from the worker processes, in small chunks; a newer request makes
the older one stop.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import numpy as np
import panel as pn
from bokeh.models import ColumnDataSource, CustomJS
from panel.models.markup import HTML

from dpml_app import data
from dpml_app.card import Slot, card, grid
from dpml_app.drawing.figure import script
from dpml_app.explore import compute, words
from dpml_app.explore.controls import Controls
from dpml_app.explore.curves import Curves, statistic_key
from dpml_app.explore.figures import AccuracyFigure, MapFigure, RocFigure, SelectionFigure
from dpml_app.explore.settings import ExploreSettings
from dpml_app.page import HEADLINE_STYLE, LatestPage, answer_threads
from dpml_app.settings import DATASETS, SWEEP_EPSILONS
from dpml_app.text import dataset_note
from dpml_app.work.pool import Chunk, Pool

__all__ = ["ExplorePage"]

SCRIPT = script("drawing/kernels.js", "explore/page.js")
_ANSWERS = answer_threads("answers")


class ExplorePage(LatestPage):
    """The page of one session.

    Parameters
    ----------
    settings : ExploreSettings
    pool : Pool
    """

    settings: ExploreSettings
    work: Curves
    datasets = DATASETS

    def __init__(self, settings: ExploreSettings, pool: Pool):
        super().__init__(settings, pool)
        self.names = settings.explore_names()
        self.accuracy, self.selection = AccuracyFigure(), SelectionFigure()
        self.roc, self.map = RocFigure(), MapFigure()
        self.controls = Controls(settings, self.report)
        self.work = Curves(
            self.accuracy,
            self.map,
            pool,
            spawn=self._spawn,
            hold=self._hold,
            failed=self._failed,
            on_map=self._show_map_readout,
        )
        self._facts: dict[str, Any] = {}
        self._now: tuple[dict, dict] = {}, {}
        self._build()
        settings.param.watch(self._on_change, self.names)

    # ---- layout -------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        self.headline = pn.pane.HTML(
            "", sizing_mode="stretch_width", margin=(4, 16), stylesheets=[HEADLINE_STYLE], min_height=92
        )
        # Panel's own HTML model: setting a Bokeh Div lays the whole page out again (measured: 6 ms each)
        self.readouts = {
            name: HTML(text="", name=f"{name}-readout", sizing_mode="stretch_width", styles={"padding-left": "7px"})
            for name in ("accuracy", "roc", "selection", "map")
        }
        self.browser = ColumnDataSource(
            {"epsilon": [self.settings.epsilon], "n_features": [20], "selection_share": [0.5]}, name="browser-controls"
        )
        self.state = ColumnDataSource({"answers": [0]}, name="answer-state")
        # a model is in the document once another one refers to it
        self.accuracy.plot.tags = [self.state, self.work.progress.state, self.browser, self.selection.unit]
        self._connect_browser()
        self.slots = []
        for title, plot, name in (
            ("Accuracy against ε", self.accuracy.plot, "accuracy"),
            ("Private ROC curve", self.roc.plot, "roc"),
            ("Which features a private choice takes", self.selection.plot, "selection"),
            ("How many features, at which ε", self.map.plot, "map"),
        ):
            make = partial(card, title, self.readouts[name], plot, words.CAPTIONS[name])
            self.slots.append(Slot(f"explore-{name}", make))
        self.main = pn.Column(
            self.alerts,
            self.work.progress.below(self.headline),
            grid(self.slots),
            sizing_mode="stretch_width",
        )

    def _connect_browser(self) -> None:
        draw = CustomJS(
            args={
                "controls": self.browser,
                "scores": self.selection.scores,
                "shown": self.selection.shown,
                "unit": self.selection.unit,
                "selection": self.selection.drawn,
                "uniform": self.selection.uniform,
                "readout": self.readouts["selection"],
                "accuracy_marker": self.accuracy.marker,
                "map_current": self.map.current,
            },
            code=SCRIPT,
        )
        self.browser.js_on_change("data", draw)
        self.selection.unit.js_on_change("data", draw)
        self.controls.tell_browser(self.browser)

    # ---- the current setting ------------------------------------------------------------------------------------

    async def _answer_once(self, changed: set[str]) -> None:
        values = self.settings.explore_values()
        if "dataset" in changed and not await self._load(values["dataset"]):
            return
        if not self._facts:
            return
        if "dataset" in self._changed:
            return  # another one was chosen while this one was loaded
        values = self.settings.explore_values()  # loading may have lowered a setting
        if {"dataset", "relation"} & changed:
            unit = self._facts["unit"]
            with self._hold():
                self.selection.show_unit(*(unit[k, values["relation"]] for k in ("count", "mutual_information")))
        if self.headline.object == "":
            with self._hold():
                self.headline.object = words.headline(values, self._facts, {})
        keys = {m: ExploreSettings.accuracy_key(values, m, values["epsilon"]) for m in data.METHODS}
        slow = {m: statistic_key(values, m, values["epsilon"]) for m in data.METHODS}
        late = {m: keys[m] for m in data.METHODS if not data.is_here(slow[m])}
        ready = {m: keys[m] for m in data.METHODS if m not in late}
        found, roc = await self._compute(ready, None if "row-bounded" in late else ExploreSettings.roc_key(values))
        with self._hold():
            self._show_answer(values, found, roc, complete=not late)
            for method in late:
                self.accuracy.clear_now(method)
            if "row-bounded" in late:
                self.roc.clear()
                self._read_out("roc", "Computing…")
            self.work.request_setting(values, data.feature_ladder(self._facts["n_features"]))
        if late:
            # some statistic takes long the first time: the page does not wait for it, nor does the next answer
            self._spawn(self._answer_late(values, found, late, [slow[m] for m in late]))

    async def _answer_late(self, values: dict[str, Any], found: dict, late: dict[str, tuple], missing: list) -> None:
        """Show what had to wait for a statistic, unless the setting has changed meanwhile."""
        try:
            for key in missing:
                chunk = Chunk(data.statistic, key)
                made = await (
                    self.pool.result(chunk) if self.pool.warm else self._in_thread(_ANSWERS, data.statistic, *key)
                )
                data.adopt(key, made)
                if values != self.settings.explore_values() or self._doc is None:
                    return
            roc_key = ExploreSettings.roc_key(values) if "row-bounded" in late else None
            more, roc = await self._compute(late, roc_key)
        except Exception as error:
            with self._hold():
                self._failed("Values at this ε", error, topic="answer")
            return
        if values == self.settings.explore_values() and self._doc is not None:
            with self._hold():
                self._show_answer(values, {**found, **more}, roc, complete=True)

    async def _compute(self, keys: dict[str, tuple], roc_key: tuple | None) -> tuple[dict, dict | None]:
        call = self.pool.cache.call
        jobs = [self._in_thread(_ANSWERS, call, data.accuracy, *key) for key in keys.values()]
        if roc_key is not None:
            jobs.append(self._in_thread(_ANSWERS, call, compute.roc, *roc_key))
        results = await asyncio.gather(*jobs)
        return dict(zip(keys, results, strict=False)), None if roc_key is None else results[-1]

    def _show_answer(self, values, found, roc, complete: bool) -> None:
        for method, draws in found.items():
            self.accuracy.show_now(method, values["epsilon"], draws)
        if roc is not None:
            self.roc.show(roc)
            self._read_out("roc", words.roc_readout(roc))
        if complete:
            self.headline.object = words.headline(values, self._facts, found)
            self._read_out("accuracy", words.accuracy_readout(values["epsilon"], found))
            self._now = values, found
            self._show_map_readout()
            self.state.data = {"answers": [self.state.data["answers"][0] + 1]}

    async def _load(self, name: str) -> bool:
        """Load a data set and lay the plots out for it; without it, say so and clear them."""
        facts = await self._facts_of(_ANSWERS, data.facts, name)
        if facts is None:
            return False
        self._facts = facts
        with self._hold():
            self.clear("Data set")
            bounds = facts["n_features"], facts["row_bound"] or facts["n_features"]
            lowered = self.settings.fit(*bounds)
            self.controls.fit(*bounds)
            if lowered:
                self.report("lowered", " ".join(lowered), "info")
            else:
                self.clear("lowered")
            self.controls.dataset_note.object = dataset_note(facts)
            for reference in ("majority", "non_private"):
                source = self.accuracy.references[reference]
                source.data = {**source.data, "y": [facts[reference]] * 2}
            self.map.start(
                SWEEP_EPSILONS,
                data.feature_ladder(facts["n_features"]),
                *sorted((facts["majority"], facts["non_private"])),
            )
            self.selection.show_dataset(facts["names"], facts["count"], facts["mutual_information"])
            s = self.settings
            self.browser.data = {
                "epsilon": [s.epsilon],
                "n_features": [s.n_features],
                "selection_share": [s.selection_share],
            }
        return True

    def _clear(self) -> None:
        self.work.clear()
        self._facts, self._now = {}, ({}, {})
        f = self.accuracy
        for band in f.bands.values():
            band.clear()
        sources = [*f.now.values(), self.map.cells, self.map.best, self.selection.drawn]
        self.roc.clear()
        for source in sources:
            source.data = {column: [] for column in source.data}
        for source in f.references.values():
            source.data = {**source.data, "y": [np.nan, np.nan]}
        for name in self.readouts:
            self._read_out(name, "")
        self.headline.object = ""

    def _show_map_readout(self) -> None:
        values, found = self._now
        best = self.map.best.data
        if values and len(best["epsilon"]) and values["map_score"] in found:
            self._read_out("map", words.map_readout(values, best, found[values["map_score"]]))
        else:
            self._read_out("map", "")
