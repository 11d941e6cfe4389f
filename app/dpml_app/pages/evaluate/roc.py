"""Card: the true ROC curve and a private one, and whose labels an attacker reads off either; the page's picture."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from bokeh.models import ColumnDataSource

from dpml.evaluation.histogram import LOWERED, SENSITIVITY
from dpml_app.core.card import IMMEDIATE, Answer, Results
from dpml_app.drawing.figure import LAYOUT, Figure, empty, empty_source, hover, new_figure, write
from dpml_app.drawing.pinned_overlay import Curve
from dpml_app.drawing.styles import EXACT, GREEN, ORANGE, OVERLAY, REFERENCE, SKY, VERMILION
from dpml_app.pages.evaluate import compute, words
from dpml_app.pages.evaluate.answer import AnswerCard
from dpml_app.pages.evaluate.compute import EvaluateFacts
from dpml_app.pages.evaluate.figures import RocFigure, send
from dpml_app.pages.evaluate.settings import EvaluateValues

LABEL_COLORS = (SKY, ORANGE)
IN_A_ROW = 15
# of each group of people: what they are read from, the colour of its words, and where its words and first row stand
GROUPS = (("non-private curve", EXACT, 9.7, 8.5), ("this release", GREEN, 5.6, 4.4))
# from one row to the next, and of a person the width, the height and where the head is
ROW, WIDTH, HEIGHT, HEAD = 1.5, 0.66, 0.62, 0.6
FOOT = 1.1


class PeopleFigure(Figure):
    """One person a record that is attacked, in the colour of the label that is read, or grey and crossed: misread."""

    computed = ("people", "wrong", "words")

    def __init__(self):
        self.plot = p = new_figure("evaluate-people", x_range=(0.2, IN_A_ROW + 0.8), y_range=(0.2, 10.4))
        p.axis.visible = p.grid.visible = False
        self.people = empty_source(
            "evaluate-people", "record", "seen", "label", "read", "right", "x", "y", "head", "color"
        )
        self.wrong = empty_source("evaluate-people-wrong", "x", "y")
        self.words = empty_source("evaluate-people-words", "x", "y", "text", "ink")
        self.words.tags = [LAYOUT]
        look: dict[str, Any] = {"source": self.people, "color": "color", "line_alpha": 0, "level": OVERLAY}
        bodies = p.rect("x", "y", width=WIDTH, height=HEIGHT, border_radius=5, **look)
        p.circle("x", "head", radius=0.25, radius_dimension="x", **look)
        cross: dict[str, Any] = {"marker": "x", "size": 13, "color": VERMILION, "line_width": 3}
        p.scatter("x", "y", source=self.wrong, level=OVERLAY, **cross)
        write(
            p, "x", "y", "text", color="ink", source=self.words, text_font_size="16px", text_font_style="bold",
            text_baseline="middle",
        )  # fmt: skip
        tips = ("record", "@record"), ("seen", "@seen"), ("label", "@label"), ("attacker's guess", "@read")
        hover(p, [bodies], *tips)

    def show(
        self, true: np.ndarray, exact: np.ndarray, private: np.ndarray, share: float, classes: Sequence[str]
    ) -> None:
        """Show what is read of labels `true`, each of shape (n,); `share`: of right ones, over all releases."""
        n, read = len(true), np.concatenate([exact, private])
        right = read == np.tile(true, 2)
        place = np.arange(n)
        x = np.tile(place % IN_A_ROW + 1.0, 2)
        y = np.concatenate([top - ROW * (place // IN_A_ROW) for _seen, _ink, _words, top in GROUPS])
        send(
            self.people,
            {
                "record": np.tile(place + 1, 2),
                "seen": np.repeat([seen for seen, *_rest in GROUPS], n),
                "label": np.array(classes)[np.tile(true, 2)],
                "read": np.array(classes)[read],
                "right": right,
                "x": x,
                "y": y,
                "head": y + HEAD,
                "color": np.where(right, np.array(LABEL_COLORS)[read], REFERENCE),
            },
        )
        send(self.wrong, {"x": x[~right], "y": y[~right]})
        rows = [
            (0.7, words, f"{seen.capitalize()}: {hits} of {n} correct", ink)
            for (seen, ink, words, _top), hits in zip(GROUPS, (right[:n].sum(), right[n:].sum()), strict=True)
        ]
        rows.append((0.7, FOOT + 0.5, f"All releases: {100 * share:.0f}% correct", GREEN))
        names = ((str(classes[0]), SKY), (str(classes[1]), ORANGE), ("✗ wrong", VERMILION))
        rows += [(0.7 + 4.5 * k, FOOT - 0.5, name, ink) for k, (name, ink) in enumerate(names)]
        send(self.words, dict(zip(self.words.data, map(list, zip(*rows, strict=True)), strict=True)))


class RocCard(AnswerCard):
    """The curves, and thirty people for each; the browser draws the private curve."""

    name, title, caption = "roc", "ROC curve and attack", words.CAPTIONS["roc"]

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
        return Answer(words.numbers(answer), curves, within="90% of samples")

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
