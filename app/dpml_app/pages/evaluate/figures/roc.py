"""The figure of ROC curves: the true one, and those of each private method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from bokeh.models import ColumnDataSource, GlyphRenderer, HoverTool

from dpml_app.drawing.band import draw_band, focus
from dpml_app.drawing.figure import empty, empty_source
from dpml_app.drawing.legend import PlotLegend, band, stroke
from dpml_app.drawing.styles import EXACT, OVERLAY, REFERENCE, STALE, Style
from dpml_app.pages.evaluate.figures.parts import TALL, square
from dpml_app.pages.evaluate.settings import ROC_STYLES

BAND = ("fpr", "low", "mid", "high")


class RocFigure:
    """The true curve and, for each method, its median curve, a band of 90 % of draws, and single draws, faint.

    The browser draws those of the default bins, evaluate/page.js; the workers compute the others.
    """

    def __init__(self):
        self.plot = p = square("evaluate-roc", "false positive rate", "true positive rate")
        p.height = TALL
        p.line([0, 1], [0, 1], color=REFERENCE, line_dash="dotted", line_width=1.5)
        self.exact = empty_source("evaluate-roc-exact", "fpr", "tpr")
        self.bands: dict[str, ColumnDataSource] = {}
        self.faint: dict[str, ColumnDataSource] = {}
        self.stale: dict[str, ColumnDataSource] = {}
        drawn = {name: self._method(name, style) for name, style in ROC_STYLES.items()}
        true = p.line("fpr", "tpr", source=self.exact, level=OVERLAY, color=EXACT, line_width=3)
        legend = PlotLegend(p, 1, hides=True)
        legend.add("True curve (exact: for study)", [stroke(EXACT, width=3)], [true])
        self.items = {
            name: legend.add(style.label, band(style), drawn[name], visible=False) for name, style in ROC_STYLES.items()
        }
        tips = [("false positives", "@fpr{0.0%}"), ("median", "@mid{0.0%}"), ("90 %", "@low{0.0%} to @high{0.0%}")]
        hover = HoverTool(tooltips=tips)
        focus(hover, [([median], area) for median, _draws, area, _old in drawn.values()])
        p.add_tools(hover)

    def _method(self, name: str, style: Style) -> list[GlyphRenderer]:
        p = self.plot
        self.bands[name] = curve = empty_source(f"evaluate-roc-{name}", *BAND)
        self.faint[name] = faint = empty_source(f"evaluate-roc-{name}-draws", "fpr", "tpr")
        self.stale[name] = stale = empty_source(f"evaluate-roc-{name}-stale", *BAND)
        drawn = p.line("fpr", "tpr", source=faint, color=style.color, line_alpha=0.18, line_width=1, level=OVERLAY)
        median, area = draw_band(curve, style, "fpr", "mid", level=OVERLAY)
        p.renderers += [area, median]
        old = p.line("fpr", "mid", source=stale, line_alpha=STALE, **style.line)
        return [median, drawn, area, old]

    def show_exact(self, fpr: np.ndarray, tpr: np.ndarray) -> None:
        """Draw the true curve."""
        self.exact.data = {"fpr": fpr, "tpr": tpr}

    def name_methods(self, methods: Sequence[str]) -> None:
        """Have only the methods that are chosen in the legend."""
        for name, item in self.items.items():
            item.visible = name in methods

    def show(self, name: str, curves: Mapping[str, np.ndarray], grid: np.ndarray) -> None:
        """Show what a method's draws gave."""
        rows = [np.append(row, np.nan) for row in curves["fpr"]], [np.append(row, np.nan) for row in curves["tpr"]]
        self.bands[name].data = {"fpr": grid, **{c: curves[c] for c in BAND[1:]}}
        self.faint[name].data = {"fpr": np.concatenate(rows[0]), "tpr": np.concatenate(rows[1])}
        empty(self.stale[name])

    def outdate(self, name: str) -> None:
        """Fade a method's curve."""
        if len(self.bands[name].data["fpr"]):
            self.stale[name].data = dict(self.bands[name].data)
            empty(self.bands[name])
            empty(self.faint[name])

    def clear(self, name: str | None = None) -> None:
        """Take a method's curves away, or everything."""
        for method in ROC_STYLES if name is None else (name,):
            for source in (self.bands[method], self.faint[method], self.stale[method]):
                empty(source)
        if name is None:
            empty(self.exact)
