"""The figure of a few releases, each with the interval that it prints."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import HoverTool, NumeralTickFormatter, Range1d, Span

from dpml_app.drawing.figure import empty, empty_source, new_figure
from dpml_app.drawing.legend import PlotLegend, stroke
from dpml_app.drawing.styles import EXACT, GREEN, OVERLAY, REFERENCE, VERMILION


class IntervalFigure:
    """The area of each of a few releases with the interval that it prints, beside the true area."""

    def __init__(self):
        self.plot = p = new_figure(
            "evaluate-intervals",
            x_range=Range1d(start=0, end=1),
            y_range=Range1d(start=-0.5, end=10),
            x_axis_label="area under the ROC curve",
        )
        p.height = 300
        p.yaxis.visible = False
        p.ygrid.visible = False
        p.xaxis.formatter = NumeralTickFormatter(format="0.00")
        self.rows = empty_source("evaluate-intervals-rows", "row", "value", "low", "high", "color", "holds")
        self.true = Span(location=None, dimension="height", line_color=EXACT, line_width=3, name="evaluate-true-auc")
        p.add_layout(self.true)
        look_binned: Any = {"line_color": REFERENCE, "line_width": 2, "line_dash": "dashed"}
        self.binned = Span(location=None, dimension="height", name="evaluate-binned-auc", **look_binned)
        p.add_layout(self.binned)
        look: dict[str, Any] = {"source": self.rows, "level": OVERLAY}
        lines = p.segment("low", "row", "high", "row", color="color", line_width=3, **look)
        dots = p.scatter("value", "row", color="color", size=8, **look)
        tips = [("area", "@value{0.000}"), ("90 % interval", "@low{0.000} to @high{0.000}"), ("", "@holds")]
        p.add_tools(HoverTool(renderers=[lines, dots], tooltips=tips))
        # no labels of an axis stand to the left of this plot
        legend = PlotLegend(p, 1, location=(0, 0))
        for label, color, dash in (
            ("True area (exact: for study)", EXACT, "solid"),
            ("The same bins without noise", REFERENCE, "dashed"),
            ("Interval holds that", GREEN, "solid"),
            ("Interval misses it", VERMILION, "solid"),
        ):
            legend.add(label, [stroke(color, dash)])

    def show(self, true: float, binned: float, values: np.ndarray, low: np.ndarray, high: np.ndarray) -> int:
        """Show the draws, the first one on top, and return how many hold the area of the bins."""
        n = len(values)
        holds = (low <= binned) & (binned <= high)
        if self.plot.y_range.end != n - 0.5:
            self.plot.y_range.end = n - 0.5
        reach = max(0.02, float(np.max(np.abs(np.concatenate([low, high]) - true))))
        # few steps, so that a slider does not move the axis at every step
        reach = float(np.clip(0.02 * 2 ** np.ceil(np.log2(reach / 0.02)), 0.02, 1.0))
        start, end = max(0.0, true - 1.05 * reach), min(1.005, true + 1.05 * reach)
        if (self.plot.x_range.start, self.plot.x_range.end) != (start, end):
            self.plot.x_range.update(start=start, end=end)
        self.true.location, self.binned.location = true, binned
        self.rows.data = {
            "row": np.arange(n)[::-1],
            "value": values,
            "low": low,
            "high": high,
            "color": np.where(holds, GREEN, VERMILION),
            "holds": np.where(holds, "holds the area without noise", "misses the area without noise"),
        }
        return int(holds.sum())

    def clear(self) -> None:
        """Show nothing."""
        self.true.location = self.binned.location = None
        empty(self.rows)
