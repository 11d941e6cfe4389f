"""Card: a drawn table beside the true one, and what a classifier loses by it against ε."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import panel as pn
from numpy.typing import NDArray

from dpml_app.core.card import WORKER, Answer, ResultKey, Results, here
from dpml_app.core.curves_card import CurvesCard
from dpml_app.data.facts import FirstFacts
from dpml_app.data.two_tables import COLUMNS
from dpml_app.drawing.band import BandFigure
from dpml_app.drawing.figure import empty, empty_source, epsilon_axis, fill, label, new_figure, script, set_ticks, write
from dpml_app.drawing.marginals import MarginalsFigure
from dpml_app.drawing.pinned_overlay import Curve, Dot
from dpml_app.drawing.styles import COST, EXACT, OVERLAY
from dpml_app.pages.publish import shipped, words
from dpml_app.pages.publish.figures import LEAST, TABLE
from dpml_app.pages.publish.settings import PublishValues
from dpml_app.settings import EPSILONS, SWEEP_EPSILONS
from dpml_app.text.phrases import points
from dpml_app.work.pool import Task

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
        text = points(mean / 100) if mean / 100 >= LEAST else "no cost"
        fill(self.gap, [(epsilon, mean, text, *side, self.plot.y_range.end)])
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

    name, title, caption = "tables", "Non-private and synthetic table", words.CAPTIONS["tables"]
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
            ("drawn", WORKER): shipped.drawn_task(values),
            ("true", WORKER): shipped.true_task(values),
            ("table", WORKER): shipped.table_task(values, epsilon),
        }
        # every ε of the slider where they ship, and what is near the chosen one first
        whole = work["table", WORKER] in shipped.results(values.dataset)
        near = sorted(EPSILONS if whole else SWEEP_EPSILONS, key=lambda e: abs(math.log(e / epsilon)))
        return work | {("table", e): shipped.table_task(values, e) for e in near}

    def open(self, values: PublishValues) -> dict[ResultKey, Any]:
        """Show what ships, before anything is loaded; return the results at the chosen ε."""
        facts, results = shipped.first_facts(values.dataset), shipped.results(values.dataset)
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
            self.rows.object = words.tables(drawn, self._values)

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
            words.numbers(table, true),
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
        return words.shown(values, drawn, table, true)

    def clear(self) -> None:
        super().clear()
        self.marginals.clear()
        self.rows.object = ""
