"""The figures of importance weights: an answer against ε and against λ, and the weights themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from bokeh.models import CustomJSTickFormatter

from dpml_app.drawing.band import BandFigure
from dpml_app.drawing.figure import (
    PLAIN_DIGITS,
    Figure,
    across,
    empty,
    empty_source,
    epsilon_axis,
    hover,
    new_figure,
    percent_axis,
    set_ticks,
)
from dpml_app.drawing.legend import PlotLegend, stroke
from dpml_app.drawing.styles import EXACT, OVERLAY, REFERENCE, styles_of
from dpml_app.pages.publish.settings import PENALTIES
from dpml_app.pages.publish.weights import EDGES
from dpml_app.settings import EPSILONS

WEIGHT_STYLES = styles_of("publisher", "weights")


def _lines(name: str, x: str, ends: Sequence[float]) -> BandFigure:
    axis = (ends[0] / 1.15, ends[-1] * 1.15)
    p = new_figure(name, x_axis_type="log", x_range=axis, y_range=(0, 1))
    p.yaxis.axis_label = "private records that are asked for"
    percent_axis(p.yaxis)
    p.height = 460
    chart = BandFigure(p, WEIGHT_STYLES, x, columns=2)
    chart.level("truth", "private table, in truth", EXACT)
    # a good answer lies on the truth, so that this line is wider and below
    chart.levels["truth"].update(level="underlay", line_width=8, line_alpha=0.5)
    chart.level("unweighted", "public table, unweighted", dash="dotted")
    return chart


def query_figure() -> BandFigure:
    """Return the figure of an answer against ε."""
    chart = _lines("publish-weights-query", "epsilon", EPSILONS)
    epsilon_axis(chart.plot)
    return chart


def penalty_figure() -> BandFigure:
    """Return the figure of an answer against λ."""
    chart = _lines("publish-weights-penalty", "x", PENALTIES)
    set_ticks(chart.plot.xaxis[0], [0.01, 0.1, 1, 10])
    chart.plot.xaxis.axis_label = "← more variance      λ (log scale)      more bias →"
    return chart


class HistogramFigure(Figure):
    """How many public records have which weight, an outline for each method."""

    computed = ("bars",)

    def __init__(self) -> None:
        self.plot = p = new_figure(
            "publish-weights-histogram",
            x_axis_type="log",
            x_range=(EDGES[0] / 1.1, EDGES[-1] * 1.1),
            y_range=(0, 1),
            x_axis_label="weight of a public record (log scale)",
            y_axis_label="public records",
        )
        p.height = 460
        ticks = [1 / 64, 1 / 16, 1 / 4, 1, 4, 16, 64]
        set_ticks(p.xaxis[0], ticks, "tick < 1 ? `1/${Math.round(1 / tick)}` : String(tick)", p.xgrid[0])
        p.yaxis.formatter = CustomJSTickFormatter(code=f"return {PLAIN_DIGITS}")
        one = across(p, "height", 1, line_dash="dotted", level=OVERLAY, name=f"{p.name}-one")
        self.legend = PlotLegend(p, 1, hides=True)
        self.bars = {}
        for name, style in WEIGHT_STYLES.items():
            source = empty_source(f"{p.name}-{name}", "left", "right", "top", "label")
            self.bars[name] = source
            look = {"fill_color": style.color, "fill_alpha": 0.2, "line_color": style.color, "line_width": 1.5}
            shown = p.quad("left", "right", "top", 0, source=source, **look)
            hover(p, [shown], ("", "@label"), ("weight", "@left{0.00} to @right{0.00}"), ("records", "@top{0,0}"))
            self.legend.add(style.label, [stroke(style.color, style.dash)], [shown])
        self.legend.add("equal weights", [stroke(REFERENCE, "dotted")], [one])

    def show(self, heights: Mapping[str, np.ndarray]) -> None:
        """Show the weights of the methods that are there."""
        for name, source in self.bars.items():
            if name not in heights:
                empty(source)
                continue
            label = [WEIGHT_STYLES[name].label] * len(heights[name])
            source.data = {"left": EDGES[:-1], "right": EDGES[1:], "top": heights[name], "label": label}
        most = max((int(counts.max()) for counts in heights.values()), default=1)
        self.plot.y_range.end = 1.08 * most
