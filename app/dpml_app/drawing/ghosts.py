"""Ghosts: what a plot showed when its setting was pinned, drawn again behind what it shows now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from bokeh.plotting import figure
from numpy.typing import ArrayLike

from dpml_app.drawing.figure import empty_source

__all__ = ["DASHES", "Curve", "Dot", "Ghosts"]

# one for each pin, told apart without colour: that is the method's
DASHES: tuple[list[int], ...] = ([8, 5], [2, 4], [2, 4, 8, 4])


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


class Ghosts:
    """The lines and dots of all pins of a plot; made when the first is pinned."""

    def __init__(self, plot: figure) -> None:
        self.plot, self._made = plot, False
        name = plot.name
        self.lines = empty_source(f"{name}-pinned-lines", "pin", "xs", "ys", "color", "dash")
        self.dots = empty_source(f"{name}-pinned", "pin", "x", "mean", "low", "high", "color", "shown")

    def _make(self) -> None:
        p, self._made = self.plot, True
        p.multi_line("xs", "ys", source=self.lines, color="color", line_dash="dash", line_width=2, line_alpha=0.75)
        look: dict[str, Any] = {"source": self.dots, "color": "color"}
        p.segment("x", "low", "x", "high", line_width=2, line_alpha=0.6, **look)
        p.scatter("x", "mean", size=11, fill_alpha=0.35, line_width=2, **look)
        p.text(
            "x",
            "mean",
            "shown",
            text_font_size="14px",
            text_font_style="bold",
            text_align="right",
            text_baseline="bottom",
            x_offset=-8,
            y_offset=-4,
            **look,
        )

    def show(self, pins: Sequence[tuple[Sequence[Curve], Sequence[Dot]]]) -> None:
        """Show what was pinned, the first of them as 1."""
        if not self._made and not pins:
            return
        lines = [(str(k), c, DASHES[k - 1]) for k, (curves, _dots) in enumerate(pins, 1) for c in curves]
        dots = [(str(k), dot) for k, (_curves, each) in enumerate(pins, 1) for dot in each]
        self.lines.data = {
            "pin": [pin for pin, _c, _d in lines],
            "xs": [np.asarray(c.x, dtype=float).tolist() for _p, c, _d in lines],
            "ys": [np.asarray(c.y, dtype=float).tolist() for _p, c, _d in lines],
            "color": [c.color for _p, c, _d in lines],
            "dash": [dash for _p, _c, dash in lines],
        }
        # its number stands once, at the highest dot
        top = {pin: max(dot.mean for other, dot in dots if other == pin) for pin, _dot in dots}
        self.dots.data = {
            "pin": [pin for pin, _dot in dots],
            "shown": [pin if dot.mean == top[pin] else "" for pin, dot in dots],
            **{name: [getattr(dot, name) for _pin, dot in dots] for name in ("x", "mean", "low", "high", "color")},
        }
        if not self._made:
            self._make()
