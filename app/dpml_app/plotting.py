"""What the figures of a page have in common: size, tools, axes, legends and the look of each method.

Colours are Okabe and Ito's, which colour-blind people tell apart; marker and dash do without colour.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
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


def script(*names: str) -> str:
    """Return the browser's own code, from files beside this one, in this order."""
    here = Path(__file__).parent
    return "\n".join((here / name).read_text(encoding="utf-8") for name in names)


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


def empty(source: ColumnDataSource) -> None:
    """Take the rows of a source away, if it has any."""
    if any(len(column) for column in source.data.values()):
        source.data = {c: [] for c in source.data}


def percent_axis(axis) -> None:
    """Label shares as percentages."""
    axis.formatter = NumeralTickFormatter(format="0%")


def p_range(p: figure) -> tuple[float, float]:
    """Return the ends of a figure's x axis, a little beyond them."""
    return p.x_range.start / 2, p.x_range.end * 2


class Band:
    """A line of means and a band of 90 % of draws, faded while outdated.

    Parameters
    ----------
    p : figure
    name : str
        Of its source; the outdated one's ends with ``-stale``.
    style : Style
    x : str
        Name of the column on the x axis.
    """

    def __init__(self, p: figure, name: str, style: Style, x: str):
        self.x, self.style = x, style
        self.columns = (x, "mean", "low", "high", "label")
        self.curve, self.stale = empty_source(name, *self.columns), empty_source(f"{name}-stale", *self.columns)
        look = {"color": style.color, "line_width": 2.5, "line_dash": style.dash}
        self.line = p.line(x, "mean", source=self.curve, **look)
        band = p.varea(x, "low", "high", source=self.curve, fill_color=style.color, fill_alpha=0.13)
        old = p.line(x, "mean", source=self.stale, line_alpha=STALE, **look)
        self.renderers = [self.line, band, old]

    def show(self, points: Mapping[float, np.ndarray], complete: bool) -> None:
        """Show the draws that are there at each x; the outdated curve goes once all are."""
        at = np.array(sorted(points))
        low, high = np.array([np.quantile(points[x], [0.05, 0.95]) for x in at]).reshape(-1, 2).T
        means = np.array([points[x].mean() for x in at])
        self.curve.data = {self.x: at, "mean": means, "low": low, "high": high, "label": [self.style.label] * len(at)}
        if complete:
            self.stale.data = {c: [] for c in self.columns}

    def outdate(self) -> None:
        """Fade the curve, whose settings have changed."""
        if len(self.curve.data[self.x]):
            self.stale.data = dict(self.curve.data)
            self.curve.data = {c: [] for c in self.columns}

    def clear(self) -> None:
        """Show nothing."""
        for source in (self.curve, self.stale):
            source.data = {c: [] for c in self.columns}
