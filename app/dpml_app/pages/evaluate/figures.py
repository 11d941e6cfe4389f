"""Draw the private and the non-private ROC curve: the cards of the ROC curve page and their figures."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import holoviews as hv
import numpy as np
import pandas as pd
from bokeh.models import ColumnDataSource, Plot
from bokeh.plotting import figure

from dpml.evaluation.histogram import LOWERED, SENSITIVITY
from dpml_app.core.card import IMMEDIATE, WORKER, Answer, Card, ResultKey, Results, figure_pane, line
from dpml_app.core.curves_card import CurvesCard
from dpml_app.drawing.band import draw_band
from dpml_app.drawing.figure import (
    LAYOUT,
    Figure,
    empty,
    empty_source,
    hover,
    label,
    new_figure,
    square,
    write,
)
from dpml_app.drawing.legend import stroke
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
from dpml_app.settings import EPSILONS
from dpml_app.text.phrases import percent
from dpml_app.views.curve import series_layers
from dpml_app.views.frame import AXES, Axis, framed
from dpml_app.views.frame import line as area_line
from dpml_app.views.rendered import Table, ViewFigure

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


def method_figure(method: str) -> ViewFigure:
    """Return the figure of a method's median curve, its band, single draws, faint, and the non-private curve."""
    style, rates = ROC_STYLES[method], ("fpr", "tpr")

    def view(tables: Mapping[str, Table]) -> hv.Overlay:
        faint = {"line_color": style.color, "line_alpha": 0.18, "line_width": 1}
        layers = [
            hv.Curve(tables["draws"], *rates, group="draws").opts(**faint),
            *series_layers(tables["band"], "fpr", "mid", replace(style, label=""), marks=False, group="band"),
            hv.Curve(tables["non-private"], *rates, group="non-private").opts(line_color=EXACT, line_width=2),
        ]
        ends: Any = {"xlim": (-0.02, 1.02), "ylim": (-0.02, 1.02)}
        return framed(layers, replace(AXES["fpr"], ticks=(0, 0.5, 1)), replace(AXES["tpr"], ticks=(0, 0.5, 1)), **ends)

    chart = ViewFigure(f"evaluate-{method}", view, {"band": BAND, "draws": rates, "non-private": rates}, height=260)
    chart.plot.title = style.label
    return chart


def method_tables(curves: Mapping[str, Any], exact: Sequence[Any]) -> dict[str, Table]:
    """Return the tables of a method's draws, as one line with gaps, and of the non-private curve."""
    rows = {c: np.concatenate([np.append(row, np.nan) for row in curves[c]]) for c in ("fpr", "tpr")}
    band = {"fpr": GRID, **{c: curves[c] for c in BAND[1:]}}
    return {"band": band, "draws": rows, "non-private": dict(zip(("fpr", "tpr"), exact, strict=True))}


ROWS = ("row", "value", "low", "high", "end", "color", "holds")
# the AUCs that intervals are compared with
AREAS = {
    "true": Style("Non-private AUC (never publish)", EXACT, "dot"),
    "binned": Style("Same bins without noise", REFERENCE, "dot", "dashed"),
}


def intervals_view(tables: Mapping[str, Table]) -> hv.Overlay:
    """Return the area of each of a few releases with the interval that it prints, beside the true area."""
    color: dict[str, Any] = {"color": hv.dim("color")}
    levels = [area_line(tables, name, ("x", "y"), style) for name, style in AREAS.items()]
    lines = hv.Segments(tables["rows"], ["low", "row", "high", "end"], "color", group="rows")
    dots = hv.Points(tables["rows"], ["value", "row"], "color", group="rows")
    layers = [*levels, lines.opts(line_width=3, tools=["hover"], **color), dots.opts(size=8, **color)]
    return framed(layers, Axis("AUC"), Axis(""), yaxis=None, ylim=(-0.5, 10))


def intervals_figure() -> ViewFigure:
    """Return the figure of releases with their intervals."""
    columns = {"rows": ROWS, **dict.fromkeys(AREAS, ("x", "y"))}
    tips = [("AUC", "@value{0.000}"), ("90% interval", "@low{0.000} to @high{0.000}"), ("", "@holds")]
    chart = ViewFigure("evaluate-intervals", intervals_view, columns, tips, height=300)
    chart.legend.model.location = (0, 0)  # no y axis to stand below
    chart.legend.add("Interval contains it", [stroke(GREEN)])
    chart.legend.add("Interval misses it", [stroke(VERMILION)])
    return chart


def interval_tables(answer: Mapping[str, Any]) -> dict[str, Table]:
    """Return the tables of releases, the first one on top, by whether they hold the area of the bins."""
    binned, (values, low, high) = answer["binned"], answer["areas"]
    row, holds = np.arange(len(values))[::-1], (low <= binned) & (binned <= high)
    said = np.where(holds, "contains the AUC without noise", "misses the AUC without noise")
    rows = {"row": row, "value": values, "low": low, "high": high, "end": row}
    rows |= {"color": np.where(holds, GREEN, VERMILION), "holds": said}
    ends = (-1, len(values))
    levels = {"true": answer["true"]["roc_auc"], "binned": binned}
    return {"rows": rows, **{name: {"x": (x, x), "y": ends} for name, x in levels.items()}}


def interval_range(true: float, low: np.ndarray, high: np.ndarray) -> tuple[float, float]:
    """Return the ends of the axis, in few steps, so that a slider does not move it at every step."""
    reach = max(0.02, float(np.max(np.abs(np.concatenate([low, high]) - true))))
    reach = float(np.clip(0.02 * 2 ** np.ceil(np.log2(reach / 0.02)), 0.02, 1.0))
    return max(0.0, true - 1.05 * reach), min(1.005, true + 1.05 * reach)


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
        said = f"{right[:n].sum()} of {n} correct", f"at best {percent(share)} correct"
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

    draw = intervals_figure
    name, title, caption = "numbers", "Figures of one release", text.CAPTIONS["numbers"]
    controls = ("evaluate_cut",)

    def prepare(self, values: EvaluateValues, facts: EvaluateFacts, now: Results) -> None:
        answer = now["answer", IMMEDIATE]
        _values, low, high = answer["areas"]
        start, end = interval_range(answer["true"]["roc_auc"], low, high)
        self.figure.plot.x_range.update(start=start, end=end)
        self.figure.plot.y_range.end = len(low) - 0.5
        self.figure.show(interval_tables(answer))

    def readout(self, values: EvaluateValues, facts: EvaluateFacts, results: Results) -> str:
        answer = results["answer", IMMEDIATE]
        _values, low, high = answer["areas"]
        holds = int(((low <= answer["binned"]) & (answer["binned"] <= high)).sum()), len(low)
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
    """A figure for each method, greyed until the curve of a new setting is there."""

    name, title, caption = "methods", "Other private ROC curves", text.CAPTIONS["methods"]
    controls: ClassVar[tuple[str, ...]] = ("evaluate_methods",)
    wide = True

    def __init__(self):
        self.by_method = {method: method_figure(method) for method in ROC_STYLES}
        super().__init__(*self.by_method.values())
        self.panes = {method: figure_pane(small.plot) for method, small in self.by_method.items()}

    def content(self) -> list[Any]:
        return [line(*self.panes.values(), least=230)]

    def drawn(self, values: EvaluateValues) -> Sequence[Plot]:
        return [self.by_method[method].plot for method in values.evaluate_methods]

    def work(self, values: EvaluateValues, facts: EvaluateFacts) -> dict[ResultKey, Task]:
        return {**answered(values), **curve_tasks(values)}

    def waits(self, result_key: ResultKey) -> bool:
        return result_key[0] in SLOW

    def prepare(self, values: EvaluateValues, facts: EvaluateFacts, now: Results) -> None:
        for method, pane in self.panes.items():
            pane.visible = method in values.evaluate_methods
            if not pane.visible:
                self.by_method[method].clear()
        self.show(now, {})

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        for method, small in self.by_method.items():
            found = results.get((method, WORKER))
            if found is not None:
                small.show(method_tables(found, results["answer", IMMEDIATE]["curve"]))

    def readout(self, values: EvaluateValues, facts: EvaluateFacts, results: Results) -> str:
        areas = {method: found["auc"] for (method, place), found in results.items() if place == WORKER}
        return text.roc_words(values, results["answer", IMMEDIATE]["true"]["roc_auc"], areas)


class ErrorsCard(CurvesCard[EvaluateValues, EvaluateFacts]):
    """Error of each chosen method against ε, as in Stoddard et al. 2014, Fig. 7."""

    plot_name, middle, look = "evaluate-errors", "median", {"tip": "0.0000"}
    y = Axis("area to the non-private curve (log scale)", log=True, ticks=(0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1))
    ylim = (0.0008, 1.0)
    name, title, caption = "errors", "Error against ε", text.CAPTIONS["errors"]

    def shown(self, values: EvaluateValues, facts: EvaluateFacts) -> Mapping[str, Style]:
        return {method: style for method, style in ROC_STYLES.items() if method in values.evaluate_methods}

    def work(self, values: EvaluateValues, facts: EvaluateFacts) -> dict[ResultKey, Task]:
        return {**answered(values), **curve_tasks(values), **super().work(values, facts)}

    def task(self, values: EvaluateValues, series: str, x: float) -> Task:
        return Task(errors, values.curve_key(series, x))

    def waits(self, result_key: ResultKey) -> bool:
        return result_key[0] in SLOW

    def readout(self, values: EvaluateValues, facts: EvaluateFacts, results: Results) -> str:
        at_chosen = {method: found for (method, place), found in results.items() if place == WORKER}
        return text.error_words(values, at_chosen)


class SuccessCard(CurvesCard[EvaluateValues, EvaluateFacts]):
    """Exact success of the best attack against ε, and the bound."""

    plot_name, styles, ylim = "evaluate-success", SUCCESS_STYLES, (0.45, 1.03)
    y = Axis("labels guessed correctly", share=True)
    levels: ClassVar[Mapping[str, Style]] = {
        "always": Style("non-private curve", EXACT, "dot"),
        "chance": Style("chance", REFERENCE, "dot", "dotted"),
    }
    name, title, caption = "success", "Accuracy of the attacker", text.CAPTIONS["success"]

    def work(self, values: EvaluateValues, facts: EvaluateFacts) -> dict[ResultKey, Task]:
        return answered(values)

    def series(self, results: Results) -> Mapping[str, Mapping[float, np.ndarray]]:
        lines = results["answer", IMMEDIATE]["lines"]
        return {name: dict(zip(EPSILONS, shares[:, None], strict=True)) for name, shares in lines.items()}

    def level_values(self, values: EvaluateValues, facts: EvaluateFacts, results: Results) -> Mapping[str, float]:
        return {"always": 1.0, "chance": 0.5}

    def readout(self, values: EvaluateValues, facts: EvaluateFacts, results: Results) -> str:
        return text.success_words(values)
