"""The figures of accuracy: against ε, and against what a publisher does with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from bokeh.models import CustomJSTickFormatter, FixedTicker, HoverTool, Range1d, Span
from bokeh.plotting import figure
from numpy.typing import NDArray

from dpml_app.drawing.bands import Band, Bands, focus
from dpml_app.drawing.figure import (
    empty,
    empty_source,
    epsilon_axis,
    new_figure,
    percent_axis,
    write,
)
from dpml_app.drawing.legend import PlotLegend, band, mark, stroke
from dpml_app.drawing.looks import COST, EXACT, LOOKS, OVERLAY, REFERENCE, Style
from dpml_app.pages.publish.settings import GRIDS, SHARE_LADDER
from dpml_app.settings import EPSILONS
from dpml_app.text.phrases import points

__all__ = [
    "CHOICE_STYLES",
    "LEAST",
    "RECORDED_STYLES",
    "RECORD_STYLES",
    "RIVAL_STYLES",
    "STYLES",
    "TABLE",
    "AccuracyFigure",
    "LinesFigure",
    "RivalsFigure",
    "choices_figure",
    "ladder_figure",
    "records_figure",
    "rivals_figure",
    "time_figure",
]

TABLE = replace(LOOKS["privpfc"], label="published table")
STYLES = {
    "table": TABLE,
    "cells": replace(LOOKS["privpfc-cells"], label="its cells"),
    "linear": replace(LOOKS["rule"], label="linear model"),
}
RIVAL_STYLES = {
    name: LOOKS[name] for name in ("privpfc", "privbayes", "diffgen", "pph", "uniform", "uniform-ug", "diffpc45")
}
CHOICE_STYLES = {
    name: LOOKS[name]
    for name in ("privpfc", "privpfc-selnf", "diffgen", "diffgen-struct", "privbayes", "privbayes-struct")
}
RECORD_STYLES = {
    "table": LOOKS["privpfc"],
    **{name: LOOKS[name] for name in ("privbayes", "diffgen", "pph")},
    "same": Style("true table of as many records", EXACT, "circle"),
}
RECORDED_STYLES = {name: LOOKS[name] for name in ("mst", "aim")}
# of the widest label, so that the slider under it begins where the axis does
LEFT = 76
# a smaller cost cannot be seen
LEAST = 0.0005
# room for a legend of one column, which a phone needs
TALL = 640


def _share_figure(name: str, **options: Any) -> figure:
    start = Range1d(start=0.4, end=1.0)
    p = new_figure(name, y_range=start, y_axis_label="test records that are classified rightly", **options)
    percent_axis(p.yaxis)
    return p


class LinesFigure(Bands):
    """Lines with bands over one axis, with a marker where one stands, and level lines."""

    # room above what is shown, as a share of it
    above = 0.06

    def __init__(self, p: figure, styles: Mapping[str, Style], x: str, tip: str = "0.0%", columns: int = 2):
        self.plot = p
        self.here = Span(dimension="height", line_color=REFERENCE, line_width=2, level=OVERLAY)
        self.here.name = f"{p.name}-marker"
        p.add_layout(self.here)
        self.legend = PlotLegend(p, columns, hides=True)
        self.bands = {name: Band(p, f"{p.name}-{name}", style, x) for name, style in styles.items()}
        for name, one in self.bands.items():
            self.legend.add(styles[name].label, band(styles[name]), one.renderers)
        tips = [("", "@label"), ("mean", f"@mean{{{tip}}}"), ("90 % of draws", f"@low{{{tip}}} to @high{{{tip}}}")]
        hover = HoverTool(renderers=[one.line for one in self.bands.values()], tooltips=tips)
        focus(hover, [([one.line], one.renderers[1]) for one in self.bands.values()])
        p.add_tools(hover)
        self.levels: dict[str, Span] = {}
        # ends of what is pinned, which are to be in sight as well
        self.beside: list[float] = []

    def level(self, name: str, label: str, color: str, dash: str) -> None:
        """Add a level line, which is placed later."""
        span = Span(dimension="width", line_color=color, line_width=2.5, line_dash=dash)
        span.name = f"{self.plot.name}-{name}"
        self.levels[name] = span
        self.plot.add_layout(span)
        self.legend.add(label, [stroke(color, dash)], [span])

    def fit(self) -> None:
        """Fit the axis to what is shown."""
        ends = [*self.beside, *(s.location for s in self.levels.values() if s.location is not None)]
        for one in self.bands.values():
            ends += [*one.curve.data["low"], *one.curve.data["high"], *one.stale.data["low"], *one.stale.data["high"]]
        if not ends:
            return
        low, high = float(min(ends)), float(max(ends))
        room = max(0.06 * (high - low), 0.004)
        above = max(self.above * (high - low), 0.004)
        if (self.plot.y_range.start, self.plot.y_range.end) != (low - room, high + above):
            self.plot.y_range.update(start=low - room, end=high + above)

    def clear(self, series: str | None = None) -> None:
        """Take a series away, or all that is shown."""
        super().clear(series)
        for span in self.levels.values() if series is None else ():
            span.location = None


class AccuracyFigure(LinesFigure):
    """The page's picture: the published table beside the true one, and beside models for the same ε."""

    # there stand the words of the gap
    above = 0.12

    def __init__(self) -> None:
        p = _share_figure(
            "publish-accuracy",
            x_axis_type="log",
            x_range=Range1d(start=EPSILONS[0], end=EPSILONS[-1]),
            min_border_left=LEFT,
            min_border_right=24,
        )
        epsilon_axis(p)
        p.xaxis.axis_label = None
        super().__init__(p, STYLES, "epsilon")
        self.level("true", "true table", EXACT, "solid")
        self.level("majority", "always guessing", REFERENCE, "dotted")
        self.gap = empty_source("publish-gap", "epsilon", "mean", "true", "text", "align", "off")
        p.segment("epsilon", "mean", "epsilon", "true", source=self.gap, color=COST, line_width=6, level=OVERLAY)
        p.scatter("epsilon", "mean", source=self.gap, size=15, color=TABLE.color, line_color="white", level=OVERLAY)
        write(
            p,
            "epsilon",
            "true",
            "text",
            source=self.gap,
            color=COST,
            text_font_size="19px",
            text_font_style="bold",
            text_align="align",
            # above the line of the true table, where no curve is
            text_baseline="bottom",
            x_offset="off",
            y_offset=-4,
            level=OVERLAY,
        )

    def show_gap(self, epsilon: float, draws: NDArray[np.float64] | None, true: float | None) -> None:
        """Show what publishing costs at the ε that is chosen."""
        if draws is None or true is None:
            empty(self.gap)
            return
        mean = float(draws.mean())
        left = epsilon < 1
        found = {
            "epsilon": [epsilon],
            "mean": [mean],
            "true": [true],
            "text": [points(true - mean) if true - mean >= LEAST else ""],
            "align": ["left" if left else "right"],
            "off": [14 if left else -14],
        }
        if dict(self.gap.data) != found:
            self.gap.data = found

    def clear(self, series: str | None = None) -> None:
        """Take a series away, or all that is shown."""
        super().clear(series)
        if series is None:
            empty(self.gap)


def ladder_figure(name: str) -> LinesFigure:
    """Return the figure of the published table against Θ ("grids"), the share ("shares") or columns ("columns")."""
    if name == "grids":
        ends = Range1d(start=GRIDS[0] / 1.3, end=GRIDS[-1] * 1.3)
        p = _share_figure("publish-grids", x_axis_type="log", x_range=ends)
        p.xaxis.axis_label = "Θ: candidate grids at most (log scale)"
        p.xaxis.ticker = FixedTicker(ticks=[n for n in GRIDS if str(n)[0] == "1"])
        p.xaxis.formatter = CustomJSTickFormatter(code="return tick.toLocaleString('en')")
    elif name == "shares":
        p = _share_figure("publish-shares", x_range=Range1d(start=0, end=SHARE_LADDER[-1] + 0.03))
        p.xaxis.axis_label = "share of ε for the choice of the grid"
        percent_axis(p.xaxis)
    else:
        p = _share_figure("publish-columns", x_range=Range1d(start=0, end=1))
        p.xaxis.axis_label = "number of columns, the first ones of the table"
    p.height = 460
    made = LinesFigure(p, {"table": TABLE}, "x")
    made.level("true", "true table, all columns", EXACT, "solid")
    made.level("majority", "always guessing", REFERENCE, "dotted")
    return made


def records_figure() -> LinesFigure:
    """Return the figure of publishers against the number of training records, beside the records themselves."""
    p = _share_figure("publish-records", x_axis_type="log", x_range=Range1d(start=100, end=1000))
    p.xaxis.axis_label = "training records (log scale)"
    p.height = 520
    made = LinesFigure(p, RECORD_STYLES, "x")
    made.level("majority", "always guessing", REFERENCE, "dotted")
    return made


def choices_figure() -> LinesFigure:
    """Return the figure of publishers beside themselves with exact choices."""
    p = _share_figure("publish-choices", x_axis_type="log", x_range=Range1d(start=0.04, end=1.25))
    epsilon_axis(p)
    p.height = TALL
    made = LinesFigure(p, CHOICE_STYLES, "epsilon", columns=1)
    made.level("true", "true table", EXACT, "solid")
    made.level("majority", "always guessing", REFERENCE, "dotted")
    return made


class RivalsFigure(LinesFigure):
    """All publishers against ε, and points of what is recorded of slow ones."""

    def __init__(self, p: figure, tip: str):
        super().__init__(p, RIVAL_STYLES, "epsilon", tip, 1)
        p.height = TALL
        self.recorded = {}
        for name, style in RECORDED_STYLES.items():
            source = self.recorded[name] = empty_source(f"{p.name}-{name}", "epsilon", "value", "said")
            dots = p.scatter("epsilon", "value", source=source, marker=style.marker, color=style.color, size=13)
            p.add_tools(HoverTool(renderers=[dots], tooltips=[(name.upper(), "@said")]))
            self.legend.add(style.label, [mark(style.marker, style.color, size=11)], [dots])

    def show_recorded(self, rows: Sequence[Mapping[str, Any]], column: str) -> None:
        """Show the recorded rows of a data set and a classifier."""
        for name, source in self.recorded.items():
            mine = [row for row in rows if row["method"] == name]
            found = {
                "epsilon": [row["epsilon"] for row in mine],
                "value": [row[column] for row in mine],
                "said": [f"{row[column]:.4g}, {row['folds']} folds" for row in mine],
            }
            if dict(source.data) != found:
                source.data = found


def rivals_figure() -> RivalsFigure:
    """Return the figure of all publishers' accuracy."""
    p = _share_figure("publish-rivals", x_axis_type="log", x_range=Range1d(start=0.04, end=1.25))
    epsilon_axis(p)
    made = RivalsFigure(p, "0.0%")
    made.level("true", "true table", EXACT, "solid")
    made.level("majority", "always guessing", REFERENCE, "dotted")
    return made


def time_figure() -> RivalsFigure:
    """Return the figure of all publishers' time."""
    ends = {"x_range": Range1d(start=0.04, end=1.25), "y_range": Range1d(start=0.001, end=60)}
    p = new_figure("publish-time", x_axis_type="log", y_axis_type="log", y_axis_label="seconds of one fit", **ends)
    epsilon_axis(p)
    p.yaxis.ticker = FixedTicker(ticks=[0.001, 0.01, 0.1, 1, 10])
    p.yaxis.formatter = CustomJSTickFormatter(code="return String(tick)")
    return RivalsFigure(p, "0.000")
