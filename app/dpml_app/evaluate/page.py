"""The Evaluate page: how good a classifier is, told by one private release, and what an exact curve would give away.

Three speeds. The browser draws the private ROC curves of the default bins. The server answers every change with the
numbers of a release and the attack on it. Stoddard et al.'s curves, errors, comparisons and simulated attacks come from
the worker processes; a newer request makes the older one stop.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import numpy as np
import panel as pn
from bokeh.models import ColumnDataSource, CustomJS
from panel.models.markup import HTML

from dpml.evaluation import roc_thresholds
from dpml.evaluation.histogram import LOWERED, SENSITIVITY
from dpml_app.card import Slot, card, grid
from dpml_app.drawing.figure import empty_source, script
from dpml_app.evaluate import attack as attacks
from dpml_app.evaluate import compute, numbers, words
from dpml_app.evaluate.controls import EvaluateControls
from dpml_app.evaluate.figures import (
    PRIVATE_ROWS,
    AttackFigure,
    CalibrationFigure,
    IntervalFigure,
    RecallFigure,
    RocFigure,
    SuccessFigure,
    error_figure,
    gap_figure,
    size_figure,
    sure_figure,
)
from dpml_app.evaluate.settings import SIZES, EvaluateSettings
from dpml_app.evaluate.sweep import EvaluateSweep
from dpml_app.page import HEADLINE_STYLE, LatestPage, answer_threads
from dpml_app.settings import DATASETS, SWEEP_EPSILONS
from dpml_app.text import dataset_note
from dpml_app.work.pool import Pool
from dpml_app.work.sweep import SWEEP_DELAY

__all__ = ["EvaluatePage"]

SCRIPT = script("drawing/kernels.js", "evaluate/page.js")
_ANSWERS = answer_threads("evaluate")
JUDGED = {"dataset", "evaluate_classifier", "evaluate_weakened"}
CARDS = ("roc", "numbers", "recall", "calibration", "errors", "sizes", "compare", "sure", "attack", "success")


class EvaluatePage(LatestPage):
    """The page of one session.

    Parameters
    ----------
    settings : EvaluateSettings
    pool : Pool
    """

    settings: EvaluateSettings
    work: EvaluateSweep
    datasets = DATASETS

    def __init__(self, settings: EvaluateSettings, pool: Pool):
        super().__init__(settings, pool)
        self.names = settings.evaluate_names()
        self.roc, self.intervals, self.recall = RocFigure(), IntervalFigure(), RecallFigure()
        self.calibration = CalibrationFigure(roc_thresholds(**compute.SCALE))
        self.errors, self.sizes = error_figure(), size_figure(SIZES)
        self.gap, self.sure = gap_figure(), sure_figure()
        self.attack, self.success = AttackFigure(attacks.ATTACKED), SuccessFigure()
        self.controls = EvaluateControls(settings, self.report)
        figures = (self.roc, self.errors, self.sizes, self.gap, self.sure, self.success)
        self.work = EvaluateSweep(
            *figures, pool, spawn=self._spawn, hold=self._hold, failed=self._failed, on_show=self._show_readout
        )
        self._facts: dict[str, Any] = {}
        # the setting that is shown, and the one whose curves are there or asked for
        self._values: dict[str, Any] = {}
        self._requested: dict[str, Any] = {}
        self._true_auc = self._true_gap = 0.0
        self._areas = np.zeros(1)
        self._build()
        settings.param.watch(self._on_change, self.names)

    # ---- layout -------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        self.headline = pn.pane.HTML(
            "", sizing_mode="stretch_width", margin=(4, 16), stylesheets=[HEADLINE_STYLE], min_height=92
        )
        self.readouts = {
            name: HTML(text="", name=f"evaluate-{name}-readout", sizing_mode="stretch_width") for name in CARDS
        }
        self.browser = ColumnDataSource({"epsilon": [self.settings.epsilon]}, name="evaluate-browser")
        self.state = ColumnDataSource({"answers": [0]}, name="evaluate-state")
        self.counts = empty_source("evaluate-counts", "negatives", "positives")
        self.noise = empty_source("evaluate-noise", "unit")
        self.now = empty_source("evaluate-now", "serial", "sensitivity", "lowered", "shown")
        axis = ColumnDataSource({"fpr": compute.GRID}, name="evaluate-grid")
        arguments = {
            "controls": self.browser,
            "counts": self.counts,
            "noise": self.noise,
            "now": self.now,
            "grid": axis,
            "band": self.roc.bands["histogram"],
            "faint": self.roc.faint["histogram"],
            "errors_marker": self.errors.here,
            "gap_marker": self.gap.here,
            "sure_marker": self.sure.here,
            "attack_marker": self.success.here,
        }
        # a model is in the document once another one refers to it
        self.roc.plot.tags = [self.state, self.work.progress.state, *arguments.values()]
        draw = CustomJS(args=arguments, code=SCRIPT)
        self.browser.js_on_change("data", draw)
        self.now.js_on_change("data", draw)
        self.controls.tell_browser(self.browser)
        self.slots = []
        for title, name, figure in (
            ("Private ROC curves", "roc", self.roc),
            ("What one release tells", "numbers", self.intervals),
            ("Precision and recall", "recall", self.recall),
            ("Does it mean what it says?", "calibration", self.calibration),
            ("Error against ε", "errors", self.errors),
            ("Error against the number of bins", "sizes", self.sizes),
            ("Which of two classifiers is better?", "compare", self.gap),
            ("How sure can one be?", "sure", self.sure),
            ("The attack on an exact curve", "attack", self.attack),
            ("How often the attacker is right", "success", self.success),
        ):
            own = self.controls.cards.get(name)
            above = pn.Column(*own, sizing_mode="stretch_width", margin=0) if own else None
            make = partial(card, title, self.readouts[name], figure.plot, words.CAPTIONS[name], above)
            self.slots.append(Slot(f"evaluate-{name}", make))
        self.main = pn.Column(
            self.alerts,
            self.work.progress.below(self.headline),
            grid(self.slots),
            sizing_mode="stretch_width",
        )

    # ---- answers ------------------------------------------------------------------------------------------------

    async def _answer_once(self, changed: set[str]) -> None:
        if "dataset" in changed and not await self._load(self.settings.dataset):
            return
        if not self._facts or "dataset" in self._changed:
            return
        values = self.settings.evaluate_values()
        found = await self._in_thread(_ANSWERS, self._compute, values)
        with self._hold():
            self._send(values, changed, found)
            self._show(values, found)
        self._values = values
        self._spawn(self._request(values))

    async def _request(self, values: dict[str, Any]) -> None:
        """Fade what the setting outdates and have it computed, once no newer setting follows at once."""
        await asyncio.sleep(SWEEP_DELAY)
        if values is not self._values or self._doc is None:
            return
        self._requested = values
        with self._hold():
            self.work.request_setting(values)
            for plot in ("roc", "sizes", "compare"):
                self._show_readout(plot)
            self.state.data = {"answers": [self.state.data["answers"][0] + 1]}

    def _compute(self, values: dict[str, Any]) -> dict[str, Any]:
        key, cut = self.settings.classifier_key(values), values["evaluate_cut"]
        chosen = values["relation"], values["epsilon"], values["draws"], values["seed"]
        released = compute.evaluation(*key, *chosen)
        rival = self.settings.classifier_key(values, "B")
        return {
            "counts": compute.exact_counts(*key),
            "curve": compute.thinned(compute.exact_curve(*key)),
            "true": numbers.true_figures(*key, cut),
            "one": numbers.intervals(released, cut),
            "every_area": released.roc_auc(),
            "areas": numbers.areas(released),
            "binned": numbers.exact_evaluation(*key).roc_auc(),
            "confusion": released.confusion_matrix(cut),
            "true_recall": numbers.true_recall(*key),
            "recall": numbers.recall(released),
            "true_calibration": numbers.true_calibration(*key),
            "calibration": numbers.calibration(released),
            "n_std": released.calibration_curve().n_std,
            "gap": compute.true_difference(values["evaluate_metric"], values["dataset"], key[1:], rival[1:], cut),
            "labels": compute.labels(key[0])[attacks.victims(*key)],
            "exact_attack": attacks.exact_attack(*key),
            "private_attack": attacks.private_attack(released, *key, values["seed"]),
            "lines": attacks.attack_lines(values["relation"], SWEEP_EPSILONS),
        }

    def _send(self, values: dict[str, Any], changed: set[str], found: dict[str, Any]) -> None:
        """Send the browser what it draws curves from, as far as it has changed."""
        shown = "histogram" in values["evaluate_methods"]
        if changed & JUDGED:
            self.counts.data = {"negatives": found["counts"][0], "positives": found["counts"][1]}
            self.roc.show_exact(*found["curve"])
        if changed & {"draws", "seed"}:
            self.noise.data = {"unit": compute.unit_noise(values["draws"], values["seed"]).ravel()}
        if changed & {*JUDGED, "draws", "seed", "relation", "evaluate_methods"}:
            serial = self.now.data["serial"][0] + 1 if len(self.now.data["serial"]) else 0
            data = {"serial": [serial], "sensitivity": [SENSITIVITY[values["relation"]]], "lowered": [LOWERED]}
            self.now.data = {**data, "shown": [int(shown)]}

    def _show(self, values: dict[str, Any], found: dict[str, Any]) -> None:
        facts, true = self._facts, found["true"]
        self._true_auc, self._true_gap, self._areas = true["roc_auc"], found["gap"], found["every_area"]
        self.headline.object = words.headline(values, facts)
        for figure in (self.roc, self.errors, self.sizes):
            figure.name_methods(values["evaluate_methods"])
        auc, low, high = found["areas"]
        holds = self.intervals.show(self._true_auc, found["binned"], auc, low, high), len(auc)
        self._read_out("numbers", words.number_words(values, facts, true, found["one"], found["confusion"], holds))
        recall, precision, average = found["true_recall"]
        self.recall.show((recall, precision), found["recall"])
        self._read_out("recall", words.recall_words(average, found["recall"]["average"]))
        self.calibration.show(found["true_calibration"], found["calibration"], found["n_std"])
        self._read_out("calibration", words.calibration_words(found["true_calibration"], found["n_std"]))
        self.gap.levels["true"].location = self._true_gap
        self._fit_gap(values)
        right = found["private_attack"] == found["labels"]
        exact = int(np.sum(found["exact_attack"] == found["labels"])), len(found["labels"])
        rows = found["private_attack"][:PRIVATE_ROWS]
        self.attack.show(found["labels"], found["exact_attack"], rows, facts["classes"])
        self._read_out("attack", words.attack_words(values, exact, right.mean(axis=1)))
        self.success.show_lines(SWEEP_EPSILONS, found["lines"])
        self._read_out("success", words.success_words(values))

    def _fit_gap(self, values: dict[str, Any]) -> None:
        """Set the axis of differences for the true one."""
        reach = max(0.1, min(1.0, 2.5 * abs(self._true_gap)))
        if self.gap.plot.y_range.end != reach:
            self.gap.plot.y_range.update(start=-reach, end=reach)

    def _show_readout(self, plot: str) -> None:
        """Say what is there of a plot's curves."""
        values, now = self._requested, self.work.now("roc")
        if not values:
            return
        if plot == "roc":
            areas = {m: found["auc"] for m, found in now.items()}
            if "histogram" in values["evaluate_methods"]:
                areas["histogram"] = self._areas
            self._read_out("roc", words.roc_words(values, self._true_auc, areas))
            self._read_out("errors", words.error_words(values, now))
        elif plot == "sizes":
            self._read_out("sizes", words.size_words(values, self.work.found("sizes")))
        elif plot in ("compare", "now"):
            found = words.compare_words(values, self._true_gap, self.work.compared(values["epsilon"]))
            for name, text in found.items():
                self._read_out(name, text)

    async def _load(self, name: str) -> bool:
        """Load a data set; without it, say so and clear the plots."""
        facts = await self._facts_of(_ANSWERS, compute.facts, name)
        if facts is None:
            return False
        self._facts = facts
        with self._hold():
            self.clear("Data set")
            self.controls.dataset_note.object = dataset_note(facts)
            self.attack.name_classes(facts["classes"])
        return True

    def _clear(self) -> None:
        self._facts, self._values, self._requested = {}, {}, {}
        self.work.clear()
        for figure in (
            self.roc,
            self.intervals,
            self.recall,
            self.calibration,
            self.errors,
            self.sizes,
            self.gap,
            self.sure,
            self.attack,
            self.success,
        ):
            figure.clear()
        self.counts.data = {"negatives": [], "positives": []}
        self.now.data = {c: [] for c in self.now.data}
        for name in self.readouts:
            self._read_out(name, "")
        self.controls.dataset_note.object = self.headline.object = ""
