"""The figures that compare two classifiers: by how much, and how surely."""

from __future__ import annotations

from bokeh.models import NumeralTickFormatter, Range1d, Span

from dpml_app.drawing.band import BandFigure
from dpml_app.drawing.figure import over_epsilon, percent_axis
from dpml_app.drawing.legend import stroke
from dpml_app.drawing.styles import BLUE, EXACT, GREEN, REFERENCE, Style

GAP_STYLES = {"difference": Style("Private difference A - B", GREEN, "circle")}
SURE_STYLES = {"probability": Style("Probability that A is better", BLUE, "circle")}


def gap_figure() -> BandFigure:
    """Return the private difference of two classifiers against ε, with the true one."""
    p = over_epsilon("evaluate-gap", y_range=Range1d(start=-0.2, end=0.2), y_axis_label="figure of A minus that of B")
    p.height = 420
    p.yaxis.formatter = NumeralTickFormatter(format="0.00")
    chart = BandFigure(p, GAP_STYLES, "epsilon", middle="median", tip="0.000")
    chart.level("true", "True difference (exact: for study)", EXACT)
    p.add_layout(Span(location=0, dimension="width", line_color=REFERENCE, line_width=1.5, line_dash="dotted"))
    return chart


def sure_figure() -> BandFigure:
    """Return how probable a release makes it that A is better, against ε."""
    p = over_epsilon(
        "evaluate-sure", y_range=Range1d(start=-0.02, end=1.02), y_axis_label="probability that A is better"
    )
    p.height = 420
    percent_axis(p.yaxis)
    chart = BandFigure(p, SURE_STYLES, "epsilon", middle="median")
    coin = Span(location=0.5, dimension="width", line_color=REFERENCE, line_width=1.5, line_dash="dotted")
    p.add_layout(coin)
    chart.legend.add("A coin", [stroke(REFERENCE, "dotted")], [coin])
    return chart
