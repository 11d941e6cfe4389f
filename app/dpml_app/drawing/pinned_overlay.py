"""The pinned overlay: what a plot showed when its setting was pinned, drawn again behind what it shows now."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from bokeh.models import LogScale
from bokeh.plotting import figure
from numpy.typing import ArrayLike

from dpml_app.drawing.figure import LAYOUT, empty_source, fill, follow_ground, write
from dpml_app.drawing.styles import EXACT, OVERLAY

# one of each for each pin, told apart without colour: that is the method's
DASHES: tuple[list[int], ...] = ([8, 5], [2, 4], [2, 4, 8, 4])
MARKERS = ("circle", "square", "triangle")
# how large each is around a number, and how much lower than its own middle that stands: a triangle has less room
BADGES = ((22, 0), (20, 0), (32, 4))


@dataclass(frozen=True)
class Curve:
    """A line as it was shown."""

    x: ArrayLike
    y: ArrayLike
    color: str


@dataclass(frozen=True)
class Dot:
    """The place that was chosen, and the interval there."""

    x: float
    mean: float
    low: float
    high: float
    color: str


class PinnedOverlay:
    """The lines and dots of all pins of a plot; made when the first is pinned."""

    def __init__(self, plot: figure) -> None:
        self.plot, self._made = plot, False
        name = plot.name
        self.lines = empty_source(f"{name}-pinned-lines", "pin", "xs", "ys", "color", "dash")
        self.dots = empty_source(f"{name}-pinned", "pin", "x", "mean", "low", "high", "color", "shown", "marker")
        self.badges = empty_source(f"{name}-pinned-numbers", "pin", "x", "y", "color", "marker", "size", "down")
        self.badges.tags = [LAYOUT]

    def _make(self) -> None:
        p, self._made = self.plot, True
        p.multi_line("xs", "ys", source=self.lines, color="color", line_dash="dash", line_width=2)
        look: dict[str, Any] = {"source": self.dots, "color": "color"}
        p.segment("x", "low", "x", "high", line_width=2, line_alpha=0.6, **look)
        p.scatter("x", "mean", marker="marker", size=11, fill_alpha=0.35, line_width=2, **look)
        bold: dict[str, Any] = {"text_font_style": "bold", "text_align": "right", "text_baseline": "bottom"}
        write(p, "x", "mean", "shown", text_font_size="14px", x_offset=-8, y_offset=-4, **bold, **look)
        on: dict[str, Any] = {"source": self.badges, "level": OVERLAY}
        look = {"marker": "marker", "size": "size", "line_color": "color", "line_width": 2, "fill_color": "white"}
        ground = p.scatter("x", "y", **look, **on)
        follow_ground(p, ground.glyph, "fill_color", "#ffffff", "#121212")
        look = {"text_font_size": "13px", "text_font_style": "bold", "text_align": "center", "text_baseline": "middle"}
        write(p, "x", "y", "pin", color="color", y_offset="down", **look, **on)

    def show(self, pins: Sequence[tuple[Sequence[Curve], Sequence[Dot]]]) -> None:
        """Show what was pinned, the first of them as 1."""
        if not self._made and not pins:
            return
        lines: list[tuple[Any, ...]] = []
        dots: list[tuple[Any, ...]] = []
        badges: list[tuple[Any, ...]] = []
        looks = zip(pins, DASHES, MARKERS, BADGES, strict=False)
        for k, ((curves, each), dash, marker, badge) in enumerate(looks, 1):
            pin, top = str(k), max((dot.mean for dot in each), default=0.0)
            for curve in curves:
                xs, ys = (np.asarray(v, dtype=float).tolist() for v in (curve.x, curve.y))
                lines.append((pin, xs, ys, curve.color, dash))
                # a curve without a dot bears its number, each pin's in a place of its own; what is exact is no pin's
                if not each and curve.color != EXACT:
                    at = self._along(curve, k / (2 * len(DASHES)))
                    badges.append((pin, *at, curve.color, marker, *badge))
            # its number stands once, at the highest dot
            for d in each:
                shown = pin if d.mean == top else ""
                dots.append((pin, d.x, d.mean, d.low, d.high, d.color, shown, marker))
        for source, rows in ((self.lines, lines), (self.dots, dots), (self.badges, badges)):
            fill(source, rows)
        if not self._made:
            self._make()

    def _along(self, curve: Curve, share: float) -> tuple[float, float]:
        """Return the point that has this share of a curve's length before it, as it is drawn."""
        x, y = (np.asarray(v, dtype=float) for v in (curve.x, curve.y))
        there = np.isfinite(x) & np.isfinite(y)
        x, y = x[there], y[there]
        if not len(x):
            return math.nan, math.nan
        drawn = np.log(x) if isinstance(self.plot.x_scale, LogScale) else x
        steps = [np.diff(v) / (np.ptp(v) or 1.0) for v in (drawn, y)]
        gone = np.concatenate([[0.0], np.cumsum(np.hypot(*steps))])
        place_x, place_y = (float(np.interp(share * gone[-1], gone, v)) for v in (x, y))
        return place_x, place_y
