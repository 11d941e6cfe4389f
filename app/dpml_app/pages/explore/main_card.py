"""Card: what privacy costs. The picture that the first page opens with, and that the browser moves by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any, ClassVar

import numpy as np

from dpml.studies import NeededEpsilon, needed_epsilon
from dpml_app.core.card import WORKER, Answer, Card, ResultKey, Results, here, kept_but_for
from dpml_app.data.facts import GroupFacts
from dpml_app.drawing.pinned_overlay import Curve, Dot
from dpml_app.drawing.styles import BLUE
from dpml_app.pages.explore import cost, shipped, words
from dpml_app.pages.explore.main_figure import CostFigure
from dpml_app.pages.explore.settings import ExploreValues
from dpml_app.settings import EPSILONS, SWEEP_EPSILONS
from dpml_app.work.pool import Task


def private(values: ExploreValues, epsilon: float) -> Task:
    """Return the task of the draws at one ε."""
    return Task(cost.private, (values.dataset, values.relation, epsilon, values.seed))


def plain(values: ExploreValues, method: str) -> Task:
    """Return the task of a method without noise."""
    return Task(cost.without_noise, (values.dataset, values.relation, method))


def at_chosen(values: ExploreValues) -> dict[ResultKey, Task]:
    """Return the tasks at the ε that is chosen: for a worker, as twenty fits take seconds where they do not ship."""
    chosen = values.epsilon
    method = shipped.methods(values.dataset, values.relation)[chosen]
    return {("private", WORKER): private(values, chosen), ("plain", WORKER): plain(values, method)}


class MainCard(Card[ExploreValues, GroupFacts]):
    """The default classifier at each ε, and the same without noise."""

    draw: ClassVar[Any] = CostFigure
    name, title, caption = "cost", "Accuracy", words.CAPTIONS["cost"]
    # what the curve was made of: a step of ε among results that are there changes nothing of it
    _drawn: tuple[Set[Task | None], Set[Task]] | None = None

    def work(self, values: ExploreValues, facts: GroupFacts) -> dict[ResultKey, Task]:
        return at_chosen(values) | self.sweep(values, facts)

    @kept_but_for("epsilon", "wanted")
    def sweep(self, values: ExploreValues, facts: GroupFacts) -> dict[ResultKey, Task]:
        """Return the tasks of the curves."""
        rules = shipped.methods(values.dataset, values.relation)
        without = {("plain", method): plain(values, method) for method in sorted(set(rules.values()))}
        # every ε of the slider where they ship, else those of the other curves
        whole = private(values, EPSILONS[0]) in shipped.results(values.dataset, values.relation, values.seed)
        return without | {("private", e): private(values, e) for e in (EPSILONS if whole else SWEEP_EPSILONS)}

    def open(self, values: ExploreValues) -> bool:
        """Show what ships, before anything is loaded; return whether it is all that the card shows."""
        facts = shipped.first_facts(values.dataset)
        results = shipped.results(values.dataset, values.relation, values.seed)
        if facts is None:
            return False
        wanted = self.work(values, facts)
        there = {result_key: results[task] for result_key, task in wanted.items() if task in results}
        self.prepare(values, facts, there)
        self.show(there, wanted)
        return len(there) == len(wanted)

    def prepare(self, values: ExploreValues, facts: GroupFacts, now: Results) -> None:
        self._values, self._facts = values, facts

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        drawn = {wanted.get(result_key) for result_key in results}, set(wanted.values())
        if drawn == self._drawn:
            return
        self._drawn = drawn
        rules = shipped.methods(self._values.dataset, self._values.relation)
        runs = {
            result_key[1]: one
            for result_key, one in results.items()
            if result_key[0] == "private" and result_key[1] != WORKER
        }
        if ("private", WORKER) in results:
            runs[self._values.epsilon] = results["private", WORKER]
        there = [e for e in sorted(runs) if ("plain", rules[e]) in results]
        draws = np.array([runs[e]["accuracy"] for e in there]).reshape(-1, cost.DRAWS)
        plain = np.array([results["plain", rules[e]]["accuracy"] for e in there])
        names = {cost.METHOD_WORDS[rules[e]] for e in there}
        whole = all(result_key in results for result_key in wanted)
        self.figure.show(np.array(there), draws, plain, self._facts.majority, names, whole)

    def needed(self) -> NeededEpsilon | None:
        """Return which ε the wanted accuracy needs, as far as results are there."""
        at, draws = self.figure.curve.data["epsilon"], self.figure.draws.data["accuracy"]
        if not len(at):
            return None
        return needed_epsilon(at, np.reshape(draws, (len(at), -1)), self._values.wanted / 100)

    def readout(self, values: ExploreValues, facts: GroupFacts, results: Results) -> str:
        runs, without = here(results, "private"), here(results, "plain")
        return "Computing…" if runs is None or without is None else words.who_pays(values, facts, runs, without)

    def to_pin(self, values: ExploreValues, facts: GroupFacts, results: Results) -> Answer | None:
        runs, without = here(results, "private"), here(results, "plain")
        if runs is None or without is None:
            return None
        draws, shown = runs["accuracy"], self.figure.curve.data
        low, high = (float(q) for q in np.quantile(draws, [0.05, 0.95]))
        return Answer(
            words.numbers(draws, float(without["accuracy"])),
            (Curve(shown["epsilon"], shown["mean"], BLUE),),
            (Dot(values.epsilon, float(draws.mean()), low, high, BLUE),),
            "90 % of runs",
        )

    def make_room(self, pinned: Sequence[Dot]) -> None:
        self._drawn = None  # the axis is fitted anew
        self.figure.make_room([end for dot in pinned for end in (dot.low, dot.high)])

    def clear(self) -> None:
        self._drawn = None
        self.figure.clear()
