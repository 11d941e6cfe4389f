"""The figure that most cards of the Train page use: a measure against one setting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpml_app.drawing.band import BandFigure
from dpml_app.drawing.figure import new_figure, percent_axis
from dpml_app.drawing.styles import Style


def share_figure(
    name: str,
    styles: Mapping[str, Style],
    y_axis_label: str,
    references: Mapping[str, tuple[str, str]] | None = None,
    *,
    marker: bool = True,
    columns: int = 2,
    **options: Any,
) -> BandFigure:
    """Return a figure of shares; of each level line label and dash are given, and `options` are for the plot."""
    p = new_figure(name, y_range=(0.3, 1.0), y_axis_label=y_axis_label, **options)
    percent_axis(p.yaxis)
    chart = BandFigure(p, styles, columns=columns, marker=marker, marks=True, dots=True, deferred=True)
    for key, (label, dash) in (references or {}).items():
        chart.level(key, label, dash=dash)
    return chart
