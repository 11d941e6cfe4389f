"""A figure of lines with bands over one axis, which several pages have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from bokeh.models import HoverTool, Span
from bokeh.plotting import figure

from dpml_app.drawing.bands import Band, Bands, focus
from dpml_app.drawing.legend import PlotLegend, band
from dpml_app.drawing.styles import EXACT, OVERLAY, REFERENCE, Style

__all__ = ["BandsFigure", "MedianBand"]


class MedianBand(Band):
    """Stoddard et al.'s line of medians, and a band of 90 % of draws; its column is called mean all the same."""

    def show(self, points: Mapping[float, np.ndarray], complete: bool) -> None:
        """Show the draws that are there at each x; the outdated curve goes once all are."""
        at = np.array(sorted(points))
        low, mid, high = np.array([np.quantile(points[x], [0.05, 0.5, 0.95]) for x in at]).reshape(-1, 3).T
        self.curve.data = {self.x: at, "mean": mid, "low": low, "high": high, "label": [self.style.label] * len(at)}
        if complete:
            self.stale.data = {c: [] for c in self.columns}


class BandsFigure(Bands):
    """Lines with bands over one axis, with a marker where one stands, and level lines."""

    def __init__(
        self,
        p: figure,
        styles: Mapping[str, Style],
        x: str,
        kind: type[Band] = Band,
        tip: str = "0.0%",
        here: str | None = None,
    ):
        self.plot = p
        look: Any = {"line_color": REFERENCE, "line_width": 2, "level": OVERLAY}
        self.here = Span(location=None, dimension="height", name=here or f"{p.name}-marker", **look)
        p.add_layout(self.here)
        self.legend = PlotLegend(p, 1, hides=True)
        self.bands = {name: kind(p, f"{p.name}-{name}", style, x) for name, style in styles.items()}
        self.items = {
            name: self.legend.add(style.label, band(style), self.bands[name].renderers)
            for name, style in styles.items()
        }
        middle = "median" if kind is MedianBand else "mean"
        ends = f"@low{{{tip}}} to @high{{{tip}}}"
        tips = [("", "@label"), (middle, f"@mean{{{tip}}}"), ("90 % of draws", ends)]
        hover = HoverTool(renderers=[curve.line for curve in self.bands.values()], tooltips=tips)
        focus(hover, [([curve.line], curve.renderers[1]) for curve in self.bands.values()])
        p.add_tools(hover)
        self.levels: dict[str, Span] = {}

    def level(self, name: str, color: str = EXACT, dash: str = "solid") -> Span:
        """Add a level line, which is placed later."""
        self.levels[name] = span = Span(
            location=None,
            dimension="width",
            line_color=color,
            line_width=2.5,
            line_dash=dash,
            name=f"{self.plot.name}-{name}",
        )
        self.plot.add_layout(span)
        return span

    def name_methods(self, methods: Sequence[str]) -> None:
        """Have only the methods that are chosen in the legend."""
        for name, item in self.items.items():
            item.visible = name in methods

    def clear(self, series: str | None = None) -> None:
        """Take a series away, or all that is shown."""
        super().clear(series)
        for span in self.levels.values() if series is None else ():
            span.location = None
