"""The figure of precision against recall."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from bokeh.models import HoverTool

from dpml_app.drawing.band import draw_band
from dpml_app.drawing.figure import Figure, empty_source
from dpml_app.drawing.styles import EXACT, GREEN, OVERLAY, Style
from dpml_app.pages.evaluate.figures.parts import name_curves, send, square


class RecallFigure(Figure):
    """Precision against recall."""

    computed = ("exact", "band")

    def __init__(self):
        self.plot = p = square("evaluate-recall", "recall (true positive rate)", "precision")
        self.exact = empty_source("evaluate-recall-exact", "recall", "precision")
        self.band = empty_source("evaluate-recall-private", "recall", "low", "mid", "high")
        style = Style("Private: median and 90 % of draws", GREEN, "circle")
        drawn = draw_band(self.band, style, "recall", "mid", level=OVERLAY)
        p.renderers += drawn[::-1]
        p.line("recall", "precision", source=self.exact, color=EXACT, line_width=3, level=OVERLAY)
        names = ("true curve", EXACT), ("private: median", GREEN), ("band: 90 % of releases", GREEN)
        name_curves(p, names, 0.02, "left")
        tips = [("recall", "@recall{0%}"), ("median", "@mid{0.0%}"), ("90 %", "@low{0.0%} to @high{0.0%}")]
        p.add_tools(HoverTool(renderers=drawn[:1], tooltips=tips))

    def show(self, true: tuple[np.ndarray, np.ndarray], private: Mapping[str, np.ndarray]) -> None:
        """Show the true curve, as recall and precision, and the draws'."""
        send(self.exact, {"recall": true[0], "precision": true[1]})
        self.band.data = {c: private[c] for c in self.band.data}
