"""Card: accuracy against the number of features that are chosen."""

from __future__ import annotations

from typing import Any

from dpml_app.core.card import Place, Results, Values
from dpml_app.core.curves_card import CurvesCard
from dpml_app.data.measures import accuracy
from dpml_app.pages.select import compute, words
from dpml_app.pages.select.figures import AccuracyFigure
from dpml_app.pages.select.settings import SelectSettings
from dpml_app.work.pool import Chunk

__all__ = ["AccuracyCard"]


class AccuracyCard(CurvesCard):
    """Every chosen method over T, beside what does not depend on it."""

    draw = AccuracyFigure
    name, title, caption = "accuracy", "How many features are best", words.CAPTIONS["accuracy"]
    controls = ("select_methods",)

    def lay_out(self, facts: Values) -> None:
        self.figure.show_references(facts, compute.selector_ladder(facts["n_features"])[-1])

    def work(self, values: Values, facts: Values) -> dict[Place, Chunk]:
        dataset, relation, epsilon, *drawn = (values[n] for n in ("dataset", "relation", "epsilon", "draws", "seed"))
        found: dict[Place, Chunk] = {
            ("all", 0): Chunk(accuracy, (dataset, "row-bounded", relation, epsilon, (0,), *drawn)),
            ("best", 0): Chunk(compute.best, (dataset, relation, epsilon, *drawn)),
        }
        return found | {
            (method, T): Chunk(compute.accuracy, SelectSettings.accuracy_key_of(values, method, T))
            for method in values["select_methods"]
            for T in compute.selector_ladder(facts["n_features"])
        }

    def prepare(self, values: Values, facts: Values, now: Results) -> None:
        self.figure.name_methods(values["select_methods"])

    def readout(self, values: Values, facts: Values, results: Results) -> str:
        found: dict[str, dict[Any, Any]] = {}
        for (method, T), drawn in results.items():
            found.setdefault(method, {})[T] = drawn
        return words.accuracy_words(values, facts, found)
