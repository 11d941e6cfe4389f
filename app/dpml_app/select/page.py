"""The Select page: private feature selection, from the weights of one feature to the accuracy of a classifier.

Three speeds. The browser draws ranked probabilities and coins. The server answers every change with words and with the
counts of the feature that is chosen. F1 and accuracy come from the worker processes; a newer request makes the older
one stop.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import panel as pn
from bokeh.models import ColumnDataSource, CustomJS
from panel.models.markup import HTML

from dpml_app.card import Slot, card, grid
from dpml_app.drawing.figure import script
from dpml_app.page import HEADLINE_STYLE, LatestPage, answer_threads
from dpml_app.select import compute, words
from dpml_app.select.controls import SelectControls
from dpml_app.select.figures import AccuracyFigure, F1Figure, FeatureFigure, WeightFigures
from dpml_app.select.settings import CALIBRATIONS, THRESHOLDS, SelectSettings
from dpml_app.select.sweep import SelectSweep
from dpml_app.settings import DATASETS
from dpml_app.text import dataset_note
from dpml_app.work.pool import Pool

__all__ = ["SelectPage"]

SCRIPT = script("drawing/kernels.js", "select/page.js")
_ANSWERS = answer_threads("select")
CARDS = ("mutual_information", "count", "coins", "feature", "f1", "accuracy")


class SelectPage(LatestPage):
    """The page of one session.

    Parameters
    ----------
    settings : SelectSettings
    pool : Pool
    """

    settings: SelectSettings
    work: SelectSweep
    datasets = DATASETS

    def __init__(self, settings: SelectSettings, pool: Pool):
        super().__init__(settings, pool)
        self.names = settings.select_names()
        self.weights, self.feature = WeightFigures(), FeatureFigure()
        self.f1, self.accuracy = F1Figure(), AccuracyFigure()
        self.controls = SelectControls(settings, self.report)
        self.work = SelectSweep(
            self.f1,
            self.accuracy,
            pool,
            spawn=self._spawn,
            hold=self._hold,
            failed=self._failed,
            on_show=self._show_readout,
        )
        self._facts: dict[str, Any] = {}
        self._axis = "", ""
        self._numbers = dict.fromkeys(THRESHOLDS, 0)
        self._build()
        for kind, source in self.weights.drawn.items():
            source.selected.on_change("indices", partial(self._tapped, kind))
        settings.param.watch(self._on_change, self.names)

    # ---- layout -------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        self.headline = pn.pane.HTML(
            "", sizing_mode="stretch_width", margin=(4, 16), stylesheets=[HEADLINE_STYLE], min_height=60
        )
        self.readouts = {
            name: HTML(text="", name=f"select-{name}-readout", sizing_mode="stretch_width") for name in CARDS
        }
        s = self.settings
        self.browser = ColumnDataSource(
            {"epsilon": [s.epsilon], "n_features": [s.n_features], "selection_share": [s.selection_share]},
            name="select-browser",
        )
        self.state = ColumnDataSource({"answers": [0]}, name="select-state")
        # a model is in the document once another one refers to it
        self.f1.plot.tags = [self.state, self.work.progress.state, self.browser, self.weights.now]
        arguments = {**self.weights.sources(), "controls": self.browser, "features_marker": self.accuracy.here}
        draw = CustomJS(args=arguments, code=SCRIPT)
        self.browser.js_on_change("data", draw)
        self.weights.now.js_on_change("data", draw)
        self.controls.tell_browser(self.browser)
        self.slots = []
        ranked = self.weights.ranked
        for title, name, content in (
            ("Who is chosen, by mutual information", "mutual_information", ranked["mutual_information"]),
            ("Who is chosen, by counts", "count", ranked["count"]),
            ("Scores against what one record can change", "coins", self.weights.coins),
            ("One feature", "feature", self.feature.plot),
            ("Above a threshold: is it the true set?", "f1", self.f1.plot),
            ("How many features are best", "accuracy", self.accuracy.plot),
        ):
            caption = words.CAPTIONS["mutual_information" if name == "count" else name]
            own = self.controls.cards.get(name)
            above = pn.Column(*own, sizing_mode="stretch_width", margin=0) if own else None
            make = partial(card, title, self.readouts[name], content, caption, above)
            self.slots.append(Slot(f"select-{name}", make))
        self.main = pn.Column(
            self.alerts,
            self.work.progress.below(self.headline),
            grid(self.slots),
            sizing_mode="stretch_width",
        )

    # ---- answers ------------------------------------------------------------------------------------------------

    def _tapped(self, kind: str, _attribute: str, _old: list[int], new: list[int]) -> None:
        """Show the feature whose dot was clicked."""
        if new:
            self.settings.select_feature = int(self.weights.shown[kind].data["index"][new[0]]) + 1

    def _index(self, values: dict[str, Any]) -> int:
        """Return the feature that is shown; by default the best one by counts."""
        return values["select_feature"] - 1 if values["select_feature"] else int(np.argmax(self._facts["count"]))

    async def _answer_once(self, changed: set[str]) -> None:
        if "dataset" in changed and not await self._load(self.settings.dataset):
            return
        if not self._facts or "dataset" in self._changed:
            return
        values = self.settings.select_values()  # loading may have lowered a setting
        index = self._index(values)
        found = await self._in_thread(_ANSWERS, self._compute, values, index)
        with self._hold():
            if {"dataset", "relation", "select_calibration", "select_feature"} & changed:
                self.weights.show_setting(self._facts, values["relation"], values["select_calibration"], index)
            self._show(values, index, found)
            self.work.request_setting(values, self._facts)
            self.state.data = {"answers": [self.state.data["answers"][0] + 1]}

    def _compute(self, values: dict[str, Any], index: int) -> dict[str, Any]:
        call = self.pool.cache.call
        name, relation, T = values["dataset"], values["relation"], values["n_features"]
        paid = values["epsilon"] * values["selection_share"]
        setting = relation, paid, T
        calibration = values["select_calibration"]
        return {
            "costs": {
                kind: {c: compute.true_cost(name, kind, c, *setting) for c in CALIBRATIONS} for kind in compute.KINDS
            },
            "inclusion": {
                (kind, c): call(compute.inclusion, name, kind, c, *setting)
                for kind in compute.KINDS
                for c in ("range", "per-feature")
            },
            "coins": {k: call(compute.coins, name, k, calibration, *setting) for k in compute.KINDS},
            "feature": call(compute.feature, name, index, relation),
            "true": call(compute.true_numbers, name, values["select_score"]),
        }

    def _show(self, values: dict[str, Any], index: int, found: dict[str, Any]) -> None:
        facts, paid = self._facts, values["epsilon"] * values["selection_share"]
        self.headline.object = words.headline(values, facts)
        self.accuracy.name_methods(values["select_methods"])
        for kind in compute.KINDS:
            p, T = found["inclusion"][kind, "range"], values["n_features"]
            best = compute.expected_best(facts[kind], p, T)
            self._read_out(kind, words.ranked_words(kind, paid, values, p, best, found["costs"][kind]))
        self._read_out("coins", words.coin_words(facts, values, found["coins"]))
        self._read_out("feature", words.feature_words(facts, index, found["feature"], found["inclusion"]))
        self.feature.show(facts["names"][index], facts["classes"], found["feature"])
        score, n_lower = values["select_score"], facts["n_lower"]
        self._numbers = dict(zip(THRESHOLDS, found["true"].tolist(), strict=True))
        _, unit = words.threshold_words(values, n_lower)
        thresholds = [compute.threshold_of(n_lower, score, share) for share in THRESHOLDS]
        if (values["dataset"], score) != self._axis:
            self._axis = values["dataset"], score
            self.f1.show_axis(thresholds, found["true"].tolist(), unit)
        self.f1.here.location = compute.threshold_of(n_lower, score, values["select_threshold"])
        self._show_readout("f1")
        self._show_readout("accuracy")

    def _show_readout(self, plot: str) -> None:
        """Say what is there of a plot's curves."""
        values, found = self.settings.select_values(), self.work.found(plot)
        if not self._facts:
            return
        if plot == "accuracy":
            self._read_out("accuracy", words.accuracy_words(values, self._facts, found))
            return
        share = values["select_threshold"]
        here = {rule: points[share] for rule, points in found.items() if share in points}
        self._read_out("f1", words.f1_words(values, self._facts["n_lower"], self._numbers[share], here))

    async def _load(self, name: str) -> bool:
        """Load a data set and lay the plots out for it; without it, say so and clear them."""
        facts = await self._facts_of(_ANSWERS, compute.facts, name)
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
            self.weights.show_dataset(facts)
            self.feature.show_dataset(facts["classes"], float(facts["n"].max()))
            self.accuracy.show_references(facts, compute.selector_ladder(facts["n_features"])[-1])
            s = self.settings
            self.browser.data = {
                "epsilon": [s.epsilon],
                "n_features": [s.n_features],
                "selection_share": [s.selection_share],
            }
        return True

    def _clear(self) -> None:
        self._facts, self._axis, self._numbers = {}, ("", ""), dict.fromkeys(THRESHOLDS, 0)
        self.work.clear()
        self.f1.clear()
        self.accuracy.clear()
        self.feature.bars.data = {c: [] for c in self.feature.bars.data}
        for source in [*self.weights.drawn.values(), *self.weights.mark.values(), self.weights.scores]:
            source.data = {c: [] for c in source.data}
        for name in self.readouts:
            self._read_out(name, "")
        self.controls.dataset_note.object = self.headline.object = ""
