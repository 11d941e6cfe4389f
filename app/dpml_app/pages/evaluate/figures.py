"""Draw the private and the non-private ROC curve: the cards of the ROC curve page and their figures."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from bokeh.models import ColumnDataSource

from dpml.evaluation.histogram import LOWERED, SENSITIVITY
from dpml_app.core.card import IMMEDIATE, WORKER, Answer, Card, ResultKey, Results
from dpml_app.core.curves_card import CurvesCard
from dpml_app.data.facts import BinaryFacts
from dpml_app.drawing.figure import LAYOUT, Figure, empty, empty_source, hover, label, new_figure, percent_axis, write
from dpml_app.drawing.styles import EXACT, GREEN, ORANGE, OVERLAY, REFERENCE, SKY, VERMILION, Style
from dpml_app.jobs import Task
from dpml_app.pages.evaluate import text
from dpml_app.pages.evaluate.compute import (
    GRID,
    ROC_STYLES,
    SLOW,
    EvaluateValues,
    answered,
    band,
    errors,
    evaluation,
    unit_noise,
)
from dpml_app.settings import EPSILONS
from dpml_app.text.phrases import percent
from dpml_app.views.frame import Axis

# ---- Figures -------------------------------------------------------------------------------------------------------


def send(source: ColumnDataSource, data: Mapping[str, Any]) -> bool:
    """Change a source if anything of it has changed, and return whether; a figure that stays need not be painted."""
    changed = not all(np.array_equal(source.data[c], column) for c, column in data.items())
    if changed:
        source.data = dict(data)
    return changed


SUCCESS_STYLES = {
    "bound": Style("bound", REFERENCE, "dot"),
    "best": Style("best attack", GREEN, "dot", "dashed"),
}
RATES = ("false positive rate", "true positive rate")
BAND = ("fpr", "low", "mid", "high")


class RocFigure(Figure):
    """The true curve, one private release, and a band of 90 % of them; the browser draws the release, page.js."""

    computed = ("exact", "band", "release")

    def __init__(self):
        axes = {"x_axis_label": RATES[0], "y_axis_label": RATES[1], "x_range": (-0.02, 1.02), "y_range": (-0.02, 1.02)}
        self.plot = p = new_figure("evaluate-roc", **axes)
        percent_axis(p.axis)
        self.exact = empty_source("evaluate-roc-exact", "fpr", "tpr")
        self.band = empty_source("evaluate-roc-band", *BAND)
        self.release = empty_source("evaluate-roc-release", "fpr", "tpr")
        p.line([0, 1], [0, 1], color=REFERENCE, line_dash="dotted", line_width=1.5)
        p.varea("fpr", "low", "high", source=self.band, level=OVERLAY, **ROC_STYLES["histogram"].band)
        p.line("fpr", "tpr", source=self.release, color=GREEN, line_width=3, level=OVERLAY)
        p.line("fpr", "tpr", source=self.exact, color=EXACT, line_width=3, level=OVERLAY)
        # where the plane of shares is empty
        names = ("non-private: reveals labels", EXACT), ("one private release", GREEN), ("band: 90% of releases", GREEN)
        for place, (name, color) in enumerate(names):
            label(p, 1.0, 0.3 - 0.1 * place, name, color, 16, text_align="right")


LABEL_COLORS = (SKY, ORANGE)
IN_A_ROW = 15
# of each group of people: what they are read from, the colour of its words, and where its words and first row stand
GROUPS = (("non-private curve", EXACT, 9.7, 8.5), ("this release", GREEN, 5.6, 4.4))
# from one row to the next, and of a person the width, the height and where the head is
ROW, WIDTH, HEIGHT, HEAD = 1.5, 0.66, 0.62, 0.6
FOOT = 1.1


class PeopleFigure(Figure):
    """One person a record that is attacked, in the colour of the label that is read, or grey and crossed: misread."""

    computed = ("people", "words")

    def __init__(self):
        self.plot = p = new_figure("evaluate-attack", x_range=(0.2, IN_A_ROW + 0.8), y_range=(0.2, 10.4))
        p.axis.visible = p.grid.visible = False
        self.people = empty_source(
            "evaluate-people", "record", "seen", "label", "read", "right", "x", "y", "head", "color", "cross"
        )
        self.words = empty_source("evaluate-people-words", "x", "y", "text", "ink")
        self.words.tags = [LAYOUT]
        look: dict[str, Any] = {"source": self.people, "color": "color", "line_alpha": 0, "level": OVERLAY}
        bodies = p.rect("x", "y", width=WIDTH, height=HEIGHT, border_radius=5, **look)
        p.circle("x", "head", radius=0.25, radius_dimension="x", **look)
        cross: dict[str, Any] = {"marker": "x", "color": VERMILION, "line_width": 3, "level": OVERLAY}
        p.scatter("x", "y", size="cross", source=self.people, **cross)
        write(
            p, "x", "y", "text", color="ink", source=self.words, text_font_size="16px", text_font_style="bold",
            text_baseline="middle",
        )  # fmt: skip
        tips = ("record", "@record"), ("seen", "@seen"), ("label", "@label"), ("attacker's guess", "@read")
        hover(p, [bodies], *tips)

    def show(
        self, true: np.ndarray, exact: np.ndarray, private: np.ndarray, share: float, classes: Sequence[str]
    ) -> None:
        """Show the labels that are recovered, each of shape (n,); `share`: the success of the best attack."""
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
                "cross": np.where(right, 0, 13),
            },
        )
        # of a release no count of its own, which may exceed the bound by chance: the exact success
        said = f"{right[:n].sum()} of {n} correct", f"at best {percent(share)} correct"
        rows = [
            (0.7, words, f"{seen.capitalize()}: {each}", ink)
            for (seen, ink, words, _top), each in zip(GROUPS, said, strict=True)
        ]
        names = ((str(classes[0]), SKY), (str(classes[1]), ORANGE), ("✗ wrong", VERMILION))
        rows += [(0.7 + 4.5 * k, FOOT - 0.5, name, ink) for k, (name, ink) in enumerate(names)]
        send(self.words, dict(zip(self.words.data, map(list, zip(*rows, strict=True)), strict=True)))


# ---- Cards ---------------------------------------------------------------------------------------------------------


class RocCard(Card[EvaluateValues, BinaryFacts]):
    """The curves, and thirty people for each; the browser draws the private curve."""

    name, title, caption = "roc", "ROC curve and attack", text.CAPTIONS["roc"]

    def __init__(self):
        self.people = PeopleFigure()
        super().__init__(RocFigure(), self.people)
        self.counts = empty_source("evaluate-counts", "negatives", "positives")
        self.noise = empty_source("evaluate-noise", "unit")
        self.now = empty_source("evaluate-now", "serial", "sensitivity", "lowered")
        self.grid = ColumnDataSource({"fpr": GRID}, name="evaluate-grid")

    def work(self, values: EvaluateValues, facts: BinaryFacts) -> dict[ResultKey, Task]:
        return answered(values)

    def prepare(self, values: EvaluateValues, facts: BinaryFacts, now: Results) -> None:
        """Send the browser what it draws curves from, and show the attack."""
        answer, range_of_one = now["answer", IMMEDIATE], [SENSITIVITY[values.relation]]
        changed = [
            send(self.counts, dict(zip(self.counts.data, answer["counts"], strict=True))),
            send(self.figure.exact, dict(zip(("fpr", "tpr"), answer["curve"], strict=True))),
            send(self.noise, {"unit": unit_noise(values.draws, values.seed).ravel()}),
        ]
        if any(changed) or self.now.data["sensitivity"] != range_of_one:
            serial = self.now.data["serial"][0] + 1 if len(self.now.data["serial"]) else 0
            self.now.data = {"serial": [serial], "sensitivity": range_of_one, "lowered": [LOWERED]}
        self.people.show(
            answer["labels"], answer["exact_attack"], answer["private_attack"], answer["success"], facts.classes
        )

    def readout(self, values: EvaluateValues, facts: BinaryFacts, results: Results) -> str:
        return text.headline(facts, results["answer", IMMEDIATE])

    def to_pin(self, values: EvaluateValues, facts: BinaryFacts, results: Results) -> Answer | None:
        return Answer(text.numbers(results["answer", IMMEDIATE]), within="90% of samples")

    @classmethod
    def browser_tables(cls, values: EvaluateValues) -> dict[str, pd.DataFrame]:
        """Return the private curve: the exact histogram of scores with noise, one release and the band of all draws."""
        key = *values.records_key(), values.relation, values.epsilon, values.draws, values.seed
        fpr, tpr, _ = evaluation(*key).roc_curve()
        bands = {"fpr": GRID, **band(fpr, tpr)}
        release = {"fpr": fpr[0], "tpr": tpr[0]}
        return {"evaluate-roc-band": pd.DataFrame(bands), "evaluate-roc-release": pd.DataFrame(release)}

    def clear(self) -> None:
        super().clear()
        empty(self.counts)
        empty(self.now)


class ErrorsCard(CurvesCard[EvaluateValues, BinaryFacts]):
    """Error of each chosen method against ε, as in Stoddard et al. 2014, Fig. 7."""

    plot_name, middle, look = "evaluate-errors", "median", {"tip": "0.0000"}
    y = Axis("area to the non-private curve (log scale)", log=True, ticks=(0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1))
    ylim = (0.0008, 1.0)
    name, title, caption = "errors", "Error against ε", text.CAPTIONS["errors"]
    controls = ("evaluate_methods",)

    def shown(self, values: EvaluateValues, facts: BinaryFacts) -> Mapping[str, Style]:
        return {method: style for method, style in ROC_STYLES.items() if method in values.evaluate_methods}

    def work(self, values: EvaluateValues, facts: BinaryFacts) -> dict[ResultKey, Task]:
        chosen = {(m, WORKER): self.task(values, m, values.epsilon) for m in values.evaluate_methods}
        return {**answered(values), **chosen, **super().work(values, facts)}

    def task(self, values: EvaluateValues, series: str, x: float) -> Task:
        return Task(errors, values.curve_key(series, x))

    def waits(self, result_key: ResultKey) -> bool:
        return result_key[0] in SLOW

    def readout(self, values: EvaluateValues, facts: BinaryFacts, results: Results) -> str:
        at_chosen = {method: found for (method, place), found in results.items() if place == WORKER}
        return text.error_words(values, at_chosen)


class SuccessCard(CurvesCard[EvaluateValues, BinaryFacts]):
    """Exact success of the best attack against ε, and the bound."""

    plot_name, styles, ylim = "evaluate-success", SUCCESS_STYLES, (0.45, 1.03)
    y = Axis("labels guessed correctly", share=True)
    levels: ClassVar[Mapping[str, Style]] = {
        "always": Style("non-private curve", EXACT, "dot"),
        "chance": Style("chance", REFERENCE, "dot", "dotted"),
    }
    name, title, caption = "success", "Accuracy of the attacker", text.CAPTIONS["success"]

    def work(self, values: EvaluateValues, facts: BinaryFacts) -> dict[ResultKey, Task]:
        return answered(values)

    def series(self, results: Results) -> Mapping[str, Mapping[float, np.ndarray]]:
        lines = results["answer", IMMEDIATE]["lines"]
        return {name: dict(zip(EPSILONS, shares[:, None], strict=True)) for name, shares in lines.items()}

    def level_values(self, values: EvaluateValues, facts: BinaryFacts, results: Results) -> Mapping[str, float]:
        return {"always": 1.0, "chance": 0.5}

    def readout(self, values: EvaluateValues, facts: BinaryFacts, results: Results) -> str:
        return text.success_words(values)
