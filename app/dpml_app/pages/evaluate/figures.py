"""Draw the private and the non-private ROC curve: the cards of the ROC curve page and their figures."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from bokeh.models import ColumnDataSource, FixedTicker, NumeralTickFormatter, Plot
from bokeh.plotting import figure

from dpml.evaluation.histogram import LOWERED, SENSITIVITY
from dpml_app.core.card import IMMEDIATE, WORKER, Answer, Card, ResultKey, Results, figure_pane, line
from dpml_app.core.curves_card import CurvesCard
from dpml_app.drawing.band import BandFigure, draw_band
from dpml_app.drawing.figure import (
    LAYOUT,
    Figure,
    across,
    empty,
    empty_source,
    hover,
    label,
    new_figure,
    over_epsilon,
    percent_axis,
    set_ticks,
    square,
    write,
)
from dpml_app.drawing.legend import PlotLegend, stroke
from dpml_app.drawing.pinned_overlay import Curve
from dpml_app.drawing.styles import EXACT, GREEN, ORANGE, OVERLAY, REFERENCE, SKY, VERMILION, Style
from dpml_app.jobs import Task
from dpml_app.pages.evaluate import text
from dpml_app.pages.evaluate.compute import (
    GRID,
    ROC_STYLES,
    SLOW,
    EvaluateFacts,
    EvaluateValues,
    answered,
    band,
    curves,
    errors,
    evaluation,
    unit_noise,
)
from dpml_app.settings import EPSILONS, SWEEP_EPSILONS
from dpml_app.text.phrases import percent

# ---- Figures -------------------------------------------------------------------------------------------------------


def name_curves(p: figure, names: Iterable[tuple[str, str]], x: float = 1.0, align: str = "right") -> None:
    """Write the names of curves, in their colours, where the plane of shares is empty: below them."""
    for place, (name, color) in enumerate(names):
        label(p, x, 0.3 - 0.1 * place, name, color, 16, text_align=align)


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
        self.plot = p = square("evaluate-roc", *RATES)
        self.exact = empty_source("evaluate-roc-exact", "fpr", "tpr")
        self.band = empty_source("evaluate-roc-band", *BAND)
        self.release = empty_source("evaluate-roc-release", "fpr", "tpr")
        p.line([0, 1], [0, 1], color=REFERENCE, line_dash="dotted", line_width=1.5)
        _median, area = draw_band(self.band, ROC_STYLES["histogram"], "fpr", "mid", level=OVERLAY)
        p.renderers.append(area)
        p.line("fpr", "tpr", source=self.release, color=GREEN, line_width=3, level=OVERLAY)
        p.line("fpr", "tpr", source=self.exact, color=EXACT, line_width=3, level=OVERLAY)
        private = ("one private release", GREEN), ("band: 90% of releases", GREEN)
        name_curves(p, (("non-private: reveals labels", EXACT), *private))

    def show_exact(self, fpr: np.ndarray, tpr: np.ndarray) -> None:
        """Draw the true curve."""
        self.exact.data = {"fpr": fpr, "tpr": tpr}


class MethodFigure(Figure):
    """A method's median curve, a band of 90 % of its draws, single draws, faint, and the true curve.

    `exact`: of the true curve, which all these figures share.
    """

    computed = ("band", "faint")

    def __init__(self, method: str, exact: ColumnDataSource):
        style = ROC_STYLES[method]
        self.plot = p = square(f"evaluate-{method}", *RATES)
        p.update(height=260, title=style.label)
        for axis in p.axis:
            axis.ticker = FixedTicker(ticks=[0, 0.5, 1])
        self.band = empty_source(f"evaluate-roc-{method}", *BAND)
        self.faint = empty_source(f"evaluate-roc-{method}-draws", "fpr", "tpr")
        p.line("fpr", "tpr", source=self.faint, color=style.color, line_alpha=0.18, line_width=1)
        median, area = draw_band(self.band, style, "fpr", "mid")
        p.renderers += [area, median]
        p.line("fpr", "tpr", source=exact, color=EXACT, line_width=2)

    def show(self, curves: Mapping[str, Any], grid: np.ndarray) -> None:
        """Show what the method's draws gave."""
        self.band.data = {"fpr": grid, **{c: curves[c] for c in BAND[1:]}}
        rows = ([np.append(row, np.nan) for row in curves[c]] for c in ("fpr", "tpr"))
        self.faint.data = {c: np.concatenate(row) for c, row in zip(("fpr", "tpr"), rows, strict=True)}


class IntervalFigure:
    """The area of each of a few releases with the interval that it prints, beside the true area."""

    def __init__(self):
        self.plot = p = new_figure("evaluate-intervals", x_range=(0, 1), y_range=(-0.5, 10), x_axis_label="AUC")
        p.height = 300
        p.yaxis.visible = False
        p.ygrid.visible = False
        p.xaxis.formatter = NumeralTickFormatter(format="0.00")
        self.rows = empty_source("evaluate-intervals-rows", "row", "value", "low", "high", "color", "holds")
        self.true = across(p, "height", line_color=EXACT, line_width=3, name="evaluate-true-auc")
        self.binned = across(p, "height", line_dash="dashed", name="evaluate-binned-auc")
        look: dict[str, Any] = {"source": self.rows, "level": OVERLAY}
        lines = p.segment("low", "row", "high", "row", color="color", line_width=3, **look)
        dots = p.scatter("value", "row", color="color", size=8, **look)
        tips = ("AUC", "@value{0.000}"), ("90% interval", "@low{0.000} to @high{0.000}"), ("", "@holds")
        hover(p, [lines, dots], *tips)
        # no labels of an axis stand to the left of this plot
        legend = PlotLegend(p, 1, location=(0, 0))
        for title, color, dash in (
            ("Non-private AUC (never publish)", EXACT, "solid"),
            ("Same bins without noise", REFERENCE, "dashed"),
            ("Interval contains it", GREEN, "solid"),
            ("Interval misses it", VERMILION, "solid"),
        ):
            legend.add(title, [stroke(color, dash)])

    def show(self, true: float, binned: float, values: np.ndarray, low: np.ndarray, high: np.ndarray) -> int:
        """Show the draws, the first one on top, and return how many hold the area of the bins."""
        n = len(values)
        holds = (low <= binned) & (binned <= high)
        if self.plot.y_range.end != n - 0.5:
            self.plot.y_range.end = n - 0.5
        reach = max(0.02, float(np.max(np.abs(np.concatenate([low, high]) - true))))
        # few steps, so that a slider does not move the axis at every step
        reach = float(np.clip(0.02 * 2 ** np.ceil(np.log2(reach / 0.02)), 0.02, 1.0))
        start, end = max(0.0, true - 1.05 * reach), min(1.005, true + 1.05 * reach)
        if (self.plot.x_range.start, self.plot.x_range.end) != (start, end):
            self.plot.x_range.update(start=start, end=end)
        self.true.location, self.binned.location = true, binned
        self.rows.data = {
            "row": np.arange(n)[::-1],
            "value": values,
            "low": low,
            "high": high,
            "color": np.where(holds, GREEN, VERMILION),
            "holds": np.where(holds, "contains the AUC without noise", "misses the AUC without noise"),
        }
        return int(holds.sum())

    def clear(self) -> None:
        """Show nothing."""
        self.true.location = self.binned.location = None
        empty(self.rows)


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
            },
        )
        send(self.wrong, {"x": x[~right], "y": y[~right]})
        # of a release no count of its own, which may exceed the bound by chance: the exact success
        said = f"{right[:n].sum()} of {n} correct", f"best attack {percent(share)} correct"
        rows = [
            (0.7, words, f"{seen.capitalize()}: {each}", ink)
            for (seen, ink, words, _top), each in zip(GROUPS, said, strict=True)
        ]
        names = ((str(classes[0]), SKY), (str(classes[1]), ORANGE), ("✗ wrong", VERMILION))
        rows += [(0.7 + 4.5 * k, FOOT - 0.5, name, ink) for k, (name, ink) in enumerate(names)]
        send(self.words, dict(zip(self.words.data, map(list, zip(*rows, strict=True)), strict=True)))


# ---- Cards ---------------------------------------------------------------------------------------------------------


class AnswerCard(Card[EvaluateValues, EvaluateFacts]):
    """A card that shows what is answered at once."""

    def work(self, values: EvaluateValues, facts: EvaluateFacts) -> dict[ResultKey, Task]:
        return answered(values)


class NumbersCard(AnswerCard):
    """A table of true figures beside those of one release."""

    draw = IntervalFigure
    name, title, caption = "numbers", "Figures of one release", text.CAPTIONS["numbers"]
    controls = ("evaluate_cut",)

    def prepare(self, values: EvaluateValues, facts: EvaluateFacts, now: Results) -> None:
        answer = now["answer", IMMEDIATE]
        self._holds = self.figure.show(answer["true"]["roc_auc"], answer["binned"], *answer["areas"])

    def readout(self, values: EvaluateValues, facts: EvaluateFacts, results: Results) -> str:
        answer = results["answer", IMMEDIATE]
        holds = self._holds, len(answer["areas"][0])
        return text.number_words(values, facts, answer["true"], answer["one"], answer["confusion"], holds)


class RocCard(AnswerCard):
    """The curves, and thirty people for each; the browser draws the private curve."""

    name, title, caption = "roc", "ROC curve and attack", text.CAPTIONS["roc"]

    def __init__(self):
        self.people = PeopleFigure()
        super().__init__(RocFigure(), self.people)
        self.counts = empty_source("evaluate-counts", "negatives", "positives")
        self.noise = empty_source("evaluate-noise", "unit")
        self.now = empty_source("evaluate-now", "serial", "sensitivity", "lowered")
        self.grid = ColumnDataSource({"fpr": GRID}, name="evaluate-grid")
        self._sent: dict[str, Any] = {}

    def prepare(self, values: EvaluateValues, facts: EvaluateFacts, now: Results) -> None:
        answer = now["answer", IMMEDIATE]
        self._send(values, answer)
        self.people.show(
            answer["labels"], answer["exact_attack"], answer["private_attack"], answer["success"], facts.classes
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
            self.noise.data = {"unit": unit_noise(*drawn).ravel()}
        if self._changed("setting", (judged, drawn, values.relation)):
            serial = self.now.data["serial"][0] + 1 if len(self.now.data["serial"]) else 0
            self.now.data = {"serial": [serial], "sensitivity": [SENSITIVITY[values.relation]], "lowered": [LOWERED]}

    def readout(self, values: EvaluateValues, facts: EvaluateFacts, results: Results) -> str:
        return text.attack_words(values, results["answer", IMMEDIATE])

    def to_pin(self, values: EvaluateValues, facts: EvaluateFacts, results: Results) -> Answer | None:
        answer = results["answer", IMMEDIATE]
        (x, y), (fpr, tpr) = answer["curve"], answer["release"]
        curves = Curve(x, y, EXACT), Curve(fpr, tpr, GREEN)
        return Answer(text.numbers(answer), curves, within="90% of samples")

    @classmethod
    def browser_tables(cls, values: EvaluateValues) -> dict[str, pd.DataFrame]:
        """Return the private curve: the exact histogram of scores with noise, one release and the band of all draws."""
        key = *values.classifier_key(), values.relation, values.epsilon, values.draws, values.seed
        fpr, tpr, _ = evaluation(*key).roc_curve()
        bands = {"fpr": GRID, **band(fpr, tpr)}
        release = {"fpr": fpr[0], "tpr": tpr[0]}
        return {"evaluate-roc-band": pd.DataFrame(bands), "evaluate-roc-release": pd.DataFrame(release)}

    def clear(self) -> None:
        super().clear()
        self._sent = {}
        empty(self.counts)
        empty(self.now)


def curve_tasks(values: EvaluateValues) -> dict[ResultKey, Task]:
    """Return the tasks of each method's curves at the setting that is chosen."""
    return {(m, WORKER): Task(curves, values.curve_key(m, values.epsilon)) for m in values.evaluate_methods}


class MethodsCard(AnswerCard):
    """A figure for each method; the curve of another setting goes before the new one is there."""

    name, title, caption = "methods", "Other private ROC curves", text.CAPTIONS["methods"]
    controls: ClassVar[tuple[str, ...]] = ("evaluate_methods",)
    wide = True

    def __init__(self):
        self.exact = empty_source("evaluate-methods-exact", "fpr", "tpr")
        super().__init__(*(MethodFigure(method, self.exact) for method in ROC_STYLES))
        self.by_method = dict(zip(ROC_STYLES, self.figures, strict=True))
        self.panes = {method: figure_pane(small.plot) for method, small in self.by_method.items()}
        self._shown: dict[str, Task] = {}

    def content(self) -> list[Any]:
        return [line(*self.panes.values(), least=230)]

    def drawn(self, values: EvaluateValues) -> Sequence[Plot]:
        return [self.by_method[method].plot for method in values.evaluate_methods]

    def work(self, values: EvaluateValues, facts: EvaluateFacts) -> dict[ResultKey, Task]:
        return {**answered(values), **curve_tasks(values)}

    def waits(self, result_key: ResultKey) -> bool:
        return result_key[0] in SLOW

    def prepare(self, values: EvaluateValues, facts: EvaluateFacts, now: Results) -> None:
        self.exact.data = dict(zip(("fpr", "tpr"), now["answer", IMMEDIATE]["curve"], strict=True))
        wanted = curve_tasks(values)
        for method, small in self.by_method.items():
            self.panes[method].visible = method in values.evaluate_methods
            if method not in values.evaluate_methods:
                small.clear()
            if self._shown.get(method) != wanted.get((method, WORKER)):
                self._shown.pop(method, None)
        self.show(now, wanted)

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        for method, small in self.by_method.items():
            found, task = results.get((method, WORKER)), wanted.get((method, WORKER))
            if found is not None and task is not None and self._shown.get(method) != task:
                small.show(found, GRID)
                self._shown[method] = task

    def readout(self, values: EvaluateValues, facts: EvaluateFacts, results: Results) -> str:
        areas = {method: found["auc"] for (method, place), found in results.items() if place == WORKER}
        return text.roc_words(values, results["answer", IMMEDIATE]["true"]["roc_auc"], areas)

    def clear(self) -> None:
        super().clear()
        self._shown.clear()
        empty(self.exact)


def success_figure() -> BandFigure:
    """Return the share of labels that the best attack recovers against ε, with the bound: both are exact."""
    p = over_epsilon("evaluate-success", y_range=(0.45, 1.03), y_axis_label="labels guessed correctly")
    p.height = 420
    percent_axis(p.yaxis)
    chart = BandFigure(p, SUCCESS_STYLES, "epsilon")
    always = across(p, "width", 1.0, line_color=EXACT, line_width=3)
    chance = across(p, "width", 0.5, line_width=1, line_dash="dotted")
    chart.legend.add("non-private curve", [stroke(EXACT, width=3)], [always])
    chart.legend.add("chance", [stroke(REFERENCE, "dotted")], [chance])
    return chart


def error_figure() -> BandFigure:
    """Return the area between private and non-private curve against ε, as in Stoddard et al. 2014, Fig. 7."""
    axis: dict[str, Any] = {"y_axis_type": "log", "y_axis_label": "area to the non-private curve (log scale)"}
    p = over_epsilon("evaluate-errors", y_range=(0.0008, 1.0), **axis)
    p.height = 640  # room for a legend of one column on a phone
    set_ticks(p.yaxis[0], [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1], grid=p.ygrid[0])
    return BandFigure(p, ROC_STYLES, "epsilon", middle="median", tip="0.0000")


class ErrorsCard(CurvesCard[EvaluateValues, EvaluateFacts]):
    """Error of each chosen method against ε."""

    draw = error_figure
    name, title, caption = "errors", "Error against ε", text.CAPTIONS["errors"]

    def work(self, values: EvaluateValues, facts: EvaluateFacts) -> dict[ResultKey, Task]:
        tasks = {(m, e): Task(errors, values.curve_key(m, e)) for m in values.evaluate_methods for e in SWEEP_EPSILONS}
        return {**answered(values), **curve_tasks(values), **tasks}

    def prepare(self, values: EvaluateValues, facts: EvaluateFacts, now: Results) -> None:
        self.figure.name_methods(values.evaluate_methods)

    def waits(self, result_key: ResultKey) -> bool:
        return result_key[0] in SLOW

    def readout(self, values: EvaluateValues, facts: EvaluateFacts, results: Results) -> str:
        at_chosen = {method: found for (method, place), found in results.items() if place == WORKER}
        return text.error_words(values, at_chosen)


class SuccessCard(AnswerCard):
    """Exact success of the best attack, and the bound."""

    draw = success_figure
    name, title, caption = "success", "Accuracy of the attacker", text.CAPTIONS["success"]

    def prepare(self, values: EvaluateValues, facts: EvaluateFacts, now: Results) -> None:
        for series, shares in now["answer", IMMEDIATE]["lines"].items():
            self.figure.show(series, dict(zip(EPSILONS, shares[:, None], strict=True)), complete=True)

    def readout(self, values: EvaluateValues, facts: EvaluateFacts, results: Results) -> str:
        return text.success_words(values)
