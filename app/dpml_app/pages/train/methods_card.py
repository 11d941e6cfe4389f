"""Card: which method is right most often at the ε that is chosen. The picture that the page opens with."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dpml_app.core.card import IMMEDIATE, WORKER, Answer, Number, ResultKey, Results, here, kept_but_for
from dpml_app.drawing.band import spread
from dpml_app.pages.train import peers, shipped
from dpml_app.pages.train.card import (
    TrainCard,
    asked,
    chosen,
    label_measure,
    left_out,
    levels,
    nothing_to_compare,
    trained,
)
from dpml_app.pages.train.compute import true_epsilon
from dpml_app.pages.train.facts import TrainFacts
from dpml_app.pages.train.linear_compute import rule_takes
from dpml_app.pages.train.measure import measured, without_privacy
from dpml_app.pages.train.methods import EVERY, private, style_with_delta
from dpml_app.pages.train.methods_figure import MethodsFigure, Row
from dpml_app.pages.train.settings import TrainValues
from dpml_app.text.phrases import percent
from dpml_app.work.pool import Task

# of the series of a method's level
WITHOUT = "without "


class MethodsCard(TrainCard):
    """Every chosen method at one ε, each with its own level without privacy."""

    draw = MethodsFigure
    name, title = "methods", "Methods at the chosen ε"
    controls, families = ("train_measure",), ("naive-bayes", "linear")

    def __init__(self) -> None:
        super().__init__()
        self._values: TrainValues | None = None
        self._facts: TrainFacts | None = None
        # of each method what was shown last, until its result at another ε has come
        self._last: dict[str, Row] = {}
        # of which settings and results the rows are, and the picture
        self._rows: tuple[Any, dict[str, Row]] | None = None
        self._drawn: Any = None

    def refusal(self, values: TrainValues, facts: TrainFacts) -> str:
        return nothing_to_compare(values, facts)

    def work(self, values: TrainValues, facts: TrainFacts) -> dict[ResultKey, Task]:
        auc = values.train_measure == "auc"
        work: dict[ResultKey, Task] = {
            (method, _when(method)): measured(method, values, values.epsilon, auc=auc)
            for method in trained(values, facts)
        }
        for method in chosen(values, facts):
            if EVERY[method].recorded and values.epsilon in (recorded := peers.tasks(method, values.dataset)):
                work[method, IMMEDIATE] = recorded[values.epsilon]
        return work | self.without(values, facts)

    @kept_but_for("epsilon")
    def without(self, values: TrainValues, facts: TrainFacts) -> dict[ResultKey, Task]:
        """Return the tasks of the methods without noise."""
        auc = values.train_measure == "auc"
        methods = trained(values, facts)
        return {(WITHOUT + method, _when(method)): without_privacy(method, values, auc=auc) for method in methods}

    def open(self, values: TrainValues) -> dict[ResultKey, Any]:
        """Show what ships, before anything is loaded; return its results."""
        facts, results = shipped.first_facts(values.dataset), shipped.results(values.dataset)
        if facts is None or self.refusal(values, facts):
            return {}
        wanted = self.work(values, facts)
        there = {result_key: results[task] for result_key, task in wanted.items() if task in results}
        self.prepare(values, facts, there)
        return there

    def prepare(self, values: TrainValues, facts: TrainFacts, now: Results) -> None:
        before = self._values
        if before is None or (before.dataset, before.train_measure) != (values.dataset, values.train_measure):
            self._last = {}
        self._values, self._facts = values, facts
        label_measure(self.figure.plot.xaxis[0], values)
        self._draw(now)

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        self._draw(results)

    def _draw(self, results: Results) -> None:
        values, facts = self._values, self._facts
        assert values is not None
        assert facts is not None
        if self._drawn == (values, facts, frozenset(results)):
            return
        self._drawn = values, facts, frozenset(results)
        there = self.rows(values, facts, results)
        self._last |= there
        stale = (m for m in trained(values, facts) if m in self._last and m not in there)
        shown = [*there.values(), *(replace(self._last[method], stale=True) for method in stale)]
        self.figure.show(shown, levels(values, facts)["majority"])

    def rows(self, values: TrainValues, facts: TrainFacts, results: Results) -> dict[str, Row]:
        """Return the rows of the methods whose results are there; they are asked for several times an answer."""
        asked_for = values, facts, frozenset(results)
        if self._rows is None or self._rows[0] != asked_for:
            methods = (method for method in chosen(values, facts) if here(results, method) is not None)
            self._rows = asked_for, {method: _row(method, values, facts, results) for method in methods}
        return self._rows[1]

    def to_pin(self, values: TrainValues, facts: TrainFacts, results: Results) -> Answer | None:
        numbers = [
            Number(row.style.label, percent(row.mean), f"{percent(row.low)} to {percent(row.high)}")
            for row in self.rows(values, facts, results).values()
            if not row.true_epsilon
        ]
        return Answer(tuple(numbers), within="90% of runs") if numbers else None

    def readout(self, values: TrainValues, facts: TrainFacts, results: Results) -> str:
        rows, drawn = self.rows(values, facts, results).values(), chosen(values, facts)
        if not rows:
            return ""
        ranked = sorted((row for row in rows if not row.true_epsilon), key=lambda row: -row.mean)
        each = (f"{r.style.label} <b>{percent(r.mean)}</b> ({percent(r.low)} to {percent(r.high)})" for r in ranked)
        text = f"At ε = {values.epsilon:g}, mean and 90% of runs: {', '.join(each)}."
        paid = true_epsilon("vaidya", values.epsilon, facts, values.relation)
        if "vaidya" in drawn and paid is not None:
            text += f" Vaidya et al. state ε = {values.epsilon:g} for each count. The actual ε is <b>{paid:g}</b>."
        broken = [EVERY[m].title for m in drawn if not private(m, facts)]
        if broken:
            text += f" <b>Not private at any ε</b>: {', '.join(broken)}."
        text += peers.words(drawn, values.dataset, values.train_measure)
        missing = [why for m in asked(values) if (why := left_out(m, values.relation, facts))]
        if missing:
            text += f" Not shown: {', '.join(missing)}."
        if "rule" in drawn:
            naive = rule_takes(values.dataset, values.epsilon) == "naive-bayes"
            text += f" The public rule selects {'naive Bayes' if naive else 'a linear SVM'} here."
        return text + fewer_draws(trained(values, facts), values.draws)

    def clear(self) -> None:
        self._last, self._drawn = {}, None
        super().clear()


def _row(method: str, values: TrainValues, facts: TrainFacts, results: Results) -> Row:
    """Return the row of a method whose result is there."""
    measure, without = values.train_measure, here(results, WITHOUT + method)
    mean, low, high = (float(value) for value in spread(here(results, method)[measure]))
    paid = ""
    if not EVERY[method].claim_holds:
        epsilon = true_epsilon(method, values.epsilon, facts, values.relation)
        paid = "∞" if epsilon is None else f"{epsilon:g}"
    level = None if without is None else float(without[measure].mean())
    return Row(style_with_delta(method, values.train_noise), mean, low, high, level, paid)


def _when(method: str) -> str:
    return WORKER if EVERY[method].anew else IMMEDIATE


def fewer_draws(methods: tuple[str, ...], draws: int) -> str:
    """Return a sentence that lists the methods with fewer runs than chosen. It is empty if there are none.

    >>> fewer_draws(("output", "l1", "descent"), 50)
    ' Fewer runs, because each trains a model: 20 of Objective L1, 10 of Descent.'
    """
    fewer = [f"{EVERY[m].draws(draws)} of {EVERY[m].look.label}" for m in methods if EVERY[m].draws(draws) < draws]
    return f" Fewer runs, because each trains a model: {', '.join(fewer)}." if fewer else ""
