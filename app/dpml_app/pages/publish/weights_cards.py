"""Cards: a public table that is weighted to resemble the private one, and what such weights teach."""

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from dpml.studies.publishing import PUBLIC_TABLES
from dpml_app.core.card import CHOSEN, WORKER, Card, ResultKey, Results
from dpml_app.core.curves_card import CurvesCard
from dpml_app.pages.publish import weights
from dpml_app.pages.publish import weights_words as words
from dpml_app.pages.publish.compute import PublishFacts
from dpml_app.pages.publish.settings import PENALTIES, WEIGHT_DRAWS, PublishValues
from dpml_app.pages.publish.weights_figures import (
    HistogramFigure,
    PlaneFigure,
    answers_figure,
    classifier_figure,
    penalty_figure,
    query_figure,
    weighted_classifiers_figure,
)
from dpml_app.pages.publish.weights_words import refusal
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
    name, title, caption = "weights-query", "Answers from a weighted public table", words.CAPTIONS["weights-query"]
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
    name, title, caption = "weights-penalty", "λ: bias and variance", words.CAPTIONS["weights-penalty"]
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
    name, title, caption = "weights-histogram", "Distribution of the weights", words.CAPTIONS["weights-histogram"]

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


CLASSIFIER_EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
KNOWN = ("known", WORKER)


def _draws_at(results: Results, series: str, column: str) -> dict[Any, np.ndarray]:
    """Return the draws of a series on its axis."""
    there = {
        result_key[1]: result
        for result_key, result in results.items()
        if result_key[0] == series and result_key[1] not in CHOSEN
    }
    return {x: there[x][column] for x in sorted(there, key=str)}


class WeightsPlaneCard(WeightsPenaltyCard):
    """Ji and Elkan's Fig. 4, with the work of their Fig. 1."""

    draw = PlaneFigure
    name, title, caption = "weights-plane", "Bias and standard deviation", words.CAPTIONS["weights-plane"]
    controls = ()

    def prepare(self, values: PublishValues, facts: PublishFacts, now: Results) -> None:
        self._mask = weights.mask_of(values.publish_query)
        self.figure.chosen = self.marker_x(values)

    def look(self) -> Any:
        return self._mask, self.figure.truth, self.figure.chosen

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        if BOTH not in results:
            return  # a bias is against the truth
        self.figure.truth = float(weights.answer(results[BOTH]["private"], self._mask))
        CurvesCard.show(self, results, wanted)

    def readout(self, values: PublishValues, facts: PublishFacts, results: Results) -> str:
        if BOTH not in results:
            return "Computing…"
        answers = {
            method: {x: weights.answer(p, self._mask) for x, p in _draws_at(results, method, "patterns").items()}
            for method in weights.WEIGHT_METHODS
        }
        return words.plane(values, float(weights.answer(results[BOTH]["private"], self._mask)), answers)


class _TaughtCard(CurvesCard[PublishValues, PublishFacts]):
    """What weights of a public table answer or teach."""

    column = "far"

    def refusal(self, values: PublishValues, facts: PublishFacts) -> str:
        return refusal(values.dataset, ["rich"])  # whatever is asked

    @staticmethod
    def known(values: PublishValues) -> dict[ResultKey, Task]:
        """Return the work of what is known without noise."""
        return {KNOWN: Task(weights.tables, (values.dataset, values.publish_lambda, WEIGHT_DRAWS, values.seed))}

    @staticmethod
    def taught(method: str, values: PublishValues, kind: str, epsilon: float) -> Task:
        """Return the work of one method with one public table: Algorithm 1 with its λ, ours by the public rule."""
        rule = values.publish_lambda if method == "output" else None
        arguments = (method, values.dataset, kind, epsilon, rule, WEIGHT_DRAWS, values.seed)
        return Task(weights.taught, arguments)


class WeightedClassifierCard(_TaughtCard):
    """Ji and Elkan's Fig. 3."""

    draw = classifier_figure
    name, title, caption = "weights-machine", "Classifier from the weighted table", words.CAPTIONS["weights-machine"]

    def work(self, values: PublishValues, facts: PublishFacts) -> dict[ResultKey, Task]:
        work = self.known(values)
        for place, epsilon in ((WORKER, values.epsilon), *((e, e) for e in CLASSIFIER_EPSILONS)):
            for method in weights.WEIGHT_METHODS:
                work[method, place] = self.taught(method, values, "skewed", epsilon)
            work["own", place] = Task(
                weights.unweighted_classifier, (values.dataset, epsilon, WEIGHT_DRAWS, values.seed)
            )
        return work

    def prepare(self, values: PublishValues, facts: PublishFacts, now: Results) -> None:
        self.figure.marker.location = values.epsilon

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        super().show(results, wanted)
        if KNOWN in results:
            known = results[KNOWN]
            self.figure.levels["unweighted"].location = known["far"]["skewed"]
            self.figure.levels["others"].location = float(known["others"].mean())
            self.figure.levels["exact"].location = float(known["exact"].mean())

    def readout(self, values: PublishValues, facts: PublishFacts, results: Results) -> str:
        if KNOWN not in results:
            return "Computing…"
        taught = {name: results.get((name, WORKER)) for name in self.figure.curves}
        return words.classifier(values, results[KNOWN], {name: f["far"] for name, f in taught.items() if f is not None})


class _TablesCard(_TaughtCard):
    """Each public table in its place."""

    def work(self, values: PublishValues, facts: PublishFacts) -> dict[ResultKey, Task]:
        work = self.known(values)
        for kind in PUBLIC_TABLES:
            for method in weights.WEIGHT_METHODS:
                work[method, kind] = self.taught(method, values, kind, values.epsilon)
        return work

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        super().show(results, wanted)
        if KNOWN in results:
            self.show_known(results[KNOWN])

    @abstractmethod
    def show_known(self, known: Mapping[str, Any]) -> None:
        """Show what is known without noise."""

    def draws_by_method(self, results: Results) -> dict[str, dict[Any, np.ndarray]]:
        """Return the draws by method and public table."""
        by_method = {method: _draws_at(results, method, self.column) for method in weights.WEIGHT_METHODS}
        return {m: {kind: draws[kind] for kind in PUBLIC_TABLES if kind in draws} for m, draws in by_method.items()}


class WeightsTablesCard(_TablesCard):
    """Ji and Elkan's Fig. 5."""

    draw = answers_figure
    name, title, caption = "weights-tables", "Answers by public table", words.CAPTIONS["weights-tables"]
    column = "answer"

    def show_known(self, known: Mapping[str, Any]) -> None:
        self.figure.levels["truth"].location = known["truth"]
        self.figure.show_plain(known["unweighted"])

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        super().show(results, wanted)
        self.figure.fit()

    def readout(self, values: PublishValues, facts: PublishFacts, results: Results) -> str:
        return (
            words.tables(results[KNOWN]["truth"], self.draws_by_method(results)) if KNOWN in results else "Computing…"
        )


class WeightsTaughtCard(_TablesCard):
    """Ji and Elkan's Fig. 6."""

    draw = weighted_classifiers_figure
    name, title, caption = "weights-taught", "Classifiers by public table", words.CAPTIONS["weights-taught"]

    def show_known(self, known: Mapping[str, Any]) -> None:
        self.figure.levels["others"].location = float(known["others"].mean())
        # a table's own classifier is no distance away, which a log axis has no place for
        self.figure.show_plain({kind: max(far, 1e-6) for kind, far in known["far"].items()})

    def readout(self, values: PublishValues, facts: PublishFacts, results: Results) -> str:
        return words.taught(self.draws_by_method(results))
