"""Card: accuracy against ε."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpml_app.core.card import IMMEDIATE, WORKER, Place, Results, Values, here
from dpml_app.core.curves_card import CurvesCard
from dpml_app.data import measures
from dpml_app.pages.explore import words
from dpml_app.pages.explore.figures import AccuracyFigure
from dpml_app.pages.explore.settings import ExploreSettings
from dpml_app.settings import SWEEP_EPSILONS
from dpml_app.work.pool import Chunk

__all__ = ["AccuracyCard", "accuracies", "at_chosen", "measured", "speed", "statistic_key"]


def statistic_key(values: Values, method: str, epsilon: float) -> tuple | None:
    """Return the arguments of the slow statistic that a method needs at this setting and ε, if any."""
    options = ExploreSettings.options(values, method)
    return measures.statistic_key(values["dataset"], method, epsilon, options)


def speed(values: Values, method: str) -> str:
    """Return where a method stands at the ε that is chosen: what needs a slow statistic first is for the workers."""
    return IMMEDIATE if measures.is_here(statistic_key(values, method, values["epsilon"])) else WORKER


def measured(values: Values, method: str, epsilon: float) -> Chunk:
    """Return the chunk of a method's accuracies."""
    return Chunk(measures.accuracy, ExploreSettings.accuracy_key(values, method, epsilon))


def at_chosen(values: Values) -> dict[Place, Chunk]:
    """Return the chunks of all methods at the ε that is chosen."""
    return {(m, speed(values, m)): measured(values, m, values["epsilon"]) for m in measures.METHODS}


def accuracies(results: Results) -> dict[str, Any]:
    """Return the draws of each method at the ε that is chosen, once all of them are there."""
    found = {method: here(results, method) for method in measures.METHODS}
    return {} if any(draws is None for draws in found.values()) else found


class AccuracyCard(CurvesCard):
    """Every method over all ε."""

    draw = AccuracyFigure
    _epsilon = 0.0
    name, title, caption = "accuracy", "Accuracy against ε", words.CAPTIONS["accuracy"]

    def lay_out(self, facts: Values) -> None:
        self.figure.levels(facts)

    def work(self, values: Values, facts: Values) -> dict[Place, Chunk]:
        return at_chosen(values) | {(m, e): measured(values, m, e) for m in measures.METHODS for e in SWEEP_EPSILONS}

    def prepare(self, values: Values, facts: Values, now: Results) -> None:
        self._epsilon = values["epsilon"]
        for method in measures.METHODS:
            draws = here(now, method)
            if draws is None:
                self.figure.clear_now(method)
            else:
                self.figure.show_now(method, self._epsilon, draws)

    def show(self, results: Results, wanted: Mapping[Place, Chunk]) -> None:
        super().show(results, wanted)
        for method, place in results:
            if place == WORKER:
                self.figure.show_now(method, self._epsilon, results[method, WORKER])

    def readout(self, values: Values, facts: Values, results: Results) -> str:
        found = accuracies(results)
        return words.accuracy_readout(values["epsilon"], found) if found else "Computing…"
