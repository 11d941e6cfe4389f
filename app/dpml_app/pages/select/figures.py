"""The figures of the page Feature selection: made once a page, then changed through their data sources alone."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from bokeh.models import NumeralTickFormatter, Range1d
from bokeh.transform import factor_cmap, factor_mark
from numpy.typing import NDArray

from dpml_app.data.facts import BinaryFacts
from dpml_app.drawing.band import BandFigure
from dpml_app.drawing.figure import (
    PLAIN_DIGITS,
    Figure,
    across,
    empty_source,
    fill,
    fix_ticks,
    hover,
    label,
    new_figure,
    p_range,
    percent_axis,
    set_ticks,
    write,
)
from dpml_app.drawing.legend import PlotLegend, mark, stroke
from dpml_app.drawing.styles import BLUE, OVERLAY, REFERENCE, VERMILION, style_of
from dpml_app.pages.select.compute import KINDS, SELECTOR_STYLES, places, shown_ranks
from dpml_app.text.phrases import shortened

SCORE_STYLES = {"count": SELECTOR_STYLES["mask-count"], "mutual_information": SELECTOR_STYLES["mask-mi"]}
OWN_STYLES = {
    "all": replace(style_of("row-bounded"), label="All features, private"),
    "best": style_of("best-selector", "selector"),
}
# height with a legend of one column, which a phone needs
TALL = 640
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


def one_three(axis, low: int, high: int) -> None:
    """Label 1 and 3 times powers of ten in plain digits."""
    ticks = [float(f"{s}e{k}") for k in range(low, high) for s in (1, 3)]
    set_ticks(axis[0], ticks, f"tick >= 1000 ? {PLAIN_DIGITS} : String(tick)")


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
        self.pinned = 0.0
        self.plot = p = new_figure(
            "select-chosen",
            x_range=(0, 1 / PART),
            y_range=(TOP + 2.6, -0.5),
            extra_x_ranges={"sample": Range1d(start=0, end=1)},
            x_axis_label="selection probability",
            # lower, and the names of the rows touch
            min_height=580,
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
        legend = PlotLegend(p, 3)
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
        write(
            p,
            MIDDLE,
            "row",
            "text",
            color=REFERENCE,
            source=self.sample,
            text_font_size="13px",
            **small,
            **column,
            **on,
        )
        label(p, MIDDLE, 0, "sample", REFERENCE, 13, **small, **column)
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
        most = max(T / facts.n_features, self.pinned, *(columns[f"{kind}_high"].max() for kind in KINDS))
        end = next((one for one in ENDS if one >= most), 1.0)
        p.x_range.end = end / PART
        fix_ticks(p.xaxis[0], np.linspace(0, end, 6).tolist())
        self.chance.location = T / facts.n_features
        self.cut.location = sum(last <= T for _, last in groups) + 0.5

    def make_room(self, chances: Sequence[float]) -> None:
        """Keep these probabilities in sight as well, from now on."""
        self.pinned = max(chances, default=0.0)
        self.plot.x_range.end = max(self.plot.x_range.end, self.pinned / PART)


class CoinsFigure(Figure):
    """Each feature in a selection of its own, against its score in sensitivities."""

    computed = ("drawn",)

    def __init__(self) -> None:
        self.drawn = {k: empty_source(f"select-drawn-{k}", "rank", "name", "score", "units", "coin") for k in KINDS}
        self.plot = p = new_figure(
            "select-coins",
            x_axis_type="log",
            x_range=(0.1, 1e4),
            y_range=(-0.02, 1.02),
            x_axis_label="sensitivities above the lowest score\n(log scale)",
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
            every.append(dots)
            legend.add(style.label, [stroke(style.color), mark(style.marker, style.color)], [line, dots])
        hover(p, every, ("feature", "@name"), ("sensitivities", "@units{0.0}"), ("probability", "@coin{0.00%}"))

    def show_dataset(self, facts: BinaryFacts) -> None:
        """Fit the axis to the scores of a data set."""
        units = [
            np.ptp(facts.scores[kind]) / min(facts.unit[kind, relation] for relation in ("add-remove", "replace-one"))
            for kind in KINDS
        ]
        self.plot.x_range.update(start=0.08, end=1.5 * max(1.0, *units))

    def show(self, facts: BinaryFacts, relation: str, coins: Mapping[str, NDArray]) -> None:
        """Show the probabilities of the features at the places that are drawn, best first."""
        ranks = shown_ranks(facts.n_features)
        for kind in KINDS:
            scores = facts.scores[kind]
            index = places(scores)[ranks]
            # 0 has no place on a log axis
            units = np.maximum((scores[index] - scores.min()) / facts.unit[kind, relation], 0.1)
            table = {"rank": ranks + 1, "name": [facts.names[i] for i in index], "score": scores[index]}
            self.drawn[kind].data = {**table, "units": units, "coin": coins[kind][index]}


class AccuracyFigure(BandFigure):
    """Accuracy against the number of features, between lines that do not depend on it."""

    def __init__(self) -> None:
        p = new_figure(
            "select-accuracy",
            x_axis_type="log",
            x_range=(0.8, 100),
            y_range=(0.4, 1.0),
            x_axis_label="number of features T (log scale)",
            y_axis_label="test accuracy",
        )
        p.height = TALL
        one_three(p.xaxis, 0, 4)
        percent_axis(p.yaxis)
        super().__init__(p, {**SELECTOR_STYLES, **OWN_STYLES}, "n_features")
        self.reference("non_private", "All features, non-private", "solid")
        self.reference("majority", "Majority class", "dotted")
        self._levels: dict[str, float] = {}

    def show_references(self, facts: BinaryFacts, most: int) -> None:
        """Draw the lines of a data set."""
        self.plot.x_range.update(start=0.9, end=1.1 * most)
        low, high = sorted((facts.majority, facts.non_private))
        self.plot.y_range.update(start=max(0.0, low - 0.12), end=min(1.0, high + 0.05))
        self._levels = {"majority": facts.majority}
        self.show_exact(None)

    def show_exact(self, accuracy: float | None) -> None:
        """Draw the accuracy of the curves' model on all features without noise, once it is known."""
        self.place_levels(self._levels if accuracy is None else {**self._levels, "non_private": accuracy})

    def name_methods(self, methods: Collection[str]) -> None:
        """Show only the chosen methods in the legend, and those of all features."""
        super().name_methods([*OWN_STYLES, *methods])

    def show(self, series: str, points: Mapping[Any, np.ndarray], complete: bool) -> None:
        """Show a curve; results that do not depend on T are a level line."""
        if series in OWN_STYLES:
            points = {x: draws for x in p_range(self.plot) for draws in points.values()}
        super().show(series, points, complete)
