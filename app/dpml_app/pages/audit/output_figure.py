"""The figure of outputs: how often each came from either data set, in pairs, and the most that the claim allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from bokeh.core.properties import value
from bokeh.models import CustomJSTickFormatter, FixedTicker, HoverTool, Label, NumeralTickFormatter, Range1d

from dpml_app.drawing.figure import FONT, Figure, empty_source, ink, new_figure, write
from dpml_app.drawing.styles import BLUE, EXACT, GREEN, ORANGE, VERMILION
from dpml_app.pages.audit.outputs import SIDES

DATA, NEIGHBOUR, CLAIM, BEYOND = BLUE, ORANGE, GREEN, VERMILION
# of a pair's width, what is left free between it and the next one
GAP = 0.12
# the height of the picture, as a share of its tallest bar: names stand above that
ROOM = 1.4
# labels of more outputs than this stand upright
LYING = 12


class OutputFigure(Figure):
    """Bars side by side for D and D′; green is the most that the claim allows the larger one, red is beyond it."""

    computed = ("first", "second", "claim", "beyond", "known", "names")

    def __init__(self):
        self.plot = p = new_figure("audit-output", x_range=Range1d(start=0, end=1), y_range=Range1d(start=0, end=1))
        p.height = 275
        p.yaxis.axis_label = "share of the draws"
        p.yaxis.formatter = NumeralTickFormatter(format="0%")
        p.yaxis[0].ticker.desired_num_ticks = 4
        p.xgrid.visible = False
        self.ticker = FixedTicker(ticks=[])
        # labels through the formatter: overrides of an axis, once set, are not taken away by an empty dictionary
        p.xaxis.formatter = CustomJSTickFormatter(
            args={"ticker": self.ticker},
            code="const i = ticker.ticks.indexOf(tick); return ticker.tags[i] ?? String(+tick.toPrecision(4))",
        )
        self._numbers = p.xaxis[0].ticker
        columns = ("left", "right", "x", "share", "low", "high", "label")
        self.first, self.second = (empty_source(f"audit-outputs-{side}", *columns) for side in SIDES)
        self.claim = empty_source("audit-allowed", "left", "right", "most")
        self.beyond = empty_source("audit-beyond-claim", "left", "right", "most", "share")
        self.known = empty_source("audit-known", "x", "p")
        self.names = empty_source("audit-output-names", "x", "y", "name", "align", "ink")
        bars = []
        for source, color, hatch in ((self.first, DATA, None), (self.second, NEIGHBOUR, "right_diagonal_line")):
            look: dict[str, Any] = {"fill_color": color, "fill_alpha": 0.6, "line_color": color}
            look |= {"hatch_pattern": hatch, "hatch_color": color, "hatch_alpha": 0.7} if hatch else {}
            bars.append(p.quad(left="left", right="right", bottom=0, top="share", source=source, **look))
        p.quad(left="left", right="right", bottom="most", top="share", source=self.beyond, color=BEYOND)
        for source in (self.first, self.second):
            p.segment("x", "low", "x", "high", source=source, line_color=value("#606060"), line_width=1.5)
        p.segment("left", "most", "right", "most", source=self.claim, line_color=CLAIM, line_width=4)
        p.scatter("x", "p", source=self.known, marker="diamond", size=11, color=EXACT, line_color="white")
        write(
            p, "x", "y", "name", color="ink", source=self.names, text_align={"field": "align"}, text_baseline="bottom",
            y_offset=-4, text_font_size="16px", text_font_style="bold",
        )  # fmt: skip
        self.key = Label(
            x=0, y=1, text="", text_baseline="top", text_font=FONT, text_font_size="15px", name="audit-key"
        )
        p.add_layout(self.key)
        ink(p, self.key, CLAIM)
        tips = [("output", "@label"), ("share", "@share{0.00%}"), ("left open", "@low{0.00%} to @high{0.00%}")]
        p.add_tools(HoverTool(renderers=bars, tooltips=tips))

    def show(
        self,
        picture: Mapping[str, Any],
        limits: Mapping[str, np.ndarray],
        labels: Sequence[str],
        axis: str,
        known: Sequence[tuple[float, float]] | None,
    ) -> None:
        """Show the outputs of one step: `limits` of `outputs.allowed`, `labels` of the bars, exact probabilities."""
        p, left, right = self.plot, picture["left"], picture["right"]
        middle, gap = (left + right) / 2, GAP * (right - left)
        edges = ((left + gap, middle), (middle, right - gap))
        shares = np.array([picture[side] for side in SIDES])
        for k, source in enumerate((self.first, self.second)):
            ends = {"left": edges[k][0], "right": edges[k][1], "x": (edges[k][0] + edges[k][1]) / 2}
            spread = {"low": limits["low"][k], "high": limits["high"][k]}
            source.data = {**ends, "share": shares[k], **spread, "label": list(labels)}
        # a claim is about the larger bar of a pair: of the smaller one it allows more than that
        larger, every = (shares[1] > shares[0]).astype(int), np.arange(len(left))
        of = [np.where(larger, edges[1][e], edges[0][e]) for e in (0, 1)]
        most, share, broken = limits["most"][larger, every], shares[larger, every], limits["broken"][larger, every]
        self.claim.data = {"left": of[0], "right": of[1], "most": most}
        columns = {"left": of[0], "right": of[1], "most": most, "share": share}
        self.beyond.data = {name: column[broken] for name, column in columns.items()}
        x = np.concatenate([(e[0] + e[1]) / 2 for e in edges])
        self.known.data = {"x": x, "p": np.array(known).T.ravel()} if known else {"x": [], "p": []}
        tallest = max(limits["high"].max(), np.max(known or 0.0))
        top = ROOM * tallest
        # the tallest pair whose names are not crossed by the green line
        highest = limits["high"].max(axis=0)
        free = most > highest + 0.12 * top
        at = int(np.where(free, highest, highest / 1000).argmax())
        above = highest[at]
        rows = [(middle[at], above, "D ", "right", DATA), (middle[at], above, " D′", "left", NEIGHBOUR)]
        self.names.data = dict(zip(self.names.data, map(list, zip(*rows, strict=True)), strict=True))
        p.x_range.update(start=float(left[0]), end=float(right[-1]))
        p.y_range.update(start=0, end=float(top))
        text = " green: allowed, red: beyond" if broken.any() else " green: allowed by the claim"
        self.key.update(x=float(left[0]), y=0.99 * top, text=text)
        few = picture["kind"] != "histogram"
        p.xaxis[0].axis_label = axis
        self.ticker.update(ticks=[float(m) for m in middle] if few else [], tags=list(labels) if few else [])
        p.xaxis[0].ticker = self.ticker if few else self._numbers
        p.xaxis[0].major_label_orientation = "vertical" if few and len(labels) > LYING else "horizontal"
