"""The figures of the page Feature selection: made once a page, then changed through their data sources alone."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from bokeh.models import NumeralTickFormatter
from numpy.typing import NDArray

from dpml_app.data.facts import BinaryFacts
from dpml_app.drawing.figure import Figure, across, empty_source, fix_ticks, hover, new_figure
from dpml_app.drawing.legend import PlotLegend, mark, stroke
from dpml_app.drawing.styles import OVERLAY, REFERENCE, style_of
from dpml_app.pages.select.compute import KINDS, SELECTOR_STYLES, places
from dpml_app.text.phrases import shortened

SCORE_STYLES = {"count": SELECTOR_STYLES["mask-count"], "mutual_information": SELECTOR_STYLES["mask-mi"]}
OWN_STYLES = {
    "all": replace(style_of("row-bounded"), label="All features, private"),
    "best": style_of("best-selector", "selector"),
}
# features with a row of their own
TOP = 20
# possible ends of the axis of probabilities
ENDS = (1e-4, 2e-4, 5e-4, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


def row_groups(n_features: int, T: int) -> list[tuple[int, int]]:
    """Return first and last place of each row: the best features alone, then those up to T, then all others.

    >>> row_groups(84, 30)[19:], row_groups(22, 5)[19:]
    ([(20, 20), (21, 30), (31, 84)], [(20, 20), (21, 22)])
    """
    groups = [(place, place) for place in range(1, min(TOP, n_features) + 1)]
    for last in (T, n_features):
        if last > groups[-1][1]:
            groups.append((groups[-1][1] + 1, last))
    return groups


class ChosenFigure(Figure):
    """A row for each of the best features, and for the mean of the others: its selection probabilities."""

    computed = ("rows",)

    def __init__(self) -> None:
        columns = [f"{kind}{end}" for kind in KINDS for end in ("", "_low", "_high")]
        self.rows = empty_source("select-rows", "row", "name", "first", "last", *columns)
        self.plot = p = new_figure(
            "select-chosen",
            x_range=(0, 1),
            y_range=(TOP + 2.6, 0.2),
            x_axis_label="selection probability",
            # lower, and the names of the rows touch
            min_height=580,
            # without names yet, too, so that the legend below them begins within the plot
            min_border_left=110,
        )
        # as many decimals as the least tick needs, a fifth of 0.01%
        p.xaxis.formatter = NumeralTickFormatter(format="0.[0000]%")
        p.yaxis.update(major_label_text_font_size="13px", axis_line_color=None, major_tick_line_color=None)
        fix_ticks(p.yaxis[0], [])
        p.ygrid.visible = False
        every = p.hbar("row", left=0, right=1, height=1, source=self.rows, alpha=0)
        self.chance = across(p, "height", 0, line_dash="dotted", name="select-blind", level=OVERLAY)
        self.cut = across(p, "width", 1, name="select-cut", level=OVERLAY)
        # under the names of the rows, so that it ends within a phone
        legend = PlotLegend(p, location=(-100, 0))
        for kind, style in SCORE_STYLES.items():
            look: dict[str, Any] = {"source": self.rows, "color": style.color, "level": OVERLAY}
            p.segment(f"{kind}_low", "row", f"{kind}_high", "row", line_width=3, line_alpha=0.5, **look)
            p.scatter(kind, "row", marker=style.marker, size=11, **look)
            legend.add(style.label, [mark(style.marker, style.color)])
        legend.add("Chance", [stroke(REFERENCE, "dotted")])
        tips = [(style.label, f"@{kind}{{0.0%}}") for kind, style in SCORE_STYLES.items()]
        hover(p, [every], ("feature", "@name"), ("places", "@first to @last"), *tips)

    def show(self, facts: BinaryFacts, order: str, chances: Mapping[str, NDArray], T: int) -> None:
        """Show the probabilities by both scores, best first by the score `order`."""
        p, best, groups = self.plot, places(facts.scores[order]), row_groups(facts.n_features, T)
        names = [
            facts.names[best[first - 1]] if first == last else f"mean of {first:,} to {last:,}"
            for first, last in groups
        ]
        columns: dict[str, Any] = {"row": np.arange(1, len(groups) + 1), "name": names}
        columns |= dict(zip(("first", "last"), np.array(groups).T, strict=True))
        for kind in KINDS:
            each = [chances[kind][best[first - 1 : last]] for first, last in groups]
            for suffix, of in (("", np.mean), ("_low", np.min), ("_high", np.max)):
                columns[kind + suffix] = np.array([of(part) for part in each])
        self.rows.data = columns
        fix_ticks(p.yaxis[0], columns["row"].tolist())
        p.yaxis.major_label_overrides = {row: shortened(name, 24) for row, name in enumerate(names, 1)}
        p.y_range.start = len(groups) + 0.6
        most = max(T / facts.n_features, *(columns[f"{kind}_high"].max() for kind in KINDS))
        # a marker at the end is whole
        p.x_range.end = 1.02 * next((one for one in ENDS if one >= most), 1.0)
        self.chance.location = T / facts.n_features
        self.cut.location = sum(last <= T for _, last in groups) + 0.5
