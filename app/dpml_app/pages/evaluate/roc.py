"""Card: the true ROC curve and a private one, and whose labels an attacker reads off either; the page's picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from bokeh.models import ColumnDataSource

from dpml.evaluation.histogram import LOWERED, SENSITIVITY
from dpml_app.core.card import IMMEDIATE, Answer, Results
from dpml_app.drawing.figure import empty, empty_source
from dpml_app.drawing.pinned_overlay import Curve
from dpml_app.drawing.styles import EXACT, GREEN
from dpml_app.pages.evaluate import compute, words
from dpml_app.pages.evaluate.answer import AnswerCard
from dpml_app.pages.evaluate.compute import EvaluateFacts
from dpml_app.pages.evaluate.figures import PeopleFigure, RocFigure
from dpml_app.pages.evaluate.settings import EvaluateValues


class RocCard(AnswerCard):
    """The curves, and thirty people for each; the browser draws the private curve."""

    name, title, caption = "roc", "What the curve gives away", words.CAPTIONS["roc"]

    def __init__(self):
        self.people = PeopleFigure()
        super().__init__(RocFigure(), self.people)
        self.counts = empty_source("evaluate-counts", "negatives", "positives")
        self.noise = empty_source("evaluate-noise", "unit")
        self.now = empty_source("evaluate-now", "serial", "sensitivity", "lowered")
        self.grid = ColumnDataSource({"fpr": compute.GRID}, name="evaluate-grid")
        self._sent: dict[str, Any] = {}

    def prepare(self, values: EvaluateValues, facts: EvaluateFacts, now: Results) -> None:
        answer = now["answer", IMMEDIATE]
        self._send(values, answer)
        self.people.show(
            answer["labels"], answer["exact_attack"], answer["private_attack"], answer["rights"].mean(), facts.classes
        )

    def _changed(self, what: str, value: Any) -> bool:
        changed = self._sent.get(what) != value
        self._sent[what] = value
        return changed

    def _send(self, values: EvaluateValues, answer: Mapping[str, Any]) -> None:
        """Send the browser what it draws curves from, as far as it has changed."""
        judged, drawn = values.classifier_key(), (values.draws, values.seed)
        if self._changed("judged", judged):
            self.counts.data = {"negatives": answer["counts"][0], "positives": answer["counts"][1]}
            self.figure.show_exact(*answer["curve"])
        if self._changed("drawn", drawn):
            self.noise.data = {"unit": compute.unit_noise(*drawn).ravel()}
        if self._changed("setting", (judged, drawn, values.relation)):
            serial = self.now.data["serial"][0] + 1 if len(self.now.data["serial"]) else 0
            self.now.data = {"serial": [serial], "sensitivity": [SENSITIVITY[values.relation]], "lowered": [LOWERED]}

    def readout(self, values: EvaluateValues, facts: EvaluateFacts, results: Results) -> str:
        return words.attack_words(values, results["answer", IMMEDIATE])

    def to_pin(self, values: EvaluateValues, facts: EvaluateFacts, results: Results) -> Answer | None:
        answer = results["answer", IMMEDIATE]
        (x, y), (fpr, tpr) = answer["curve"], answer["release"]
        curves = Curve(x, y, EXACT), Curve(fpr, tpr, GREEN)
        return Answer(words.numbers(answer), curves, within="90 % of draws")

    @classmethod
    def browser_tables(cls, values: EvaluateValues) -> dict[str, pd.DataFrame]:
        """Return the private curve: the exact histogram of scores with noise, one release and the band of all draws."""
        key = *values.classifier_key(), values.relation, values.epsilon, values.draws, values.seed
        fpr, tpr, _ = compute.evaluation(*key).roc_curve()
        bands = {"fpr": compute.GRID, **compute.band(fpr, tpr)}
        release = {"fpr": fpr[0], "tpr": tpr[0]}
        return {"evaluate-roc-band": pd.DataFrame(bands), "evaluate-roc-release": pd.DataFrame(release)}

    def clear(self) -> None:
        super().clear()
        self._sent = {}
        empty(self.counts)
        empty(self.now)
