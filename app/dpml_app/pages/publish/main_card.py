"""Card: a drawn table beside the true one, and what a classifier loses by it against ε."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import panel as pn

from dpml_app.core.card import WORKER, Answer, ResultKey, Results, here
from dpml_app.core.curves_card import CurvesCard
from dpml_app.data.facts import FirstFacts
from dpml_app.data.two_tables import COLUMNS
from dpml_app.drawing.figure import script
from dpml_app.drawing.marginals import MarginalsFigure
from dpml_app.drawing.pinned_overlay import Curve, Dot
from dpml_app.pages.publish import shipped, words
from dpml_app.pages.publish.figures import TABLE
from dpml_app.pages.publish.settings import PublishValues
from dpml_app.pages.publish.table_figures import CostFigure
from dpml_app.settings import EPSILONS, SWEEP_EPSILONS
from dpml_app.work.pool import Task

STYLE = script("pages/publish/tables.css")


class TablesCard(CurvesCard[PublishValues, FirstFacts]):
    """Marginals and rows of both tables, and the cost."""

    name, title, caption = "tables", "True and published", words.CAPTIONS["tables"]
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
            "90 % of draws",
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
