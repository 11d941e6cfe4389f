"""The chart of a mean with a band: a line a series, the band of its draws, and a dot where the setting stands."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from bokeh.models import (
    CDSView,
    ColumnDataSource,
    CustomJS,
    Glyph,
    GlyphRenderer,
    HoverTool,
    Line,
    Scatter,
    Span,
    VArea,
)
from bokeh.plotting import figure

from dpml_app.drawing.figure import Figure, across, empty, empty_source, hover, script
from dpml_app.drawing.legend import PlotLegend, band, mark, stroke
from dpml_app.drawing.styles import FAINT_BAND_ALPHA, OVERLAY, REFERENCE, STALE, Style

# one band is seen at a time, for many bands over one another are mud
FOCUS = script("drawing/focus.js")


def fade(renderer: GlyphRenderer, **look: Any) -> None:
    """Give a renderer the look that it has while it is muted.

    Change `muted` alone later: Panel returns a changed look to a notebook's kernel, where Bokeh cannot read it.
    Without a look for what is not selected, `figure_pane` keeps this one.
    """
    renderer.update(muted_glyph=renderer.glyph.clone(**look), nonselection_glyph=None)


def focus(hover: HoverTool, curves: Sequence[tuple[Sequence[GlyphRenderer], GlyphRenderer]]) -> None:
    """Let one band be seen at a time: that of the first curve, until the pointer is on another.

    `curves`: of each curve, what the pointer finds, and its band.
    """
    areas = [area for _found, area in curves]
    hover.renderers = [renderer for renderers, _area in curves for renderer in renderers]
    for place, area in enumerate(areas):
        fade(area, fill_alpha=FAINT_BAND_ALPHA)
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
    `styles`: every series, in the order of the legend.
    `x`: the column of places on the x axis.
    `tip`: how the pointer's words write a number.
    `marks`: whether the places of a line are marked.
    """

    computed: ClassVar[tuple[str, ...]] = ("curves", "stale")

    def __init__(self, p: figure, styles: Mapping[str, Style], x: str = "x", *, tip: str = "0.0%", marks: bool = False):
        self.plot, self.x, self.styles = p, x, dict(styles)
        self._columns = (x, "mean", "low", "high", "label")
        self.curves = {series: empty_source(f"{p.name}-{series}", *self._columns) for series in styles}
        self.stale = {series: empty_source(f"{p.name}-{series}-stale", *self._columns) for series in styles}
        self.levels: dict[str, Span] = {}
        # ends of what is pinned, which are to be in sight as well
        self.beside: list[float] = []
        self.marker = across(p, "height", name=f"{p.name}-marker", level=OVERLAY)
        self.legend = PlotLegend(p, 1, hides=True)
        lines = []
        for series, style in styles.items():
            curve, stale = self.curves[series], self.stale[series]
            drawn = draw_band(curve, style, x)
            drawn.append(_renderer(stale, Line(x=x, y="mean", line_alpha=STALE, **style.line)))
            samples: list[Glyph] = list(band(style))
            if marks:
                drawn.append(_renderer(curve, Scatter(x=x, y="mean", size=6, **style.dot)))
                samples = [stroke(style.color, style.dash), mark(style.marker, style.color)]
            p.renderers.extend(drawn)
            self.legend.add(style.label, samples, drawn)
            lines.append(drawn[0])
        tips = ("", "@label"), ("mean", f"@mean{{{tip}}}"), ("90% of runs", f"@low{{{tip}}} to @high{{{tip}}}")
        hover(p, lines, *tips)

    def level(self, name: str, label: str, color: str = REFERENCE, dash: str = "solid") -> Span:
        """Add a level line, which is placed later."""
        look: Any = {"line_color": color, "line_width": 2.5, "line_dash": dash}
        self.levels[name] = span = across(self.plot, "width", name=f"{self.plot.name}-{name}", **look)
        self.legend.add(label, [stroke(color, dash)], [span])
        return span

    def place_levels(self, values: Mapping[str, float]) -> None:
        """Set the level lines; one without a value disappears."""
        for name, span in self.levels.items():
            span.location = values.get(name)

    def show(self, series: str, points: Mapping[Any, np.ndarray], complete: bool) -> None:
        """Show what is there of a series, by place on the x axis; the outdated one goes once it is complete."""
        at = sorted(points)
        mean, low, high = np.array([spread(points[x]) for x in at]).reshape(-1, 3).T
        row = (np.array(at), mean, low, high, [self.styles[series].label] * len(at))
        self.curves[series].data = dict(zip(self._columns, row, strict=True))
        if complete:
            empty(self.stale[series])

    def outdate(self, series: str) -> None:
        """Fade a series whose setting has changed."""
        curve = self.curves[series]
        if len(curve.data[self.x]):
            self.stale[series].data = dict(curve.data)
            empty(curve)

    def clear(self, series: str | None = None) -> None:
        """Take all that is shown away."""
        super().clear(series)
        self.place_levels({})

    def fit(self) -> None:
        """Fit the y axis to what is shown."""
        ends = [*self.beside, *(s.location for s in self.levels.values() if s.location is not None)]
        for source in (*self.curves.values(), *self.stale.values()):
            ends += [*source.data["low"], *source.data["high"]]
        if not ends:
            return
        low, high = float(min(ends)), float(max(ends))
        margin = max(0.06 * (high - low), 0.004)
        if (self.plot.y_range.start, self.plot.y_range.end) != (low - margin, high + margin):
            self.plot.y_range.update(start=low - margin, end=high + margin)
