"""What the figures of a page have in common: size, tools, axes, legends and the look of each method.

Colours are Okabe and Ito's, which colour-blind people tell apart; marker and dash do without colour.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from bokeh.models import (
    BoxZoomTool,
    ColumnDataSource,
    CustomJSTickFormatter,
    FixedTicker,
    Legend,
    LegendItem,
    NumeralTickFormatter,
    PanTool,
    ResetTool,
    SaveTool,
    WheelZoomTool,
)
from bokeh.plotting import figure

HEIGHT = 520
STALE = 0.3
# what moves with a slider is on a layer of its own: axes, bands and legend are not painted again (measured: 10 ms less)
OVERLAY: Final = "overlay"
REFERENCE = "#808080"
EXACT = "#9C4DB0"
HERE = "#FF3B30"
EPSILON_TICKS = [0.01, 0.03, 0.1, 0.3, 1, 3, 10]


@dataclass(frozen=True)
class Style:
    """How a method looks, and is called, on every plot."""

    label: str
    color: str
    marker: str
    dash: str


STYLES = {
    "row-bounded": Style("Row-bounded", "#009E73", "diamond", "solid"),
    "published": Style("All features", "#0072B2", "circle", "dashed"),
    "count": Style("By counts", "#E69F00", "square", "dashdot"),
    "mutual_information": Style("By mutual information", "#CC79A7", "triangle", "dotted"),
    "logistic": Style("Logistic regression", "#D55E00", "inverted_triangle", "solid"),
}


def new_figure(name: str, **options) -> figure:
    """Return an empty figure in the page's style."""
    # nothing is active at first, so that a finger on a phone scrolls the page
    tools = [PanTool(), BoxZoomTool(), WheelZoomTool(), ResetTool(), SaveTool()]
    p = figure(
        name=name,
        height=HEIGHT,
        sizing_mode="stretch_width",
        tools=tools,
        active_drag=None,
        active_scroll=None,
        toolbar_location="above",
        output_backend="canvas",
        **options,
    )
    p.toolbar.logo = None
    for axis in p.axis:
        axis.axis_label_text_font_style = "normal"
        axis.axis_label_text_font_size = "15px"
        axis.major_label_text_font_size = "14px"
    return p


def epsilon_axis(p: figure) -> None:
    """Label the x axis as ε, with its private end marked."""
    p.xaxis.ticker = FixedTicker(ticks=EPSILON_TICKS)
    p.xaxis.formatter = CustomJSTickFormatter(code="return String(tick)")
    p.xaxis.axis_label = "← more private      ε (log scale)      less private →"
    p.xgrid.ticker = p.xaxis[0].ticker


def legend_below(p: figure, items: list[LegendItem], ncols: int = 2, **options) -> None:
    """Add a legend below the plot, begun under the axis labels: nothing is covered, and a phone's width is enough."""
    legend = Legend(items=items, ncols=ncols, location=(-45, 0), label_text_font_size="14px", **options)
    legend.update(spacing=2, padding=2, margin=4, border_line_alpha=0, background_fill_alpha=0)
    p.add_layout(legend, "below")


def legend_key(p: figure, kind: str, **look):
    """Return a glyph with no place on the plot, for the legend: what is on the overlay comes after it is painted."""
    draw = p.line if kind == "line" else p.scatter
    return draw([np.nan, np.nan], [np.nan, np.nan], **look)


def empty_source(name: str, *columns: str) -> ColumnDataSource:
    """Return a named source with empty columns."""
    return ColumnDataSource({c: [] for c in columns}, name=name)


def percent_axis(axis) -> None:
    """Label shares as percentages."""
    axis.formatter = NumeralTickFormatter(format="0%")


def p_range(p: figure) -> tuple[float, float]:
    """Return the ends of a figure's x axis, a little beyond them."""
    return p.x_range.start / 2, p.x_range.end * 2
