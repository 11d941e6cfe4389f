"""Card: private ROC curves of every chosen method; the browser draws those of the default bins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from bokeh.models import ColumnDataSource

from dpml.evaluation.histogram import LOWERED, SENSITIVITY
from dpml_app.core.card import IMMEDIATE, WORKER, Answer, ResultKey, Results
from dpml_app.drawing.figure import empty, empty_source
from dpml_app.drawing.pinned_overlay import Curve
from dpml_app.drawing.styles import EXACT
from dpml_app.pages.evaluate import compute, words
from dpml_app.pages.evaluate.answer import AnswerCard, answered
from dpml_app.pages.evaluate.compute import EvaluateFacts
from dpml_app.pages.evaluate.figures import RocFigure
from dpml_app.pages.evaluate.settings import ROC_STYLES, EvaluateValues
from dpml_app.work.pool import Task


def curve_tasks(values: EvaluateValues) -> dict[ResultKey, Task]:
    """Return the tasks of each method's curves at the setting that is chosen."""
    tasks: dict[ResultKey, Task] = {}
    for m in values.evaluate_methods:
        key = values.curve_key(m, compute.draws_of(m, values.draws), values.epsilon)
        tasks[m, WORKER] = Task(compute.curves, key)
    return tasks


class RocCard(AnswerCard):
    """The true curve and the private ones."""

    draw = RocFigure
    name, title, caption = "roc", "Private ROC curves", words.CAPTIONS["roc"]

    def __init__(self):
        super().__init__()
        self.counts = empty_source("evaluate-counts", "negatives", "positives")
        self.noise = empty_source("evaluate-noise", "unit")
        self.now = empty_source("evaluate-now", "serial", "sensitivity", "lowered", "shown")
        self.grid = ColumnDataSource({"fpr": compute.GRID}, name="evaluate-grid")
        self._sent: dict[str, Any] = {}

    def work(self, values: EvaluateValues, facts: EvaluateFacts) -> dict[ResultKey, Task]:
        return {**answered(values), **curve_tasks(values)}

    def waits(self, result_key: ResultKey) -> bool:
        return result_key[0] in compute.SLOW

    def prepare(self, values: EvaluateValues, facts: EvaluateFacts, now: Results) -> None:
        self._send(values, now["answer", IMMEDIATE])
        methods = values.evaluate_methods
        self.figure.name_methods(methods)
        for method in self._others():
            if method not in methods:
                self.figure.clear(method)
                self._sent.pop(method, None)
            elif (method, WORKER) not in now:
                self.figure.outdate(method)
                self._sent.pop(method, None)
        self.show(now, {})

    def _others(self) -> list[str]:
        """Return the methods that the browser does not draw."""
        return [method for method in self.figure.bands if method != "histogram"]

    def _changed(self, what: str, value: Any) -> bool:
        changed = self._sent.get(what) != value
        self._sent[what] = value
        return changed

    def _send(self, values: EvaluateValues, answer: Mapping[str, Any]) -> None:
        """Send the browser what it draws curves from, as far as it has changed."""
        judged = values.classifier_key()
        drawn, shown = (values.draws, values.seed), "histogram" in values.evaluate_methods
        if self._changed("judged", judged):
            self.counts.data = {"negatives": answer["counts"][0], "positives": answer["counts"][1]}
            self.figure.show_exact(*answer["curve"])
        if self._changed("drawn", drawn):
            self.noise.data = {"unit": compute.unit_noise(*drawn).ravel()}
        if self._changed("setting", (judged, drawn, values.relation, shown)):
            serial = self.now.data["serial"][0] + 1 if len(self.now.data["serial"]) else 0
            data = {"serial": [serial], "sensitivity": [SENSITIVITY[values.relation]], "lowered": [LOWERED]}
            self.now.data = {**data, "shown": [int(shown)]}

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        for method in self._others():
            curves = results.get((method, WORKER))
            if curves is not None and self._sent.get(method) is not curves:
                self._sent[method] = curves
                self.figure.show(method, curves, compute.GRID)

    def readout(self, values: EvaluateValues, facts: EvaluateFacts, results: Results) -> str:
        return words.roc_words(values, results["answer", IMMEDIATE]["true"]["roc_auc"], self._areas(values, results))

    @staticmethod
    def _areas(values: EvaluateValues, results: Results) -> dict[str, Any]:
        """Return the areas under the private curves of each method that is there."""
        areas = {method: curves["auc"] for (method, result_key), curves in results.items() if result_key == WORKER}
        if "histogram" in values.evaluate_methods:
            areas["histogram"] = results["answer", IMMEDIATE]["every_area"]
        return areas

    def to_pin(self, values: EvaluateValues, facts: EvaluateFacts, results: Results) -> Answer | None:
        answer = results["answer", IMMEDIATE]
        curves = [
            Curve(compute.GRID, one["mid"], ROC_STYLES[m].color) for (m, at), one in results.items() if at == WORKER
        ]
        fpr, tpr = answer["curve"]
        numbers = words.numbers(answer["true"]["roc_auc"], self._areas(values, results))
        return Answer(numbers, (Curve(fpr, tpr, EXACT), *curves), within="90 % of draws")

    @classmethod
    def browser_tables(cls, values: EvaluateValues) -> dict[str, pd.DataFrame]:
        """Return the curves of the default bins: the exact histogram of scores with noise, all draws of one release."""
        if "histogram" not in values.evaluate_methods:
            return {}
        key = *values.classifier_key(), values.relation, values.epsilon, values.draws, values.seed
        fpr, tpr, _ = compute.evaluation(*key).roc_curve()
        # the first 30 draws one after the other, a gap after each
        gap = np.full((len(fpr[:30]), 1), np.nan)
        draws = {"fpr": np.hstack([fpr[:30], gap]).ravel(), "tpr": np.hstack([tpr[:30], gap]).ravel()}
        bands = {"fpr": compute.GRID, **compute.band(fpr, tpr)}
        return {"evaluate-roc-histogram": pd.DataFrame(bands), "evaluate-roc-histogram-draws": pd.DataFrame(draws)}

    def clear(self) -> None:
        super().clear()
        self._sent = {}
        empty(self.counts)
        empty(self.now)
