"""The picture of what privacy costs: two named curves, the gap between them at the ε that is chosen, and every draw."""

from __future__ import annotations

from collections.abc import Sequence, Set

import numpy as np
from bokeh.models import ColumnDataSource, HoverTool, NumeralTickFormatter, Range1d, Span
from numpy.typing import NDArray

from dpml_app.drawing.band import draw_band
from dpml_app.drawing.figure import EPSILON_TICKS, LAYOUT, Figure, empty_source, epsilon_axis, new_figure, write
from dpml_app.drawing.styles import BLUE, COST, OVERLAY, REFERENCE, Style
from dpml_app.settings import EPSILONS

FloatArray = NDArray[np.float64]
# room for the names of the curves beside their ends, and for the labels of the axis; the slider is as wide as between
LEFT, RIGHT = 56, 178


class CostFigure(Figure):
    """Accuracy against ε of one private model, and of the same model without noise.

    The browser moves what belongs to the ε that is chosen: all draws at every ε are in the page.
    """

    computed = ("curve", "draws", "gap", "dots", "names")

    def __init__(self) -> None:
        self.plot = p = new_figure(
            "cost",
            x_axis_type="log",
            x_range=Range1d(start=EPSILONS[0], end=EPSILONS[-1]),
            y_range=Range1d(start=0.5, end=1.0),
            min_border_left=LEFT,
            min_border_right=RIGHT,
            outline_line_color=None,
        )
        epsilon_axis(p)
        p.xaxis.axis_label = None
        p.xaxis.ticker.ticks = [*EPSILON_TICKS]
        p.xgrid.visible = False
        p.yaxis.formatter = NumeralTickFormatter(format="0 %")
        for axis in p.axis:
            axis.update(axis_line_color=None, major_tick_line_color=None, minor_tick_line_color=None)
        p.toolbar.autohide = True
        self.curve = empty_source("cost-curve", "epsilon", "mean", "low", "high", "plain")
        self.draws = empty_source("cost-draws", "epsilon", "run", "accuracy")
        # the browser's own: which run it is says nothing
        self.one = ColumnDataSource({"epsilon": [], "accuracy": []})
        self.gap = empty_source("cost-gap", "epsilon", "mean", "plain", "text", "size", "align", "base", "off", "down")
        self.dots = empty_source("cost-dots", "epsilon", "accuracy")
        self.names = empty_source("cost-names", "x", "y", "text", "color", "down", "side", "off")
        self.names.tags = [LAYOUT]
        # accuracies besides that the axis shows
        self._beside: list[float] = []
        self.marker = Span(
            location=0.1,
            dimension="height",
            editable=True,
            line_color=REFERENCE,
            line_width=2,
            line_dash=[5, 4],
            hover_line_color=BLUE,
            hover_line_width=4,
            name="cost-marker",
            level=OVERLAY,
        )
        p.add_layout(self.marker)
        mean, band = draw_band(self.curve, Style("private", BLUE, "circle"), "epsilon", width=4)
        p.renderers.append(band)
        plain = p.step("epsilon", "plain", source=self.curve, color=REFERENCE, line_width=3, mode="center")
        p.renderers.append(mean)
        p.line("epsilon", "accuracy", source=self.one, color=BLUE, line_width=1.5)
        p.segment("epsilon", "mean", "epsilon", "plain", source=self.gap, color=COST, line_width=6, level=OVERLAY)
        p.scatter("epsilon", "accuracy", source=self.dots, color=BLUE, size=6, alpha=0.45, level=OVERLAY)
        p.scatter(
            "epsilon", "mean", source=self.gap, size=17, color=BLUE, line_color="white", line_width=2.5, level=OVERLAY
        )
        write(
            p,
            "epsilon",
            "plain",
            "text",
            source=self.gap,
            color=COST,
            text_font_size="size",
            text_font_style="bold",
            # where neither curve is: the browser knows, who fits the plot to its window
            text_align="align",
            text_baseline="base",
            y_offset="down",
            x_offset="off",
            level=OVERLAY,
            name="cost-words",
        )
        write(
            p,
            "x",
            "y",
            "text",
            source=self.names,
            color="color",
            text_font_size="15px",
            text_font_style="bold",
            text_baseline="middle",
            text_align="side",
            x_offset="off",
            y_offset="down",
            level=OVERLAY,
        )
        tips = [("ε", "@epsilon"), ("private, mean", "@mean{0.0%}"), ("90 % of runs", "@low{0.0%} to @high{0.0%}")]
        p.add_tools(HoverTool(renderers=[mean, plain], tooltips=[*tips, ("without noise", "@plain{0.0%}")]))

    def begin(self, epsilon: float) -> None:
        """Mark the ε that a page opens with; the browser moves the mark later.

        What the server would send then is of an ε that has been left meanwhile, and would count as a drag back to it.
        """
        self.marker.location = epsilon

    def show(
        self, epsilons: FloatArray, draws: FloatArray, plain: FloatArray, majority: float, names: Set[str], whole: bool
    ) -> None:
        """Show draws of shape (ε, draws) and what they cost; the axis is fitted once all are there."""
        if not len(epsilons):
            return
        mean, (low, high) = draws.mean(axis=1), np.quantile(draws, [0.05, 0.95], axis=1)
        runs = draws.shape[1]
        self.curve.data = {"epsilon": epsilons, "mean": mean, "low": low, "high": high, "plain": plain}
        self.draws.data = {
            "epsilon": np.repeat(epsilons, runs),
            "run": np.tile(np.arange(runs), len(epsilons)),
            "accuracy": draws.ravel(),
        }
        bottom, top = min(low.min(), majority, *self._beside), max(high.max(), plain.max(), *self._beside)
        margin = 0.06 * (top - bottom)
        if whole or self.plot.y_range.start > bottom or self.plot.y_range.end < top:
            self.plot.y_range.update(start=bottom - margin, end=top + margin)
        end = EPSILONS[-1]
        model = next(iter(names)) if len(names) == 1 else "by the public rule"
        near = abs(plain[-1] - mean[-1]) < 0.08 * (top - bottom)
        rows = [
            (plain[-1], "without noise", REFERENCE, -10 if near else 0),
            (mean[-1], "private", BLUE, 10 if near else 0),
            (mean[-1], model, BLUE, 28 if near else 18),
            (majority, "always guessing", REFERENCE, 0),
        ]
        y, text, color, down = (list(column) for column in zip(*rows, strict=True))
        self.names.data = {
            "x": [end] * 4,
            "y": y,
            "text": text,
            "color": color,
            "down": down,
            "side": ["left"] * 4,
            "off": [12] * 4,
        }

    def make_room(self, accuracies: Sequence[float]) -> None:
        """Have these in sight as well, from now on."""
        self._beside = list(accuracies)
        y, (least, most) = self.plot.y_range, (min(self._beside, default=1.0), max(self._beside, default=0.0))
        if least < y.start or most > y.end:
            y.update(start=min(y.start, least - 0.01), end=max(y.end, most + 0.01))
