"""Draw synthetic tables, the choice of their grid, models and a weighted public table: the page's cards."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import holoviews as hv
import numpy as np
import panel as pn
from bokeh.models import Range1d
from numpy.typing import NDArray

from dpml_app.core.card import WORKER, Answer, Card, ResultKey, Results, here
from dpml_app.core.curves_card import FAR, CurvesCard
from dpml_app.data.facts import FirstFacts
from dpml_app.data.two_tables import COLUMNS
from dpml_app.drawing.figure import Figure, empty, empty_source, fill, label, script, write, write_cut
from dpml_app.drawing.marginals import MarginalsFigure
from dpml_app.drawing.pinned_overlay import Curve, Dot
from dpml_app.drawing.styles import BLUE, COST, EXACT, ORANGE, OVERLAY, REFERENCE, Style, style_of, styles_of
from dpml_app.jobs import Task
from dpml_app.pages.publish import compute, text
from dpml_app.pages.publish.compute import BEST, PublishFacts, PublishValues
from dpml_app.settings import EPSILONS, SWEEP_EPSILONS
from dpml_app.text.phrases import points
from dpml_app.views.curve import curve_figure, curve_table
from dpml_app.views.frame import AXES, Axis, framed
from dpml_app.views.rendered import Table, ViewFigure

# ---- Figures -------------------------------------------------------------------------------------------------------


_TABLES = styles_of("publisher", "table")
TABLE = replace(_TABLES["privpfc"], label="synthetic table")
STYLES = {
    "table": TABLE,
    "cells": replace(style_of("privpfc-cells", "publisher"), label="model of its cells"),
    "linear": replace(style_of("rule"), label="linear model"),
}


LEVELS = {
    "true": Style("non-private table", EXACT, "dot"),
    "majority": Style("majority-class baseline", REFERENCE, "dot", "dotted"),
}


BARS, DRAWN = ("y", "top", "start", "chance", "name", "correct"), ("y", "chance", "text")


def chances_view(tables: Mapping[str, Table]) -> hv.Overlay:
    """Return the best candidate grids, each with its probability to be drawn."""
    bars = hv.Rectangles(tables["bars"], ["start", "y", "chance", "top"], group="bars")
    star = hv.Scatter(tables["drawn"], "chance", "y", group="drawn")
    layers = [
        bars.opts(color=BLUE, line_color=None, tools=["hover"]),
        star.opts(marker="star", size=17, color=ORANGE, line_color="white"),
    ]
    return framed(layers, Axis("probability of selection", share=True), Axis(""), yaxis=None, ylim=(-BEST, 0))


def chances_figure() -> ViewFigure:
    """Return the figure of candidate grids, whose names stand above their bars."""
    tips = [("", "@name"), ("probability", "@chance{0.00%}"), ("accuracy without noise", "@correct{0.0%}")]
    chart = ViewFigure("publish-chances", chances_view, {"bars": BARS, "drawn": DRAWN}, tips)
    look: dict[str, Any] = {"text_font_size": "14px", "text_font_style": "bold", "text_baseline": "middle"}
    drawn, bars = chart.sources["drawn"], chart.sources["bars"]
    write(chart.plot, "chance", "y", "text", source=drawn, color=ORANGE, x_offset=12, **look)
    write_cut(chart.plot, "start", "top", "name", source=bars, color=REFERENCE, y_offset=-2, x_offset=3)
    return chart


def chances_tables(release: Mapping[str, Any]) -> dict[str, Table]:
    """Return the tables of the chances of one release."""
    n, place = len(release["names"]), release["place"]
    y = np.arange(n) * -1.0 - 0.9
    bars = {"y": y, "top": y + 0.4, "start": np.zeros(n)}
    bars |= {"chance": release["chances"], "name": release["names"], "correct": release["correct"]}
    star = {"y": [y[place] + 0.2], "chance": [release["chance"]], "text": ["this table"]} if place < n else {}
    return {"bars": bars, **({"drawn": star} if star else {})}


# ---- Cards ---------------------------------------------------------------------------------------------------------


# of the widest label, so that the slider under it begins where the axis does
LEFT = 76


class CostFigure(Figure):
    """What a published table costs a classifier against ε, in points of accuracy, beside each table that is drawn."""

    computed = ("gap", "draws")

    def __init__(self) -> None:
        ends = {"xlim": (EPSILONS[0], EPSILONS[-1]), "ylim": (-0.2, 5.0)}
        options: dict[str, Any] = {"column": "epsilon", "tip": "0.0", "look": ends, "marker": {}, "height": 170}
        axes, zero = (AXES["epsilon"], Axis("cost (points)")), {"true": LEVELS["true"]}
        self.chart = curve_figure("publish-cost", *axes, {"table": TABLE}, zero, **options)
        self.plot = p = self.chart.plot
        p.update(min_border_left=LEFT, min_border_right=24, toolbar_location=None)
        p.xaxis.axis_label = None
        p.yaxis[0].ticker.desired_num_ticks = 4
        # the curve's colour is that of the picture above; the line has its name where the curve is far from it
        self.chart.legend.place([])
        label(p, EPSILONS[0], 0, "non-private table", EXACT, 13, x_offset=8, y_offset=1, level=OVERLAY)
        self.draws = empty_source("publish-draws", "epsilon", "cost", "size")
        self.gap = empty_source("publish-gap", "epsilon", "cost", "text", "align", "off")
        # costs of pins, which the axis shows as well
        self.pinned: list[float] = []
        p.segment("epsilon", 0, "epsilon", "cost", source=self.gap, color=COST, line_width=6, level=OVERLAY)
        dots: dict[str, Any] = {"color": TABLE.color, "line_color": "white", "level": OVERLAY}
        p.scatter("epsilon", "cost", size="size", source=self.draws, alpha=0.8, **dots)
        look: dict[str, Any] = {"text_font_style": "bold", "text_align": "align", "x_offset": "off", "level": OVERLAY}
        # at the upper end, above the curve, which falls
        p.extra_y_ranges = {"frame": Range1d(start=0, end=1)}
        look |= {"text_baseline": "top", "y_range_name": "frame"}
        write(p, "epsilon", 1, "text", source=self.gap, color=COST, text_font_size="24px", **look)
        self.clear()

    @property
    def curve(self) -> Mapping[str, Any]:
        """The columns of the curve."""
        columns: Mapping[str, Any] = self.chart.sources["table"].data
        return columns

    def show(self, costs: Mapping[float, NDArray[np.float64]]) -> None:
        """Show the costs at each ε."""
        curve = {"table": curve_table(costs, TABLE.label, "epsilon")} if costs else {}
        self.chart.show({"true": {"x": FAR, "y": (0.0, 0.0)}, **curve})

    def show_gap(self, epsilon: float, draws: NDArray[np.float64] | None, shown: int) -> None:
        """Show what publishing costs at the ε that is chosen, in points, by each draw; that of the table is larger."""
        if draws is None:
            empty(self.gap)
            empty(self.draws)
            return
        mean = float(draws.mean())
        side = ("left", 18) if epsilon < 1 else ("right", -18)
        gap = points(mean / 100) if mean / 100 >= compute.LEAST else "no cost"
        fill(self.gap, [(epsilon, mean, gap, *side)])
        fill(self.draws, [(epsilon, cost, 13 if place == shown else 7) for place, cost in enumerate(draws.tolist())])

    def fit(self) -> None:
        """Fit the y axis to what is shown."""
        self.chart.fit([0.0, *self.pinned, *self.curve["low"], *self.curve["high"]])

    def clear(self) -> None:
        super().clear()
        self.chart.clear()
        self.show({})


STYLE = script("pages/publish/tables.css")


class TablesCard(Card[PublishValues, FirstFacts]):
    """Marginals and rows of both tables, and the cost."""

    name, title, caption = "tables", "Non-private and synthetic table", text.CAPTIONS["tables"]
    figure: CostFigure

    def __init__(self) -> None:
        super().__init__(CostFigure())
        self.marginals = MarginalsFigure("publish", COLUMNS)
        self.rows = pn.pane.HTML("", sizing_mode="stretch_width", margin=(0, 4), stylesheets=[STYLE])
        self.plots = [self.figure.plot, self.marginals.plot]
        self._true: float | None = None
        self._drawn: Any = None

    def content(self) -> list[Any]:
        return [self.marginals.plot, self.rows, self.figure.plot]

    def work(self, values: PublishValues, facts: FirstFacts) -> dict[ResultKey, Task]:
        epsilon = values.epsilon
        work: dict[ResultKey, Task] = {
            ("drawn", WORKER): compute.drawn_task(values),
            ("true", WORKER): compute.true_task(values),
            ("table", WORKER): compute.table_task(values, epsilon),
        }
        # every ε of the slider where they ship, and what is near the chosen one first
        whole = work["table", WORKER] in compute.shipped_results(values.dataset)
        near = sorted(EPSILONS if whole else SWEEP_EPSILONS, key=lambda e: abs(math.log(e / epsilon)))
        return work | {("table", e): compute.table_task(values, e) for e in near}

    def _costs(self, table: Any) -> np.ndarray:
        assert self._true is not None
        cost: np.ndarray = 100 * (self._true - table)
        return cost

    def prepare(self, values: PublishValues, facts: FirstFacts, now: Results) -> None:
        self._values = values
        self.figure.chart.mark(values.epsilon)
        self._show_here(now)

    def _show_here(self, results: Results) -> None:
        """Show what is known at the setting that is chosen."""
        self._true, table, drawn = (here(results, name) for name in ("true", "table", "drawn"))
        known = table is not None and self._true is not None
        self.figure.show_gap(self._values.epsilon, self._costs(table) if known else None, self._values.draw)
        if drawn is not None:
            self.marginals.show(drawn)
            self.rows.object = text.tables(drawn, self._values)

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        self._show_here(results)
        places = [place for series, place in wanted if series == "table" and place != WORKER]
        there = [place for place in places if ("table", place) in results]
        drawn = self._true, tuple((place, wanted["table", place]) for place in there)
        # an earlier curve stays until the new one begins
        if self._true is not None and there and self._drawn != drawn:
            self._drawn = drawn
            self.figure.show({place: self._costs(results["table", place]) for place in there})
        self.figure.fit()

    def to_pin(self, values: PublishValues, facts: FirstFacts, results: Results) -> Answer | None:
        table, true = (here(results, name) for name in ("table", "true"))
        if table is None or true is None:
            return None
        cost, shown = 100 * (true - table), self.figure.curve
        low, high = (float(q) for q in np.quantile(cost, [0.05, 0.95]))
        return Answer(
            text.numbers(table, true),
            (Curve(shown["epsilon"], shown["mean"], TABLE.color),),
            (Dot(values.epsilon, float(cost.mean()), low, high, TABLE.color),),
            "90% of tables",
        )

    def make_room(self, pinned: Sequence[Dot]) -> None:
        self.figure.pinned = [end for dot in pinned for end in (dot.low, dot.high)]
        self.figure.fit()

    def readout(self, values: PublishValues, facts: FirstFacts, results: Results) -> str:
        return text.headline(values, *(here(results, name) for name in ("table", "true", "drawn")))

    def clear(self) -> None:
        super().clear()
        self._drawn = None
        self.marginals.clear()
        self.rows.object = ""


class ModelsCard(CurvesCard[PublishValues, PublishFacts]):
    """The published table beside its cells and a linear model, which are trained for the same ε."""

    plot_name, xlim = "publish-models", (EPSILONS[0], EPSILONS[-1])
    y, levels = Axis("accuracy on test records", share=True), LEVELS
    styles: ClassVar[Mapping[str, Style]] = STYLES | {key: style_of(key, "publisher") for key in compute.REGISTERED}
    name, title, caption = "models", "Models at the same ε", text.CAPTIONS["models"]

    def work(self, values: PublishValues, facts: PublishFacts) -> dict[ResultKey, Task]:
        work: dict[ResultKey, Task] = {("true", WORKER): compute.true_task(values)}
        at: dict[Any, float] = {WORKER: values.epsilon, **{e: e for e in SWEEP_EPSILONS}}
        return work | {(s, x): task for x, e in at.items() for s, task in compute.all_tasks_at(values, e).items()}

    def level_values(self, values: PublishValues, facts: PublishFacts, results: Results) -> Mapping[str, float]:
        true = here(results, "true")
        return {"majority": facts.majority} | ({} if true is None else {"true": true})

    def readout(self, values: PublishValues, facts: PublishFacts, results: Results) -> str:
        found = {style.label: here(results, name) for name, style in self.styles.items()}
        return text.models({label: draws for label, draws in found.items() if draws is not None})


class ChancesCard(Card[PublishValues, PublishFacts]):
    """Exact probabilities of the exponential mechanism, for the table shown."""

    draw = chances_figure
    name, title, caption = "chances", "Selection of the grid", text.CAPTIONS["chances"]

    def work(self, values: PublishValues, facts: PublishFacts) -> dict[ResultKey, Task]:
        return {("release", WORKER): Task(compute.release_facts, values.drawn_key())}

    def prepare(self, values: PublishValues, facts: PublishFacts, now: Results) -> None:
        self.show(now, {})

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        if (release := here(results, "release")) is not None:
            self.figure.show(chances_tables(release))
            # room for what is written beside the best bar
            self.figure.plot.x_range.update(start=0, end=max(1.35 * max(release["chances"]), 0.001))
            self.figure.plot.y_range.update(start=-len(release["names"]) - 0.1, end=0)

    def readout(self, values: PublishValues, facts: PublishFacts, results: Results) -> str:
        release = here(results, "release")
        return "Computing…" if release is None else text.choice(release)
