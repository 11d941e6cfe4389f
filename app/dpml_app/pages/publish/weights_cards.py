"""Cards: a public table that is weighted to resemble the private one, instead of a published table."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from dpml_app.core.card import WORKER, Card, ResultKey, Results
from dpml_app.core.curves_card import CurvesCard
from dpml_app.pages.publish import weights
from dpml_app.pages.publish import weights_words as words
from dpml_app.pages.publish.compute import PublishFacts
from dpml_app.pages.publish.settings import PENALTIES, WEIGHT_DRAWS, PublishValues
from dpml_app.pages.publish.weights_figures import HistogramFigure, penalty_figure, query_figure
from dpml_app.settings import SWEEP_EPSILONS
from dpml_app.work.pool import Task

BOTH = ("both", WORKER)


def _release(method: str, values: PublishValues, epsilon: float, reg_lambda: float | None) -> Task:
    arguments = (method, values.dataset, epsilon, reg_lambda, WEIGHT_DRAWS, values.seed)
    return Task(weights.released, arguments)


def _chosen(values: PublishValues) -> dict[ResultKey, Task]:
    """Return the releases of the setting that is chosen: Algorithm 1 with its λ, ours by the public rule."""
    rules = {"output": values.publish_lambda, "moments": None}
    work = {(method, WORKER): _release(method, values, values.epsilon, rule) for method, rule in rules.items()}
    return {BOTH: Task(weights.both, (values.dataset,)), **work}


class _AnswerCard(CurvesCard[PublishValues, PublishFacts]):
    """The answer to one question by both methods, beside the truth and the unweighted public table."""

    def __init__(self, *figures: Any):
        super().__init__(*figures)
        self._mask = 0

    def refusal(self, values: PublishValues, facts: PublishFacts) -> str:
        return words.refusal(values.dataset, values.publish_query)

    def draws(self, series: str, result: Mapping[str, Any]) -> np.ndarray:
        drawn: np.ndarray = weights.answer(result["patterns"], self._mask)
        return drawn

    def look(self) -> int:
        return self._mask

    def marker_x(self, values: PublishValues) -> float:
        """Return where the chosen setting is on the axis."""
        raise NotImplementedError

    def prepare(self, values: PublishValues, facts: PublishFacts, now: Results) -> None:
        self._mask = weights.mask_of(values.publish_query)
        self.figure.marker.location = self.marker_x(values)

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        super().show(results, wanted)
        if BOTH in results:
            self.figure.levels["truth"].location = float(weights.answer(results[BOTH]["private"], self._mask))
            self.figure.levels["unweighted"].location = float(weights.answer(results[BOTH]["public"], self._mask))
        self.figure.fit()

    def at(self, results: Results) -> dict[str, np.ndarray]:
        """Return the draws of the methods at the setting that is chosen."""
        chosen = ((method, results.get((method, WORKER))) for method in weights.WEIGHT_METHODS)
        return {method: self.draws(method, release) for method, release in chosen if release is not None}


class WeightsQueryCard(_AnswerCard):
    """As Ji and Elkan's Fig. 2, for any conjunction."""

    draw = query_figure
    name, title, caption = "weights-query", "A public table instead", words.CAPTIONS["weights-query"]
    controls, stacked = ("publish_query",), True

    def work(self, values: PublishValues, facts: PublishFacts) -> dict[ResultKey, Task]:
        work, epsilon = _chosen(values), values.epsilon
        for e in sorted(SWEEP_EPSILONS, key=lambda e: abs(math.log(e / epsilon))):
            work["output", e] = _release("output", values, e, values.publish_lambda)
            work["moments", e] = _release("moments", values, e, None)
        return work

    def marker_x(self, values: PublishValues) -> float:
        return float(values.epsilon)

    def readout(self, values: PublishValues, facts: PublishFacts, results: Results) -> str:
        if BOTH not in results:
            return "Computing…"
        private, public = (float(weights.answer(results[BOTH][of], self._mask)) for of in ("private", "public"))
        return words.query(values, private, public, self.at(results))


class WeightsPenaltyCard(_AnswerCard):
    """Ji and Elkan's Figs. 1 and 4."""

    draw: ClassVar[Callable[[], Any] | None] = penalty_figure
    name, title, caption = "weights-penalty", "λ: bias against variance", words.CAPTIONS["weights-penalty"]
    controls: ClassVar[tuple[str, ...]] = ("publish_lambda",)

    def work(self, values: PublishValues, facts: PublishFacts) -> dict[ResultKey, Task]:
        epsilon, chosen = values.epsilon, values.publish_lambda
        work: dict[ResultKey, Task] = {BOTH: Task(weights.both, (values.dataset,))}
        work |= {(m, WORKER): _release(m, values, epsilon, chosen) for m in weights.WEIGHT_METHODS}
        return work | {(m, x): _release(m, values, epsilon, x) for x in PENALTIES for m in weights.WEIGHT_METHODS}

    def marker_x(self, values: PublishValues) -> float:
        return float(values.publish_lambda)

    def readout(self, values: PublishValues, facts: PublishFacts, results: Results) -> str:
        if BOTH not in results:
            return "Computing…"
        return words.penalty(values, float(weights.answer(results[BOTH]["private"], self._mask)), self.at(results))


class WeightsHistogramCard(Card[PublishValues, PublishFacts]):
    """The weights of the first draw."""

    draw = HistogramFigure
    name, title, caption = "weights-histogram", "The weights", words.CAPTIONS["weights-histogram"]

    def refusal(self, values: PublishValues, facts: PublishFacts) -> str:
        return words.refusal(values.dataset, ["rich"])  # whatever is asked

    def work(self, values: PublishValues, facts: PublishFacts) -> dict[ResultKey, Task]:
        return _chosen(values)

    def prepare(self, values: PublishValues, facts: PublishFacts, now: Results) -> None:
        self.show(now, {})

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        there = {m: results[m, WORKER]["heights"] for m in weights.WEIGHT_METHODS if (m, WORKER) in results}
        if there:
            self.figure.show(there)

    def readout(self, values: PublishValues, facts: PublishFacts, results: Results) -> str:
        if BOTH not in results:
            return "Computing…"
        releases = {m: results[m, WORKER] for m in weights.WEIGHT_METHODS if (m, WORKER) in results}
        return words.concentration(results[BOTH]["n_public"], releases)
