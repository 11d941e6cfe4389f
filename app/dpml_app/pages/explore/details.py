"""Cards below the picture: the features that are chosen, the ROC curve, how many features, and accuracy against ε."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from dpml.counts import contingency
from dpml.selection import PublicFacts, inclusion_probabilities, scores_from_counts
from dpml_app.core.card import DEFERRED, IMMEDIATE, WORKER, Card, ResultKey, Results, here, kept_but_for
from dpml_app.core.curves_card import CurvesCard
from dpml_app.data import measures
from dpml_app.data.facts import BinaryFacts
from dpml_app.data.measures import dataset, feature_ladder
from dpml_app.drawing.figure import empty
from dpml_app.pages.explore import compute, words
from dpml_app.pages.explore.figures import AccuracyFigure, MapFigure, RocFigure, SelectionFigure
from dpml_app.pages.explore.settings import ExploreValues
from dpml_app.settings import SWEEP_EPSILONS
from dpml_app.work.pool import Task


def statistic_key(values: ExploreValues, method: str, epsilon: float) -> tuple | None:
    """Return the arguments of the slow statistic that a method needs at this setting and ε, if any."""
    options = values.options(method)
    return measures.statistic_key(values.dataset, method, epsilon, options)


def statistics(values: ExploreValues, methods: Sequence[str] = measures.METHODS) -> list[Task]:
    """Return the slow statistics that are not here: with them the server answers at once at every ε."""
    keys = (key for m in methods for key in measures.statistic_keys(values.dataset, m, values.options(m)))
    return [Task(measures.statistic, key) for key in keys if not measures.is_here(key)]


def speed(values: ExploreValues, method: str) -> str:
    """Return where a method stands at the ε that is chosen: what needs a slow statistic first is for the workers."""
    return IMMEDIATE if measures.is_here(statistic_key(values, method, values.epsilon)) else WORKER


def measured(values: ExploreValues, method: str, epsilon: float) -> Task:
    """Return the task of a method's accuracies."""
    return Task(measures.accuracy, values.accuracy_key(method, epsilon))


def at_chosen(values: ExploreValues) -> dict[ResultKey, Task]:
    """Return the tasks of all methods at the ε that is chosen."""
    return {(m, speed(values, m)): measured(values, m, values.epsilon) for m in measures.METHODS}


def accuracies(results: Results) -> dict[str, Any]:
    """Return the draws of each method at the ε that is chosen, once all of them are there."""
    draws_of = {method: here(results, method) for method in measures.METHODS}
    return {} if any(draws is None for draws in draws_of.values()) else draws_of


class AccuracyCard(CurvesCard[ExploreValues, BinaryFacts]):
    """Every method over all ε."""

    draw = AccuracyFigure
    _epsilon = 0.0
    name, title, caption = "accuracy", "Accuracy against ε", words.CAPTIONS["accuracy"]

    def lay_out(self, facts: BinaryFacts) -> None:
        self.figure.place_levels({"majority": facts.majority, "non_private": facts.non_private})

    def work(self, values: ExploreValues, facts: BinaryFacts) -> dict[ResultKey, Task]:
        return at_chosen(values) | self.sweep(values, facts)

    @kept_but_for("epsilon")
    def sweep(self, values: ExploreValues, facts: BinaryFacts) -> dict[ResultKey, Task]:
        """Return the tasks of the curves."""
        return {(m, e): measured(values, m, e) for m in measures.METHODS for e in SWEEP_EPSILONS}

    def first(self, values: ExploreValues) -> list[Task]:
        return statistics(values)

    def prepare(self, values: ExploreValues, facts: BinaryFacts, now: Results) -> None:
        self._epsilon = values.epsilon
        for method in measures.METHODS:
            draws = here(now, method)
            if draws is None:
                self.figure.clear_now(method)
            else:
                self.figure.show_now(method, self._epsilon, draws)

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        super().show(results, wanted)
        for method, result_key in results:
            if result_key == WORKER:
                self.figure.show_now(method, self._epsilon, results[method, WORKER])

    def readout(self, values: ExploreValues, facts: BinaryFacts, results: Results) -> str:
        draws_of = accuracies(results)
        return words.accuracy_readout(values.epsilon, draws_of) if draws_of else "Computing…"


class SelectionCard(Card[ExploreValues, BinaryFacts]):
    """Inclusion probabilities of the best features."""

    draw = SelectionFigure
    in_browser = True
    _relation = ""
    name, title, caption = "selection", "Selection probabilities", words.CAPTIONS["selection"]

    def lay_out(self, facts: BinaryFacts) -> None:
        self.figure.show_dataset(facts.names, facts.scores["count"], facts.scores["mutual_information"])

    def prepare(self, values: ExploreValues, facts: BinaryFacts, now: Results) -> None:
        if values.relation != self._relation:
            self._relation = values.relation
            self.figure.show_unit(*(facts.unit[kind, self._relation] for kind in ("count", "mutual_information")))

    @classmethod
    def browser_tables(cls, values: ExploreValues) -> dict[str, pd.DataFrame]:
        data = dataset(values.dataset)
        schema = data.schema
        counts = contingency(data.X_train, data.y_train, schema.n_classes)
        public = PublicFacts.of(schema, values.relation)
        T = min(values.n_features, schema.n_features)
        # the part of ε that pays for the choice; two masks differ in at most K features
        epsilon = values.epsilon * values.selection_share
        K = min(T, schema.n_features - T)
        scores, chosen = {}, {}
        for kind in ("count", "mutual_information"):
            scores[kind] = scores_from_counts(counts, kind)
            weight = epsilon / (K * public.change_range(kind)) if K else 0.0
            chosen[kind] = inclusion_probabilities(weight * scores[kind], T)
        figure = SelectionFigure()
        figure.show_dataset(data.feature_names, scores["count"], scores["mutual_information"])
        shown = figure.shown.data
        table = {"y": shown["y"], "name": shown["name"], **{kind: p[shown["index"]] for kind, p in chosen.items()}}
        return {"selection-drawn": pd.DataFrame(table)}

    def clear(self) -> None:
        self._relation = ""
        empty(self.figure.drawn)


class RocCard(Card[ExploreValues, BinaryFacts]):
    """Exact and private curves."""

    draw = RocFigure
    name, title, caption = "roc", "Private ROC curve", words.CAPTIONS["roc"]

    def work(self, values: ExploreValues, facts: BinaryFacts) -> dict[ResultKey, Task]:
        # the point of the main picture does not wait for it
        return {("roc", DEFERRED): Task(compute.roc, values.roc_key())}

    def prepare(self, values: ExploreValues, facts: BinaryFacts, now: Results) -> None:
        self.clear()
        self.show(now, {})

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        for curves in results.values():
            self.figure.show(curves)

    def readout(self, values: ExploreValues, facts: BinaryFacts, results: Results) -> str:
        curves = results.get(("roc", DEFERRED))
        return "Computing…" if curves is None else words.roc_readout(curves)


class MapCard(CurvesCard[ExploreValues, BinaryFacts]):
    """Mean accuracy over ε and feature count, one task a row."""

    draw = MapFigure
    name, title, caption = "map", "Number of features", words.CAPTIONS["map"]

    def lay_out(self, facts: BinaryFacts) -> None:
        ends = sorted((facts.majority, facts.non_private))
        self.figure.start(SWEEP_EPSILONS, feature_ladder(facts.n_features), *ends)

    def work(self, values: ExploreValues, facts: BinaryFacts) -> dict[ResultKey, Task]:
        chosen = Task(compute.by_hand, values.hand_key(values.epsilon))
        return {("chosen", IMMEDIATE): chosen, **self.rows(values, facts)}

    @kept_but_for("epsilon")
    def rows(self, values: ExploreValues, facts: BinaryFacts) -> dict[ResultKey, Task]:
        """Return the tasks of the map."""
        ladder = feature_ladder(facts.n_features)
        return {("map", t): Task(compute.map_row, values.map_key(t)) for t in ladder}

    def readout(self, values: ExploreValues, facts: BinaryFacts, results: Results) -> str:
        best = self.figure.best.data
        return words.map_readout(values, best, results["chosen", IMMEDIATE]) if len(best["epsilon"]) else ""
