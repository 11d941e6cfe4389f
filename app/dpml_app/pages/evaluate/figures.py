"""Draw the private and the non-private ROC curve: the cards of the ROC curve page and their figures."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from bokeh.models import ColumnDataSource, NumeralTickFormatter

from dpml.evaluation.histogram import LOWERED, SENSITIVITY
from dpml_app.core.card import IMMEDIATE, WORKER, Answer, Card, ResultKey, Results
from dpml_app.core.curves_card import CurvesCard
from dpml_app.data.facts import BinaryFacts
from dpml_app.drawing.figure import Figure, empty, empty_source, label, new_figure
from dpml_app.drawing.styles import EXACT, GREEN, OVERLAY, REFERENCE, Style
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
from dpml_app.views.frame import Axis

# ---- Figures -------------------------------------------------------------------------------------------------------


def send(source: ColumnDataSource, data: Mapping[str, Any]) -> None:
    """Change a source if anything of it has changed: a figure that stays need not be painted."""
    if not all(np.array_equal(source.data[c], column) for c, column in data.items()):
        source.data = dict(data)


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
        p.axis.formatter = NumeralTickFormatter(format="0%")
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


# ---- Cards ---------------------------------------------------------------------------------------------------------


class RocCard(Card[EvaluateValues, BinaryFacts]):
    """The curves; the browser draws the private one."""

    draw = RocFigure
    name, title, caption = "roc", "Private and non-private ROC curve", text.CAPTIONS["roc"]

    def __init__(self):
        super().__init__()
        self.counts = empty_source("evaluate-counts", "negatives", "positives")
        self.noise = empty_source("evaluate-noise", "unit")
        self.now = empty_source("evaluate-now", "sensitivity", "lowered")
        self.grid = ColumnDataSource({"fpr": GRID}, name="evaluate-grid")

    def work(self, values: EvaluateValues, facts: BinaryFacts) -> dict[ResultKey, Task]:
        return answered(values)

    def show(self, values: EvaluateValues, facts: BinaryFacts, results: Results, wanted: Mapping) -> None:
        """Send the browser what it draws curves from."""
        answer = results["answer", IMMEDIATE]
        send(self.now, {"sensitivity": [SENSITIVITY[values.relation]], "lowered": [LOWERED]})
        send(self.figure.exact, dict(zip(("fpr", "tpr"), answer["curve"], strict=True)))
        send(self.noise, {"unit": unit_noise(values.draws, values.seed).ravel()})
        send(self.counts, dict(zip(self.counts.data, answer["counts"], strict=True)))

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
        # the slow methods last
        curves = sorted(super().work(values, facts).items(), key=lambda item: item[0][0] in SLOW)
        return {**answered(values), **chosen, **dict(curves)}

    def task(self, values: EvaluateValues, series: str, x: float) -> Task:
        return Task(errors, values.curve_key(series, x))

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
