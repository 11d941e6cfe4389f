"""What figures of the Evaluate page have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, Label, Range1d
from bokeh.plotting import figure

from dpml_app.drawing.figure import FONT, ink, new_figure, percent_axis

# room for a legend of one column, which a phone needs
TALL = 640


def square(name: str, x: str, y: str) -> figure:
    """Return a figure of shares against shares."""
    p = new_figure(
        name,
        x_range=Range1d(start=-0.02, end=1.02),
        y_range=Range1d(start=-0.02, end=1.02),
        x_axis_label=x,
        y_axis_label=y,
    )
    percent_axis(p.xaxis)
    percent_axis(p.yaxis)
    return p


def name_curves(p: figure, names: Iterable[tuple[str, str]], x: float = 1.0, align: str = "right") -> None:
    """Write the names of curves, in their colours, where the plane of shares is empty: below them."""
    for place, (text, color) in enumerate(names):
        y = 0.3 - 0.1 * place
        label = Label(x=x, y=y, text=text, text_align=align, text_font=FONT, text_font_size="16px")
        p.add_layout(label)
        ink(p, label, color)


def send(source: ColumnDataSource, data: Mapping[str, Any]) -> None:
    """Change a source if anything of it has changed: a figure that stays need not be painted."""
    if not all(np.array_equal(source.data[c], column) for c, column in data.items()):
        source.data = dict(data)
