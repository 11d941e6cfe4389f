"""Cards: which features a private choice takes, by either score, and one feature's coin; the browser draws them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from dpml_app.core.card import IMMEDIATE, Answer, Card, ResultKey, Results
from dpml_app.drawing.pinned_overlay import Curve, Dot
from dpml_app.pages.select import compute, words
from dpml_app.pages.select.chosen_figure import SCORE_STYLES, TOP, ChosenFigures
from dpml_app.pages.select.compute import SelectFacts, places
from dpml_app.pages.select.drawn import coin_tables, row_tables
from dpml_app.pages.select.settings import SelectValues
from dpml_app.work.pool import Task


def paid_setting(values: SelectValues) -> tuple[str, float, int]:
    """Return relation, the ε that pays for the choice, and T."""
    return values.relation, values.epsilon * values.selection_share, values.n_features


def chosen_index(values: SelectValues, facts: SelectFacts) -> int:
    """Return the feature that is shown; by default the best one by counts."""
    return values.select_feature - 1 if values.select_feature else int(np.argmax(facts.scores["count"]))


class ChosenCard(Card[SelectValues, SelectFacts]):
    """The page's picture: a row for each feature, best first. It sends the browser what both cards are drawn from."""

    in_browser = True
    name, title, caption = "chosen", "Probability of being chosen", words.CAPTIONS["chosen"]
    controls = ("select_order", "select_draw")

    def __init__(self, figures: ChosenFigures):
        self.figures = [figures]
        self.figure: ChosenFigures = figures
        self.plots = [figures.plot]
        self._sent: tuple = ()

    def lay_out(self, facts: SelectFacts) -> None:
        self._sent = ()
        self.figure.show_dataset(facts)

    def work(self, values: SelectValues, facts: SelectFacts) -> dict[ResultKey, Task]:
        of = values.dataset, values.select_order
        setting = values.select_calibration, *paid_setting(values)
        return {
            ("inclusion", IMMEDIATE): Task(compute.inclusion, (*of, *setting)),
            ("set", IMMEDIATE): Task(compute.one_set, (*of, *setting, values.seed, values.select_draw)),
            ("costs", IMMEDIATE): Task(compute.true_costs, (*of, *paid_setting(values))),
        }

    def prepare(self, values: SelectValues, facts: SelectFacts, now: Results) -> None:
        kind = values.select_order
        sent = kind, values.relation, values.select_calibration, chosen_index(values, facts)
        if sent[:1] != self._sent[:1]:
            self.figure.show_order(facts, kind)
        if sent != self._sent:
            self._sent = sent
            self.figure.show_setting(facts, *sent[1:])
        self.figure.mark_feature(values.select_feature - 1)
        self.figure.show_set(facts, kind, now["set", IMMEDIATE])

    def readout(self, values: SelectValues, facts: SelectFacts, results: Results) -> str:
        p, costs = results["inclusion", IMMEDIATE], results["costs", IMMEDIATE]
        _, paid, T = paid_setting(values)
        best = compute.expected_best(facts.scores[values.select_order], p, T)
        return words.chosen_words(values.select_order, paid, values, p, best, costs)

    def to_pin(self, values: SelectValues, facts: SelectFacts, results: Results) -> Answer | None:
        scores, p = facts.scores[values.select_order], results["inclusion", IMMEDIATE]
        _, paid, T = paid_setting(values)
        shown, color = p[places(scores)[:TOP]], SCORE_STYLES[values.select_order].color
        return Answer(
            words.numbers(compute.expected_best(scores, p, T), T, len(p), paid),
            (Curve(shown, np.arange(1, len(shown) + 1), color),),
            (Dot(float(shown[0]), 1, 1, 1, color),),
        )

    def make_room(self, pinned: Sequence[Dot]) -> None:
        self.figure.make_room([dot.x for dot in pinned])

    def clear(self) -> None:
        self._sent = ()
        super().clear()

    @classmethod
    def browser_tables(cls, values: SelectValues) -> dict[str, pd.DataFrame]:
        return row_tables(values)


class CoinsCard(Card[SelectValues, SelectFacts]):
    """Each feature in a choice of its own."""

    in_browser = True
    name, title, caption = "coins", "Score against change", words.CAPTIONS["coins"]
    controls = ("select_calibration",)

    def __init__(self, figures: ChosenFigures):
        self.plots = [figures.coins]

    def work(self, values: SelectValues, facts: SelectFacts) -> dict[ResultKey, Task]:
        setting = values.select_calibration, *paid_setting(values)
        return {(k, IMMEDIATE): Task(compute.coins, (values.dataset, k, *setting)) for k in compute.KINDS}

    def readout(self, values: SelectValues, facts: SelectFacts, results: Results) -> str:
        return words.coin_words(facts, values, {kind: results[kind, IMMEDIATE] for kind in compute.KINDS})

    @classmethod
    def browser_tables(cls, values: SelectValues) -> dict[str, pd.DataFrame]:
        return coin_tables(values)
