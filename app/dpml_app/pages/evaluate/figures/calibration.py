"""The figure of what is stated against what is true."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from bokeh.models import FixedTicker, HoverTool, Range1d
from scipy.special import logit

from dpml.evaluation import PrivateEvaluation
from dpml_app.drawing.figure import Figure, empty_source, new_figure, percent_axis
from dpml_app.drawing.legend import PlotLegend, mark, stroke
from dpml_app.drawing.styles import EXACT, GREEN, OVERLAY, REFERENCE
from dpml_app.pages.evaluate.controls import probability
from dpml_app.pages.evaluate.figures.parts import send


class CalibrationFigure(Figure):
    """The share of the second class in each bin of the score, beside the probability that stands for the bin.

    Parameters
    ----------
    thresholds : ndarray of shape (B + 1,)
        Between bins, in log-odds, the highest first.
    """

    computed = ("exact", "band")

    def __init__(self, thresholds: np.ndarray):
        B = len(thresholds) - 1
        nothing = PrivateEvaluation(np.zeros((2, B)), thresholds, 1.0, 1.0, score_scale="log-odds")
        probabilities = nothing.bin_probabilities()[::-1]
        self.labels = [probability(float(logit(p))) for p in probabilities]
        self.plot = p = new_figure(
            "evaluate-calibration",
            x_range=Range1d(start=-0.7, end=B - 0.3),
            y_range=Range1d(start=-0.03, end=1.03),
            x_axis_label="probability that the classifier states",
            y_axis_label="share of records of the second class",
        )
        percent_axis(p.yaxis)
        p.xaxis.ticker = FixedTicker(ticks=list(range(0, B, 3)))
        p.xaxis.major_label_overrides = {k: _short(float(probabilities[k])) for k in range(0, B, 3)}
        stated = p.line(list(range(B)), list(probabilities), color=REFERENCE, line_width=2, line_dash="dotted")
        self.exact = empty_source("evaluate-calibration-exact", "bin", "share", "said")
        self.band = empty_source("evaluate-calibration-private", "bin", "low", "mid", "high", "alpha", "said")
        look: dict[str, Any] = {"source": self.band, "level": OVERLAY, "color": GREEN, "alpha": "alpha"}
        bars = p.segment("bin", "low", "bin", "high", line_width=5, **look)
        dots = p.scatter("bin", "mid", size=9, **look)
        true = p.scatter(
            "bin", "share", source=self.exact, marker="x", size=11, color=EXACT, line_width=3, level=OVERLAY
        )
        legend = PlotLegend(p, 1, hides=True)
        legend.add("True (exact: for study)", [mark("x", EXACT, line_width=2)], [true])
        samples = [stroke(GREEN), mark("circle", GREEN)]
        legend.add("Private: median and 90 % of draws", samples, [dots, bars])
        legend.add("As stated", [stroke(REFERENCE, "dotted")], [stated])
        tips = [("stated", "@said"), ("median", "@mid{0.0%}"), ("90 %", "@low{0.0%} to @high{0.0%}")]
        p.add_tools(HoverTool(renderers=[dots], tooltips=tips))
        p.add_tools(HoverTool(renderers=[true], tooltips=[("stated", "@said"), ("true", "@share{0.0%}")]))

    def show(self, true: Mapping[str, np.ndarray], private: Mapping[str, np.ndarray], n_std: float) -> None:
        """Show the true shares and the draws'; pale where noise is larger than the number of records."""
        some = np.flatnonzero(true["records"] > 0)
        labels = np.array(self.labels, dtype=object)
        send(self.exact, {"bin": some, "share": true["share"][some], "said": labels[some].tolist()})
        there = np.flatnonzero(private["said"] > 0)
        self.band.data = {
            "bin": there,
            **{c: private[c][there] for c in ("low", "mid", "high")},
            "alpha": np.where(true["records"][there] > n_std, 0.9, 0.25),
            "said": labels[there].tolist(),
        }


def _short(share: float) -> str:
    """Return a probability for an axis, whose ends need no digits."""
    return "< 0.1 %" if share < 0.001 else "> 99.9 %" if share > 0.999 else f"{100 * share:.3g} %"
