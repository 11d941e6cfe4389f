"""The pinned overlay: what a plot showed when its setting was pinned, drawn again behind what it shows now."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from bokeh.plotting import figure
from numpy.typing import ArrayLike

from dpml_app.drawing.figure import empty_source, fill, write

# one of each for each pin, told apart without colour: that is the method's
DASHES: tuple[list[int], ...] = ([8, 5], [2, 4], [2, 4, 8, 4])
MARKERS = ("circle", "square", "triangle")


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

    def _make(self) -> None:
        p, self._made = self.plot, True
        p.multi_line("xs", "ys", source=self.lines, color="color", line_dash="dash", line_width=2)
        look: dict[str, Any] = {"source": self.dots, "color": "color"}
        p.segment("x", "low", "x", "high", line_width=2, line_alpha=0.6, **look)
        p.scatter("x", "mean", marker="marker", size=11, fill_alpha=0.35, line_width=2, **look)
        bold: dict[str, Any] = {"text_font_style": "bold", "text_align": "right", "text_baseline": "bottom"}
        write(p, "x", "mean", "shown", text_font_size="14px", x_offset=-8, y_offset=-4, **bold, **look)

    def show(self, pins: Sequence[tuple[Sequence[Curve], Sequence[Dot]]]) -> None:
        """Show what was pinned, the first of them as 1."""
        if not self._made and not pins:
            return
        lines: list[tuple[Any, ...]] = []
        dots: list[tuple[Any, ...]] = []
        looks = zip(pins, DASHES, MARKERS, strict=False)
        for k, ((curves, each), dash, marker) in enumerate(looks, 1):
            pin, top = str(k), max((dot.mean for dot in each), default=0.0)
            for curve in curves:
                xs, ys = (np.asarray(v, dtype=float).tolist() for v in (curve.x, curve.y))
                lines.append((pin, xs, ys, curve.color, dash))
            # its number stands once, at the highest dot
            for d in each:
                shown = pin if d.mean == top else ""
                dots.append((pin, d.x, d.mean, d.low, d.high, d.color, shown, marker))
        fill(self.lines, lines)
        fill(self.dots, dots)
        if not self._made:
            self._make()
