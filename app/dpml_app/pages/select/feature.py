"""Card: the exact counts of one feature."""

from __future__ import annotations

from dpml_app.core.card import IMMEDIATE, Card, ResultKey, Results
from dpml_app.pages.select import compute, words
from dpml_app.pages.select.chosen import chosen_index, paid_setting
from dpml_app.pages.select.compute import SelectFacts
from dpml_app.pages.select.figures import FeatureFigure
from dpml_app.pages.select.settings import SelectValues
from dpml_app.work.pool import Task

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
