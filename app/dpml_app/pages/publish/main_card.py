"""Card: accuracy of a classifier on the published table against ε, beside models that are trained for the same ε."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dpml_app.core.card import WORKER, Answer, ResultKey, Results, here
from dpml_app.core.curves_card import CurvesCard
from dpml_app.data.facts import FirstFacts
from dpml_app.drawing.pinned_overlay import Curve, Dot
from dpml_app.pages.publish import shipped, words
from dpml_app.pages.publish.figures import TABLE, AccuracyFigure
from dpml_app.pages.publish.settings import PublishValues
from dpml_app.settings import EPSILONS, SWEEP_EPSILONS
from dpml_app.work.pool import Task


class AccuracyCard(CurvesCard[PublishValues, FirstFacts]):
    """The published table, the cells of its grid as a model, a linear model, and the true table."""

    draw = AccuracyFigure
    name, title, caption = "accuracy", "Accuracy", words.CAPTIONS["accuracy"]

    def __init__(self, *figures: Any):
        super().__init__(*figures)
        self._epsilon = 0.0

    def work(self, values: PublishValues, facts: FirstFacts) -> dict[ResultKey, Task]:
        epsilon = values.epsilon
        work: dict[ResultKey, Task] = {("true", WORKER): shipped.true_task(values)}
        work |= {(series, WORKER): task for series, task in shipped.tasks(values, epsilon).items()}
        # every ε of the slider where they ship, and what is near the chosen one first
        whole = work["table", WORKER] in shipped.results(values.dataset)
        near = sorted(EPSILONS if whole else SWEEP_EPSILONS, key=lambda e: abs(math.log(e / epsilon)))
        return work | {(s, e): task for e in near for s, task in shipped.tasks(values, e).items()}

    def open(self, values: PublishValues) -> dict[ResultKey, Any]:
        """Show what ships, before anything is loaded; return the results at the chosen ε."""
        facts, results = shipped.first_facts(values.dataset), shipped.results(values.dataset)
        if facts is None:
            return {}
        wanted = self.work(values, facts)
        there = {result_key: results[task] for result_key, task in wanted.items() if task in results}
        if len(there) < len(wanted):
            return {}
        self.prepare(values, facts, there)
        self.show(there, wanted)
        return {result_key: result for result_key, result in there.items() if result_key[1] == WORKER}

    def prepare(self, values: PublishValues, facts: FirstFacts, now: Results) -> None:
        self._epsilon = values.epsilon
        figure = self.figure
        figure.marker.location = self._epsilon
        figure.levels["majority"].location = facts.majority
        self._mark(now)

    def _mark(self, results: Results) -> None:
        table, true = here(results, "table"), here(results, "true")
        if true is not None:
            self.figure.levels["true"].location = true
        self.figure.show_gap(self._epsilon, table, true)

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        super().show(results, wanted)
        self._mark(results)
        self.figure.fit()

    def to_pin(self, values: PublishValues, facts: FirstFacts, results: Results) -> Answer | None:
        names = ("table", "true", "cells", "linear")
        table, true, cells, linear = (here(results, name) for name in names)
        if table is None or true is None or cells is None or linear is None:
            return None
        low, high = (float(q) for q in np.quantile(table, [0.05, 0.95]))
        shown = self.figure.curves["table"].data
        return Answer(
            words.numbers(table, true, cells, linear),
            (Curve(shown["epsilon"], shown["mean"], TABLE.color),),
            (Dot(values.epsilon, float(table.mean()), low, high, TABLE.color),),
            "90 % of draws",
        )

    def make_room(self, pinned: Sequence[Dot]) -> None:
        self.figure.beside = [end for dot in pinned for end in (dot.low, dot.high)]
        self.figure.fit()

    def readout(self, values: PublishValues, facts: FirstFacts, results: Results) -> str:
        return words.models(here(results, "cells"), here(results, "linear"))
