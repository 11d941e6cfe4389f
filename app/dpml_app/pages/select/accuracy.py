"""Card: accuracy against the number of features that are chosen."""

from __future__ import annotations

from typing import Any

from dpml_app.core.card import ResultKey, Results
from dpml_app.core.curves_card import CurvesCard
from dpml_app.data.measures import accuracy
from dpml_app.pages.select import compute, words
from dpml_app.pages.select.compute import SelectFacts
from dpml_app.pages.select.figures import AccuracyFigure
from dpml_app.pages.select.settings import SelectValues
from dpml_app.work.pool import Task


class AccuracyCard(CurvesCard[SelectValues, SelectFacts]):
    """Every chosen method over T, beside what does not depend on it."""

    draw = AccuracyFigure
    name, title, caption = "accuracy", "How many features are best", words.CAPTIONS["accuracy"]
    controls = ("select_methods",)

    def lay_out(self, facts: SelectFacts) -> None:
        self.figure.show_references(facts, compute.selector_ladder(facts.n_features)[-1])

    def work(self, values: SelectValues, facts: SelectFacts) -> dict[ResultKey, Task]:
        dataset, relation, epsilon = values.dataset, values.relation, values.epsilon
        drawn = values.draws, values.seed
        references: dict[ResultKey, Task] = {
            ("all", 0): Task(accuracy, (dataset, "row-bounded", relation, epsilon, (0,), *drawn)),
            ("best", 0): Task(compute.best, (dataset, relation, epsilon, *drawn)),
        }
        return references | {
            (method, T): Task(compute.accuracy, values.accuracy_key(method, T))
            for method in values.select_methods
            for T in compute.selector_ladder(facts.n_features)
        }

    def prepare(self, values: SelectValues, facts: SelectFacts, now: Results) -> None:
        self.figure.name_methods(values.select_methods)

    def readout(self, values: SelectValues, facts: SelectFacts, results: Results) -> str:
        by_method: dict[str, dict[Any, Any]] = {}
        for (method, T), drawn in results.items():
            by_method.setdefault(method, {})[T] = drawn
        return words.accuracy_words(values, facts, by_method)
