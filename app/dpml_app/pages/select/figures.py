"""The figures of the page Feature selection: made once a page, then changed through their data sources alone."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import holoviews as hv
import numpy as np
from bokeh.models import NumeralTickFormatter, Range1d
from bokeh.transform import factor_cmap, factor_mark
from numpy.typing import NDArray

from dpml_app.data.facts import BinaryFacts
from dpml_app.drawing.figure import Figure, across, empty_source, fill, fix_ticks, hover, label, new_figure, write
from dpml_app.drawing.legend import PlotLegend, mark, stroke
from dpml_app.drawing.styles import BLUE, OVERLAY, REFERENCE, VERMILION, style_of
from dpml_app.pages.select.compute import KINDS, SELECTOR_STYLES, places, shown_ranks
from dpml_app.text.phrases import shortened
from dpml_app.views.frame import Axis, framed, line
from dpml_app.views.rendered import Table, ViewFigure

SCORE_STYLES = {"count": SELECTOR_STYLES["mask-count"], "mutual_information": SELECTOR_STYLES["mask-mi"]}
OWN_STYLES = {
    "all": replace(style_of("row-bounded"), label="All features, private"),
    "best": style_of("best-selector", "selector"),
}
# features with a row of their own
TOP = 20
# of the frame's width, the part of the probabilities; the rest is the column of the sample
PART = 0.82
MIDDLE = (1 + PART) / 2
# possible ends of the axis of probabilities
ENDS = (1e-4, 2e-4, 5e-4, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
CLEAR = "rgba(0, 0, 0, 0)"
# of one feature of the sample: its marker, and its colours inside and around
OUTCOMES = {
    "hit": ("circle", BLUE, BLUE),
    "wrong": ("x", VERMILION, VERMILION),
    "missed": ("circle", CLEAR, REFERENCE),
}


def sample_rows(scores: NDArray[np.float64], mask: NDArray[np.bool_]) -> list[tuple[int, str, str]]:
    """Return row, outcome and text of a sample of T features.

    >>> sample_rows(np.array([3.0, 2.0, 1.0, 0.0]), np.array([True, False, True, False]))
    [(1, 'hit', ''), (2, 'missed', ''), (3, 'wrong', ''), (4, '', '')]
    """
    T, chosen = int(mask.sum()), mask[places(scores)]
    rows = [
        (row, ("hit" if row <= T else "wrong") if one else "missed" if row <= T else "", "")
        for row, one in enumerate(chosen[:TOP], 1)
    ]
    for part in np.split(chosen[TOP:], [max(T - TOP, 0)]):
        if len(part):
            rows.append((len(rows) + 1, "", f"{part.sum():,} of {len(part):,}"))
    return rows


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
    """A row for each of the best features, and for the mean of the others: selection probabilities and one sample."""

    computed = ("rows", "sample")

    def __init__(self) -> None:
        columns = [f"{kind}{end}" for kind in KINDS for end in ("", "_low", "_high")]
        self.rows = empty_source("select-rows", "row", "name", "first", "last", *columns)
        self.sample = empty_source("select-set", "row", "outcome", "text")
        self.plot = p = new_figure(
            "select-chosen",
            x_range=(0, 1 / PART),
            y_range=(TOP + 2.6, -0.5),
            extra_x_ranges={"sample": Range1d(start=0, end=1)},
            x_axis_label="selection probability",
            # lower, and the names of the rows touch
            min_height=580,
            # without names yet, too, so that the legend below them begins within the plot
            min_border_left=110,
        )
        # as many decimals as the least tick needs, a fifth of 0.01%
        p.xaxis.formatter = NumeralTickFormatter(format="0.[0000]%")
        p.yaxis.update(major_label_text_font_size="13px", axis_line_color=None, major_tick_line_color=None)
        for axis in p.axis:
            fix_ticks(axis, [])
        p.xgrid.ticker, p.ygrid.visible = p.xaxis[0].ticker, False
        on: dict[str, Any] = {"level": OVERLAY}
        column: dict[str, Any] = {"x_range_name": "sample"}
        p.quad(PART, 1, TOP + 3, -1, color=REFERENCE, alpha=0.12, **column)
        every = p.hbar("row", left=0, right=1, height=1, source=self.rows, alpha=0, **column)
        self.chance = across(p, "height", 0, line_dash="dotted", name="select-blind", **on)
        self.cut = across(p, "width", 1, name="select-cut", **on)
        # under the names of the rows, so that it ends within a phone
        legend = PlotLegend(p, location=(-100, 0))
        for kind, style in SCORE_STYLES.items():
            look = {"source": self.rows, "color": style.color, **on}
            p.segment(f"{kind}_low", "row", f"{kind}_high", "row", line_width=3, line_alpha=0.5, **look)
            p.scatter(kind, "row", marker=style.marker, size=11, **look)
            legend.add(style.label, [mark(style.marker, style.color)])
        legend.add("Chance", [stroke(REFERENCE, "dotted")])
        markers, inside, around = (list(each) for each in zip(*OUTCOMES.values(), strict=True))
        outcomes = list(OUTCOMES)
        look = {
            "marker": factor_mark("outcome", markers, outcomes),
            "fill_color": factor_cmap("outcome", inside, outcomes, nan_color=CLEAR),
            "line_color": factor_cmap("outcome", around, outcomes, nan_color=CLEAR),
        }
        p.scatter(MIDDLE, "row", size=11, line_width=2.5, source=self.sample, **look, **column, **on)
        small: dict[str, Any] = {"text_baseline": "middle", "text_align": "center"}
        look = {"text_font_size": "13px", "color": REFERENCE, "source": self.sample}
        write(p, MIDDLE, "row", "text", **look, **small, **column, **on)
        label(p, MIDDLE, 0, "sample", REFERENCE, 11, **small, **column)
        tips = [(style.label, f"@{kind}{{0.0%}}") for kind, style in SCORE_STYLES.items()]
        hover(p, [every], ("feature", "@name"), ("places", "@first to @last"), *tips)

    def show(self, facts: BinaryFacts, order: str, chances: Mapping[str, NDArray], mask: NDArray[np.bool_]) -> None:
        """Show the probabilities by both scores, best first by the score `order`, and one sample."""
        p, scores, T = self.plot, facts.scores[order], int(mask.sum())
        best, groups = places(scores), row_groups(facts.n_features, T)
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
        fill(self.sample, sample_rows(scores, mask))
        fix_ticks(p.yaxis[0], columns["row"].tolist())
        p.yaxis.major_label_overrides = {row: shortened(name, 24) for row, name in enumerate(names, 1)}
        p.y_range.start = len(groups) + 0.6
        most = max(T / facts.n_features, *(columns[f"{kind}_high"].max() for kind in KINDS))
        end = next((one for one in ENDS if one >= most), 1.0)
        p.x_range.end = end / PART
        fix_ticks(p.xaxis[0], np.linspace(0, end, 6).tolist())
        self.chance.location = T / facts.n_features
        self.cut.location = sum(last <= T for _, last in groups) + 0.5


COINS = ("rank", "name", "score", "units", "coin")
AT_SCORE = Axis(
    "sensitivities above lowest score (log scale)",
    log=True,
    ticks=tuple(float(f"{step}e{power}") for power in range(-1, 6) for step in (1, 3)),
)


def coins_view(tables: Mapping[str, Table]) -> hv.Overlay:
    """Return each feature in a selection of its own, against its score in sensitivities."""
    layers: list[Any] = []
    for kind, style in SCORE_STYLES.items():
        layers.append(line(tables, kind, ("units", "coin"), replace(style, dash="solid")))
        dots = hv.Scatter(tables[kind], "units", "coin", group=kind, label=style.label)
        layers.append(dots.opts(**style.dot | {"line_color": "white"}, size=8, tools=["hover"]))
    return framed(layers, AT_SCORE, Axis("probability of selection", share=True), xlim=(0.1, 1e4), ylim=(-0.02, 1.02))


def coins_figure() -> ViewFigure:
    """Return the figure of features in a selection of their own."""
    tips = [("feature", "@name"), ("sensitivities", "@units{0.0}"), ("probability", "@coin{0.00%}")]
    return ViewFigure("select-coins", coins_view, dict.fromkeys(KINDS, COINS), tips)


def coins_tables(facts: BinaryFacts, relation: str, coins: Mapping[str, NDArray]) -> dict[str, Table]:
    """Return the tables of the features at the places that are drawn, best first."""
    ranks, tables = shown_ranks(facts.n_features), dict[str, Table]()
    for kind in KINDS:
        scores = facts.scores[kind]
        index = places(scores)[ranks]
        # 0 has no place on a log axis
        units = np.maximum((scores[index] - scores.min()) / facts.unit[kind, relation], 0.1)
        table = {"rank": ranks + 1, "name": [facts.names[i] for i in index], "score": scores[index]}
        tables[kind] = {**table, "units": units, "coin": coins[kind][index]}
    return tables


def most_units(facts: BinaryFacts) -> float:
    """Return the range of the scores of a data set in sensitivities, of the smaller ones."""
    relations = ("add-remove", "replace-one")
    return max(1.0, *(np.ptp(facts.scores[k]) / min(facts.unit[k, relation] for relation in relations) for k in KINDS))
