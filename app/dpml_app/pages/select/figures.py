"""The figures of the Select page: made once a page, then changed through their data sources alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from bokeh.models import (
    FactorRange,
    FixedTicker,
    Glyph,
    HoverTool,
    LogAxis,
    Range1d,
    Span,
    TapTool,
)
from bokeh.plotting import figure

from dpml_app.drawing.band import BandFigure
from dpml_app.drawing.figure import (
    FONT,
    PLAIN_DIGITS,
    Figure,
    empty,
    empty_source,
    new_figure,
    p_range,
    percent_axis,
    set_ticks,
    write,
)
from dpml_app.drawing.legend import PlotLegend, mark, stroke
from dpml_app.drawing.styles import HERE, ORANGE, OVERLAY, REFERENCE, SKY, style_of, styles_of
from dpml_app.pages.select.compute import KINDS, SelectFacts, shown_ranks
from dpml_app.pages.select.settings import CALIBRATIONS, SELECTOR_STYLES

SCORE_STYLES = {"count": SELECTOR_STYLES["mask-count"], "mutual_information": SELECTOR_STYLES["mask-mi"]}
RULE_STYLES = styles_of("selector", "threshold")
OWN_STYLES = {
    "all": replace(style_of("row-bounded"), label="All features, private"),
    "best": style_of("best-selector", "selector"),
}
# room for a legend of one column, which a phone needs
TALL = 640
DASHES = {"range": "solid", "published": "dashed", "per-feature": "dotted"}
DRAWN = ("rank", "index", "name", "score", "units", "coin", *CALIBRATIONS)


def one_three(axis, low: int, high: int) -> None:
    """Label 1 and 3 times powers of ten in plain digits."""
    ticks = [float(f"{s}e{k}") for k in range(low, high) for s in (1, 3)]
    set_ticks(axis[0], ticks, f"tick >= 1000 ? {PLAIN_DIGITS} : String(tick)")


class WeightFigures:
    """Ranked probabilities by either score, and features on the coin's curve; the browser computes all of them."""

    def __init__(self):
        self.scores = empty_source("select-scores", *KINDS)
        self.now = empty_source("select-now", "calibration", "feature", "serial", *KINDS, *(f"{k}_step" for k in KINDS))
        self.shown = {kind: empty_source(f"select-shown-{kind}", "rank", "index", "name") for kind in KINDS}
        self.drawn = {kind: empty_source(f"select-drawn-{kind}", *DRAWN) for kind in KINDS}
        self.mark = {kind: empty_source(f"select-mark-{kind}", "rank", "units", "coin", "range") for kind in KINDS}
        grey: dict[str, Any] = {"line_color": REFERENCE, "line_width": 2, "level": OVERLAY}
        self.blind = Span(location=0, dimension="width", line_dash="dotted", name="select-blind", **grey)
        self.cut = Span(location=1, dimension="height", name="select-cut", **grey)
        self.ranked = {kind: self._ranked(kind) for kind in KINDS}
        self.coins = self._coins()

    def _dots(self, p: figure, kind: str, x: str, y: str):
        style, source = SCORE_STYLES[kind], self.drawn[kind]
        look: dict[str, Any] = {"marker": style.marker, "color": style.color, "line_color": "white", "level": OVERLAY}
        dots = p.scatter(x, y, source=source, size=8, **look)
        # choosing one must not fade the others
        dots.nonselection_glyph = dots.selection_glyph = None
        p.scatter(x, y, source=self.mark[kind], size=20, fill_alpha=0, line_color=HERE, line_width=3, level=OVERLAY)
        return dots

    @staticmethod
    def _tools(p: figure, dots: list, tips: list) -> None:
        p.add_tools(HoverTool(renderers=dots, tooltips=[("feature", "@name"), *tips]), TapTool(renderers=dots))

    def _ranked(self, kind: str) -> figure:
        p = new_figure(
            f"select-ranked-{kind}",
            x_axis_type="log",
            x_range=Range1d(start=0.8, end=100),
            y_range=Range1d(start=-0.02, end=1.02),
            x_axis_label="place by the exact score, best first (log scale)",
            y_axis_label="probability that it is chosen",
        )
        p.height = 440
        one_three(p.xaxis, 0, 5)
        percent_axis(p.yaxis)
        for span in (self.blind, self.cut):
            p.add_layout(span)
        legend, style = PlotLegend(p, 2, hides=True), SCORE_STYLES[kind]
        lines = {}
        for calibration in CALIBRATIONS:
            look: dict[str, Any] = {"color": style.color, "line_width": 2.5, "line_dash": DASHES[calibration]}
            lines[calibration] = p.line("rank", calibration, source=self.drawn[kind], level=OVERLAY, **look)
        dots = self._dots(p, kind, "rank", "range")
        for calibration, label in CALIBRATIONS.items():
            samples: list[Glyph] = [stroke(style.color, DASHES[calibration])]
            shown = [lines[calibration]]
            if calibration == "range":
                samples.append(mark(style.marker, style.color))
                shown.append(dots)
            legend.add(label, samples, shown)
        legend.add("A blind choice", [stroke(REFERENCE, "dotted")])
        self._tools(p, [dots], [("place", "@rank"), ("score", "@score{0.0000 a}"), ("chosen", "@range{0.0%}")])
        return p

    def _coins(self) -> figure:
        p = new_figure(
            "select-coins",
            x_axis_type="log",
            x_range=Range1d(start=0.1, end=1e4),
            y_range=Range1d(start=-0.02, end=1.02),
            x_axis_label="steps above the lowest score (log scale)",
            y_axis_label="probability of heads",
        )
        one_three(p.xaxis, -1, 6)
        percent_axis(p.yaxis)
        legend, every = PlotLegend(p, 1, hides=True), []
        for kind in KINDS:
            style = SCORE_STYLES[kind]
            line = p.line("units", "coin", source=self.drawn[kind], color=style.color, line_width=2.5, level=OVERLAY)
            every.append(self._dots(p, kind, "units", "coin"))
            samples = [stroke(style.color), mark(style.marker, style.color)]
            legend.add(style.label, samples, [line, every[-1]])
        self._tools(p, every, [("steps", "@units{0.0}"), ("heads", "@coin{0.00%}")])
        return p

    def show_dataset(self, facts: SelectFacts) -> None:
        """Send exact scores to the page, and which features are drawn."""
        D, names = facts.n_features, facts.names
        ranks, reach = shown_ranks(D), 1.0
        for kind in KINDS:
            order = np.argsort(-facts.scores[kind], kind="stable")[ranks]
            self.drawn[kind].selected.indices = []
            self.drawn[kind].data = {c: [] for c in DRAWN}
            self.mark[kind].data = {c: [] for c in self.mark[kind].data}
            self.shown[kind].data = {"rank": ranks + 1, "index": order, "name": [names[i] for i in order]}
            self.ranked[kind].x_range.update(start=0.8, end=1.25 * D)
            spread = facts.scores[kind].max() - facts.scores[kind].min()
            reach = max(reach, spread / min(facts.unit[kind, r] for r in ("add-remove", "replace-one")))
        self.coins.x_range.update(start=0.08, end=1.5 * reach)
        self.scores.data = {kind: facts.scores[kind] for kind in KINDS}

    def show_setting(self, facts: SelectFacts, relation: str, calibration: str, index: int) -> None:
        """Send what else the browser computes with; it then draws."""
        serial = self.now.data["serial"][0] + 1 if len(self.now.data["serial"]) else 0
        data = {"calibration": [calibration], "feature": [index], "serial": [serial]}
        data |= {kind: [facts.unit[kind, relation]] for kind in KINDS}
        self.now.data = {**data, **{f"{kind}_step": [facts.step[kind, relation]] for kind in KINDS}}

    def clear(self) -> None:
        """Show nothing."""
        for source in (*self.drawn.values(), *self.mark.values(), self.scores):
            empty(source)

    def sources(self) -> dict[str, Any]:
        """Return what the browser's script reads and writes."""
        parts = {"shown": self.shown, "drawn": self.drawn, "mark": self.mark}
        every = {f"{part}_{kind}": source for part, sources in parts.items() for kind, source in sources.items()}
        return {**every, "scores": self.scores, "now": self.now, "blind": self.blind, "cut": self.cut}


class F1Figure(BandFigure):
    """F1 against the threshold, with the number of features that truly reach it above."""

    def __init__(self):
        p = new_figure(
            "select-f1",
            x_axis_type="log",
            x_range=Range1d(start=1, end=1000),
            y_range=Range1d(start=-0.02, end=1.02),
            x_axis_label="threshold τ, in records (log scale)",
            y_axis_label="F1: 100 % is the true set",
        )
        p.height = TALL
        one_three(p.xaxis, -3, 6)
        percent_axis(p.yaxis)
        self.above = LogAxis(
            axis_label="features that truly reach τ (exact: for study)",
            ticker=FixedTicker(ticks=[]),
            minor_tick_line_color=None,
            axis_label_text_font_style="normal",
            axis_label_text_font_size="15px",
            major_label_text_font_size="14px",
        )
        p.add_layout(self.above, "above")
        super().__init__(p, RULE_STYLES, "threshold")

    def show_axis(self, thresholds: Sequence[float], true: Sequence[int], unit: str) -> None:
        """Set the axis for a data set and a score."""
        self.plot.x_range.update(start=thresholds[0] / 1.1, end=thresholds[-1] * 1.1)
        self.plot.xaxis[-1].axis_label = f"threshold τ, in {unit} (log scale)"
        self.above.update(
            # every second one: their numbers need room on a phone
            ticker=FixedTicker(ticks=list(thresholds[::2])),
            major_label_overrides={t: f"{k:,}" for t, k in zip(thresholds, true, strict=True)},
        )


class AccuracyFigure(BandFigure):
    """Accuracy against the number of features, between lines that do not depend on it."""

    def __init__(self):
        p = new_figure(
            "select-accuracy",
            x_axis_type="log",
            x_range=Range1d(start=0.8, end=100),
            y_range=Range1d(start=0.4, end=1.0),
            x_axis_label="number of features, T (log scale)",
            y_axis_label="share of test records classified correctly",
        )
        p.height = TALL
        one_three(p.xaxis, 0, 4)
        percent_axis(p.yaxis)
        super().__init__(p, {**SELECTOR_STYLES, **OWN_STYLES}, "n_features")
        self.reference("non_private", "Without privacy", "solid")
        self.reference("majority", "Larger class", "dotted")

    def show_references(self, facts: SelectFacts, most: int) -> None:
        """Draw the lines of a data set."""
        self.plot.x_range.update(start=0.9, end=1.1 * most)
        low, high = sorted((facts.majority, facts.non_private))
        self.plot.y_range.update(start=max(0.0, low - 0.12), end=min(1.0, high + 0.05))
        self.place_levels({"majority": facts.majority, "non_private": facts.non_private})

    def name_methods(self, methods: Collection[str]) -> None:
        """Have only the methods that are chosen in the legend, beside those that always are."""
        super().name_methods([*OWN_STYLES, *methods])

    def show(self, series: str, points: Mapping[Any, np.ndarray], complete: bool) -> None:
        """Show a curve; what does not depend on T is a level line."""
        if series in OWN_STYLES:
            points = {x: draws for x in p_range(self.plot) for draws in points.values()}
        super().show(series, points, complete)


class FeatureFigure(Figure):
    """The counts of one feature."""

    computed = ("bars",)

    def __init__(self):
        self.plot = p = new_figure(
            "select-feature",
            x_range=Range1d(start=0, end=1),
            y_range=FactorRange(factors=["a", "b"]),
            x_axis_label="training records",
        )
        p.height = 320
        p.yaxis.major_label_text_font_size = "15px"
        p.yaxis.group_text_font_size, p.yaxis.group_text_font = "15px", FONT
        p.ygrid.visible = False
        self.bars = empty_source("select-bars", "row", "records", "label", "color", "name")
        bars = p.hbar("row", height=0.8, right="records", source=self.bars, color="color")
        p.add_tools(HoverTool(renderers=[bars], tooltips=[("feature", "@name"), ("records", "@label")]))
        write(
            p,
            "records",
            "row",
            "label",
            source=self.bars,
            x_offset=6,
            text_baseline="middle",
            color=REFERENCE,
        )

    def show(self, name: str, classes: Sequence[str], counts: Mapping[str, Any]) -> None:
        """Show a feature's counts."""
        rows = [(str(c), state) for c in classes for state in ("on", "off")]
        records = np.column_stack([counts["on"], counts["off"]]).ravel()
        self.bars.data = {
            "row": rows,
            "records": records,
            "label": [f"{int(k):,}" for k in records],
            "color": [ORANGE, SKY] * len(classes),
            "name": [name] * len(rows),
        }

    def show_dataset(self, classes: Sequence[str], largest: float) -> None:
        """Lay the rows out for a data set."""
        self.plot.y_range.factors = [(str(c), state) for c in classes for state in ("on", "off")][::-1]
        self.plot.x_range.end = 1.15 * largest
