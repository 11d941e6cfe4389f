"""The figure that most panels of the Train page use: a measure against one setting, as lines with bands over draws."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from bokeh.models import (
    CDSView,
    ColumnDataSource,
    Glyph,
    GlyphRenderer,
    HoverTool,
    LegendItem,
    Line,
    Range1d,
    Scatter,
    Segment,
    Span,
    VArea,
)
from bokeh.plotting import figure

from dpml_app.drawing.bands import focus
from dpml_app.drawing.figure import HEIGHT, empty, empty_source, new_figure, percent_axis
from dpml_app.drawing.legend import ROW, PlotLegend, mark, stroke
from dpml_app.drawing.looks import OVERLAY, REFERENCE, STALE, Style

__all__ = ["BAND", "BandFigure"]

BAND = ("x", "mean", "low", "high")
IMMEDIATE = (*BAND, "foot", "at", "label")


# the rows of a legend for which there is room
MOST_ROWS = 7


class BandFigure:
    """Lines with bands that hold 90 % of the draws; faded while outdated; dots at the setting that is chosen.

    Parameters
    ----------
    name : str
        Begins the names of all its sources.
    styles : mapping of str to Style
        Every series that it may show, in the order of the legend; one is made when it is first shown, for each costs
        the page that opens 10 ms (measured: 400 of them are 4 s).
    y_axis_label : str
    references : mapping of str to (str, str)
        Label and dash of each level line.
    marker : bool
        Whether a place on the axis can be chosen.
    columns : int
        Of the legend.
    options
        For the figure; `x_range` must be given.
    """

    def __init__(
        self,
        name: str,
        styles: Mapping[str, Style],
        y_axis_label: str,
        references: Mapping[str, tuple[str, str]] | None = None,
        marker: bool = True,
        columns: int = 2,
        **options: Any,
    ):
        self.plot: figure = new_figure(name, y_range=Range1d(start=0.3, end=1.0), y_axis_label=y_axis_label, **options)
        percent_axis(self.plot.yaxis)
        self._height, self._columns = HEIGHT, columns
        self.curves: dict[str, ColumnDataSource] = {}
        self.stale: dict[str, ColumnDataSource] = {}
        self.now: dict[str, ColumnDataSource] = {}
        self.items: dict[str, LegendItem] = {}
        self.drawn: dict[str, list[GlyphRenderer]] = {}
        self.legend = PlotLegend(self.plot, columns, hides=True)
        self.references: dict[str, Span] = {}
        self._log = options.get("x_axis_type") == "log"
        width = self.plot.x_range.end - self.plot.x_range.start
        step = 0.03 if self._log else 0.006 * width
        self._name, self._styles = name, dict(styles)
        self._step = step
        self._offset: dict[str, float] = {}
        for key, (label, dash) in (references or {}).items():
            look: Any = {"line_color": REFERENCE, "line_width": 2.5, "line_dash": dash}
            self.references[key] = span = Span(location=None, dimension="width", name=f"{name}-{key}", **look)
            self.plot.add_layout(span)
            self.items[key] = self.legend.add(label, [stroke(REFERENCE, dash)], [span])
        self.marker = Span(
            location=None, dimension="height", line_color=REFERENCE, line_width=2, name=f"{name}-marker", level=OVERLAY
        )
        if marker:
            self.plot.add_layout(self.marker)
        tips = [("", "@label"), ("mean", "@mean{0.0%}"), ("90 % of draws", "@low{0.0%} to @high{0.0%}")]
        self._hover = HoverTool(renderers=[], tooltips=tips)
        self.plot.add_tools(self._hover)

    def _make(self, wanted: Collection[str]) -> None:
        """Make the series that are not there yet, each in its place of the legend and of what is painted."""
        missing = [series for series in self._styles if series in wanted and series not in self.curves]
        if not missing:
            return
        for series in missing:
            self._series(series, self._styles[series])
        made = [series for series in self._styles if series in self.curves]
        items = [self.items[series] for series in made]
        painted = [r for series in made for r in self.drawn[series]]
        self.plot.renderers = [*painted, *(r for r in self.plot.renderers if r not in painted)]
        self.legend.place([*items, *(item for item in self.legend.model.items if item not in items)])
        found = [(self.drawn[series][1], self.drawn[series][5]) for series in made]
        self._hover.renderers = [renderer for pair in found for renderer in pair]
        focus(self._hover, [(pair, self.drawn[series][2]) for pair, series in zip(found, made, strict=True)])

    def _series(self, series: str, style: Style) -> None:
        def draw(source: ColumnDataSource, glyph: Glyph, **options: Any) -> GlyphRenderer:
            # not by the figure's own methods, which make two more glyphs for each
            return GlyphRenderer(data_source=source, glyph=glyph, view=CDSView(), **options)

        name = f"{self._name}-{series}"
        self.curves[series] = curve = empty_source(name, *BAND)
        self.stale[series] = stale = empty_source(f"{name}-stale", *BAND)
        self.now[series] = now = empty_source(f"{name}-now", *IMMEDIATE)
        look: Any = {"line_color": style.color, "line_width": 2.5, "line_dash": style.dash}
        dot: Any = {"marker": style.marker, "fill_color": style.color, "line_color": style.color}
        whisker = Segment(x0="at", y0="foot", x1="at", y1="high", line_color=style.color, line_width=2)
        self.drawn[series] = [
            draw(curve, Line(x="x", y="mean", **look)),
            draw(curve, Scatter(x="x", y="mean", size=6, **dot)),
            draw(curve, VArea(x="x", y1="low", y2="high", fill_color=style.color, fill_alpha=0.1)),
            draw(stale, Line(x="x", y="mean", line_alpha=STALE, **look)),
            draw(now, whisker, level=OVERLAY),
            draw(now, Scatter(x="at", y="mean", size=13, **dot), level=OVERLAY),
        ]
        samples = [stroke(style.color, style.dash), mark(style.marker, style.color)]
        self.items[series] = self.legend.item(style.label, samples, self.drawn[series])

    # ---- what is shown -------------------------------------------------------------------------------------------

    def restyle(self, styles: Mapping[str, Style]) -> None:
        """Take the looks of the series; those left out of `styles` disappear from the legend, too."""
        self._make(styles)
        # side by side, around the place that is chosen
        shown = [series for series in self._styles if series in styles]
        self._offset = {series: (place - len(shown) // 2) * self._step for place, series in enumerate(shown)}
        for series in self.curves:
            item, style = self.items[series], styles.get(series)
            item.visible = style is not None
            if style is None:
                continue
            item.label = {"value": style.label}

    def make_room(self) -> None:
        """Make the figure higher where its legend is long, so that the plot above it stays readable."""
        rows = -(-sum(item.visible for item in self.items.values()) // self._columns)
        height = self._height + ROW * max(rows - MOST_ROWS, 0)
        if self.plot.height != height:
            self.plot.height = height

    def levels(self, values: Mapping[str, float]) -> None:
        """Set the level lines; one without a value disappears."""
        for key, span in self.references.items():
            span.location = values.get(key)
            self.items[key].visible = key in values

    def show(self, series: str, points: Mapping[float, np.ndarray], complete: bool) -> None:
        """Show what is there of a series, by place on the x axis; the outdated one goes once it is complete."""
        at = sorted(points)
        low, high = np.quantile([points[x] for x in at], [0.05, 0.95], axis=1) if at else ([], [])
        means = [points[x].mean() for x in at]
        self.curves[series].data = {"x": np.array(at), "mean": np.array(means), "low": low, "high": high}
        if complete:
            empty(self.stale[series])

    def show_now(self, series: str, x: float, draws: np.ndarray) -> None:
        """Show a series' draws at the setting that is chosen, beside those of the others."""
        offset = self._offset.get(series, 0.0)
        self._fade_now(series, 1.0)
        data = {
            "x": [x],
            "mean": [draws.mean()],
            "low": [np.quantile(draws, 0.05)],
            "high": [np.quantile(draws, 0.95)],
            # what is on the overlay is painted beyond the axis, too
            "foot": [max(np.quantile(draws, 0.05), self.plot.y_range.start)],
            "at": [x * (1 + offset) if self._log else x + offset],
            "label": [self.items[series].label.value],
        }
        if data != self.now[series].data:
            self.now[series].data = data

    def outdate_now(self, series: str) -> None:
        """Fade the dot of a series, which belongs to the previous setting."""
        self._fade_now(series, STALE)

    def _fade_now(self, series: str, alpha: float) -> None:
        # not by a column: Bokeh 3.9 now and then paints an overlay with the colours of fewer rows than it has
        whisker, dot = self.drawn[series][4:]
        if whisker.glyph.line_alpha != alpha:
            whisker.glyph.line_alpha = alpha
            dot.glyph.update(fill_alpha=alpha, line_alpha=alpha)

    def clear_now(self, series: str) -> None:
        """Take the dot of a series away."""
        empty(self.now[series])

    def outdate(self, series: str) -> None:
        """Fade a series whose setting has changed."""
        curve = self.curves[series]
        if len(curve.data["x"]):
            self.stale[series].data = dict(curve.data)
            empty(curve)

    def clear(self, series: str | None = None) -> None:
        """Take a series away, or all of them."""
        for name in self.curves if series is None else (series,):
            for source in (self.curves[name], self.stale[name], self.now[name]):
                empty(source)
