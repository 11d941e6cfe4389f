"""The figures of the page Audit: all claims, outputs, the attacker's ROC curve, and bounds as samples accumulate."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import holoviews as hv
import numpy as np
from bokeh.core.properties import value
from bokeh.models import CustomJSTickFormatter, FixedTicker, TapTool

from dpml.audit.cases import AUDITED
from dpml_app.drawing.figure import (
    Figure,
    empty_source,
    fill,
    hover,
    label,
    new_figure,
    over_epsilon,
    percent_axis,
    set_ticks,
    write,
)
from dpml_app.drawing.styles import BLUE, EXACT, GREEN, ORANGE, REFERENCE, VERMILION, Style
from dpml_app.pages.audit.compute import LADDER, SIDES, Claim, ceiling
from dpml_app.pages.audit.text import RELATION_SHORT, number
from dpml_app.views.frame import Axis, framed, line
from dpml_app.views.rendered import Table, ViewFigure
from dpml_app.views.roc import claimed_ends

# share of the height of other pictures: the evidence is below this one
CLAIMS_SHARE = {"--share": "0.5"}
# ends of the y axis, the least and the largest ε on it, and the place of an infinite ε
BOTTOM, LEAST, MOST, NO_EPSILON, TOP = 0.003, 0.005, 40.0, 120.0, 300.0
# claims of one ε within this ratio of one another are drawn side by side, with these steps between them
ALIKE, STEP, MOST_STEPS = 1.08, 1.012, 8
DATA, NEIGHBOUR, CLAIM, BEYOND, ATTACKER = BLUE, ORANGE, GREEN, VERMILION, BLUE
# of the width of a pair of bars, the gap to the next pair
GAP = 0.12
# height of the picture in tallest bars: names are above that
ROOM = 1.4
# labels of more outputs than this are upright
LYING = 12
# largest exact ε on the axis of bounds: sampled bounds end below 9
MOST_SHOWN = 12.0


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
        self.plot = p = over_epsilon("audit-claims", y_axis_type="log", y_range=(BOTTOM, TOP))
        p.styles = CLAIMS_SHARE
        p.xaxis.axis_label = "claimed ε (log scale)"
        p.yaxis.axis_label = "actual ε (log scale)"
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
            "relation": [RELATION_SHORT[c.relation] for c in claims],
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


class OutputFigure(Figure):
    """Bars side by side for D and D′; a line is the claim's maximum, a block above it is the excess."""

    computed = ("first", "second", "claim", "beyond", "known", "names")

    def __init__(self):
        self.plot = p = new_figure("audit-output", x_range=(0, 1), y_range=(0, 1))
        p.height = 275
        p.yaxis.axis_label = "share of samples"
        percent_axis(p.yaxis)
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
        self.key = label(p, 0, 1, "", CLAIM, text_baseline="top", name="audit-key")
        tips = ("share", "@share{0.00%}"), ("interval", "@low{0.00%} to @high{0.00%}")
        hover(p, bars, ("output", "@label"), *tips)

    def show(
        self,
        picture: Mapping[str, Any],
        limits: Mapping[str, np.ndarray],
        labels: Sequence[str],
        axis: str,
        known: Sequence[tuple[float, float]] | None,
    ) -> None:
        """Show the outputs of one step: `limits` of `compute.allowed`, `labels` of the bars, exact probabilities."""
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
        names = ("D ", "right", DATA), (" D′", "left", NEIGHBOUR)
        fill(self.names, [(middle[at], highest[at], *name) for name in names])
        p.x_range.update(start=float(left[0]), end=float(right[-1]))
        p.y_range.update(start=0, end=float(top))
        text = " line: allowed, block: excess" if broken.any() else " line: allowed by the claim"
        self.key.update(x=float(left[0]), y=0.99 * top, text=text)
        few = picture["kind"] != "histogram"
        p.xaxis[0].axis_label = axis
        self.ticker.update(ticks=[float(m) for m in middle] if few else [], tags=list(labels) if few else [])
        p.xaxis[0].ticker = self.ticker if few else self._numbers
        p.xaxis[0].major_label_orientation = "vertical" if few and len(labels) > LYING else "horizontal"


RATES = ("fpr", "tpr")
REGION = ("fpr", "low", "high")
POINT = ("left", "fpr", "right", "bottom", "tpr", "top", "align")


def attack_view(tables: Mapping[str, Table]) -> hv.Overlay:
    """Return the attacker's ROC curve against the region that the claim allows, and the event that it chose."""
    region = hv.Area(tables["region"], "fpr", ["low", "high"], group="region").opts(color=CLAIM, alpha=0.2)
    chance = hv.Curve(([0, 1], [0, 1]), *RATES).opts(color=REFERENCE, line_dash="dotted", line_width=2)
    curve = line(tables, "roc", RATES, Style("", ATTACKER, "dot"), line_width=3)
    box = hv.Rectangles(tables["point"], ["left", "bottom", "right", "top"], group="point")
    box = box.opts(fill_alpha=0, line_color=EXACT, line_width=2)
    dot = hv.Scatter(tables["point"], *RATES, group="point")
    dot = dot.opts(marker="diamond", size=13, color=EXACT, line_color="white", tools=["hover"])
    fpr, tpr = "guesses D, given D′ (false positive rate)", "guesses D, given D (true positive rate)"
    ends: Any = {"xlim": (-0.02, 1.02), "ylim": (-0.02, 1.02)}
    return framed([region, chance, curve, box, dot], Axis(fpr, share=True), Axis(tpr, share=True), **ends)


def attack_figure() -> ViewFigure:
    """Return the figure of the attacker's ROC curve, with names beside the curves."""
    tips = [("guesses D, given D", "@tpr{0.0%}"), ("given D′", "@fpr{0.0%}")]
    chart = ViewFigure("audit-attack", attack_view, {"region": REGION, "roc": RATES, "point": POINT}, tips, height=460)
    label(chart.plot, 0.98, 0.02, "green: allowed by the claim", CLAIM, text_align="right", name="audit-claim-name")
    label(chart.plot, 0.53, 0.45, "chance", REFERENCE, text_align="left", name="audit-guess-name")
    write(
        chart.plot, "fpr", "tpr", value("attacker"), color=ATTACKER, source=chart.sources["point"], y_offset=10,
        text_align={"field": "align"}, text_baseline="top", text_font_size="15px", text_font_style="bold",
    )  # fmt: skip
    return chart


def attack_tables(step: Mapping[str, Any], epsilon: float, delta: float) -> dict[str, Table]:
    """Return the tables of a step of an audit, and of the region of a claim."""
    # the name of the point is below it and to the side where there is room
    point = {**step["point"], "align": "right" if step["point"]["fpr"] > 0.7 else "left"}
    region = dict(zip(REGION, claimed_ends(epsilon, delta), strict=True))
    roc = {name: step[name] for name in RATES}
    return {"region": region, "roc": roc, "point": {name: [end] for name, end in point.items()}}


def bound_view(tables: Mapping[str, Table]) -> hv.Overlay:
    """Return the lower bound on ε against the number of draws, with the claim and what is known exactly."""
    bound: dict[str, Any] = {"group": "bounds", "label": "Lower bound"}
    layers = [
        line(tables, "ceiling", ("draws", "most"), Style("Highest possible bound", REFERENCE, "dot", "dotted")),
        hv.Curve(tables["bounds"], "draws", "lower", **bound).opts(color=ATTACKER, line_width=3),
        hv.Scatter(tables["bounds"], "draws", "lower", **bound).opts(color=ATTACKER, size=8, tools=["hover"]),
        line(tables, "claim", ("draws", "epsilon"), Style("Claim", CLAIM, "dot"), line_width=3),
        line(tables, "exact", ("draws", "epsilon"), Style("Exact", EXACT, "dot", "dashed"), line_width=3),
    ]
    x = Axis("samples from each table (log scale)", log=True, ticks=(100, 1_000, 10_000, 100_000))
    return framed(layers, x, Axis("ε"), xlim=(LADDER[0] * 0.8, LADDER[-1] * 1.25), ylim=(0, 2))


def bound_figure() -> ViewFigure:
    """Return the figure of bounds; a text says an exact value beyond the axis."""
    columns = {"bounds": ("draws", "lower"), "ceiling": ("draws", "most")}
    columns |= {"claim": ("draws", "epsilon"), "exact": ("draws", "epsilon")}
    tips = [("samples", "@draws{0,0}"), ("ε is at least", "@lower{0.000}")]
    chart = ViewFigure("audit-bound", bound_view, columns, tips)
    look = {"text_font_style": "bold", "text_baseline": "top", "name": "audit-beyond"}
    label(chart.plot, LADDER[0] * 0.9, 1, "", EXACT, 16, **look)
    return chart


def show_bounds(
    chart: ViewFigure, steps: Sequence[Any], epsilon: float, delta: float, confidence: float, exact: float | None
) -> None:
    """Show bounds, the claim, the exact value and the highest possible bound, on an axis that fits all of them."""
    most = [ceiling(n, confidence, delta) for n in LADDER]
    # far beyond a claim that holds there is nothing to see; a broken one is seen as far as draws can show
    top = 1.5 * epsilon if exact is not None and exact <= epsilon * 1.001 else max(most[-1] * 1.15, 1.5 * epsilon)
    if exact is not None and epsilon < exact <= MOST_SHOWN:
        top = max(1.4 * exact, 1.5 * epsilon)
    chart.plot.y_range.update(start=-0.02 * top, end=top)
    drawn = exact is not None and exact <= top
    if exact is None or drawn:
        text = ""
    else:
        text = "Exact: infinite ε ↑" if math.isinf(exact) else f"Exact: ε = {exact:.4g} ↑"
    chart.plot.select_one({"name": "audit-beyond"}).update(y=0.985 * top, text=text)
    ends = (LADDER[0] / 2, LADDER[-1] * 2)
    tables: dict[str, Table] = {
        "bounds": {"draws": [s["draws"] for s in steps], "lower": [s["lower"] for s in steps]},
        "ceiling": {"draws": list(LADDER), "most": most},
        "claim": {"draws": ends, "epsilon": (epsilon, epsilon)},
    }
    chart.show(tables | ({"exact": {"draws": ends, "epsilon": (exact, exact)}} if drawn else {}))
