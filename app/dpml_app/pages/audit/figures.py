"""The figures of the page Audit: all claims, and the outputs of one method with two neighbouring tables."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import holoviews as hv
import numpy as np
from bokeh.models import CustomJSTickFormatter, FixedTicker, TapTool

from dpml.audit.cases import AUDITED
from dpml_app.drawing.figure import EPSILON_TICKS, Figure, empty_source, fill, hover, label, new_figure, set_ticks
from dpml_app.drawing.styles import BLUE, EXACT, GREEN, ORANGE, REFERENCE, VERMILION
from dpml_app.pages.audit.compute import SIDES, Claim
from dpml_app.pages.audit.text import number
from dpml_app.settings import RELATION_TITLES
from dpml_app.views.frame import Axis, framed
from dpml_app.views.rendered import Table, ViewFigure

# share of the height of other pictures: the evidence is below this one
CLAIMS_SHARE = {"--share": "0.5"}
# ends of the y axis, the least and the largest ε on it, and the place of an infinite ε
BOTTOM, LEAST, MOST, NO_EPSILON, TOP = 0.003, 0.005, 40.0, 120.0, 300.0
# claims of one ε within this ratio of one another are drawn side by side, with these steps between them
ALIKE, STEP, MOST_STEPS = 1.08, 1.012, 8
DATA, NEIGHBOUR, CLAIM, BEYOND = BLUE, ORANGE, GREEN, VERMILION
# of the width of a pair of bars, the gap to the next pair
GAP = 0.12
# height of the picture in tallest bars
ROOM = 1.1
# labels of more outputs than this are upright
LYING = 12


def height(shown: float) -> float:
    """Return the place of an actual ε on the y axis.

    >>> height(1.5), height(0.0), height(321.6), height(math.inf)
    (1.5, 0.005, 40.0, 120.0)
    """
    return NO_EPSILON if math.isinf(shown) else min(max(shown, LEAST), MOST)


def apart(claimed: Sequence[float], heights: Sequence[float]) -> np.ndarray:
    """Return the places of claims on the x axis: those of one ε and about one height are side by side.

    >>> apart([1.0, 1.0, 2.0], [0.5, 0.5, 0.5]).round(3).tolist()
    [0.994, 1.006, 2.0]
    """
    alike: dict[tuple[float, int], list[int]] = defaultdict(list)
    for place, (x, y) in enumerate(zip(claimed, heights, strict=True)):
        alike[x, round(math.log(y) / math.log(ALIKE))].append(place)
    at = np.array(claimed, dtype=float)
    for places in alike.values():
        step = math.log(STEP) * min(1, MOST_STEPS / len(places))
        at[places] *= np.exp(step * (np.arange(len(places)) - (len(places) - 1) / 2))
    return at


class ClaimsFigure(Figure):
    """One dot for each claim, on the diagonal if the actual ε equals the claim, and the chosen one in a ring."""

    computed = ("chosen",)

    def __init__(self):
        axes: dict[str, Any] = {"x_axis_type": "log", "x_range": (0.009, 11.0), "y_axis_type": "log"}
        self.plot = p = new_figure("audit-claims", y_range=(BOTTOM, TOP), **axes)
        p.styles = CLAIMS_SHARE
        p.xaxis.axis_label = "claimed ε (log scale)"
        p.yaxis.axis_label = "actual ε (log scale)"
        set_ticks(p.xaxis[0], EPSILON_TICKS, grid=p.xgrid[0])
        names = f"tick === {NO_EPSILON} ? '∞' : String(tick)"
        set_ticks(p.yaxis[0], [0.01, 0.1, 1, 10, NO_EPSILON], names, p.ygrid[0])
        ends = [p.x_range.start, p.x_range.end]
        p.patch([*ends, ends[1], ends[0]], [*ends, TOP, TOP], color=VERMILION, fill_alpha=0.07, line_alpha=0)
        p.line(ends, ends, color=REFERENCE, line_width=1.5)
        self.dots = empty_source(
            "audit-wall", "claimed", "shown", "method", "relation", "how", "x", "y", "color", "marker", "size", "width"
        )
        look: dict[str, Any] = {"line_color": "color", "line_width": "width", "fill_color": "color", "fill_alpha": 0.5}
        dots = p.scatter("x", "y", source=self.dots, marker="marker", size="size", **look)
        # choosing one must not fade the others
        dots.nonselection_glyph = dots.selection_glyph = None
        self.chosen = empty_source("audit-chosen", "claimed", "shown", "method", "x", "y", "color")
        look = {"size": 18, "fill_alpha": 0, "line_color": EXACT, "line_width": 4}
        p.scatter("x", "y", source=self.chosen, **look)
        p.scatter("x", "y", source=self.chosen, size=8, color="color")
        look = {"text_font_style": "bold", "text_baseline": "middle"}
        # between the marks, on a phone, too
        label(p, 0.0105, 28, "✗ claim violated", VERMILION, 16, text_align="left", **look)
        label(p, 10.0, 0.018, "● claim holds", GREEN, 16, text_align="right", **look)
        hover(p, [dots], ("", "@method"), ("", "@relation"), ("claimed ε", "@claimed"), ("actual ε", "@how"))
        p.add_tools(TapTool(renderers=[dots]))

    def show(self, claims: Sequence[Claim]) -> None:
        """Show all claims."""
        claimed, heights = [c.claimed for c in claims], [height(c.shown) for c in claims]
        broken = [c.broken for c in claims]
        self.dots.data = {
            "claimed": claimed,
            "shown": [c.shown for c in claims],
            "method": [AUDITED[c.method].title for c in claims],
            "relation": [RELATION_TITLES[c.relation] for c in claims],
            "how": [_shown(c) for c in claims],
            "x": apart(claimed, heights),
            "y": heights,
            "color": [VERMILION if b else GREEN for b in broken],
            "marker": [_marker(c) for c in claims],
            "size": [13 if b else 6 for b in broken],
            "width": [3 if b else 1 for b in broken],
        }

    def choose(self, claim: Claim, title: str) -> None:
        """Put the ring around a claim; its actual ε may be unknown yet."""
        color, x = VERMILION if claim.broken else GREEN, claim.claimed
        row = x, claim.shown, title, x, height(claim.shown), color
        fill(self.chosen, [] if math.isnan(claim.shown) else [row])


def _marker(claim: Claim) -> str:
    return "x" if claim.broken else "inverted_triangle" if claim.drawn else "circle"


def _shown(claim: Claim) -> str:
    if math.isinf(claim.shown):
        return "infinite"
    return f"at least {number(claim.shown)}, by sampling" if claim.drawn else f"{number(claim.shown)}, by formula"


BARS = ("left", "floor", "right", "share", "label", "x", "low", "end", "high")
CLAIMED, EXCESS = ("left", "most", "right", "end"), ("left", "most", "right", "share")


def output_view(tables: Mapping[str, Table]) -> hv.Overlay:
    """Return bars side by side for D and D′, the claim's maximum as a line, and a block above it as the excess."""
    looks = {"first": ("With D", DATA), "second": ("With D′", NEIGHBOUR)}
    layers: list[Any] = []
    for side, (name, color) in looks.items():
        bars = hv.Rectangles(tables[side], list(BARS[:4]), ["label", "low", "high"], group=side, label=name)
        layers.append(bars.opts(color=color, alpha=0.6, line_color=color, tools=["hover"]))
    claimed = hv.Segments(tables["claim"], list(CLAIMED), group="claim", label="Allowed by the claim")
    excess = hv.Rectangles(tables["beyond"], list(EXCESS), group="beyond", label="Excess")
    layers.append(excess.opts(color=BEYOND, line_color=None))
    layers += [hv.Segments(tables[s], ["x", "low", "end", "high"], group=s).opts(color="#606060") for s in looks]
    layers.append(claimed.opts(color=CLAIM, line_width=4))
    return framed(layers, Axis("output"), Axis("share of samples", share=True), ylim=(0, 1))


class OutputFigure(ViewFigure):
    """The outputs of samples, with labels of their own where they are few."""

    def __init__(self) -> None:
        columns = {**dict.fromkeys(SIDES, BARS), "claim": CLAIMED, "beyond": EXCESS}
        tips = [("output", "@label"), ("share", "@share{0.00%}"), ("interval", "@low{0.00%} to @high{0.00%}")]
        super().__init__("audit-output", output_view, columns, tips, height=400)
        p, self.ticker = self.plot, FixedTicker(ticks=[])
        p.yaxis[0].ticker.desired_num_ticks = 4
        p.xgrid.visible = False
        # labels through the formatter: overrides of an axis, once set, are not taken away by an empty dictionary
        p.xaxis.formatter = CustomJSTickFormatter(
            args={"ticker": self.ticker},
            code="const i = ticker.ticks.indexOf(tick); return ticker.tags[i] ?? String(+tick.toPrecision(4))",
        )
        self._numbers = p.xaxis[0].ticker

    def show_outputs(
        self, picture: Mapping[str, Any], limits: Mapping[str, np.ndarray], labels: Sequence[str], axis: str
    ) -> None:
        """Show the outputs of samples: `limits` of `compute.allowed`, and `labels` of the bars."""
        p, left, right = self.plot, picture["left"], picture["right"]
        middle, gap = (left + right) / 2, GAP * (right - left)
        edges = np.array([(left + gap, middle), (middle, right - gap)])
        shares, x = np.array([picture[side] for side in SIDES]), edges.mean(axis=1)
        tables: dict[str, Table] = {}
        for k, side in enumerate(SIDES):
            bars = (edges[k][0], 0 * left, edges[k][1], shares[k], list(labels), x[k], limits["low"][k], x[k])
            tables[side] = dict(zip(BARS, (*bars, limits["high"][k]), strict=True))
        # a claim is about the larger bar of a pair: of the smaller one it allows more than that
        larger, every = (shares[1] > shares[0]).astype(int), np.arange(len(left))
        (start, end), most = edges[larger, :, every].T, limits["most"][larger, every]
        tables["claim"] = dict(zip(CLAIMED, (start, most, end, most), strict=True))
        broken = limits["broken"][larger, every]
        excess = start, most, end, shares[larger, every]
        tables["beyond"] = {name: column[broken] for name, column in zip(EXCESS, excess, strict=True)}
        self.show(tables)
        p.x_range.update(start=float(left[0]), end=float(right[-1]))
        p.y_range.update(start=0, end=float(ROOM * limits["high"].max()))
        few = picture["kind"] != "histogram"
        p.xaxis[0].axis_label = axis
        self.ticker.update(ticks=[float(m) for m in middle] if few else [], tags=list(labels) if few else [])
        p.xaxis[0].ticker = self.ticker if few else self._numbers
        p.xaxis[0].major_label_orientation = "vertical" if few and len(labels) > LYING else "horizontal"
