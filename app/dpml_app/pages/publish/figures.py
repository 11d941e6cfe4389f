"""The figures of accuracy: against ε, and against what a publisher does with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from bokeh.models import CustomJSTickFormatter, FixedTicker, HoverTool, Range1d
from bokeh.plotting import figure
from numpy.typing import NDArray

from dpml.catalogue import standing
from dpml_app.drawing.band import BandFigure
from dpml_app.drawing.figure import (
    empty,
    empty_source,
    epsilon_axis,
    new_figure,
    percent_axis,
    write,
)
from dpml_app.drawing.legend import mark
from dpml_app.drawing.styles import COST, EXACT, OVERLAY, Style, style_of, styles_of
from dpml_app.pages.publish.settings import GRIDS, RECORDED, SHARE_LADDER
from dpml_app.settings import EPSILONS
from dpml_app.text.phrases import points

_TABLES = styles_of("publisher", "table")
TABLE = replace(_TABLES["privpfc"], label="published table")
STYLES = {
    "table": TABLE,
    "cells": replace(style_of("privpfc-cells", "publisher"), label="its cells"),
    "linear": replace(style_of("rule"), label="linear model"),
}
RECORDED_STYLES = {name: _TABLES[name] for name in RECORDED.values()}
RIVAL_STYLES = {
    name: style
    for name, style in _TABLES.items()
    if name not in RECORDED_STYLES and standing(name, "publisher").private
}
CHOICE_STYLES = {
    name: _TABLES[name]
    for name in ("privpfc", "privpfc-selnf", "diffgen", "diffgen-struct", "privbayes", "privbayes-struct")
}
RECORD_STYLES = {
    "table": _TABLES["privpfc"],
    **{name: _TABLES[name] for name in ("privbayes", "diffgen", "pph")},
    "same": Style("true table of as many records", EXACT, "circle"),
}
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


class AccuracyFigure(BandFigure):
    """The page's picture: the published table beside the true one, and beside models for the same ε."""

    # there stand the words of the gap
    room_above = 0.12

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
        super().__init__(p, STYLES, "epsilon", columns=2)
        self.level("true", "true table", EXACT)
        self.level("majority", "always guessing", dash="dotted")
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
        row = {
            "epsilon": [epsilon],
            "mean": [mean],
            "true": [true],
            "text": [points(true - mean) if true - mean >= LEAST else ""],
            "align": ["left" if left else "right"],
            "off": [14 if left else -14],
        }
        if dict(self.gap.data) != row:
            self.gap.data = row

    def clear(self, series: str | None = None) -> None:
        """Take a series away, or all that is shown."""
        super().clear(series)
        if series is None:
            empty(self.gap)


def ladder_figure(name: str) -> BandFigure:
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
    chart = BandFigure(p, {"table": TABLE}, columns=2)
    chart.level("true", "true table, all columns", EXACT)
    chart.level("majority", "always guessing", dash="dotted")
    return chart


def records_figure() -> BandFigure:
    """Return the figure of publishers against the number of training records, beside the records themselves."""
    p = _share_figure("publish-records", x_axis_type="log", x_range=Range1d(start=100, end=1000))
    p.xaxis.axis_label = "training records (log scale)"
    p.height = 520
    chart = BandFigure(p, RECORD_STYLES, columns=2)
    chart.level("majority", "always guessing", dash="dotted")
    return chart


def choices_figure() -> BandFigure:
    """Return the figure of publishers beside themselves with exact choices."""
    p = _share_figure("publish-choices", x_axis_type="log", x_range=Range1d(start=0.04, end=1.25))
    epsilon_axis(p)
    p.height = TALL
    chart = BandFigure(p, CHOICE_STYLES, "epsilon")
    chart.level("true", "true table", EXACT)
    chart.level("majority", "always guessing", dash="dotted")
    return chart


class RivalsFigure(BandFigure):
    """All publishers against ε, and points of what is recorded of slow ones."""

    def __init__(self, p: figure, tip: str):
        super().__init__(p, RIVAL_STYLES, "epsilon", tip=tip)
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
            data = {
                "epsilon": [row["epsilon"] for row in mine],
                "value": [row[column] for row in mine],
                "said": [f"{row[column]:.4g}, {row['folds']} folds" for row in mine],
            }
            if dict(source.data) != data:
                source.data = data


def rivals_figure() -> RivalsFigure:
    """Return the figure of all publishers' accuracy."""
    p = _share_figure("publish-rivals", x_axis_type="log", x_range=Range1d(start=0.04, end=1.25))
    epsilon_axis(p)
    chart = RivalsFigure(p, "0.0%")
    chart.level("true", "true table", EXACT)
    chart.level("majority", "always guessing", dash="dotted")
    return chart


def time_figure() -> RivalsFigure:
    """Return the figure of all publishers' time."""
    ends = {"x_range": Range1d(start=0.04, end=1.25), "y_range": Range1d(start=0.001, end=60)}
    p = new_figure("publish-time", x_axis_type="log", y_axis_type="log", y_axis_label="seconds of one fit", **ends)
    epsilon_axis(p)
    p.yaxis.ticker = FixedTicker(ticks=[0.001, 0.01, 0.1, 1, 10])
    p.yaxis.formatter = CustomJSTickFormatter(code="return String(tick)")
    return RivalsFigure(p, "0.000")
