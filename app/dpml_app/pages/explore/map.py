"""Card: how many features, at which ε."""

from __future__ import annotations

from dpml_app.core.card import IMMEDIATE, ResultKey, Results, kept_but_for
from dpml_app.core.curves_card import CurvesCard
from dpml_app.data.facts import BinaryFacts
from dpml_app.data.measures import feature_ladder
from dpml_app.pages.explore import compute, words
from dpml_app.pages.explore.figures import MapFigure
from dpml_app.pages.explore.settings import ExploreValues
from dpml_app.settings import SWEEP_EPSILONS
from dpml_app.work.pool import Task


class MapCard(CurvesCard[ExploreValues, BinaryFacts]):
    """Mean accuracy over ε and feature count, one task a row."""

    draw = MapFigure
    name, title, caption = "map", "How many features?", words.CAPTIONS["map"]

    def lay_out(self, facts: BinaryFacts) -> None:
        ends = sorted((facts.majority, facts.non_private))
        self.figure.start(SWEEP_EPSILONS, feature_ladder(facts.n_features), *ends)

    def work(self, values: ExploreValues, facts: BinaryFacts) -> dict[ResultKey, Task]:
        chosen = Task(compute.by_hand, values.hand_key(values.epsilon))
        return {("chosen", IMMEDIATE): chosen, **self.rows(values, facts)}

    @kept_but_for("epsilon")
    def rows(self, values: ExploreValues, facts: BinaryFacts) -> dict[ResultKey, Task]:
        """Return the tasks of the map."""
        ladder = feature_ladder(facts.n_features)
        return {("map", t): Task(compute.map_row, values.map_key(t)) for t in ladder}

    def readout(self, values: ExploreValues, facts: BinaryFacts, results: Results) -> str:
        best = self.figure.best.data
        return words.map_readout(values, best, results["chosen", IMMEDIATE]) if len(best["epsilon"]) else ""
