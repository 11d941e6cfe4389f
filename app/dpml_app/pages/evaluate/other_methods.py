"""Card: private ROC curves of every chosen method, each in a small figure beside the true curve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from bokeh.models import Plot

from dpml_app.core.card import IMMEDIATE, WORKER, ResultKey, Results, figure_pane, line
from dpml_app.drawing.figure import empty, empty_source
from dpml_app.pages.evaluate import compute, words
from dpml_app.pages.evaluate.answer import AnswerCard, answered
from dpml_app.pages.evaluate.compute import EvaluateFacts
from dpml_app.pages.evaluate.figures import ROC_STYLES, MethodFigure
from dpml_app.pages.evaluate.settings import EvaluateValues
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

    name, title, caption = "methods", "Other ways to publish a curve", words.CAPTIONS["methods"]
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
