"""Card: private ROC curves of every chosen method; the browser draws those of the default bins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bokeh.models import ColumnDataSource

from dpml.evaluation.histogram import LOWERED, SENSITIVITY
from dpml_app.code.script import Code
from dpml_app.core.card import IMMEDIATE, WORKER, Answer, Place, Results, Values
from dpml_app.drawing.figure import empty, empty_source
from dpml_app.drawing.ghosts import Curve
from dpml_app.drawing.looks import EXACT
from dpml_app.pages.evaluate import compute, words
from dpml_app.pages.evaluate.answer import AnswerCard, answered
from dpml_app.pages.evaluate.figures import RocFigure
from dpml_app.pages.evaluate.settings import METHOD_STYLES, EvaluateSettings
from dpml_app.work.pool import Chunk

__all__ = ["RocCard", "curve_chunks"]

# what evaluate/page.js draws
HISTOGRAM = """\
# the private curves of the default bins: the exact histogram of scores with noise, all draws of one release
released = evaluation(
    settings["dataset"],
    settings["evaluate_classifier"],
    settings["evaluate_weakened"],
    settings["relation"],
    settings["epsilon"],
    settings["draws"],
    settings["seed"],
)
fpr, tpr, _ = released.roc_curve()
tables["evaluate-roc-histogram"] = pd.DataFrame({"fpr": GRID, **band(fpr, tpr)})
# the first 30 draws one after the other, a gap after each
gap = np.full((len(fpr[:30]), 1), np.nan)
draws = {"fpr": np.hstack([fpr[:30], gap]).ravel(), "tpr": np.hstack([tpr[:30], gap]).ravel()}
tables["evaluate-roc-histogram-draws"] = pd.DataFrame(draws)
"""


def curve_chunks(values: Values) -> dict[Place, Chunk]:
    """Return the chunks of each method's curves at the setting that is chosen."""
    found: dict[Place, Chunk] = {}
    for m in values["evaluate_methods"]:
        key = EvaluateSettings.curve_key(values, m, compute.draws_of(m, values["draws"]), values["epsilon"])
        found[m, WORKER] = Chunk(compute.curves, key)
    return found


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

    def work(self, values: Values, facts: Values) -> dict[Place, Chunk]:
        return {**answered(values), **curve_chunks(values)}

    def waits(self, place: Place) -> bool:
        return place[0] in compute.SLOW

    def prepare(self, values: Values, facts: Values, now: Results) -> None:
        self._send(values, now["answer", IMMEDIATE])
        methods = values["evaluate_methods"]
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

    def _send(self, values: Values, found: Mapping[str, Any]) -> None:
        """Send the browser what it draws curves from, as far as it has changed."""
        judged = EvaluateSettings.classifier_key(values)
        drawn, shown = (values["draws"], values["seed"]), "histogram" in values["evaluate_methods"]
        if self._changed("judged", judged):
            self.counts.data = {"negatives": found["counts"][0], "positives": found["counts"][1]}
            self.figure.show_exact(*found["curve"])
        if self._changed("drawn", drawn):
            self.noise.data = {"unit": compute.unit_noise(*drawn).ravel()}
        if self._changed("setting", (judged, drawn, values["relation"], shown)):
            serial = self.now.data["serial"][0] + 1 if len(self.now.data["serial"]) else 0
            data = {"serial": [serial], "sensitivity": [SENSITIVITY[values["relation"]]], "lowered": [LOWERED]}
            self.now.data = {**data, "shown": [int(shown)]}

    def show(self, results: Results, wanted: Mapping[Place, Chunk]) -> None:
        for method in self._others():
            found = results.get((method, WORKER))
            if found is not None and self._sent.get(method) is not found:
                self._sent[method] = found
                self.figure.show(method, found, compute.GRID)

    def readout(self, values: Values, facts: Values, results: Results) -> str:
        return words.roc_words(values, results["answer", IMMEDIATE]["true"]["roc_auc"], self._areas(values, results))

    @staticmethod
    def _areas(values: Values, results: Results) -> dict[str, Any]:
        """Return the areas under the private curves of each method that is there."""
        areas = {method: curves["auc"] for (method, place), curves in results.items() if place == WORKER}
        if "histogram" in values["evaluate_methods"]:
            areas["histogram"] = results["answer", IMMEDIATE]["every_area"]
        return areas

    def to_pin(self, values: Values, facts: Values, results: Results) -> Answer | None:
        found = results["answer", IMMEDIATE]
        curves = [
            Curve(compute.GRID, one["mid"], METHOD_STYLES[m].color) for (m, at), one in results.items() if at == WORKER
        ]
        fpr, tpr = found["curve"]
        numbers = words.numbers(found["true"]["roc_auc"], self._areas(values, results))
        return Answer(numbers, (Curve(fpr, tpr, EXACT), *curves), within="90 % of draws")

    def browser_code(self, values: Values) -> Code | None:
        if "histogram" not in values["evaluate_methods"]:
            return None
        imports = (
            "import numpy as np",
            "import pandas as pd",
            "from dpml_app.pages.evaluate.compute import GRID, band, evaluation",
        )
        return Code(imports, HISTOGRAM, ())

    def clear(self) -> None:
        super().clear()
        self._sent = {}
        empty(self.counts)
        empty(self.now)
