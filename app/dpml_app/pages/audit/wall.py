"""Card: the wall of all claims, the claimed ε against the shown one; a click on a dot opens its verdict."""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from bokeh.models import TapTool

from dpml.audit.cases import AUDITED
from dpml_app.core.card import ResultKey, Results
from dpml_app.data.facts import NoFacts
from dpml_app.drawing.figure import Figure, empty_source, fill, hover, label, over_epsilon, set_ticks
from dpml_app.drawing.styles import EXACT, GREEN, REFERENCE, VERMILION
from dpml_app.pages.audit import shipped, words
from dpml_app.pages.audit.draws import AuditCard, exact_of, steps_of
from dpml_app.pages.audit.settings import AuditValues
from dpml_app.pages.audit.shipped import Claim
from dpml_app.pages.audit.words import RELATION_SHORT, number
from dpml_app.work.pool import Task

# the ends of the y axis, the least and the largest cost that it tells, and where those stand that no ε bounds
# its part of the height of other pictures: the evidence stands below it
WALL_SHARE = "share:0.5"
BOTTOM, LEAST, MOST, NO_EPSILON, TOP = 0.003, 0.005, 40.0, 120.0, 300.0
# how much taller the next claim is than the one that stands beside it, at most, and the steps between them
ALIKE, STEP, MOST_STEPS = 1.08, 1.012, 8


def height(shown: float) -> float:
    """Return where a shown ε stands on the y axis.

    >>> height(1.5), height(0.0), height(321.6), height(math.inf)
    (1.5, 0.005, 40.0, 120.0)
    """
    return NO_EPSILON if math.isinf(shown) else min(max(shown, LEAST), MOST)


def apart(claimed: Sequence[float], heights: Sequence[float]) -> np.ndarray:
    """Return where claims stand on the x axis: those of one ε and about one height stand side by side.

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


class WallFigure(Figure):
    """One dot a claim, on the diagonal where it costs what it claims, and the chosen one in a ring."""

    computed = ("chosen",)

    def __init__(self):
        self.plot = p = over_epsilon("audit-claims", y_axis_type="log", y_range=(BOTTOM, TOP))
        p.tags = [WALL_SHARE]
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
        """Put the ring around a claim where it stands now; its shown ε may be not known yet."""
        color, x = VERMILION if claim.broken else GREEN, claim.claimed
        row = x, claim.shown, title, x, height(claim.shown), color
        fill(self.chosen, [] if math.isnan(claim.shown) else [row])


def _marker(claim: Claim) -> str:
    return "x" if claim.broken else "inverted_triangle" if claim.drawn else "circle"


def _shown(claim: Claim) -> str:
    if math.isinf(claim.shown):
        return "infinite"
    return f"at least {number(claim.shown)}, by sampling" if claim.drawn else f"{number(claim.shown)}, by formula"


class WallCard(AuditCard):
    """The page's picture: all claims as they ship, and the chosen one as far as it is drawn.

    `choose`: takes the claim whose dot was clicked.
    """

    draw = WallFigure
    name, title, caption = "claims", "Actual ε of every claim", words.AUDIT_CAPTIONS["claims"]
    no_script = "its results are precomputed by python -m benchmarks.shipped claims"

    def __init__(self, choose: Callable[[shipped.Claim], None]):
        super().__init__()
        self._choose = choose
        self.figure.show(shipped.wall())
        self.figure.dots.selected.on_change("indices", self._tapped)

    def prepare(self, values: AuditValues, facts: NoFacts, now: Results) -> None:
        super().prepare(values, facts, now)
        self.show(now, {})

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        cost = exact_of(results).get("epsilon")
        steps = steps_of(results)
        shown = cost if cost is not None else steps[-1]["lower"] if steps else math.nan
        chosen = shipped.Claim(
            self.values.audit_method, self.values.audit_relation, self.values.audit_epsilon, shown, cost is None
        )
        self.figure.choose(chosen, AUDITED[chosen.method].title)

    def say(self, steps: list[dict[str, Any]], values: AuditValues, exact: Mapping[str, Any]) -> str:
        return words.wall_readout(shipped.wall())

    def clear(self) -> None:
        """Keep the wall: it needs no draws."""

    def _tapped(self, _attribute: str, _old: list[int], new: list[int]) -> None:
        if new:
            self.figure.dots.selected.indices = []  # or a second click on it would be no change
            self._choose(shipped.wall()[new[0]])
