"""The chart of a mean with a band: a line a series, the band of its draws, and a dot where the setting stands."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from bokeh.core.properties import value
from bokeh.models import (
    CDSView,
    ColumnDataSource,
    CustomJS,
    Glyph,
    GlyphRenderer,
    HoverTool,
    LegendItem,
    Line,
    LogScale,
    Scatter,
    Segment,
    Span,
    VArea,
)
from bokeh.plotting import figure

from dpml_app.drawing.figure import HEIGHT, Figure, empty, empty_source, p_range, script, signs
from dpml_app.drawing.legend import ROW, PlotLegend, band, mark, stroke
from dpml_app.drawing.styles import FAINT_BAND_ALPHA, OVERLAY, REFERENCE, STALE, Style

# the rows of a legend for which there is room
MOST_ROWS = 7
# one band is seen at a time, for many bands over one another are mud
FOCUS = script("drawing/focus.js")


def fade(renderer: GlyphRenderer, **look: Any) -> None:
    """Give a renderer the look that it has while it is muted.

    Change `muted` alone later: Panel returns a changed look to a notebook's kernel, where Bokeh cannot read it.
    """
    renderer.muted_glyph = renderer.glyph.clone(**look)


def focus(hover: HoverTool, curves: Sequence[tuple[Sequence[GlyphRenderer], GlyphRenderer]]) -> None:
    """Let one band be seen at a time: that of the first curve, until the pointer is on another.

    `curves`: of each curve, what the pointer finds, and its band.
    """
    areas = [area for _found, area in curves]
    hover.renderers = [renderer for renderers, _area in curves for renderer in renderers]
    for place, area in enumerate(areas):
        area.muted = place > 0
    if len(areas) > 1:
        found = [list(renderers) for renderers, _area in curves]
        hover.callback = CustomJS(args={"renderers": found, "areas": areas}, code=FOCUS)


def spread(draws: np.ndarray, middle: str = "mean") -> tuple[float, float, float]:
    """Return the mean or the median of draws, and the ends of what holds 90 % of them.

    >>> [round(float(v), 2) for v in spread(np.arange(101) ** 2 / 10_000)]
    [0.34, 0.0, 0.9]
    """
    low, high = np.quantile(draws, [0.05, 0.95])
    return draws.mean() if middle == "mean" else np.quantile(draws, 0.5), low, high


def _renderer(source: ColumnDataSource, glyph: Glyph, **options: Any) -> GlyphRenderer:
    # not by the figure's own methods, which make two more glyphs for each
    return GlyphRenderer(data_source=source, glyph=glyph, view=CDSView(), **options)


def draw_band(
    source: ColumnDataSource, style: Style, x: str, middle: str = "mean", width: float | None = None, **options: Any
) -> list[GlyphRenderer]:
    """Return the renderers of a line and of its band, whose ends are the columns low and high."""
    line = Line(x=x, y=middle, **{**style.line, **({"line_width": width} if width else {})})
    area = VArea(x=x, y1="low", y2="high", **style.band)
    return [_renderer(source, glyph, **options) for glyph in (line, area)]


class BandFigure(Figure):
    """Lines of means with bands that hold 90 % of the draws, faded while outdated.

    `p`: its name begins those of all sources.
    `styles`: every series that it may show, in the order of the legend.
    `x`: the column of places on the x axis.
    `middle`, {"mean", "median"}: what the line shows, and the name of its column.
    `tip`: how the pointer's words write a number.
    `tips`: the first of these words.
    `columns`: of the legend.
    `marker`: whether a line says where the setting stands.
    `marks`: whether the places of a line are marked.
    `dots`: whether each series has a dot and its interval where the setting stands.
    `deferred`: whether a series is made when `restyle` first names it, for each costs the page that opens 10 ms
    (measured: 400 of them are 4 s).
    """

    # room above what is shown, as a share of it
    room_above = 0.06

    def __init__(
        self,
        p: figure,
        styles: Mapping[str, Style],
        x: str = "x",
        *,
        middle: str = "mean",
        tip: str = "0.0%",
        tips: Sequence[tuple[str, str]] = (("", "@label"),),
        columns: int = 1,
        marker: bool = True,
        marks: bool = False,
        dots: bool = False,
        deferred: bool = False,
    ):
        self.plot, self.x, self._styles = p, x, dict(styles)
        self._middle, self._marks, self._dots = middle, marks, dots
        self._columns = (x, middle, "low", "high", "label")
        self._log = isinstance(p.x_scale, LogScale)
        self._step = 0.03 if self._log else 0.006 * (p.x_range.end - p.x_range.start)
        self._offset: dict[str, float] = {}
        self.curves: dict[str, ColumnDataSource] = {}
        self.stale: dict[str, ColumnDataSource] = {}
        self.now: dict[str, ColumnDataSource] = {}
        self.drawn: dict[str, list[GlyphRenderer]] = {}
        self.items: dict[str, LegendItem] = {}
        self.levels: dict[str, Span] = {}
        self.references: dict[str, ColumnDataSource] = {}
        # ends of what is pinned, which are to be in sight as well
        self.beside: list[float] = []
        look: Any = {"line_color": REFERENCE, "line_width": 2, "level": OVERLAY}
        self.marker = Span(location=None, dimension="height", name=f"{p.name}-marker", **look)
        if marker:
            p.add_layout(self.marker)
        self.legend = PlotLegend(p, columns, hides=True)
        ends = f"@low{{{tip}}} to @high{{{tip}}}"
        every = [*tips, (middle, f"@{middle}{{{tip}}}"), ("90% of runs", ends)]
        self._hover = HoverTool(renderers=[], tooltips=every, formatters=signs(every))
        p.add_tools(self._hover)
        if not deferred:
            self.restyle(styles)

    def _make(self, wanted: Collection[str]) -> None:
        """Make the series that are not there yet, each in its place of the legend and of what is painted."""
        missing = [series for series in self._styles if series in wanted and series not in self.curves]
        if not missing:
            return
        for series in missing:
            self._series(series, self._styles[series])
        there = [series for series in self._styles if series in self.curves]
        items = [self.items[series] for series in there]
        painted = [r for series in there for r in self.drawn[series]]
        self.plot.renderers = [*painted, *(r for r in self.plot.renderers if r not in painted)]
        self.legend.place([*items, *(item for item in self.legend.model.items if item not in items)])
        # the pointer finds what has a marker, or else the line
        marked = {s: [r for r in self.drawn[s] if isinstance(r.glyph, Scatter)] for s in there}
        focus(self._hover, [(marked[s] or self.drawn[s][:1], self.drawn[s][1]) for s in there])

    def _series(self, series: str, style: Style) -> None:
        name = f"{self.plot.name}-{series}"
        self.curves[series] = curve = empty_source(name, *self._columns)
        self.stale[series] = stale = empty_source(f"{name}-stale", *self._columns)
        drawn = draw_band(curve, style, self.x, self._middle)
        fade(drawn[1], fill_alpha=FAINT_BAND_ALPHA)
        drawn.append(_renderer(stale, Line(x=self.x, y=self._middle, line_alpha=STALE, **style.line)))
        samples = list(band(style))
        if self._marks:
            drawn.append(_renderer(curve, Scatter(x=self.x, y=self._middle, size=6, **style.dot)))
            samples = [stroke(style.color, style.dash)]
        if self._dots:
            self.now[series] = now = empty_source(f"{name}-now", *self._columns, "foot", "at")
            whisker = Segment(x0="at", y0="foot", x1="at", y1="high", line_color=style.color, line_width=2)
            dot = Scatter(x="at", y=self._middle, size=13, **style.dot)
            drawn += [_renderer(now, glyph, level=OVERLAY) for glyph in (whisker, dot)]
        if self._marks or self._dots:
            samples.append(mark(style.marker, style.color))
        self.drawn[series] = drawn
        self.items[series] = self.legend.item(style.label, samples, drawn)

    def level(self, name: str, label: str, color: str = REFERENCE, dash: str = "solid") -> Span:
        """Add a level line, which is placed later."""
        look: Any = {"line_color": color, "line_width": 2.5, "line_dash": dash}
        self.levels[name] = span = Span(location=None, dimension="width", name=f"{self.plot.name}-{name}", **look)
        self.plot.add_layout(span)
        self.items[name] = self.legend.add(label, [stroke(color, dash)], [span])
        return span

    def reference(self, name: str, label: str, dash: str) -> None:
        """Add a level line that stands among the numbers of the plot, too; it is placed later."""
        self.references[name] = source = empty_source(f"{self.plot.name}-{name}", "x", "y")
        line = self.plot.line("x", "y", source=source, color=REFERENCE, line_width=2.5, line_dash=dash)
        self.items[name] = self.legend.add(label, [stroke(REFERENCE, dash)], [line])

    # ---- what is shown -------------------------------------------------------------------------------------------

    def restyle(self, styles: Mapping[str, Style]) -> None:
        """Take the styles of the series; those left out of `styles` disappear from the legend, too."""
        self._make(styles)
        # side by side, around the place that is chosen
        shown = [series for series in self._styles if series in styles]
        self._offset = {series: (place - len(shown) // 2) * self._step for place, series in enumerate(shown)}
        self.name_methods(styles)
        for series in shown:
            self.items[series].label = value(styles[series].label)

    def name_methods(self, methods: Collection[str]) -> None:
        """Have only the methods that are chosen in the legend."""
        for series in self.curves:
            self.items[series].visible = series in methods

    def make_room(self) -> None:
        """Make the figure higher where its legend is long, so that the plot above it stays readable."""
        rows = -(-sum(item.visible for item in self.items.values()) // self.legend.model.ncols)
        height = HEIGHT + ROW * max(rows - MOST_ROWS, 0)
        if self.plot.height != height:
            self.plot.height = height

    def place_levels(self, values: Mapping[str, float]) -> None:
        """Set the level lines; one without a value disappears."""
        for name, span in self.levels.items():
            span.location = values.get(name)
            self.items[name].visible = name in values
        for name, source in self.references.items():
            source.data = {"x": list(p_range(self.plot)), "y": [values.get(name, np.nan)] * 2}

    def show(self, series: str, points: Mapping[Any, np.ndarray], complete: bool) -> None:
        """Show what is there of a series, by place on the x axis; the outdated one goes once it is complete."""
        at = np.array(sorted(points))
        middle, low, high = np.array([spread(points[x], self._middle) for x in at]).reshape(-1, 3).T
        label = [self.items[series].label.value] * len(at)
        self.curves[series].data = dict(zip(self._columns, (at, middle, low, high, label), strict=True))
        if complete:
            empty(self.stale[series])

    def outdate(self, series: str) -> None:
        """Fade a series whose setting has changed."""
        curve = self.curves[series]
        if len(curve.data[self.x]):
            self.stale[series].data = dict(curve.data)
            empty(curve)

    def show_now(self, series: str, x: float, draws: np.ndarray) -> None:
        """Show a series' draws at the setting that is chosen, beside those of the others."""
        middle, low, high = spread(draws, self._middle)
        self._fade_now(series, 1.0)
        offset = self._offset.get(series, 0.0)
        row = (x, middle, low, high, self.items[series].label.value)
        data = {column: [one] for column, one in zip(self._columns, row, strict=True)}
        # what is on the overlay is painted beyond the axis, too
        data |= {"foot": [max(low, self.plot.y_range.start)], "at": [x * (1 + offset) if self._log else x + offset]}
        if data != self.now[series].data:
            self.now[series].data = data

    def outdate_now(self, series: str) -> None:
        """Fade the dot of a series, which belongs to the previous setting."""
        self._fade_now(series, STALE)

    def _fade_now(self, series: str, alpha: float) -> None:
        # not by a column: Bokeh 3.9 now and then paints an overlay with the colours of fewer rows than it has
        whisker, dot = self.drawn[series][-2:]
        if whisker.glyph.line_alpha != alpha:
            whisker.glyph.line_alpha = alpha
            dot.glyph.update(fill_alpha=alpha, line_alpha=alpha)

    def clear_now(self, series: str) -> None:
        """Take the dot of a series away."""
        empty(self.now[series])

    def clear(self, series: str | None = None) -> None:
        """Take a series away, or all that is shown."""
        for name in self.curves if series is None else (series,):
            for sources in (self.curves, self.stale, self.now):
                if name in sources:
                    empty(sources[name])
        if series is None:
            for span in self.levels.values():
                span.location = None
            for source in self.references.values():
                empty(source)
            super().clear()

    def fit(self) -> None:
        """Fit the y axis to what is shown."""
        ends = [*self.beside, *(s.location for s in self.levels.values() if s.location is not None)]
        for source in (*self.curves.values(), *self.stale.values()):
            ends += [*source.data["low"], *source.data["high"]]
        if not ends:
            return
        low, high = float(min(ends)), float(max(ends))
        margin, above = (max(share * (high - low), 0.004) for share in (0.06, self.room_above))
        if (self.plot.y_range.start, self.plot.y_range.end) != (low - margin, high + above):
            self.plot.y_range.update(start=low - margin, end=high + above)
