"""Card: accuracy of a classifier on the published table against ε, beside models that are trained for the same ε."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dpml_app.core.card import WORKER, Answer, Place, Results, Values, here
from dpml_app.core.curves_card import CurvesCard
from dpml_app.drawing.ghosts import Curve, Dot
from dpml_app.pages.publish import shipped, words
from dpml_app.pages.publish.figures import TABLE, AccuracyFigure
from dpml_app.settings import EPSILONS, SWEEP_EPSILONS
from dpml_app.work.pool import Chunk

__all__ = ["AccuracyCard"]


class AccuracyCard(CurvesCard):
    """The published table, the cells of its grid as a model, a linear model, and the true table."""

    draw = AccuracyFigure
    name, title, caption = "accuracy", "Accuracy", words.CAPTIONS["accuracy"]

    def __init__(self, *figures: Any):
        super().__init__(*figures)
        self._epsilon = 0.0

    def work(self, values: Values, facts: Values) -> dict[Place, Chunk]:
        values, epsilon = dict(values), values["epsilon"]
        work: dict[Place, Chunk] = {("true", WORKER): shipped.true_chunk(values)}
        work |= {(series, WORKER): chunk for series, chunk in shipped.chunks(values, epsilon).items()}
        # every ε of the slider where they ship, and what is near the chosen one first
        whole = work["table", WORKER] in shipped.results(values["dataset"])
        near = sorted(EPSILONS if whole else SWEEP_EPSILONS, key=lambda e: abs(math.log(e / epsilon)))
        return work | {(s, e): chunk for e in near for s, chunk in shipped.chunks(values, e).items()}

    def open(self, values: Values) -> dict[Place, Any]:
        """Show what ships, before anything is loaded; return the results at the chosen ε."""
        facts, results = shipped.first_facts(values["dataset"]), shipped.results(values["dataset"])
        if not facts:
            return {}
        wanted = self.work(values, facts)
        there = {place: results[chunk] for place, chunk in wanted.items() if chunk in results}
        if len(there) < len(wanted):
            return {}
        self.prepare(values, facts, there)
        self.show(there, wanted)
        return {place: result for place, result in there.items() if place[1] == WORKER}

    def prepare(self, values: Values, facts: Values, now: Results) -> None:
        self._epsilon = values["epsilon"]
        figure = self.figure
        figure.here.location = self._epsilon
        figure.levels["majority"].location = facts["majority"]
        self._mark(now)

    def _mark(self, results: Results) -> None:
        table, true = here(results, "table"), here(results, "true")
        if true is not None:
            self.figure.levels["true"].location = true
        self.figure.show_gap(self._epsilon, table, true)

    def show(self, results: Results, wanted: Mapping[Place, Chunk]) -> None:
        super().show(results, wanted)
        self._mark(results)
        self.figure.fit()

    def to_pin(self, values: Values, facts: Values, results: Results) -> Answer | None:
        names = ("table", "true", "cells", "linear")
        table, true, cells, linear = (here(results, name) for name in names)
        if table is None or true is None or cells is None or linear is None:
            return None
        low, high = (float(q) for q in np.quantile(table, [0.05, 0.95]))
        shown = self.figure.bands["table"].curve.data
        return Answer(
            words.numbers(table, true, cells, linear),
            (Curve(shown["epsilon"], shown["mean"], TABLE.color),),
            (Dot(values["epsilon"], float(table.mean()), low, high, TABLE.color),),
            "90 % of draws",
        )

    def make_room(self, ghosts: Sequence[Dot]) -> None:
        self.figure.beside = [end for ghost in ghosts for end in (ghost.low, ghost.high)]
        self.figure.fit()

    def readout(self, values: Values, facts: Values, results: Results) -> str:
        return words.models(here(results, "cells"), here(results, "linear"))
