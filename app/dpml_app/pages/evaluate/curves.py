"""Cards: errors against ε and the number of bins, comparisons of two classifiers, and simulated attacks."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from dpml_app.core.card import IMMEDIATE, WORKER, Place, Results, Values
from dpml_app.core.curves_card import CurvesCard
from dpml_app.pages.evaluate import attack, compute, words
from dpml_app.pages.evaluate.answer import answered
from dpml_app.pages.evaluate.figures import SuccessFigure, error_figure, gap_figure, size_figure, sure_figure
from dpml_app.pages.evaluate.roc import curve_chunks
from dpml_app.pages.evaluate.settings import SIZES, EvaluateSettings
from dpml_app.settings import SWEEP_EPSILONS
from dpml_app.work.pool import Chunk

__all__ = ["CompareCard", "ErrorsCard", "SizesCard", "SuccessCard", "SureCard"]


def _error(values: Values, method: str, *where: Any) -> Chunk:
    """Return the chunk of a method's errors at an ε, and a number of bins if it is given."""
    key = EvaluateSettings.curve_key(values, method, compute.draws_of(method, values["draws"]), *where)
    return Chunk(compute.errors, key)


class _ByMethod(CurvesCard):
    """A card with a curve for each method that is chosen."""

    def prepare(self, values: Values, facts: Values, now: Results) -> None:
        self.figure.name_methods(values["evaluate_methods"])

    def waits(self, place: Place) -> bool:
        return place[0] in compute.SLOW


class ErrorsCard(_ByMethod):
    """Stoddard et al.'s Fig. 7."""

    draw = error_figure
    name, title, caption = "errors", "Error against ε", words.CAPTIONS["errors"]
    like_hero = True

    def work(self, values: Values, facts: Values) -> dict[Place, Chunk]:
        methods = values["evaluate_methods"]
        return {**answered(values), **curve_chunks(values)} | {
            (m, e): _error(values, m, e) for m in methods for e in SWEEP_EPSILONS
        }

    def readout(self, values: Values, facts: Values, results: Results) -> str:
        found = {method: curves for (method, place), curves in results.items() if place == WORKER}
        return words.error_words(values, found)


class SizesCard(_ByMethod):
    """Stoddard et al.'s Fig. 8."""

    name, title, caption = "sizes", "Error against the number of bins", words.CAPTIONS["sizes"]

    def __init__(self):
        super().__init__(size_figure(SIZES))

    def work(self, values: Values, facts: Values) -> dict[Place, Chunk]:
        methods, epsilon = values["evaluate_methods"], values["epsilon"]
        return answered(values) | {(m, size): _error(values, m, epsilon, size) for m in methods for size in SIZES}

    def readout(self, values: Values, facts: Values, results: Results) -> str:
        found: dict[str, dict[int, Any]] = {method: {} for method in values["evaluate_methods"]}
        for (method, size), draws in results.items():
            if size != IMMEDIATE:
                found[method][size] = draws
        return words.size_words(values, found)


class CompareCard(CurvesCard):
    """The private difference of two classifiers."""

    draw = gap_figure
    name, title, caption = "compare", "Which of two classifiers is better?", words.CAPTIONS["compare"]
    controls: ClassVar[tuple[str, ...]] = ("evaluate_rival", "evaluate_rival_weakened", "evaluate_metric")
    stacked = True
    part = "difference"

    def work(self, values: Values, facts: Values) -> dict[Place, Chunk]:
        def chunk(epsilon: float) -> Chunk:
            return Chunk(compute.comparison, EvaluateSettings.comparison_key(values, epsilon))

        now = {**answered(values), (self.part, WORKER): chunk(values["epsilon"])}
        return now | {(self.part, epsilon): chunk(epsilon) for epsilon in SWEEP_EPSILONS}

    def draws(self, series: str, result: Any) -> np.ndarray:
        drawn: np.ndarray = result[series]
        return drawn

    def prepare(self, values: Values, facts: Values, now: Results) -> None:
        true = now["answer", IMMEDIATE]["gap"]
        self.figure.levels["true"].location = true
        reach = max(0.1, min(1.0, 2.5 * abs(true)))
        if self.figure.plot.y_range.end != reach:
            self.figure.plot.y_range.update(start=-reach, end=reach)

    def readout(self, values: Values, facts: Values, results: Results) -> str:
        true = results["answer", IMMEDIATE]["gap"]
        return words.compare_words(values, true, results.get((self.part, WORKER)))[self.name]


class SureCard(CompareCard):
    """How probable a release makes it that one of them is better."""

    draw = sure_figure
    name, title, caption = "sure", "How sure can one be?", words.CAPTIONS["sure"]
    controls = ()
    part = "probability"

    def prepare(self, values: Values, facts: Values, now: Results) -> None:
        """Do nothing: there is no level of what is true."""


class SuccessCard(CurvesCard):
    """Simulated attacks, beside the best one and the bound."""

    draw = SuccessFigure
    name, title, caption = "success", "How often the attacker is right", words.CAPTIONS["success"]

    def work(self, values: Values, facts: Values) -> dict[Place, Chunk]:
        return answered(values) | {
            (view, e): Chunk(attack.attack, EvaluateSettings.attack_key(values, view, e))
            for view in attack.VIEWS
            for e in SWEEP_EPSILONS
        }

    def prepare(self, values: Values, facts: Values, now: Results) -> None:
        self.figure.show_lines(SWEEP_EPSILONS, now["answer", IMMEDIATE]["lines"])

    def readout(self, values: Values, facts: Values, results: Results) -> str:
        return words.success_words(values)
