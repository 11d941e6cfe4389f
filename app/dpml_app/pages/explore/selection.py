"""Card: which features a private choice takes; the browser draws it, and says in words what it has drawn."""

from __future__ import annotations

import pandas as pd

from dpml.counts import contingency
from dpml.selection import PublicFacts, inclusion_probabilities, scores_from_counts
from dpml_app.core.card import Card, Results
from dpml_app.data.facts import BinaryFacts
from dpml_app.data.measures import dataset
from dpml_app.drawing.figure import empty
from dpml_app.pages.explore import words
from dpml_app.pages.explore.figures import SelectionFigure
from dpml_app.pages.explore.settings import ExploreValues


class SelectionCard(Card[ExploreValues, BinaryFacts]):
    """Inclusion probabilities of the best features."""

    draw = SelectionFigure
    in_browser = True
    _relation = ""
    name, title, caption = "selection", "Features chosen", words.CAPTIONS["selection"]

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
