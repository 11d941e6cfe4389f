"""A line of means with a band of draws, faded while outdated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from bokeh.models import CustomJS, GlyphRenderer, HoverTool
from bokeh.plotting import figure

from dpml_app.drawing.figure import empty_source
from dpml_app.drawing.styles import STALE, Style

__all__ = ["Band", "Bands", "focus"]


# how dense the band of the method in focus is, and of the others: many bands over one another are mud
SEEN, FAINT = 0.2, 0.04
FOCUS = """
const at = renderers.findIndex((some) => some.includes(cb_data.renderer))
const {indices, line_indices} = cb_data.index
if (at >= 0 && indices.length + line_indices.length > 0) {
  for (const [i, area] of areas.entries()) {
    const value = i === at ? SEEN : FAINT
    if (area.glyph.fill_alpha.value !== value) { area.glyph.setv({fill_alpha: {value}}, {sync: false}) }
  }
}
"""


def focus(hover: HoverTool, curves: Sequence[tuple[Sequence[GlyphRenderer], GlyphRenderer]]) -> None:
    """Let one band be seen at a time: that of the first curve, until the pointer is on another.

    Parameters
    ----------
    hover : HoverTool
    curves : sequence of (renderers, GlyphRenderer)
        Of each curve, what the pointer finds, and its band.
    """
    areas = [area for _found, area in curves]
    for place, area in enumerate(areas):
        area.glyph.fill_alpha = SEEN if place == 0 else FAINT
    if len(areas) > 1:
        code = FOCUS.replace("SEEN", str(SEEN)).replace("FAINT", str(FAINT))
        hover.callback = CustomJS(
            args={"renderers": [list(found) for found, _area in curves], "areas": areas}, code=code
        )


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


class Bands:
    """The series of a figure, each of them a band."""

    plot: figure
    bands: dict[str, Band]

    @property
    def curves(self) -> dict[str, Band]:
        """The series by their names."""
        return self.bands

    def show(self, series: str, points: Mapping[Any, np.ndarray], complete: bool) -> None:
        """Show what is there of a series."""
        self.bands[series].show(points, complete)

    def outdate(self, series: str) -> None:
        """Fade a series whose setting has changed."""
        self.bands[series].outdate()

    def clear(self, series: str | None = None) -> None:
        """Take a series away, or all of them."""
        for band in self.bands.values() if series is None else [self.bands[series]]:
            band.clear()
