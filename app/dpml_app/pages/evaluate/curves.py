"""Cards: curves of every chosen method, errors against ε and bins, two classifiers compared, simulated attacks."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from bokeh.models import Plot

from dpml_app.core.card import IMMEDIATE, WORKER, ResultKey, Results, figure_pane, line
from dpml_app.core.curves_card import CurvesCard
from dpml_app.drawing.figure import empty, empty_source
from dpml_app.pages.evaluate import attack, compute, words
from dpml_app.pages.evaluate.answer import AnswerCard, answered
from dpml_app.pages.evaluate.compute import EvaluateFacts
from dpml_app.pages.evaluate.figures import (
    ROC_STYLES,
    MethodFigure,
    SuccessFigure,
    error_figure,
    gap_figure,
    size_figure,
    sure_figure,
)
from dpml_app.pages.evaluate.settings import SIZES, EvaluateValues
from dpml_app.settings import SWEEP_EPSILONS
from dpml_app.work.pool import Task


def curve_tasks(values: EvaluateValues) -> dict[ResultKey, Task]:
    """Return the tasks of each method's curves at the setting that is chosen."""
    tasks: dict[ResultKey, Task] = {}
    for m in values.evaluate_methods:
        key = values.curve_key(m, compute.draws_of(m, values.draws), values.epsilon)
        tasks[m, WORKER] = Task(compute.curves, key)
    return tasks


class MethodsCard(AnswerCard):
    """A figure for each method; the curve of another setting goes before the new one is there."""

    name, title, caption = "methods", "Other private ROC curves", words.CAPTIONS["methods"]
    controls: ClassVar[tuple[str, ...]] = ("evaluate_methods",)
    wide = True

    def __init__(self):
        self.exact = empty_source("evaluate-methods-exact", "fpr", "tpr")
        super().__init__(*(MethodFigure(method, self.exact) for method in ROC_STYLES))
        self.by_method = dict(zip(ROC_STYLES, self.figures, strict=True))
        self.panes = {method: figure_pane(figure.plot) for method, figure in self.by_method.items()}
        self._shown: dict[str, Task] = {}

    def content(self) -> list[Any]:
        return [line(*self.panes.values(), least=230)]

    def drawn(self, values: EvaluateValues) -> Sequence[Plot]:
        return [self.by_method[method].plot for method in values.evaluate_methods]

    def work(self, values: EvaluateValues, facts: EvaluateFacts) -> dict[ResultKey, Task]:
        return {**answered(values), **curve_tasks(values)}

    def waits(self, result_key: ResultKey) -> bool:
        return result_key[0] in compute.SLOW

    def prepare(self, values: EvaluateValues, facts: EvaluateFacts, now: Results) -> None:
        self.exact.data = dict(zip(("fpr", "tpr"), now["answer", IMMEDIATE]["curve"], strict=True))
        wanted = curve_tasks(values)
        for method, figure in self.by_method.items():
            self.panes[method].visible = method in values.evaluate_methods
            if self._shown.get(method) != wanted.get((method, WORKER)):
                figure.clear()
                self._shown.pop(method, None)
        self.show(now, wanted)

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        for method, figure in self.by_method.items():
            curves, task = results.get((method, WORKER)), wanted.get((method, WORKER))
            if curves is not None and task is not None and self._shown.get(method) != task:
                figure.show(curves, compute.GRID)
                self._shown[method] = task

    def readout(self, values: EvaluateValues, facts: EvaluateFacts, results: Results) -> str:
        areas = {method: curves["auc"] for (method, place), curves in results.items() if place == WORKER}
        return words.roc_words(values, results["answer", IMMEDIATE]["true"]["roc_auc"], areas)

    def clear(self) -> None:
        super().clear()
        self._shown.clear()
        empty(self.exact)


def _error(values: EvaluateValues, method: str, *where: Any) -> Task:
    """Return the task of a method's errors at an ε, and a number of bins if it is given."""
    key = values.curve_key(method, compute.draws_of(method, values.draws), *where)
    return Task(compute.errors, key)


class _ByMethod(CurvesCard[EvaluateValues, EvaluateFacts]):
    """A card with a curve for each method that is chosen."""

    def prepare(self, values: EvaluateValues, facts: EvaluateFacts, now: Results) -> None:
        self.figure.name_methods(values.evaluate_methods)

    def waits(self, result_key: ResultKey) -> bool:
        return result_key[0] in compute.SLOW


class ErrorsCard(_ByMethod):
    """Stoddard et al.'s Fig. 7."""

    draw = error_figure
    name, title, caption = "errors", "Error against ε", words.CAPTIONS["errors"]

    def work(self, values: EvaluateValues, facts: EvaluateFacts) -> dict[ResultKey, Task]:
        methods = values.evaluate_methods
        return {**answered(values), **curve_tasks(values)} | {
            (m, e): _error(values, m, e) for m in methods for e in SWEEP_EPSILONS
        }

    def readout(self, values: EvaluateValues, facts: EvaluateFacts, results: Results) -> str:
        curves_of = {method: curves for (method, result_key), curves in results.items() if result_key == WORKER}
        return words.error_words(values, curves_of)


class SizesCard(_ByMethod):
    """Stoddard et al.'s Fig. 8."""

    draw = size_figure
    name, title, caption = "sizes", "Error against the number of bins", words.CAPTIONS["sizes"]

    def work(self, values: EvaluateValues, facts: EvaluateFacts) -> dict[ResultKey, Task]:
        methods, epsilon = values.evaluate_methods, values.epsilon
        return answered(values) | {(m, size): _error(values, m, epsilon, size) for m in methods for size in SIZES}

    def readout(self, values: EvaluateValues, facts: EvaluateFacts, results: Results) -> str:
        errors: dict[str, dict[int, Any]] = {method: {} for method in values.evaluate_methods}
        for (method, size), draws in results.items():
            if size != IMMEDIATE:
                errors[method][size] = draws
        return words.size_words(values, errors)


class CompareCard(CurvesCard[EvaluateValues, EvaluateFacts]):
    """The private difference of two classifiers."""

    draw = gap_figure
    name, title, caption = "compare", "Comparison of two classifiers", words.CAPTIONS["compare"]
    controls: ClassVar[tuple[str, ...]] = ("evaluate_rival", "evaluate_rival_weakened", "evaluate_metric")
    stacked = True
    part = "difference"

    def work(self, values: EvaluateValues, facts: EvaluateFacts) -> dict[ResultKey, Task]:
        def task(epsilon: float) -> Task:
            return Task(compute.comparison, values.comparison_key(epsilon))

        now = {**answered(values), (self.part, WORKER): task(values.epsilon)}
        return now | {(self.part, epsilon): task(epsilon) for epsilon in SWEEP_EPSILONS}

    def draws(self, series: str, result: Any) -> np.ndarray:
        drawn: np.ndarray = result[series]
        return drawn

    def prepare(self, values: EvaluateValues, facts: EvaluateFacts, now: Results) -> None:
        true = now["answer", IMMEDIATE]["gap"]
        self.figure.levels["true"].location = true
        reach = max(0.1, min(1.0, 2.5 * abs(true)))
        if self.figure.plot.y_range.end != reach:
            self.figure.plot.y_range.update(start=-reach, end=reach)

    def readout(self, values: EvaluateValues, facts: EvaluateFacts, results: Results) -> str:
        true = results["answer", IMMEDIATE]["gap"]
        return words.compare_words(values, true, results.get((self.part, WORKER)))[self.name]


class SureCard(CompareCard):
    """How probable a release makes it that one of them is better."""

    draw = sure_figure
    name, title, caption = "sure", "Confidence in the comparison", words.CAPTIONS["sure"]
    controls = ()
    part = "probability"

    def prepare(self, values: EvaluateValues, facts: EvaluateFacts, now: Results) -> None:
        """Do nothing: there is no level of what is true."""


class SuccessCard(CurvesCard[EvaluateValues, EvaluateFacts]):
    """Simulated attacks, beside the best one and the bound."""

    draw = SuccessFigure
    name, title, caption = "success", "Accuracy of the attacker", words.CAPTIONS["success"]

    def work(self, values: EvaluateValues, facts: EvaluateFacts) -> dict[ResultKey, Task]:
        return answered(values) | {
            (view, e): Task(attack.attack, values.attack_key(view, e)) for view in attack.VIEWS for e in SWEEP_EPSILONS
        }

    def prepare(self, values: EvaluateValues, facts: EvaluateFacts, now: Results) -> None:
        self.figure.show_lines(SWEEP_EPSILONS, now["answer", IMMEDIATE]["lines"])

    def readout(self, values: EvaluateValues, facts: EvaluateFacts, results: Results) -> str:
        return words.success_words(values)
