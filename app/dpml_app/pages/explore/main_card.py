"""Card: accuracy against ε, the plot that the first page opens with. The browser moves it by itself."""

from collections.abc import Mapping, Sequence, Set
from typing import Any, ClassVar

import numpy as np

from dpml.studies import NeededEpsilon, needed_epsilon
from dpml_app.core.card import IMMEDIATE, WORKER, Answer, Card, ResultKey, Results, here, kept_but_for
from dpml_app.data.facts import GroupFacts
from dpml_app.drawing.band import spread
from dpml_app.drawing.pinned_overlay import Curve, Dot
from dpml_app.drawing.styles import BLUE
from dpml_app.pages.explore import compute, cost, shipped, words
from dpml_app.pages.explore.main_figure import HAND, CostFigure, Private
from dpml_app.pages.explore.settings import ExploreValues
from dpml_app.settings import EPSILONS, SWEEP_EPSILONS
from dpml_app.work.pool import Task

# what a script makes anew of a curve whose results do not ship
SHORT_DRAWS, SHORT_EPSILONS = 3, SWEEP_EPSILONS[::3]


def private(values: ExploreValues, epsilon: float) -> Task:
    """Return the task of the default classifier's runs at one ε."""
    return Task(cost.private, (values.dataset, values.relation, epsilon, values.seed))


def exact(values: ExploreValues, epsilon: float) -> Task:
    """Return the task of the default classifier without noise at one ε."""
    return Task(cost.without_noise, (values.dataset, values.relation, epsilon))


def by_hand(values: ExploreValues, epsilon: float) -> Task:
    """Return the task of the custom model at one ε."""
    return Task(compute.by_hand, values.hand_key(epsilon))


def at_chosen(values: ExploreValues) -> dict[ResultKey, Task]:
    """Return the tasks at the ε that is chosen: for a worker, as twenty fits take seconds where they do not ship."""
    best = Task(cost.best, (values.dataset, values.relation))
    chosen = values.epsilon
    return {
        ("private", WORKER): private(values, chosen),
        ("exact", WORKER): exact(values, chosen),
        ("best", WORKER): best,
    }


class MainCard(Card[ExploreValues, GroupFacts]):
    """The default classifier and the custom model at each ε, and the non-private baseline."""

    draw: ClassVar[Any] = CostFigure
    name, title, caption = "cost", "Accuracy", words.CAPTIONS["cost"]
    takes = (
        "The script takes seconds if the results ship with dpml_app. Otherwise it computes "
        f"{SHORT_DRAWS} of the {cost.DRAWS} runs at each of {len(SHORT_EPSILONS)} values of ε, which takes about a "
        "minute on 30,000 records. All runs would take half an hour."
    )
    # what the curves were made of: a step of ε among results that are there changes nothing of them
    _drawn: tuple[Set[Task | None], Set[Task]] | None = None

    def work(self, values: ExploreValues, facts: GroupFacts) -> dict[ResultKey, Task]:
        point = {("hand", IMMEDIATE): by_hand(values, values.epsilon)}
        return at_chosen(values) | point | self.sweep(values, facts)

    @kept_but_for("epsilon", "wanted")
    def sweep(self, values: ExploreValues, facts: GroupFacts) -> dict[ResultKey, Task]:
        """Return the tasks of the curves."""
        # every ε of the slider where they ship, else those of the other curves
        whole = private(values, EPSILONS[0]) in shipped.results(values.dataset, values.relation, values.seed)
        at = EPSILONS if whole else SWEEP_EPSILONS
        tasks = {("private", e): private(values, e) for e in at} | {("exact", e): exact(values, e) for e in at}
        by_model = SWEEP_EPSILONS if values.hand_model == "logistic" else EPSILONS
        return tasks | {("hand", e): by_hand(values, e) for e in by_model}

    def short_results(self, values: ExploreValues, facts: GroupFacts) -> dict[ResultKey, Any]:
        known = shipped.results(values.dataset, values.relation, values.seed)

        def result(task: Task) -> Any:
            if task in known:
                return known[task]
            return task.function(*task.arguments, *[SHORT_DRAWS] * (task.function is cost.private))

        short = {*SHORT_EPSILONS, IMMEDIATE, WORKER}
        calls = self.work(values, facts).items()
        return {place: result(task) for place, task in calls if task in known or place[1] in short}

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
        self.figure.show_point(self._levers(), values.epsilon, now.get(("hand", IMMEDIATE)))

    def _levers(self) -> tuple:
        values = self._values
        return values.dataset, values.relation, values.seed, values.by_hand()

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        drawn = {wanted.get(result_key) for result_key in results}, set(wanted.values())
        if drawn == self._drawn:
            return
        self._drawn = drawn
        chosen = self._values.epsilon

        def of(series: str) -> dict[float, Any]:
            there = {key[1]: result for key, result in results.items() if key[0] == series and key[1] != WORKER}
            return there | ({chosen: results[series, WORKER]} if (series, WORKER) in results else {})

        def whole(*series: str) -> bool:
            return all(result_key in results for result_key in wanted if result_key[0] in series)

        runs, plain, best = of("private"), of("exact"), results.get(("best", WORKER))
        there = [e for e in sorted(runs) if e in plain] if best else []
        draws = np.array([runs[e]["accuracy"] for e in there], dtype=float, ndmin=2)
        known = draws, np.array([plain[e] for e in there]), best["accuracy"] if best else np.nan
        complete = whole("private", "exact", "best")
        self.figure.show(Private(np.array(there), *known, self._facts.majority, complete))
        hand = {chosen if e == IMMEDIATE else e: each for e, each in of("hand").items()}
        self.figure.show_by_hand(self._levers(), hand, whole("hand"))

    def needed(self, wanted: float) -> NeededEpsilon | None:
        """Return the ε that an accuracy in percent needs; None until the whole curve is there."""
        private = self.figure.private
        if private is None or not private.whole:
            return None
        return needed_epsilon(private.epsilons, private.draws, wanted / 100)

    def readout(self, values: ExploreValues, facts: GroupFacts, results: Results) -> str:
        runs, best, hand = here(results, "private"), here(results, "best"), here(results, "hand")
        text = "Computing…" if runs is None or best is None else words.cost_by_group(values, facts, runs, best)
        return text if hand is None else f"{text} {words.custom_runs(hand)}"

    def to_pin(self, values: ExploreValues, facts: GroupFacts, results: Results) -> Answer | None:
        runs, best, hand = here(results, "private"), here(results, "best"), here(results, "hand")
        if runs is None or best is None or hand is None:
            return None
        curves = [(self.figure.curve.data, BLUE), (self.figure.hand.data, HAND.color)]
        dots = [(spread(runs["accuracy"]), BLUE), (spread(hand), HAND.color)]
        return Answer(
            words.numbers(runs["accuracy"], float(best["accuracy"]), hand),
            tuple(Curve(shown["epsilon"], shown["mean"], color) for shown, color in curves),
            tuple(Dot(values.epsilon, mean, low, high, color) for (mean, low, high), color in dots),
            "90% of runs",
        )

    def make_room(self, pinned: Sequence[Dot]) -> None:
        self._drawn = None  # the axis is fitted anew
        self.figure.make_room([end for dot in pinned for end in (dot.low, dot.high)])

    def clear(self) -> None:
        self._drawn = None
        self.figure.clear()
