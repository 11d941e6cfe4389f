"""Cards: which features a private choice takes, by either score, and one feature's coin; the browser draws them."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pandas as pd

from dpml_app.core.card import IMMEDIATE, Answer, Card, ResultKey, Results
from dpml_app.drawing.pinned_overlay import Curve, Dot
from dpml_app.pages.select import compute, words
from dpml_app.pages.select.compute import SelectFacts
from dpml_app.pages.select.drawn import drawn_tables
from dpml_app.pages.select.figures import SCORE_STYLES, WeightFigures
from dpml_app.pages.select.settings import SelectValues
from dpml_app.work.pool import Task


def paid_setting(values: SelectValues) -> tuple[str, float, int]:
    """Return relation, the ε that pays for the choice, and T."""
    return values.relation, values.epsilon * values.selection_share, values.n_features


def chosen_index(values: SelectValues, facts: SelectFacts) -> int:
    """Return the feature that is shown; by default the best one by counts."""
    return values.select_feature - 1 if values.select_feature else int(np.argmax(facts.scores["count"]))


class RankedCard(Card[SelectValues, SelectFacts]):
    """The probability of each feature, best first."""

    in_browser = True
    kind: ClassVar[str]
    caption = words.CAPTIONS["mutual_information"]

    def __init__(self, weights: WeightFigures):
        self.plots = [weights.ranked[self.kind]]

    def work(self, values: SelectValues, facts: SelectFacts) -> dict[ResultKey, Task]:
        name, setting = values.dataset, paid_setting(values)
        return {
            ("inclusion", IMMEDIATE): Task(compute.inclusion, (name, self.kind, "range", *setting)),
            ("costs", IMMEDIATE): Task(compute.true_costs, (name, self.kind, *setting)),
        }

    def readout(self, values: SelectValues, facts: SelectFacts, results: Results) -> str:
        p, costs = results["inclusion", IMMEDIATE], results["costs", IMMEDIATE]
        _, paid, T = paid_setting(values)
        best = compute.expected_best(facts.scores[self.kind], p, T)
        return words.ranked_words(self.kind, paid, values, p, best, costs)

    @classmethod
    def browser_tables(cls, values: SelectValues) -> dict[str, pd.DataFrame]:
        return drawn_tables(values, [cls.kind])


class MutualInformationCard(RankedCard):
    """By mutual information."""

    name = kind = "mutual_information"
    title = "Who is chosen, by mutual information"
    like_main = True


class CountCard(RankedCard):
    """By counts: the page's picture. It sends the browser what all three cards are drawn from."""

    name = kind = "count"
    title = "Who is chosen, by counts"

    def __init__(self, weights: WeightFigures):
        super().__init__(weights)
        self.weights = weights
        self._sent: tuple = ()

    def lay_out(self, facts: SelectFacts) -> None:
        self.weights.show_dataset(facts)

    def prepare(self, values: SelectValues, facts: SelectFacts, now: Results) -> None:
        sent = values.relation, values.select_calibration, chosen_index(values, facts)
        if sent != self._sent:
            self._sent = sent
            self.weights.show_setting(facts, *sent)

    def to_pin(self, values: SelectValues, facts: SelectFacts, results: Results) -> Answer | None:
        p, shown = results[("inclusion", IMMEDIATE)], self.weights.shown[self.kind].data
        _, paid, T = paid_setting(values)
        best = compute.expected_best(facts.scores[self.kind], p, T)
        drawn, color = p[np.asarray(shown["index"], dtype=int)], SCORE_STYLES[self.kind].color
        last = float(np.interp(T, shown["rank"], drawn))
        return Answer(
            words.numbers(best, T, len(p), paid),
            (Curve(shown["rank"], drawn, color),),
            (Dot(T, last, last, last, color),),
        )

    def clear(self) -> None:
        self._sent = ()
        self.weights.clear()


class CoinsCard(Card[SelectValues, SelectFacts]):
    """Each feature in a choice of its own."""

    in_browser = True
    name, title, caption = "coins", "Score against change", words.CAPTIONS["coins"]
    controls = ("select_calibration",)

    def __init__(self, weights: WeightFigures):
        self.plots = [weights.coins]

    def work(self, values: SelectValues, facts: SelectFacts) -> dict[ResultKey, Task]:
        setting = values.select_calibration, *paid_setting(values)
        return {(k, IMMEDIATE): Task(compute.coins, (values.dataset, k, *setting)) for k in compute.KINDS}

    def readout(self, values: SelectValues, facts: SelectFacts, results: Results) -> str:
        return words.coin_words(facts, values, {kind: results[kind, IMMEDIATE] for kind in compute.KINDS})

    @classmethod
    def browser_tables(cls, values: SelectValues) -> dict[str, pd.DataFrame]:
        return drawn_tables(values, compute.KINDS)
