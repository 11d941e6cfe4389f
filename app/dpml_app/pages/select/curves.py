"""Cards: F1 of selections by a threshold on a score, and accuracy against the number of features that are chosen."""

from collections.abc import Mapping
from typing import Any

from dpml_app.core.card import IMMEDIATE, WORKER, ResultKey, Results, here
from dpml_app.core.curves_card import CurvesCard
from dpml_app.data.measures import accuracy
from dpml_app.pages.select import compute, words
from dpml_app.pages.select.compute import SelectFacts
from dpml_app.pages.select.figures import AccuracyFigure, F1Figure
from dpml_app.pages.select.settings import THRESHOLDS, SelectValues
from dpml_app.work.pool import Task


class F1Card(CurvesCard[SelectValues, SelectFacts]):
    """Every method over all thresholds."""

    draw = F1Figure
    _axis: tuple = ()
    name, title, caption = "f1", "F1 above a threshold", words.CAPTIONS["f1"]
    controls, stacked = ("select_score", "select_threshold"), True

    def work(self, values: SelectValues, facts: SelectFacts) -> dict[ResultKey, Task]:
        score, result_key = values.select_score, THRESHOLDS.index(values.select_threshold)
        # what is near the chosen threshold first
        shares = sorted(THRESHOLDS, key=lambda share: abs(THRESHOLDS.index(share) - result_key))
        return {("true", IMMEDIATE): Task(compute.true_numbers, (values.dataset, score))} | {
            (rule, share): Task(compute.f1, values.f1_key(rule, share))
            for rule in compute.rules_of(score)
            for share in shares
        }

    def at_x(self, point: float) -> float:
        n_lower, score = self._axis
        return compute.threshold_of(n_lower, score, point)

    def prepare(self, values: SelectValues, facts: SelectFacts, now: Results) -> None:
        axis = facts.n_lower, values.select_score
        changed, self._axis = axis != self._axis, axis
        if changed:
            _, unit = words.threshold_words(values, facts.n_lower)
            self.figure.show_axis([self.at_x(share) for share in THRESHOLDS], now["true", IMMEDIATE].tolist(), unit)
        self.figure.marker.location = self.at_x(values.select_threshold)

    def readout(self, values: SelectValues, facts: SelectFacts, results: Results) -> str:
        share = values.select_threshold
        by_rule: dict[str, Any] = {rule: drawn for (rule, point), drawn in results.items() if point == share}
        true = int(results["true", IMMEDIATE][THRESHOLDS.index(share)])
        return words.f1_words(values, facts.n_lower, true, by_rule)

    def clear(self) -> None:
        super().clear()
        self._axis = ()


class AccuracyCard(CurvesCard[SelectValues, SelectFacts]):
    """Every chosen method over T, beside what does not depend on it."""

    draw = AccuracyFigure
    name, title, caption = "accuracy", "Accuracy by number of features", words.CAPTIONS["accuracy"]
    controls = ("select_methods",)

    def lay_out(self, facts: SelectFacts) -> None:
        self.figure.show_references(facts, compute.selector_ladder(facts.n_features)[-1])

    def work(self, values: SelectValues, facts: SelectFacts) -> dict[ResultKey, Task]:
        dataset, relation, epsilon = values.dataset, values.relation, values.epsilon
        drawn = values.draws, values.seed
        references: dict[ResultKey, Task] = {
            ("all", 0): Task(accuracy, (dataset, "row-bounded", relation, epsilon, (0,), *drawn)),
            ("best", 0): Task(compute.best, (dataset, relation, epsilon, *drawn)),
            # one draw, for all are alike
            (words.WITHOUT, WORKER): Task(
                accuracy, (dataset, "row-bounded", relation, compute.NO_NOISE, (0,), 1, values.seed)
            ),
        }
        return references | {
            (method, T): Task(compute.accuracy, values.accuracy_key(method, T))
            for method in values.select_methods
            for T in compute.selector_ladder(facts.n_features)
        }

    def prepare(self, values: SelectValues, facts: SelectFacts, now: Results) -> None:
        self.figure.name_methods(values.select_methods)

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        exact = here(results, words.WITHOUT)
        self.figure.show_exact(None if exact is None else float(exact[0]))
        super().show(results, wanted)

    def readout(self, values: SelectValues, facts: SelectFacts, results: Results) -> str:
        by_method: dict[str, dict[Any, Any]] = {}
        for (method, T), drawn in results.items():
            by_method.setdefault(method, {})[T] = drawn
        return words.accuracy_words(values, by_method)
