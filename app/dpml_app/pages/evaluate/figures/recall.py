"""The figure of precision against recall."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from bokeh.models import HoverTool

from dpml_app.drawing.figure import empty, empty_source
from dpml_app.drawing.legend import PlotLegend, area, stroke
from dpml_app.drawing.looks import EXACT, GREEN, OVERLAY
from dpml_app.pages.evaluate.figures.parts import send, square

__all__ = ["RecallFigure"]


class RecallFigure:
    """Precision against recall."""

    def __init__(self):
        self.plot = p = square("evaluate-recall", "recall (true positive rate)", "precision")
        self.exact = empty_source("evaluate-recall-exact", "recall", "precision")
        self.band = empty_source("evaluate-recall-private", "recall", "low", "mid", "high")
        look: dict[str, Any] = {"source": self.band, "level": OVERLAY}
        spread = p.varea("recall", "low", "high", fill_color=GREEN, fill_alpha=0.15, **look)
        line = p.line("recall", "mid", color=GREEN, line_width=2.5, **look)
        true = p.line("recall", "precision", source=self.exact, color=EXACT, line_width=3, level=OVERLAY)
        legend = PlotLegend(p, 1, hides=True)
        legend.add("True (exact: for study)", [stroke(EXACT, width=3)], [true])
        samples = [area(GREEN, 0.15), stroke(GREEN)]
        legend.add("Private: median and 90 % of draws", samples, [line, spread])
        tips = [("recall", "@recall{0%}"), ("median", "@mid{0.0%}"), ("90 %", "@low{0.0%} to @high{0.0%}")]
        p.add_tools(HoverTool(renderers=[line], tooltips=tips))

    def show(self, true: tuple[np.ndarray, np.ndarray], found: Mapping[str, np.ndarray]) -> None:
        """Show the true curve, as recall and precision, and the draws'."""
        send(self.exact, {"recall": true[0], "precision": true[1]})
        self.band.data = {c: found[c] for c in self.band.data}

    def clear(self) -> None:
        """Show nothing."""
        empty(self.exact)
        empty(self.band)
