"""Figures of ROC curves: the true one beside a private release, and a small one of each other method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker

from dpml_app.drawing.band import draw_band
from dpml_app.drawing.figure import Figure, empty_source
from dpml_app.drawing.styles import EXACT, GREEN, OVERLAY, REFERENCE
from dpml_app.pages.evaluate.figures.parts import name_curves, square
from dpml_app.pages.evaluate.settings import ROC_STYLES

RATES = ("false positive rate", "true positive rate")
BAND = ("fpr", "low", "mid", "high")


class RocFigure(Figure):
    """The true curve, one private release, and a band of 90 % of them; the browser draws the release, page.js."""

    computed = ("exact", "band", "release")

    def __init__(self):
        self.plot = p = square("evaluate-roc", *RATES)
        self.exact = empty_source("evaluate-roc-exact", "fpr", "tpr")
        self.band = empty_source("evaluate-roc-band", *BAND)
        self.release = empty_source("evaluate-roc-release", "fpr", "tpr")
        p.line([0, 1], [0, 1], color=REFERENCE, line_dash="dotted", line_width=1.5)
        _median, area = draw_band(self.band, ROC_STYLES["histogram"], "fpr", "mid", level=OVERLAY)
        p.renderers.append(area)
        p.line("fpr", "tpr", source=self.release, color=GREEN, line_width=3, level=OVERLAY)
        p.line("fpr", "tpr", source=self.exact, color=EXACT, line_width=3, level=OVERLAY)
        private = ("one private release", GREEN), ("band: 90 % of releases", GREEN)
        name_curves(p, (("true curve: leaks labels", EXACT), *private))

    def show_exact(self, fpr: np.ndarray, tpr: np.ndarray) -> None:
        """Draw the true curve."""
        self.exact.data = {"fpr": fpr, "tpr": tpr}


class MethodFigure(Figure):
    """A method's median curve, a band of 90 % of its draws, single draws, faint, and the true curve.

    Parameters
    ----------
    method : str
    exact : ColumnDataSource
        Of the true curve, which all these figures share.
    """

    computed = ("band", "faint")

    def __init__(self, method: str, exact: ColumnDataSource):
        style = ROC_STYLES[method]
        self.plot = p = square(f"evaluate-{method}", *RATES)
        p.update(height=260, title=style.label)
        for axis in p.axis:
            axis.ticker = FixedTicker(ticks=[0, 0.5, 1])
        self.band = empty_source(f"evaluate-roc-{method}", *BAND)
        self.faint = empty_source(f"evaluate-roc-{method}-draws", "fpr", "tpr")
        p.line("fpr", "tpr", source=self.faint, color=style.color, line_alpha=0.18, line_width=1)
        median, area = draw_band(self.band, style, "fpr", "mid")
        p.renderers += [area, median]
        p.line("fpr", "tpr", source=exact, color=EXACT, line_width=2)

    def show(self, curves: Mapping[str, Any], grid: np.ndarray) -> None:
        """Show what the method's draws gave."""
        self.band.data = {"fpr": grid, **{c: curves[c] for c in BAND[1:]}}
        rows = ([np.append(row, np.nan) for row in curves[c]] for c in ("fpr", "tpr"))
        self.faint.data = {c: np.concatenate(row) for c, row in zip(("fpr", "tpr"), rows, strict=True)}
