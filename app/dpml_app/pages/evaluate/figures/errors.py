"""The figures of the error of private ROC curves: against ε, and against the number of thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bokeh.models import Range1d
from bokeh.plotting import figure

from dpml_app.drawing.band import BandFigure
from dpml_app.drawing.figure import PLAIN_DIGITS, new_figure, over_epsilon, set_ticks
from dpml_app.pages.evaluate.figures.parts import TALL
from dpml_app.pages.evaluate.settings import ROC_STYLES


def _error_options() -> dict[str, Any]:
    return {
        "y_axis_type": "log",
        "y_range": Range1d(start=0.0008, end=1.0),
        "y_axis_label": "area between private and true curve",
    }


def _error_axis(p: figure) -> None:
    set_ticks(p.yaxis[0], [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1], grid=p.ygrid[0])


def error_figure() -> BandFigure:
    """Return Stoddard et al.'s Fig. 7: the error against ε."""
    p = over_epsilon("evaluate-errors", **_error_options())
    p.height = TALL
    _error_axis(p)
    return BandFigure(p, ROC_STYLES, "epsilon", middle="median", tip="0.0000")


def size_figure(sizes: Sequence[int]) -> BandFigure:
    """Return Stoddard et al.'s Fig. 8: the error against the number of thresholds."""
    p = new_figure(
        "evaluate-sizes",
        x_axis_type="log",
        x_range=Range1d(start=sizes[0] / 1.2, end=sizes[-1] * 1.2),
        x_axis_label="number of bins between thresholds (log scale)",
        **_error_options(),
    )
    p.height = TALL
    set_ticks(p.xaxis[0], [*sizes[::2], sizes[-1]], PLAIN_DIGITS)
    _error_axis(p)
    return BandFigure(p, ROC_STYLES, "size", middle="median", tip="0.0000")
