"""Figures of the Audit page's attacker: its ROC curve, and its bounds as draws accumulate."""

import math
from typing import Any

from bokeh.core.properties import value

from dpml.audit import claimed_region
from dpml_app.drawing.figure import (
    PLAIN_DIGITS,
    Figure,
    across,
    empty_source,
    hover,
    label,
    new_figure,
    set_ticks,
    square,
    write,
)
from dpml_app.drawing.legend import PlotLegend, mark, stroke
from dpml_app.drawing.styles import BLUE, EXACT, GREEN, REFERENCE, VERMILION, YELLOW
from dpml_app.pages.audit.compute import LADDER, ceiling

DATA, NEIGHBOUR, CLAIM, EVENT, ATTACKER = BLUE, VERMILION, GREEN, YELLOW, BLUE
# above this the picture of a bound would be all air: sampled bounds end below 9
MOST_SHOWN = 12.0


class AttackFigure(Figure):
    """The attacker's ROC curve against the region that the claim allows, and the event that it chose."""

    computed = ("curve", "point")

    def __init__(self):
        self.plot = p = square(
            "audit-attack", "guesses D, given D′ (false positive rate)", "guesses D, given D (true positive rate)"
        )
        p.height = 460
        self.region = empty_source("audit-region", "fpr", "tpr")
        self.curve = empty_source("audit-roc", "fpr", "tpr")
        self.point = empty_source("audit-point", "left", "fpr", "right", "bottom", "tpr", "top", "align")
        p.patch("fpr", "tpr", source=self.region, color=CLAIM, fill_alpha=0.2, line_width=2)
        p.line([0, 1], [0, 1], color=REFERENCE, line_dash="dotted", line_width=2)
        p.line("fpr", "tpr", source=self.curve, color=ATTACKER, line_width=3)
        box = {"fill_alpha": 0, "line_color": EXACT, "line_width": 2}
        p.quad("left", "right", "bottom", "top", source=self.point, **box)
        dot = p.scatter("fpr", "tpr", source=self.point, marker="diamond", size=13, color=EXACT, line_color="white")
        label(p, 0.98, 0.02, "green: allowed by the claim", CLAIM, text_align="right", name="audit-claim-name")
        label(p, 0.53, 0.45, "chance", REFERENCE, text_align="left", name="audit-guess-name")
        write(
            p, "fpr", "tpr", value("attacker"), color=ATTACKER, source=self.point, text_baseline="top",
            text_align={"field": "align"}, y_offset=10, text_font_size="15px", text_font_style="bold",
        )  # fmt: skip
        hover(p, [dot], ("guesses D, given D", "@tpr{0.0%}"), ("given D′", "@fpr{0.0%}"))

    def claim(self, epsilon: float, delta: float) -> None:
        """Draw the region of a claim."""
        fpr, tpr = claimed_region(epsilon, delta)
        self.region.data = {"fpr": fpr, "tpr": tpr}

    def show(self, step: dict[str, Any]) -> None:
        """Show one step of an audit."""
        self.curve.data = {"fpr": step["fpr"], "tpr": step["tpr"]}
        point = step["point"]
        # below it and to the side where there is room
        align = "right" if point["fpr"] > 0.7 else "left"
        self.point.data = {**{name: [end] for name, end in point.items()}, "align": [align]}


class BoundFigure:
    """The lower bound on ε against the number of draws, with the claim and what is known exactly."""

    def __init__(self):
        self.plot = p = new_figure(
            "audit-bound",
            x_axis_type="log",
            x_range=(LADDER[0] * 0.8, LADDER[-1] * 1.25),
            y_range=(0, 2),
            y_axis_label="ε",
        )
        p.xaxis.axis_label = "samples from each table (log scale)"
        set_ticks(p.xaxis[0], [100, 1_000, 10_000, 100_000], PLAIN_DIGITS, p.xgrid[0])
        self.bound = empty_source("audit-bounds", "draws", "lower")
        self.most = empty_source("audit-ceiling", "draws", "most")
        most = p.line("draws", "most", source=self.most, color=REFERENCE, line_dash="dotted", line_width=2)
        bound = p.line("draws", "lower", source=self.bound, color=ATTACKER, line_width=3)
        dots = p.scatter("draws", "lower", source=self.bound, color=ATTACKER, size=8)
        self.claimed = across(p, "width", line_color=CLAIM, line_width=3, name="audit-claim")
        look: dict[str, Any] = {"line_color": EXACT, "line_width": 3, "line_dash": "dashed"}
        self.exact = across(p, "width", name="audit-exact", **look)
        # in screen units from the top edge: an exact value beyond the axis is said, not drawn
        look = {"text_font_style": "bold", "text_baseline": "top", "name": "audit-beyond"}
        self.beyond = label(p, LADDER[0] * 0.9, 1, "", EXACT, 16, **look)
        legend = PlotLegend(p)
        legend.add("Lower bound", [stroke(ATTACKER, width=3), mark("circle", ATTACKER)], [bound])
        legend.add("Claim", [stroke(CLAIM, width=3)], [self.claimed])
        legend.add("Exact", [stroke(EXACT, "dashed", width=3)], [self.exact])
        legend.add("Highest possible bound", [stroke(REFERENCE, "dotted")], [most])
        hover(p, [dots], ("samples", "@draws{0,0}"), ("ε is at least", "@lower{0.000}"))

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
            text = "Exact: infinite ε ↑" if math.isinf(exact) else f"Exact: ε = {exact:.4g} ↑"
        self.beyond.update(y=0.985 * top, text=text)

    def show(self, steps: list[dict[str, Any]]) -> None:
        """Show the bounds so far."""
        self.bound.data = {"draws": [s["draws"] for s in steps], "lower": [s["lower"] for s in steps]}
