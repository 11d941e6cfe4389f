"""Rows of features with their probabilities and one drawn set, and the features' coins; the browser computes both."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from bokeh.models import NumeralTickFormatter, Range1d, TapTool
from bokeh.transform import factor_cmap, factor_mark
from numpy.typing import NDArray

from dpml_app.drawing.figure import (
    LAYOUT,
    across,
    empty,
    empty_source,
    hover,
    new_figure,
    percent_axis,
    set_ticks,
    write,
)
from dpml_app.drawing.legend import PlotLegend, mark, stroke
from dpml_app.drawing.styles import BLUE, HERE, OVERLAY, REFERENCE, VERMILION
from dpml_app.pages.select.compute import KINDS, SelectFacts, places, shown_ranks
from dpml_app.pages.select.figures import one_three
from dpml_app.pages.select.settings import SELECTOR_STYLES

SCORE_STYLES = {"count": SELECTOR_STYLES["mask-count"], "mutual_information": SELECTOR_STYLES["mask-mi"]}
# features with a row of their own
TOP = 20
# of the frame's width, what the probabilities have; the rest is the column of the drawn set
PART = 0.82
MIDDLE = (1 + PART) / 2
# room for a feature's name at first: the browser knows how wide the picture is
LEFT = 162
PLACED = ("row", "name", "index", "first", "last")
SPREAD = tuple(f"{kind}{end}" for kind in KINDS for end in ("", "_low", "_high"))
SET = ("row", "outcome", "text")
CLEAR = "rgba(0, 0, 0, 0)"
# of one of a drawn set: its marker, and its colours inside and around
OUTCOMES = {
    "hit": ("circle", BLUE, BLUE),
    "wrong": ("x", VERMILION, VERMILION),
    "missed": ("circle", CLEAR, REFERENCE),
}
COINS = ("rank", "index", "name", "score", "units", "coin")


def set_table(scores: NDArray[np.float64], mask: NDArray[np.bool_]) -> pd.DataFrame:
    """Return what one drawn set has of each row; T is how many it has.

    >>> set_table(np.array([3.0, 2.0, 1.0, 0.0]), np.array([True, False, True, False])).outcome.tolist()
    ['hit', 'missed', 'wrong', '']
    """
    order, T = places(scores), int(mask.sum())
    chosen = mask[order]
    rows = [
        (row, ("hit" if row <= T else "wrong") if one else "missed" if row <= T else "", "")
        for row, one in enumerate(chosen[:TOP], 1)
    ]
    for part in np.split(chosen[TOP:], [max(T - TOP, 0)]):
        if len(part):
            rows.append((len(rows) + 1, "", f"{part.sum():,} of {len(part):,}"))
    return pd.DataFrame(rows, columns=list(SET))


class ChosenFigures:
    """The rows and the coins of one page."""

    def __init__(self):
        self.scores = empty_source("select-scores", *KINDS)
        steps = (*KINDS, *(f"{kind}_step" for kind in KINDS))
        self.now = empty_source("select-now", "calibration", "feature", "pinned", "serial", *steps)
        self.every = empty_source("select-order", "index")
        self.best = empty_source("select-best", "index", "name")
        self.shown = {kind: empty_source(f"select-shown-{kind}", "rank", "index", "name") for kind in KINDS}
        self.drawn = {kind: empty_source(f"select-drawn-{kind}", *COINS) for kind in KINDS}
        self.mark = {kind: empty_source(f"select-mark-{kind}", "units", "coin") for kind in KINDS}
        self.pinned = 0.0
        self._make_rows()
        self._make_coins()

    def _make_rows(self) -> None:
        self.rows = empty_source("select-rows", "label", *PLACED, *SPREAD)
        self.set = empty_source("select-set", *SET)
        self.mark_row = empty_source("select-mark-row", "row")
        self.names = empty_source("select-names", "x", "y", "text", "color", "base", "align", "off")
        self.column = empty_source("select-column", "text", "bottom")
        for source in (self.names, self.column, self.mark_row):
            source.tags = [LAYOUT]
        self.plot = p = new_figure(
            "select-chosen",
            x_range=(0, 1 / PART),
            y_range=(1, -1.7),
            extra_x_ranges={"set": Range1d(start=0, end=1)},
            min_border_left=LEFT,
            # lower, and the names of the rows touch
            min_height=500,
        )
        set_ticks(p.xaxis[0], np.linspace(0, 1, 6).tolist(), grid=p.xgrid[0])
        # as many decimals as the least tick needs, a fifth of 0.01 %
        p.xaxis.formatter = NumeralTickFormatter(format="0.[0000]%")
        p.xaxis.axis_label = "selection probability"
        p.yaxis.visible = p.ygrid.visible = False
        on: dict[str, Any] = {"level": OVERLAY}
        column: dict[str, Any] = {"x_range_name": "set"}
        p.quad(PART, 1, "bottom", 0.5, source=self.column, color=REFERENCE, alpha=0.12, **column)
        p.hbar("row", left=0, right=1, height=1, source=self.mark_row, color=HERE, alpha=0.15, **column)
        # the whole row is to be clicked
        every = p.hbar("row", left=0, right=1, height=1, source=self.rows, alpha=0, **column)
        every.nonselection_glyph = every.selection_glyph = None
        self.blind = across(p, "height", 0, line_dash="dotted", name="select-blind", **on)
        self.cut = across(p, "width", 1, name="select-cut", **on)
        for kind, style in SCORE_STYLES.items():
            look = {"source": self.rows, "color": style.color, **on}
            p.segment(f"{kind}_low", "row", f"{kind}_high", "row", line_width=3, line_alpha=0.5, **look)
            p.scatter(kind, "row", marker=style.marker, size=11, **look)
        outcomes = list(OUTCOMES)
        markers, inside, around = (list(column) for column in zip(*OUTCOMES.values(), strict=True))
        look = {
            "marker": factor_mark("outcome", markers, outcomes),
            "fill_color": factor_cmap("outcome", inside, outcomes, nan_color=CLEAR),
            "line_color": factor_cmap("outcome", around, outcomes, nan_color=CLEAR),
        }
        p.scatter(MIDDLE, "row", size=11, line_width=2.5, source=self.set, **look, **column, **on)
        small: dict[str, Any] = {"text_font_size": "13px", "text_baseline": "middle", **on}
        centred = small | column | {"text_align": "center", "color": REFERENCE}
        write(p, MIDDLE, "row", "text", source=self.set, **centred)
        write(p, MIDDLE, "bottom", "text", source=self.column, y_offset=10, **centred)
        self.labels = write(
            p, 0, "row", "label", source=self.rows, color=REFERENCE, text_align="right", x_offset=-8, **small
        )
        small |= {"text_baseline": "base", "text_align": "align", "x_offset": "off", "text_font_style": "bold"}
        write(p, "x", "y", "text", source=self.names, color="color", **small)
        tips = [(style.label, f"@{kind}{{0.0%}}") for kind, style in SCORE_STYLES.items()]
        hover(p, [every], ("feature", "@name"), ("places", "@first to @last"), *tips)
        p.add_tools(TapTool(renderers=[every]))

    def _make_coins(self) -> None:
        self.coins = p = new_figure(
            "select-coins",
            x_axis_type="log",
            x_range=(0.1, 1e4),
            y_range=(-0.02, 1.02),
            x_axis_label="sensitivities above the lowest score (log scale)",
            y_axis_label="probability of selection",
        )
        one_three(p.xaxis, -1, 6)
        percent_axis(p.yaxis)
        legend, every = PlotLegend(p, 1, hides=True), []
        for kind in KINDS:
            style, source = SCORE_STYLES[kind], self.drawn[kind]
            line = p.line("units", "coin", source=source, color=style.color, line_width=2.5, level=OVERLAY)
            look: dict[str, Any] = {"marker": style.marker, "color": style.color, "line_color": "white"}
            dots = p.scatter("units", "coin", source=source, size=8, level=OVERLAY, **look)
            # choosing one must not fade the others
            dots.nonselection_glyph = dots.selection_glyph = None
            ring = {"size": 20, "fill_alpha": 0, "line_color": HERE, "line_width": 3}
            p.scatter("units", "coin", source=self.mark[kind], level=OVERLAY, **ring)
            every.append(dots)
            legend.add(style.label, [stroke(style.color), mark(style.marker, style.color)], [line, dots])
        hover(p, every, ("feature", "@name"), ("sensitivities", "@units{0.0}"), ("probability", "@coin{0.00%}"))
        p.add_tools(TapTool(renderers=every))

    def show_dataset(self, facts: SelectFacts) -> None:
        """Send exact scores to the page, and which features the coins are of."""
        ranks, reach = shown_ranks(facts.n_features), 1.0
        for kind in KINDS:
            order = places(facts.scores[kind])[ranks]
            self.drawn[kind].selected.indices = []
            self.drawn[kind].data = {c: [] for c in COINS}
            empty(self.mark[kind])
            self.shown[kind].data = {"rank": ranks + 1, "index": order, "name": [facts.names[i] for i in order]}
            spread = facts.scores[kind].max() - facts.scores[kind].min()
            reach = max(reach, spread / min(facts.unit[kind, r] for r in ("add-remove", "replace-one")))
        self.coins.x_range.update(start=0.08, end=1.5 * reach)
        self.scores.data = {kind: facts.scores[kind] for kind in KINDS}

    def show_order(self, facts: SelectFacts, kind: str) -> None:
        """Send which features have rows, best first by a score."""
        order = places(facts.scores[kind])
        top = order[:TOP]
        n_rows = min(facts.n_features, TOP + 2)
        self.rows.selected.indices = []
        self.plot.y_range.start = n_rows + 1.7
        self.column.data = {"text": ["sample"], "bottom": [n_rows + 0.5]}
        self.best.data = {"index": top, "name": [facts.names[i] for i in top]}
        self.every.data = {"index": order}

    def show_setting(self, facts: SelectFacts, relation: str, calibration: str, index: int) -> None:
        """Send what else the browser computes with; it then draws."""
        serial = self.now.data["serial"][0] + 1 if len(self.now.data["serial"]) else 0
        data = {"calibration": [calibration], "feature": [index], "pinned": [self.pinned], "serial": [serial]}
        data |= {kind: [facts.unit[kind, relation]] for kind in KINDS}
        self.now.data = {**data, **{f"{kind}_step": [facts.step[kind, relation]] for kind in KINDS}}

    def mark_feature(self, index: int) -> None:
        """Mark the row of a feature, if it has one."""
        self.mark_row.data = {"row": np.flatnonzero(np.asarray(self.best.data["index"]) == index) + 1}

    def show_set(self, facts: SelectFacts, kind: str, mask: NDArray[np.bool_]) -> None:
        """Show one drawn set: of each row whether it is in the set, and of the others how many."""
        self.set.data = set_table(facts.scores[kind], mask).to_dict("list")

    def make_room(self, chances: Sequence[float]) -> None:
        """Have these probabilities in sight as well, from now on."""
        self.pinned = max(chances, default=0.0)
        if len(self.now.data["serial"]):
            self.now.data = {**self.now.data, "pinned": [self.pinned]}

    def clear(self) -> None:
        """Show nothing."""
        for source in (*self.drawn.values(), *self.mark.values(), self.scores, self.rows, self.set, self.mark_row):
            empty(source)

    def sources(self) -> dict[str, Any]:
        """Return what the browser's script reads and writes."""
        parts = {"shown": self.shown, "drawn": self.drawn, "mark": self.mark}
        sources = {f"{part}_{kind}": source for part, of in parts.items() for kind, source in of.items()}
        models = {"ticker": self.plot.xaxis[0].ticker, "range": self.plot.x_range, "blind": self.blind, "cut": self.cut}
        names = ("scores", "now", "every", "best", "rows", "names", "plot")
        inks = [SCORE_STYLES["count"].color, SCORE_STYLES["mutual_information"].color, REFERENCE]
        return {**sources, **models, **{n: getattr(self, n) for n in names}, "part": PART, "colors": inks}
