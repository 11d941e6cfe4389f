"""The three Bokeh figures of the Audit page: made once a page, then changed through their data sources alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from bokeh.models import (
    CustomJSTickFormatter,
    FixedTicker,
    HoverTool,
    Label,
    NumeralTickFormatter,
    Range1d,
    Span,
)

from dpml.auditing import claimed_region
from dpml_app.drawing.figure import (
    FONT,
    PLAIN_DIGITS,
    Figure,
    empty_source,
    ink,
    new_figure,
    percent_axis,
    set_ticks,
)
from dpml_app.drawing.legend import PlotLegend, area, mark, stroke
from dpml_app.drawing.styles import BLUE, EXACT, GREEN, REFERENCE, VERMILION, YELLOW
from dpml_app.pages.audit.compute import LADDER, ceiling

DATA, NEIGHBOUR, CLAIM, EVENT, ATTACKER = BLUE, VERMILION, GREEN, YELLOW, BLUE
# above this the picture of a bound would be all air: sampled bounds end below 9
MOST_SHOWN = 12.0


class AttackFigure(Figure):
    """The attacker's ROC curve against the region that the claim allows, and the event that it chose."""

    computed = ("curve", "point")

    def __init__(self):
        ends = {"start": -0.02, "end": 1.02}
        self.plot = p = new_figure("audit-attack", x_range=Range1d(**ends), y_range=Range1d(**ends))
        p.xaxis.axis_label = "says D, when it is D′"
        p.yaxis.axis_label = "says D, when it is D"
        percent_axis(p.xaxis)
        percent_axis(p.yaxis)
        self.region = empty_source("audit-region", "fpr", "tpr")
        self.curve = empty_source("audit-roc", "fpr", "tpr")
        self.point = empty_source("audit-point", "left", "fpr", "right", "bottom", "tpr", "top")
        p.patch("fpr", "tpr", source=self.region, color=CLAIM, fill_alpha=0.2, line_width=2)
        p.line([0, 1], [0, 1], color=REFERENCE, line_dash="dotted", line_width=2)
        p.line("fpr", "tpr", source=self.curve, color=ATTACKER, line_width=3)
        p.quad(
            "left",
            "right",
            "bottom",
            "top",
            source=self.point,
            fill_alpha=0,
            line_color=EXACT,
            line_width=2,
        )
        dot = p.scatter("fpr", "tpr", source=self.point, marker="diamond", size=13, color=EXACT, line_color="white")
        legend = PlotLegend(p)
        legend.add("Allowed by the claim", [area(CLAIM, 0.2, line_color=CLAIM, line_width=2)])
        legend.add("The attacker", [stroke(ATTACKER, width=3)])
        legend.add("Its event", [mark("diamond", EXACT), area(EXACT, 0.0, line_color=EXACT, line_width=2)])
        legend.add("Guessing", [stroke(REFERENCE, "dotted")])
        p.add_tools(HoverTool(renderers=[dot], tooltips=[("says D of D", "@tpr{0.0%}"), ("of D′", "@fpr{0.0%}")]))

    def claim(self, epsilon: float, delta: float) -> None:
        """Draw the region of a claim."""
        fpr, tpr = claimed_region(epsilon, delta)
        self.region.data = {"fpr": fpr, "tpr": tpr}

    def show(self, step: dict[str, Any]) -> None:
        """Show one step of an audit."""
        self.curve.data = {"fpr": step["fpr"], "tpr": step["tpr"]}
        self.point.data = {name: [value] for name, value in step["point"].items()}


class BoundFigure:
    """The lower bound on ε against the number of draws, with the claim and what is known exactly."""

    def __init__(self):
        self.plot = p = new_figure(
            "audit-bound",
            x_axis_type="log",
            x_range=Range1d(start=LADDER[0] * 0.8, end=LADDER[-1] * 1.25),
            y_range=Range1d(start=0, end=2),
            y_axis_label="ε",
        )
        p.xaxis.axis_label = "draws from each data set (log scale)"
        set_ticks(p.xaxis[0], [100, 1_000, 10_000, 100_000], PLAIN_DIGITS, p.xgrid[0])
        self.bound = empty_source("audit-bounds", "draws", "lower")
        self.most = empty_source("audit-ceiling", "draws", "most")
        p.line("draws", "most", source=self.most, color=REFERENCE, line_dash="dotted", line_width=2)
        p.line("draws", "lower", source=self.bound, color=ATTACKER, line_width=3)
        dots = p.scatter("draws", "lower", source=self.bound, color=ATTACKER, size=8)
        self.claimed = Span(dimension="width", line_color=CLAIM, line_width=3, name="audit-claim")
        self.exact = Span(dimension="width", line_color=EXACT, line_width=3, line_dash="dashed", name="audit-exact")
        # in screen units from the top edge: an exact value beyond the axis is said, not drawn
        self.beyond = Label(
            x=LADDER[0] * 0.9,
            y=1,
            text="",
            text_font=FONT,
            text_font_size="16px",
            text_font_style="bold",
            text_baseline="top",
            name="audit-beyond",
        )
        p.add_layout(self.claimed)
        p.add_layout(self.exact)
        p.add_layout(self.beyond)
        ink(p, self.beyond, EXACT)
        legend = PlotLegend(p)
        legend.add("At least, by draws", [stroke(ATTACKER, width=3), mark("circle", ATTACKER)])
        legend.add("Claim", [stroke(CLAIM, width=3)])
        legend.add("Exact", [stroke(EXACT, "dashed", width=3)])
        legend.add("Most to be shown", [stroke(REFERENCE, "dotted")])
        tips = [("draws", "@draws{0,0}"), ("ε is at least", "@lower{0.000}")]
        p.add_tools(HoverTool(renderers=[dots], tooltips=tips))

    def claim(self, epsilon: float, delta: float, confidence: float, exact: float | None) -> None:
        """Draw claim, exact value and the most that draws can show, and choose an axis for all of them."""
        most = [ceiling(n, confidence, delta) for n in LADDER]
        self.most.data = {"draws": list(LADDER), "most": most}
        # far beyond a claim that holds there is nothing to see; a broken one is seen as far as draws can show
        top = 1.5 * epsilon if exact is not None and exact <= epsilon * 1.001 else max(most[-1] * 1.15, 1.5 * epsilon)
        if exact is not None and epsilon < exact <= MOST_SHOWN:
            top = max(1.4 * exact, 1.5 * epsilon)
        self.plot.y_range.update(start=-0.02 * top, end=top)
        self.claimed.location = epsilon
        drawn = exact is not None and exact <= top
        self.exact.update(location=exact if drawn else 0.0, visible=drawn)
        if exact is None or drawn:
            text = ""
        else:
            text = "Exact: no ε, infinite ↑" if math.isinf(exact) else f"Exact: ε = {exact:.4g} ↑"
        self.beyond.update(y=0.985 * top, text=text)

    def show(self, steps: list[dict[str, Any]]) -> None:
        """Show the bounds so far."""
        self.bound.data = {"draws": [s["draws"] for s in steps], "lower": [s["lower"] for s in steps]}


class OutputFigure(Figure):
    """How often each output came from either data set, and on which the attacker bets."""

    computed = ("bars", "event", "known")

    def __init__(self):
        self.plot = p = new_figure("audit-output", x_range=Range1d(start=0, end=1), y_range=Range1d(start=0, end=1))
        p.yaxis.axis_label = "share of the draws"
        p.yaxis.formatter = NumeralTickFormatter(format="0%")
        p.xgrid.visible = False
        self.ticker = FixedTicker(ticks=[])
        # labels through the formatter: overrides of an axis, once set, are not taken away by an empty dictionary
        p.xaxis.formatter = CustomJSTickFormatter(
            args={"ticker": self.ticker},
            code="const i = ticker.ticks.indexOf(tick); return ticker.tags[i] ?? String(+tick.toPrecision(4))",
        )
        self._numbers = p.xaxis[0].ticker
        self.bars = empty_source(
            "audit-outputs", "left1", "right1", "first", "left2", "right2", "second", "label", "event"
        )
        self.event = empty_source("audit-event", "left", "right", "top")
        self.known = empty_source("audit-known", "x", "p")
        p.quad(
            left="left",
            right="right",
            bottom=0,
            top="top",
            source=self.event,
            color=EVENT,
            fill_alpha=0.35,
            line_alpha=0,
        )
        first = p.quad(
            left="left1", right="right1", bottom=0, top="first", source=self.bars, fill_color=DATA, fill_alpha=0.55,
            line_color=DATA,
        )  # fmt: skip
        second = p.quad(
            left="left2", right="right2", bottom=0, top="second", source=self.bars, fill_color=NEIGHBOUR,
            fill_alpha=0.3, line_color=NEIGHBOUR,
            hatch_pattern="right_diagonal_line", hatch_color=NEIGHBOUR, hatch_alpha=0.6,
        )  # fmt: skip
        p.scatter("x", "p", source=self.known, marker="diamond", size=11, color=EXACT, line_color="white")
        legend = PlotLegend(p)
        legend.add("From D", [area(DATA, 0.55, line_color=DATA)])
        hatch = {"hatch_pattern": "right_diagonal_line", "hatch_color": NEIGHBOUR, "hatch_alpha": 0.6}
        legend.add("From D′", [area(NEIGHBOUR, 0.3, line_color=NEIGHBOUR, **hatch)])
        legend.add("its bet", [area(EVENT, 0.35)])
        legend.add("Exact probability", [mark("diamond", EXACT)])
        tips = [("output", "@label"), ("from D", "@first{0.00%}"), ("from D′", "@second{0.00%}")]
        p.add_tools(HoverTool(renderers=[first, second], tooltips=tips))

    def show(self, step: dict[str, Any], labels: list[str], axis: str, known: list[tuple[float, float]] | None) -> None:
        """Show the outputs of one step; `labels` of the bars if they are few, `known` their exact probabilities."""
        picture, p = step["picture"], self.plot
        left, right = picture["left"], picture["right"]
        middle = (left + right) / 2
        few = picture["kind"] != "histogram"
        # few outputs stand side by side, many lie over each other
        sides = ((left + 0.12, middle), (middle, right - 0.12)) if few else ((left, right), (left, right))
        self.bars.data = {
            "left1": sides[0][0],
            "right1": sides[0][1],
            "first": picture["first"],
            "left2": sides[1][0],
            "right2": sides[1][1],
            "second": picture["second"],
            "label": labels,
            "event": picture["event"],
        }
        top = 1.08 * max(picture["first"].max(), picture["second"].max(), *(max(k) for k in known or [(0, 0)]))
        # an event that is everything says nothing
        inside = picture["event"] & (not picture["event"].all())
        self.event.data = {"left": left[inside], "right": right[inside], "top": np.full(int(inside.sum()), top)}
        if known:
            x = np.column_stack([left + 0.31, right - 0.31]).ravel()
            self.known.data = {"x": x, "p": [v for pair in known for v in pair]}
        else:
            self.known.data = {"x": [], "p": []}
        p.x_range.update(start=float(left[0]), end=float(right[-1]))
        p.y_range.update(start=0, end=float(top))
        axis_model = p.xaxis[0]
        axis_model.axis_label = axis
        self.ticker.update(ticks=[float(m) for m in middle] if few else [], tags=list(labels) if few else [])
        axis_model.ticker = self.ticker if few else self._numbers
        axis_model.major_label_orientation = "vertical" if few and len(labels) > 8 else "horizontal"
