"""The figure of how often an attacker is right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from bokeh.models import Range1d, Span

from dpml_app.drawing.band import BandFigure
from dpml_app.drawing.figure import empty, empty_source, over_epsilon, percent_axis
from dpml_app.drawing.legend import stroke
from dpml_app.drawing.styles import BLUE, EXACT, GREEN, ORANGE, REFERENCE, Style
from dpml_app.pages.evaluate.figures.parts import send

ATTACK_STYLES = {
    "counts": Style("sees noisy counts", BLUE, "circle"),
    "curve": Style("sees private curve", ORANGE, "square"),
}


class SuccessFigure(BandFigure):
    """How often the attacker is right against ε: measured, the best that there is, and the bound."""

    def __init__(self):
        p = over_epsilon(
            "evaluate-success", y_range=Range1d(start=0.45, end=1.03), y_axis_label="labels that are guessed right"
        )
        p.height = 420
        percent_axis(p.yaxis)
        super().__init__(p, ATTACK_STYLES, "epsilon")
        self.best = empty_source("evaluate-success-best", "epsilon", "bound", "best")
        bound = p.line("epsilon", "bound", source=self.best, color=REFERENCE, line_width=2.5)
        best = p.line("epsilon", "best", source=self.best, color=GREEN, line_width=2.5, line_dash="dashed")
        always = Span(location=1.0, dimension="width", line_color=EXACT, line_width=3)
        coin = Span(location=0.5, dimension="width", line_color=REFERENCE, line_dash="dotted")
        for span in (always, coin):
            p.add_layout(span)
        lines = [
            self.legend.item("exact curve", [stroke(EXACT, width=3)], [always]),
            self.legend.item("bound", [stroke(REFERENCE)], [bound]),
            self.legend.item("best attack", [stroke(GREEN, "dashed")], [best]),
        ]
        self.legend.place([*lines, *self.items.values()])
        self.legend.add("a coin", [stroke(REFERENCE, "dotted")], [coin])

    def show_lines(self, epsilons: Sequence[float], lines: Mapping[str, np.ndarray]) -> None:
        """Show the bound and the best attack."""
        send(self.best, {"epsilon": np.array(epsilons), **lines})

    def clear(self, series: str | None = None) -> None:
        """Take a series away, or all that is shown."""
        super().clear(series)
        if series is None:
            empty(self.best)
