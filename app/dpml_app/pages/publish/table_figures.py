"""The figure of the page's picture below the tables: the cost against ε."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import Range1d
from numpy.typing import NDArray

from dpml_app.drawing.band import BandFigure
from dpml_app.drawing.figure import empty, empty_source, epsilon_axis, new_figure, set_ticks, write
from dpml_app.drawing.styles import COST, EXACT, OVERLAY
from dpml_app.pages.publish.figures import LEAST, TABLE
from dpml_app.settings import EPSILONS
from dpml_app.text.phrases import points

# of the widest label, so that the slider under it begins where the axis does
LEFT = 76


class CostFigure(BandFigure):
    """What a published table costs a classifier against ε, in points of accuracy, beside each table that is drawn."""

    def __init__(self) -> None:
        p = new_figure(
            "publish-cost",
            x_axis_type="log",
            x_range=Range1d(start=EPSILONS[0], end=EPSILONS[-1]),
            y_range=Range1d(start=-0.2, end=5),
            y_axis_label="points lost",
            min_border_left=LEFT,
            min_border_right=24,
        )
        epsilon_axis(p)
        p.height, p.toolbar_location, p.xaxis.axis_label = 170, None, None
        super().__init__(p, {"table": TABLE}, "epsilon", tip="0.0")
        self.level("true", "true table", EXACT)
        # they are named in the picture above
        self.legend.place([])
        self.place_levels({"true": 0.0})
        self.draws = empty_source("publish-draws", "epsilon", "cost", "size")
        self.gap = empty_source("publish-gap", "epsilon", "cost", "text", "align", "off", "top")
        p.segment("epsilon", 0, "epsilon", "cost", source=self.gap, color=COST, line_width=6, level=OVERLAY)
        dots: dict[str, Any] = {"color": TABLE.color, "line_color": "white", "level": OVERLAY}
        p.scatter("epsilon", "cost", size="size", source=self.draws, alpha=0.8, **dots)
        look: dict[str, Any] = {"text_font_style": "bold", "text_align": "align", "x_offset": "off", "level": OVERLAY}
        # above the curve, which falls
        look["text_baseline"] = "top"
        write(p, "epsilon", "top", "text", source=self.gap, color=COST, text_font_size="24px", **look)

    def show_gap(self, epsilon: float, draws: NDArray[np.float64] | None, shown: int) -> None:
        """Show what publishing costs at the ε that is chosen, in points, by each draw; that of the table is larger."""
        if draws is None:
            empty(self.gap)
            empty(self.draws)
            return
        mean = float(draws.mean())
        side = ("left", 18) if epsilon < 1 else ("right", -18)
        text = points(mean / 100) if mean / 100 >= LEAST else "no cost"
        row = {"epsilon": epsilon, "cost": mean, "text": text, "align": side[0], "off": side[1]}
        row["top"] = self.plot.y_range.end
        self.gap.data = {name: [value] for name, value in row.items()}
        sizes = [13 if place == shown else 7 for place in range(len(draws))]
        self.draws.data = {"epsilon": [epsilon] * len(draws), "cost": draws.tolist(), "size": sizes}

    def fit(self) -> None:
        """Fit the y axis to what is shown, with ticks that a small picture has room for."""
        super().fit()
        ends = self.plot.y_range
        step = next((s for s in (1, 2, 5, 10, 20) if (ends.end - ends.start) / s <= 5), 50)
        ticks = [k * step for k in range(int(ends.start // step) + 1, int(ends.end // step) + 1)]
        set_ticks(self.plot.yaxis[0], ticks, "String(tick).replace('-', '\\u2212')", self.plot.ygrid[0])
        if len(self.gap.data["top"]) and self.gap.data["top"] != [ends.end]:
            self.gap.data = {**self.gap.data, "top": [ends.end]}

    def clear(self, series: str | None = None) -> None:
        """Take a series away, or all that is shown."""
        super().clear(series)
        if series is None:
            empty(self.gap)
            empty(self.draws)
            self.place_levels({"true": 0.0})
