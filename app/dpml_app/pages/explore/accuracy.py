"""Card: accuracy against ε."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpml_app.core.card import IMMEDIATE, WORKER, ResultKey, Results, here, kept_but_for
from dpml_app.core.curves_card import CurvesCard
from dpml_app.data import measures
from dpml_app.data.facts import BinaryFacts
from dpml_app.pages.explore import words
from dpml_app.pages.explore.figures import AccuracyFigure
from dpml_app.pages.explore.settings import ExploreValues
from dpml_app.settings import SWEEP_EPSILONS
from dpml_app.work.pool import Task


def statistic_key(values: ExploreValues, method: str, epsilon: float) -> tuple | None:
    """Return the arguments of the slow statistic that a method needs at this setting and ε, if any."""
    options = values.options(method)
    return measures.statistic_key(values.dataset, method, epsilon, options)


def statistics(values: ExploreValues, methods: Sequence[str] = measures.METHODS) -> list[Task]:
    """Return the slow statistics that are not here: with them the server answers at once at every ε."""
    keys = (key for m in methods for key in measures.statistic_keys(values.dataset, m, values.options(m)))
    return [Task(measures.statistic, key) for key in keys if not measures.is_here(key)]


def speed(values: ExploreValues, method: str) -> str:
    """Return where a method stands at the ε that is chosen: what needs a slow statistic first is for the workers."""
    return IMMEDIATE if measures.is_here(statistic_key(values, method, values.epsilon)) else WORKER


def measured(values: ExploreValues, method: str, epsilon: float) -> Task:
    """Return the task of a method's accuracies."""
    return Task(measures.accuracy, values.accuracy_key(method, epsilon))


def at_chosen(values: ExploreValues) -> dict[ResultKey, Task]:
    """Return the tasks of all methods at the ε that is chosen."""
    return {(m, speed(values, m)): measured(values, m, values.epsilon) for m in measures.METHODS}


def accuracies(results: Results) -> dict[str, Any]:
    """Return the draws of each method at the ε that is chosen, once all of them are there."""
    draws_of = {method: here(results, method) for method in measures.METHODS}
    return {} if any(draws is None for draws in draws_of.values()) else draws_of


class AccuracyCard(CurvesCard[ExploreValues, BinaryFacts]):
    """Every method over all ε."""

    draw = AccuracyFigure
    _epsilon = 0.0
    name, title, caption = "accuracy", "Accuracy against ε", words.CAPTIONS["accuracy"]

    def lay_out(self, facts: BinaryFacts) -> None:
        self.figure.place_levels({"majority": facts.majority, "non_private": facts.non_private})

    def work(self, values: ExploreValues, facts: BinaryFacts) -> dict[ResultKey, Task]:
        return at_chosen(values) | self.sweep(values, facts)

    @kept_but_for("epsilon")
    def sweep(self, values: ExploreValues, facts: BinaryFacts) -> dict[ResultKey, Task]:
        """Return the tasks of the curves."""
        return {(m, e): measured(values, m, e) for m in measures.METHODS for e in SWEEP_EPSILONS}

    def first(self, values: ExploreValues) -> list[Task]:
        return statistics(values)

    def prepare(self, values: ExploreValues, facts: BinaryFacts, now: Results) -> None:
        self._epsilon = values.epsilon
        for method in measures.METHODS:
            draws = here(now, method)
            if draws is None:
                self.figure.clear_now(method)
            else:
                self.figure.show_now(method, self._epsilon, draws)

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        super().show(results, wanted)
        for method, result_key in results:
            if result_key == WORKER:
                self.figure.show_now(method, self._epsilon, results[method, WORKER])

    def readout(self, values: ExploreValues, facts: BinaryFacts, results: Results) -> str:
        draws_of = accuracies(results)
        return words.accuracy_readout(values.epsilon, draws_of) if draws_of else "Computing…"
