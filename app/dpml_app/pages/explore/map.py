"""Card: how many features, at which ε."""

from __future__ import annotations

from dpml_app.core.card import IMMEDIATE, Place, Results, Values
from dpml_app.core.curves_card import CurvesCard
from dpml_app.data.measures import feature_ladder
from dpml_app.pages.explore import compute, words
from dpml_app.pages.explore.accuracy import measured
from dpml_app.pages.explore.figures import MapFigure
from dpml_app.pages.explore.settings import ExploreSettings
from dpml_app.settings import SWEEP_EPSILONS
from dpml_app.work.pool import Chunk

__all__ = ["MapCard"]


class MapCard(CurvesCard):
    """Mean accuracy over ε and feature count, one chunk a row."""

    draw = MapFigure
    name, title, caption = "map", "How many features?", words.CAPTIONS["map"]

    def lay_out(self, facts: Values) -> None:
        ends = sorted((facts["majority"], facts["non_private"]))
        self.figure.start(SWEEP_EPSILONS, feature_ladder(facts["n_features"]), *ends)

    def work(self, values: Values, facts: Values) -> dict[Place, Chunk]:
        ladder = feature_ladder(facts["n_features"])
        rows: dict[Place, Chunk] = {
            ("map", t): Chunk(compute.map_row, ExploreSettings.map_key(values, t)) for t in ladder
        }
        return {("chosen", IMMEDIATE): measured(values, values["map_score"], values["epsilon"]), **rows}

    def readout(self, values: Values, facts: Values, results: Results) -> str:
        best = self.figure.best.data
        return words.map_readout(values, best, results["chosen", IMMEDIATE]) if len(best["epsilon"]) else ""
