"""Card: accuracy, or the area under the ROC curve, against ε."""

from __future__ import annotations

from collections.abc import Mapping

from dpml_app.core.card import ResultKey, Results, kept_but_for
from dpml_app.drawing.styles import VAIDYA_TRUE, Style
from dpml_app.pages.train import peers
from dpml_app.pages.train.card import (
    BandCard,
    chosen,
    every_style,
    label_measure,
    levels,
    nearest,
    nothing_to_compare,
    share_over_epsilon,
)
from dpml_app.pages.train.compute import true_epsilon
from dpml_app.pages.train.facts import TrainFacts
from dpml_app.pages.train.measure import measured
from dpml_app.pages.train.methods import EVERY, private, styles
from dpml_app.pages.train.settings import TrainValues
from dpml_app.settings import EPSILONS, SWEEP_EPSILONS
from dpml_app.work.pool import Task

TRUE = "vaidya-true"
REFERENCES = {
    "table": ("No privacy, table", "solid"),
    "binary": ("No privacy, binary", "dotdash"),
    "logistic": ("No privacy, logistic", "dashed"),
    "majority": ("A guess", "dotted"),
}


class AccuracyCard(BandCard):
    """Every chosen method over all ε."""

    name, title = "accuracy", "Accuracy against ε"
    wide, families = True, ("naive-bayes", "linear")

    def __init__(self):
        super().__init__(share_over_epsilon("train-accuracy", {**every_style(), TRUE: VAIDYA_TRUE}, REFERENCES))

    def styles(self, values: TrainValues, facts: TrainFacts) -> dict[str, Style]:
        looks = styles(chosen(values, facts), facts)
        if "vaidya" in looks and private("vaidya", facts):
            looks[TRUE] = VAIDYA_TRUE
        return looks

    def measure(self, values: TrainValues) -> str:
        return values.train_measure

    def levels(self, values: TrainValues, facts: TrainFacts) -> Mapping[str, float]:
        return levels(values, facts)

    def refusal(self, values: TrainValues, facts: TrainFacts) -> str:
        return nothing_to_compare(values, facts)

    @kept_but_for("epsilon")
    def work(self, values: TrainValues, facts: TrainFacts) -> dict[ResultKey, Task]:
        tasks: dict[ResultKey, Task] = {}
        auc = values.train_measure == "auc"
        for method in chosen(values, facts):
            if EVERY[method].recorded:
                tasks |= {(method, epsilon): task for epsilon, task in peers.tasks(method, values.dataset).items()}
                continue
            for epsilon in SWEEP_EPSILONS:
                tasks[method, epsilon] = measured(method, values, epsilon, auc=auc)
                paid = true_epsilon(method, epsilon, facts, values.relation)
                if method == "vaidya" and paid is not None and paid <= EPSILONS[-1]:
                    tasks[TRUE, paid] = tasks[method, epsilon]
        return tasks

    def prepare(self, values: TrainValues, facts: TrainFacts, now: Results) -> None:
        super().prepare(values, facts, now)
        self.figure.marker.location = values.epsilon
        label_measure(self.figure.plot.yaxis[0], values)

    def readout(self, values: TrainValues, facts: TrainFacts, results: Results) -> str:
        near = nearest(SWEEP_EPSILONS, values.epsilon)
        ranked = self.ranking(results, near)
        return f"At ε = {near:g}, mean and 90 % of runs: {ranked}." if ranked else ""
