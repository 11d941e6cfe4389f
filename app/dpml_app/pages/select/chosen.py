"""Cards: selection probabilities, each feature on its own, and one feature's counts."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from dpml.selection import PublicFacts
from dpml_app.core.card import IMMEDIATE, Answer, Card, ResultKey, Results
from dpml_app.data.measures import dataset
from dpml_app.data.measures import facts as facts_of
from dpml_app.drawing.pinned_overlay import Curve, Dot
from dpml_app.pages.select import compute, words
from dpml_app.pages.select.chosen_figure import (
    COINS,
    PLACED,
    SCORE_STYLES,
    SPREAD,
    TOP,
    ChosenFigures,
    set_table,
)
from dpml_app.pages.select.compute import KINDS, SelectFacts, coins, inclusion, one_set, places, shown_ranks
from dpml_app.pages.select.figures import FeatureFigure
from dpml_app.pages.select.settings import SelectValues
from dpml_app.work.pool import Task


def _setting(values: SelectValues) -> tuple[str, str, float, int]:
    """Return calibration, relation, the part of ε that pays for the choice, and T."""
    T = min(values.n_features, facts_of(values.dataset).n_features)
    return values.select_calibration, values.relation, values.epsilon * values.selection_share, T


def row_tables(values: SelectValues) -> dict[str, pd.DataFrame]:
    """Return the rows, best first, and what one drawn set has of them."""
    facts, setting = facts_of(values.dataset), _setting(values)
    scores, T = facts.scores[values.select_order], setting[-1]
    order = places(scores)
    rows = [(row, facts.names[i], i, row, row) for row, i in enumerate(order[:TOP], 1)]
    first = TOP + 1
    for last in (T, len(order)):
        if last >= first:
            rows.append((len(rows) + 1, f"mean of {first} to {last}", -1, first, last))
            first = last + 1
    table = pd.DataFrame(rows, columns=list(PLACED))
    for kind in KINDS:
        p = inclusion(values.dataset, kind, *setting)[order]
        each = [p[first - 1 : last] for first, last in zip(table["first"], table["last"], strict=True)]
        for end, of in (("", np.mean), ("_low", np.min), ("_high", np.max)):
            table[kind + end] = [of(part) for part in each]
    mask = one_set(values.dataset, values.select_order, *setting, values.seed, values.select_draw)
    return {"select-rows": table[[*PLACED, *SPREAD]], "select-set": set_table(scores, mask)}


def coin_tables(values: SelectValues) -> dict[str, pd.DataFrame]:
    """Return the coins of both scores at the places that are drawn, best first."""
    facts, setting = facts_of(values.dataset), _setting(values)
    public = PublicFacts.of(dataset(values.dataset).schema, values.relation)
    ranks = shown_ranks(facts.n_features)
    names, tables = np.array(facts.names, dtype=object), {}
    for kind, scores in facts.scores.items():
        index = places(scores)[ranks]
        table = {"rank": ranks + 1, "index": index, "name": names[index], "score": scores[index]}
        # how far one record moves a score
        table["units"] = np.maximum((scores[index] - scores.min()) / public.change_range(kind), 0.1)
        table["coin"] = coins(values.dataset, kind, *setting)[index]
        tables[f"select-drawn-{kind}"] = pd.DataFrame(table)[list(COINS)]
    return tables


def paid_setting(values: SelectValues) -> tuple[str, float, int]:
    """Return relation, the ε that pays for the choice, and T."""
    return values.relation, values.epsilon * values.selection_share, values.n_features


def chosen_index(values: SelectValues, facts: SelectFacts) -> int:
    """Return the feature that is shown; by default the best one by counts."""
    return values.select_feature - 1 if values.select_feature else int(np.argmax(facts.scores["count"]))


class ChosenCard(Card[SelectValues, SelectFacts]):
    """The page's picture: a row for each feature, best first. It sends the browser what both cards are drawn from."""

    in_browser = True
    name, title, caption = "chosen", "Selection probabilities", words.CAPTIONS["chosen"]
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
    name, title, caption = "coins", "Score against sensitivity", words.CAPTIONS["coins"]
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


WEIGHTS = [(kind, c) for kind in compute.KINDS for c in ("range", "per-feature")]


class FeatureCard(Card[SelectValues, SelectFacts]):
    """The feature that was clicked, or the best one."""

    draw = FeatureFigure
    name, title, caption = "feature", "One feature", words.CAPTIONS["feature"]
    controls = ("select_feature",)

    def lay_out(self, facts: SelectFacts) -> None:
        self.figure.show_dataset(facts.classes, float(facts.n.max()))

    def work(self, values: SelectValues, facts: SelectFacts) -> dict[ResultKey, Task]:
        name, setting = values.dataset, paid_setting(values)
        counts = Task(compute.feature, (name, chosen_index(values, facts), values.relation))
        weighed = {(" ".join(pair), IMMEDIATE): Task(compute.inclusion, (name, *pair, *setting)) for pair in WEIGHTS}
        return {("feature", IMMEDIATE): counts, **weighed}

    def prepare(self, values: SelectValues, facts: SelectFacts, now: Results) -> None:
        self.figure.show(facts.names[chosen_index(values, facts)], facts.classes, now["feature", IMMEDIATE])

    def readout(self, values: SelectValues, facts: SelectFacts, results: Results) -> str:
        inclusion = {pair: results[" ".join(pair), IMMEDIATE] for pair in WEIGHTS}
        return words.feature_words(facts, chosen_index(values, facts), results["feature", IMMEDIATE], inclusion)
