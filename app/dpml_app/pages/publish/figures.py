"""Draw synthetic tables, the choice of their grid, models and a weighted public table: the page's cards."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import panel as pn
from bokeh.models import ColumnDataSource, NumeralTickFormatter
from bokeh.plotting import figure
from numpy.typing import NDArray

from dpml_app.core.card import WORKER, Answer, Card, ResultKey, Results, here
from dpml_app.core.curves_card import CurvesCard
from dpml_app.data.facts import FirstFacts
from dpml_app.data.two_tables import COLUMNS
from dpml_app.drawing.band import BandFigure
from dpml_app.drawing.figure import (
    Figure,
    empty,
    empty_source,
    epsilon_axis,
    fill,
    hover,
    label,
    new_figure,
    over_epsilon,
    percent_axis,
    script,
    set_ticks,
    write,
    write_cut,
)
from dpml_app.drawing.marginals import MarginalsFigure
from dpml_app.drawing.pinned_overlay import Curve, Dot
from dpml_app.drawing.styles import (
    BLUE,
    COST,
    EXACT,
    ORANGE,
    OVERLAY,
    REFERENCE,
    style_of,
    styles_of,
)
from dpml_app.jobs import Task
from dpml_app.pages.publish import text
from dpml_app.pages.publish.compute import (
    BEST,
    LEAST,
    SHARE_LADDER,
    WEIGHT_DRAWS,
    WEIGHT_METHODS,
    WEIGHT_STYLES,
    PublishFacts,
    PublishValues,
    drawn_task,
    mask_of,
    pattern_shares,
    release_facts,
    share_meeting,
    shipped_facts,
    shipped_results,
    table_task,
    tasks_at,
    true_task,
    weighted_patterns,
)
from dpml_app.settings import EPSILONS, SWEEP_EPSILONS
from dpml_app.text.phrases import points

# ---- Figures -------------------------------------------------------------------------------------------------------


_TABLES = styles_of("publisher", "table")
TABLE = replace(_TABLES["privpfc"], label="synthetic table")
STYLES = {
    "table": TABLE,
    "cells": replace(style_of("privpfc-cells", "publisher"), label="model of its cells"),
    "linear": replace(style_of("rule"), label="linear model"),
}


def _share_figure(name: str, **options: Any) -> figure:
    start = (0.4, 1.0)
    p = new_figure(name, y_range=start, y_axis_label="accuracy on test records", **options)
    percent_axis(p.yaxis)
    return p


def models_figure() -> BandFigure:
    """Return the figure of the published table beside models for the same ε."""
    ends = (EPSILONS[0], EPSILONS[-1])
    p = _share_figure("publish-models", x_axis_type="log", x_range=ends)
    epsilon_axis(p)
    chart = BandFigure(p, STYLES, "epsilon", columns=2)
    chart.level("true", "non-private table", EXACT)
    chart.level("majority", "majority-class baseline", dash="dotted")
    return chart


def _name_bars(p: figure, source: ColumnDataSource, above: int) -> None:
    """Write the names of rows above their bars."""
    write_cut(p, 0, "y", "name", source=source, color=REFERENCE, y_offset=above, x_offset=3)


def shares_figure() -> BandFigure:
    """Return the figure of accuracy against the share of ε for the selection of a grid."""
    p = _share_figure("publish-shares", x_range=(0, SHARE_LADDER[-1] + 0.03))
    p.xaxis.axis_label = "share of ε for grid selection"
    percent_axis(p.xaxis)
    p.height = 460
    chart = BandFigure(p, {"table": TABLE}, columns=2)
    chart.level("true", "non-private table", EXACT)
    chart.level("majority", "majority-class baseline", dash="dotted")
    return chart


def query_figure() -> BandFigure:
    """Return the figure of an answer against ε."""
    p = over_epsilon("publish-weights-query", y_range=(0, 1), y_axis_label="answer (share of records)")
    percent_axis(p.yaxis)
    p.height = 460
    chart = BandFigure(p, WEIGHT_STYLES, "epsilon", columns=2)
    chart.level("truth", "private table", EXACT)
    # a good answer lies on the truth, so that this line is wider and below
    chart.levels["truth"].update(level="underlay", line_width=8, line_alpha=0.5)
    chart.level("unweighted", "public table, unweighted", dash="dotted")
    return chart


class ChancesFigure(Figure):
    """The best candidate grids, each with its probability to be drawn."""

    computed = ("bars", "drawn")

    def __init__(self) -> None:
        self.plot = p = new_figure(
            "publish-chances", x_range=(0, 1), y_range=(-BEST, 0), x_axis_label="probability of selection"
        )
        p.xaxis.formatter = NumeralTickFormatter(format="0.[0]%")
        p.yaxis.visible = p.ygrid.visible = False
        self.bars = empty_source("publish-chances-bars", "y", "name", "chance", "correct")
        self.drawn = empty_source("publish-chances-drawn", "y", "chance", "text")
        bars = p.hbar("y", right="chance", height=0.4, source=self.bars, color=BLUE)
        p.scatter("chance", "y", source=self.drawn, marker="star", size=17, color=ORANGE, line_color="white")
        look: dict[str, Any] = {"text_font_size": "14px", "text_font_style": "bold", "text_baseline": "middle"}
        write(p, "chance", "y", "text", source=self.drawn, color=ORANGE, x_offset=12, **look)
        _name_bars(p, self.bars, -11)
        hover(p, [bars], ("", "@name"), ("probability", "@chance{0.00%}"), ("accuracy without noise", "@correct{0.0%}"))

    def show(self, release: Mapping[str, Any]) -> None:
        """Show the chances of one release."""
        n, chances = len(release["names"]), release["chances"].tolist()
        y = [-place - 0.7 for place in range(n)]
        fill(self.bars, zip(y, release["names"], chances, release["correct"].tolist(), strict=True))
        fill(self.drawn, [(y[place], release["chance"], "this table") for place in [release["place"]] if place < n])
        # room for what is written beside the best bar
        end = max(1.35 * max(chances), 0.001)
        self.plot.x_range.end = end
        self.plot.y_range.start = -n - 0.1


# ---- Cards ---------------------------------------------------------------------------------------------------------


# of the widest label, so that the slider under it begins where the axis does
LEFT = 76


class CostFigure(BandFigure):
    """What a published table costs a classifier against ε, in points of accuracy, beside each table that is drawn."""

    computed = ("gap", "draws")

    def __init__(self) -> None:
        p = new_figure(
            "publish-cost",
            x_axis_type="log",
            x_range=(EPSILONS[0], EPSILONS[-1]),
            y_range=(-0.2, 5),
            y_axis_label="cost (points)",
            min_border_left=LEFT,
            min_border_right=24,
        )
        epsilon_axis(p)
        p.height, p.toolbar_location, p.xaxis.axis_label = 170, None, None
        super().__init__(p, {"table": TABLE}, "epsilon", tip="0.0")
        self.level("true", "non-private table", EXACT)
        # the curve's colour is that of the picture above; the line has its name where the curve is far from it
        self.legend.place([])
        self.place_levels({"true": 0.0})
        label(p, EPSILONS[0], 0, "non-private table", EXACT, 13, x_offset=8, y_offset=1, level=OVERLAY)
        self.draws = empty_source("publish-draws", "epsilon", "cost", "size")
        self.gap = empty_source("publish-gap", "epsilon", "cost", "text", "align", "off", "top")
        p.segment("epsilon", 0, "epsilon", "cost", source=self.gap, color=COST, line_width=6, level=OVERLAY)
        dots: dict[str, Any] = {"color": TABLE.color, "line_color": "white", "level": OVERLAY}
        p.scatter("epsilon", "cost", size="size", source=self.draws, alpha=0.8, **dots)
        look: dict[str, Any] = {"text_font_style": "bold", "text_align": "align", "x_offset": "off", "level": OVERLAY}
        # above the curve, which falls
        look["text_baseline"] = "top"
        write(p, "epsilon", "top", "text", source=self.gap, color=COST, text_font_size="24px", **look)

    def show_gap(self, epsilon: float, draws: NDArray[np.float64] | None, shown: int) -> None:
        """Show what publishing costs at the ε that is chosen, in points, by each draw; that of the table is larger."""
        if draws is None:
            empty(self.gap)
            empty(self.draws)
            return
        mean = float(draws.mean())
        side = ("left", 18) if epsilon < 1 else ("right", -18)
        gap = points(mean / 100) if mean / 100 >= LEAST else "no cost"
        fill(self.gap, [(epsilon, mean, gap, *side, self.plot.y_range.end)])
        fill(self.draws, [(epsilon, cost, 13 if place == shown else 7) for place, cost in enumerate(draws.tolist())])

    def fit(self) -> None:
        """Fit the y axis to what is shown, with ticks that a small picture has room for."""
        super().fit()
        ends = self.plot.y_range
        step = next((s for s in (1, 2, 5, 10, 20) if (ends.end - ends.start) / s <= 5), 50)
        ticks = [k * step for k in range(int(ends.start // step) + 1, int(ends.end // step) + 1)]
        set_ticks(self.plot.yaxis[0], ticks, "String(tick).replace('-', '\\u2212')", self.plot.ygrid[0])
        if len(self.gap.data["top"]) and self.gap.data["top"] != [ends.end]:
            self.gap.data = {**self.gap.data, "top": [ends.end]}

    def clear(self, series: str | None = None) -> None:
        super().clear(series)
        if series is None:
            self.place_levels({"true": 0.0})


STYLE = script("pages/publish/tables.css")


class TablesCard(CurvesCard[PublishValues, FirstFacts]):
    """Marginals and rows of both tables, and the cost."""

    name, title, caption = "tables", "Non-private and synthetic table", text.CAPTIONS["tables"]
    figure: CostFigure

    def __init__(self) -> None:
        super().__init__(CostFigure())
        self.marginals = MarginalsFigure("publish", COLUMNS)
        self.rows = pn.pane.HTML("", sizing_mode="stretch_width", margin=(0, 4), stylesheets=[STYLE])
        self.plots = [self.figure.plot, self.marginals.plot]
        self._true: float | None = None

    def content(self) -> list[Any]:
        return [self.marginals.plot, self.rows, self.figure.plot]

    def work(self, values: PublishValues, facts: FirstFacts) -> dict[ResultKey, Task]:
        epsilon = values.epsilon
        work: dict[ResultKey, Task] = {
            ("drawn", WORKER): drawn_task(values),
            ("true", WORKER): true_task(values),
            ("table", WORKER): table_task(values, epsilon),
        }
        # every ε of the slider where they ship, and what is near the chosen one first
        whole = work["table", WORKER] in shipped_results(values.dataset)
        near = sorted(EPSILONS if whole else SWEEP_EPSILONS, key=lambda e: abs(math.log(e / epsilon)))
        return work | {("table", e): table_task(values, e) for e in near}

    def open(self, values: PublishValues) -> dict[ResultKey, Any]:
        """Show what ships, before anything is loaded; return the results at the chosen ε."""
        facts, results = shipped_facts(values.dataset), shipped_results(values.dataset)
        if facts is None:
            return {}
        wanted = self.work(values, facts)
        there = {result_key: results[task] for result_key, task in wanted.items() if task in results}
        if any(result_key not in there for result_key in wanted if result_key[0] != "drawn"):
            return {}
        self.prepare(values, facts, there)
        self.show(there, wanted)
        return {result_key: result for result_key, result in there.items() if result_key[1] == WORKER}

    def draws(self, series: str, result: Any) -> np.ndarray:
        assert self._true is not None
        cost: np.ndarray = 100 * (self._true - result)
        return cost

    def look(self) -> float | None:
        return self._true

    def prepare(self, values: PublishValues, facts: FirstFacts, now: Results) -> None:
        self._values = values
        self.figure.marker.location = values.epsilon
        self._show_here(now)

    def _show_here(self, results: Results) -> None:
        """Show what is known at the setting that is chosen."""
        self._true, table, drawn = (here(results, name) for name in ("true", "table", "drawn"))
        known = table is not None and self._true is not None
        self.figure.show_gap(self._values.epsilon, self.draws("table", table) if known else None, self._values.draw)
        if drawn is not None:
            self.marginals.show(drawn)
            self.rows.object = text.tables(drawn, self._values)

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        self._show_here(results)
        if self._true is not None:
            super().show(results, wanted)
        self.figure.fit()

    def to_pin(self, values: PublishValues, facts: FirstFacts, results: Results) -> Answer | None:
        table, true = (here(results, name) for name in ("table", "true"))
        if table is None or true is None:
            return None
        cost, shown = 100 * (true - table), self.figure.curves["table"].data
        low, high = (float(q) for q in np.quantile(cost, [0.05, 0.95]))
        return Answer(
            text.numbers(table, true),
            (Curve(shown["epsilon"], shown["mean"], TABLE.color),),
            (Dot(values.epsilon, float(cost.mean()), low, high, TABLE.color),),
            "90% of tables",
        )

    def make_room(self, pinned: Sequence[Dot]) -> None:
        self.figure.beside = [end for dot in pinned for end in (dot.low, dot.high)]
        self.figure.fit()

    def readout(self, values: PublishValues, facts: FirstFacts, results: Results) -> str:
        drawn, table, true = (here(results, name) for name in ("drawn", "table", "true"))
        if drawn is None or table is None or true is None:
            return "Computing…"
        return text.shown(values, drawn, table, true)

    def clear(self) -> None:
        super().clear()
        self.marginals.clear()
        self.rows.object = ""


class _BesideTrue(CurvesCard[PublishValues, PublishFacts]):
    """Curves with the true table and the majority as level lines."""

    def prepare(self, values: PublishValues, facts: PublishFacts, now: Results) -> None:
        self.figure.levels["majority"].location = facts.majority
        self.figure.marker.location = self.marker_x(values)

    def marker_x(self, values: PublishValues) -> float:
        """Return where the chosen setting is on the axis."""
        return float(values.epsilon)

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        super().show(results, wanted)
        true = here(results, "true")
        if true is not None:
            self.figure.levels["true"].location = true
        self.figure.fit()


class ModelsCard(_BesideTrue):
    """The published table beside its cells and a linear model, which are trained for the same ε."""

    draw = models_figure
    name, title, caption = "models", "Models at the same ε", text.CAPTIONS["models"]

    def work(self, values: PublishValues, facts: PublishFacts) -> dict[ResultKey, Task]:
        work: dict[ResultKey, Task] = {("true", WORKER): true_task(values)}
        at: dict[Any, float] = {WORKER: values.epsilon, **{e: e for e in SWEEP_EPSILONS}}
        return work | {(s, x): task for x, e in at.items() for s, task in tasks_at(values, e).items()}

    def readout(self, values: PublishValues, facts: PublishFacts, results: Results) -> str:
        return text.models(here(results, "cells"), here(results, "linear"))


BOTH = ("both", WORKER)


class ChancesCard(Card[PublishValues, PublishFacts]):
    """Exact probabilities of the exponential mechanism, for the table shown."""

    draw = ChancesFigure
    name, title, caption = "chances", "Selection of the grid", text.CAPTIONS["chances"]

    def work(self, values: PublishValues, facts: PublishFacts) -> dict[ResultKey, Task]:
        return {("release", WORKER): Task(release_facts, values.drawn_key())}

    def prepare(self, values: PublishValues, facts: PublishFacts, now: Results) -> None:
        self.show(now, {})

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        if (release := here(results, "release")) is not None:
            self.figure.show(release)

    def readout(self, values: PublishValues, facts: PublishFacts, results: Results) -> str:
        release = here(results, "release")
        return "Computing…" if release is None else text.choice(release)


class SharesCard(_BesideTrue):
    """Accuracy against the share of ε for the selection, as in Su et al. 2018, Fig. 9."""

    draw = shares_figure
    name, title, caption = "shares", "Allocation of ε", text.CAPTIONS["shares"]
    steps: ClassVar[tuple[float, ...]] = SHARE_LADDER

    def marker_x(self, values: PublishValues) -> float:
        return float(values.publish_share)

    def work(self, values: PublishValues, facts: PublishFacts) -> dict[ResultKey, Task]:
        work: dict[ResultKey, Task] = {("true", WORKER): true_task(values)}
        return work | {("table", x): table_task(replace(values, publish_share=x), values.epsilon) for x in self.steps}

    def readout(self, values: PublishValues, facts: PublishFacts, results: Results) -> str:
        return text.shares(values, {x: draws for (series, x), draws in results.items() if series == "table"})


class WeightsQueryCard(CurvesCard[PublishValues, PublishFacts]):
    """The answer to one question by both methods, beside the private and the unweighted public table."""

    draw = query_figure
    name, title, caption = "weights-query", "Answers from a weighted public table", text.CAPTIONS["weights-query"]
    controls, stacked = ("publish_query", "publish_lambda"), True

    def __init__(self) -> None:
        super().__init__()
        self._mask = 0

    def refusal(self, values: PublishValues, facts: PublishFacts) -> str:
        return text.refusal(values.dataset, values.publish_query)

    def draws(self, series: str, result: Mapping[str, Any]) -> np.ndarray:
        drawn: np.ndarray = share_meeting(result["patterns"], self._mask)
        return drawn

    def look(self) -> int:
        return self._mask

    def work(self, values: PublishValues, facts: PublishFacts) -> dict[ResultKey, Task]:
        # Algorithm 1 with its λ, the noisy moments with that of the public rule
        rules = {"output": values.publish_lambda, "moments": None}
        near = sorted(SWEEP_EPSILONS, key=lambda e: abs(math.log(e / values.epsilon)))
        work: dict[ResultKey, Task] = {BOTH: Task(pattern_shares, (values.dataset,))}
        for place, epsilon in ((WORKER, values.epsilon), *((e, e) for e in near)):
            for method, rule in rules.items():
                arguments = (method, values.dataset, epsilon, rule, WEIGHT_DRAWS, values.seed)
                work[method, place] = Task(weighted_patterns, arguments)
        return work

    def prepare(self, values: PublishValues, facts: PublishFacts, now: Results) -> None:
        self._mask = mask_of(values.publish_query)
        self.figure.marker.location = values.epsilon

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        super().show(results, wanted)
        if BOTH in results:
            for level, table in (("truth", "private"), ("unweighted", "public")):
                self.figure.levels[level].location = float(share_meeting(results[BOTH][table], self._mask))
        self.figure.fit()

    def readout(self, values: PublishValues, facts: PublishFacts, results: Results) -> str:
        if BOTH not in results:
            return "Computing…"
        private, public = (float(share_meeting(results[BOTH][of], self._mask)) for of in ("private", "public"))
        found = {method: results.get((method, WORKER)) for method in WEIGHT_METHODS}
        answers = {method: self.draws(method, release) for method, release in found.items() if release is not None}
        return text.query(values, private, public, answers)
