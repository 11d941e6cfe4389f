"""The figures of accuracy: against ε, and against what a publisher does with it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bokeh.models import CustomJSTickFormatter, FixedTicker
from bokeh.plotting import figure

from dpml.registry import standing
from dpml_app.drawing.band import BandFigure
from dpml_app.drawing.figure import empty_source, epsilon_axis, hover, new_figure, percent_axis
from dpml_app.drawing.legend import mark
from dpml_app.drawing.styles import EXACT, Style, style_of, styles_of
from dpml_app.pages.publish.settings import GRIDS, RECORDED, SHARE_LADDER
from dpml_app.settings import EPSILONS

_TABLES = styles_of("publisher", "table")
TABLE = replace(_TABLES["privpfc"], label="synthetic table")
STYLES = {
    "table": TABLE,
    "cells": replace(style_of("privpfc-cells", "publisher"), label="model of its cells"),
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
    "same": Style("non-private table", EXACT, "circle"),
}
# a smaller cost cannot be seen
LEAST = 0.0005
# room for a legend of one column, which a phone needs
TALL = 640


def _share_figure(name: str, **options: Any) -> figure:
    start = (0.4, 1.0)
    p = new_figure(name, y_range=start, y_axis_label="accuracy on test records", **options)
    percent_axis(p.yaxis)
    return p


def models_figure() -> BandFigure:
    """Return the figure of the published table beside models for the same ε."""
    ends = (EPSILONS[0], EPSILONS[-1])
    p = _share_figure("publish-models", x_axis_type="log", x_range=ends)
    epsilon_axis(p)
    chart = BandFigure(p, STYLES, "epsilon", columns=2)
    chart.level("true", "non-private table", EXACT)
    chart.level("majority", "majority-class baseline", dash="dotted")
    return chart


def ladder_figure(name: str) -> BandFigure:
    """Return the figure of the published table against Θ ("grids"), the share ("shares") or columns ("columns")."""
    if name == "grids":
        ends = (GRIDS[0] / 1.3, GRIDS[-1] * 1.3)
        p = _share_figure("publish-grids", x_axis_type="log", x_range=ends)
        p.xaxis.axis_label = "maximum number of candidate grids Θ (log scale)"
        p.xaxis.ticker = FixedTicker(ticks=[n for n in GRIDS if str(n)[0] == "1"])
        p.xaxis.formatter = CustomJSTickFormatter(code="return tick.toLocaleString('en')")
    elif name == "shares":
        p = _share_figure("publish-shares", x_range=(0, SHARE_LADDER[-1] + 0.03))
        p.xaxis.axis_label = "share of ε for grid selection"
        percent_axis(p.xaxis)
    else:
        p = _share_figure("publish-columns", x_range=(0, 1))
        p.xaxis.axis_label = "number of columns (first in the table)"
    p.height = 460
    chart = BandFigure(p, {"table": TABLE}, columns=2)
    chart.level("true", "non-private table, all columns", EXACT)
    chart.level("majority", "majority-class baseline", dash="dotted")
    return chart


def records_figure() -> BandFigure:
    """Return the figure of publishers against the number of training records, beside the records themselves."""
    p = _share_figure("publish-records", x_axis_type="log", x_range=(100, 1000))
    p.xaxis.axis_label = "training records (log scale)"
    p.height = 520
    chart = BandFigure(p, RECORD_STYLES, columns=2)
    chart.level("majority", "majority-class baseline", dash="dotted")
    return chart


def choices_figure() -> BandFigure:
    """Return the figure of publishers beside themselves with exact choices."""
    p = _share_figure("publish-choices", x_axis_type="log", x_range=(0.04, 3.75))
    epsilon_axis(p)
    p.height = TALL
    chart = BandFigure(p, CHOICE_STYLES, "epsilon")
    chart.level("true", "non-private table", EXACT)
    chart.level("majority", "majority-class baseline", dash="dotted")
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
            label = style.label.removesuffix(" (published claim)")
            hover(p, [dots], (label, "@said"))
            self.legend.add(f"{label}, precomputed", [mark(style.marker, style.color, size=11)], [dots])

    def show_recorded(self, rows: Sequence[Mapping[str, Any]], column: str) -> None:
        """Show the recorded rows of a data set and a classifier."""
        for name, source in self.recorded.items():
            mine = [row for row in rows if row["method"] == name]
            data = {
                "epsilon": [row["epsilon"] for row in mine],
                "value": [row[column] for row in mine],
                "said": [f"{row[column]:.4g} ({row['folds'] or 'no'} folds)" for row in mine],
            }
            if dict(source.data) != data:
                source.data = data

    def fit_log(self) -> None:
        """Fit the y axis, a logarithmic one, to what is shown."""
        sources = *self.curves.values(), *self.recorded.values()
        ends = [y for source in sources for name in ("low", "high", "value") for y in source.data.get(name, ())]
        if ends:
            self.plot.y_range.update(start=min(ends) / 2, end=2 * max(ends))


def rivals_figure() -> RivalsFigure:
    """Return the figure of all publishers' accuracy."""
    p = _share_figure("publish-rivals", x_axis_type="log", x_range=(0.04, 3.75))
    epsilon_axis(p)
    chart = RivalsFigure(p, "0.0%")
    chart.level("true", "non-private table", EXACT)
    chart.level("majority", "majority-class baseline", dash="dotted")
    return chart


def time_figure() -> RivalsFigure:
    """Return the figure of all publishers' time."""
    ends = {"x_range": (0.04, 3.75), "y_range": (0.001, 60)}
    p = new_figure(
        "publish-time", x_axis_type="log", y_axis_type="log", y_axis_label="seconds per fit (log scale)", **ends
    )
    epsilon_axis(p)
    p.yaxis.ticker = FixedTicker(ticks=[step * 10**power for power in range(-3, 2) for step in (1, 2, 5)])
    p.yaxis.formatter = CustomJSTickFormatter(code="return String(tick)")
    return RivalsFigure(p, "0.000")
