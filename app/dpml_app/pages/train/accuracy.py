"""Card: accuracy, or the area under the ROC curve, against ε."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from bokeh.models import Range1d

from dpml_app.core.card import IMMEDIATE, WORKER, Answer, Number, ResultKey, Results, here, kept_but_for
from dpml_app.drawing.figure import epsilon_axis
from dpml_app.drawing.pinned_overlay import Curve, Dot
from dpml_app.drawing.styles import VAIDYA_TRUE, Style
from dpml_app.pages.train import peers
from dpml_app.pages.train.card import BandCard, asked, chosen, every_style, left_out, trained
from dpml_app.pages.train.compute import true_epsilon
from dpml_app.pages.train.facts import TrainFacts
from dpml_app.pages.train.figures import share_figure
from dpml_app.pages.train.linear_compute import rule_takes
from dpml_app.pages.train.methods import EVERY, private, styles
from dpml_app.pages.train.settings import TrainValues
from dpml_app.pages.train.tasks import measured
from dpml_app.pages.train.words import CAPTIONS
from dpml_app.settings import EPSILONS, SWEEP_EPSILONS
from dpml_app.text.phrases import percent
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
    controls, wide, families = ("train_measure",), True, ("naive-bayes", "linear")
    caption = CAPTIONS["accuracy"]

    def __init__(self):
        looks = {**every_style(), TRUE: VAIDYA_TRUE}
        figure = share_figure(
            "train-accuracy",
            looks,
            "share of test records classified correctly",
            REFERENCES,
            x_axis_type="log",
            x_range=Range1d(start=EPSILONS[0] / 1.15, end=EPSILONS[-1] * 1.15),
            # the slider below stands under the axis, whatever its labels are
            min_border_left=84,
        )
        epsilon_axis(figure.plot)
        figure.legend.model.location = (-74, 0)  # its second column has room on a phone
        super().__init__(figure)

    def styles(self, values: TrainValues, facts: TrainFacts) -> dict[str, Style]:
        looks = styles(chosen(values, facts), facts)
        if "vaidya" in looks and private("vaidya", facts):
            looks[TRUE] = VAIDYA_TRUE
        return looks

    def measure(self, values: TrainValues) -> str:
        return values.train_measure

    def levels(self, values: TrainValues, facts: TrainFacts) -> Mapping[str, float]:
        return facts.accuracy if values.train_measure == "accuracy" else facts.auc

    def at(self, values: TrainValues, facts: TrainFacts) -> float:
        return values.epsilon

    def refusal(self, values: TrainValues, facts: TrainFacts) -> str:
        if values.train_measure == "auc" and len(facts.classes) > 2:
            return f"A ROC curve is about two classes, and these data have {len(facts.classes)}: choose accuracy."
        return none_left(values, facts)

    def work(self, values: TrainValues, facts: TrainFacts) -> dict[ResultKey, Task]:
        auc = values.train_measure == "auc"
        return {
            (method, WORKER if EVERY[method].anew else IMMEDIATE): measured(method, values, values.epsilon, auc=auc)
            for method in trained(values, facts)
        } | self.sweep(values, facts)

    @kept_but_for("epsilon")
    def sweep(self, values: TrainValues, facts: TrainFacts) -> dict[ResultKey, Task]:
        """Return the tasks of the curves."""
        tasks: dict[ResultKey, Task] = {}
        auc = values.train_measure == "auc"
        for method in chosen(values, facts):
            if EVERY[method].recorded:
                tasks |= {(method, task.arguments[2]): task for task in peers.tasks(method, values.dataset)}
                continue
            for epsilon in SWEEP_EPSILONS:
                tasks[method, epsilon] = measured(method, values, epsilon, auc=auc)
                paid = true_epsilon(method, epsilon, facts, values.relation)
                if method == "vaidya" and paid is not None and paid <= EPSILONS[-1]:
                    tasks[TRUE, paid] = tasks[method, epsilon]
        return tasks

    def prepare(self, values: TrainValues, facts: TrainFacts, now: Results) -> None:
        super().prepare(values, facts, now)
        label = "share of test records classified correctly"
        if values.train_measure == "auc":
            label = "area under the ROC curve (50 %: a guess)"
        if self.figures[0].plot.yaxis[0].axis_label != label:
            self.figures[0].plot.yaxis[0].axis_label = label

    def to_pin(self, values: TrainValues, facts: TrainFacts, results: Results) -> Answer | None:
        numbers, curves, dots = [], [], []
        for series, style in self.styles(values, facts).items():
            result, shown = here(results, series), self.figure.curves[series].data
            curves.append(Curve(shown["x"], shown["mean"], style.color))
            if result is None:
                continue
            draws = self.draws(series, result)
            mean, (low, high) = float(draws.mean()), (float(q) for q in np.quantile(draws, [0.05, 0.95]))
            numbers.append(Number(style.label, percent(mean), f"{percent(low)} to {percent(high)}"))
            dots.append(Dot(values.epsilon, mean, low, high, style.color))
        return Answer(tuple(numbers), tuple(curves), tuple(dots), "90 % of draws") if numbers else None

    def readout(self, values: TrainValues, facts: TrainFacts, results: Results) -> str:
        text = f"At ε = {values.epsilon:g}, mean and 90 % of draws: {super().readout(values, facts, results)}."
        paid = true_epsilon("vaidya", values.epsilon, facts, values.relation)
        if ("vaidya", IMMEDIATE) in results and paid is not None:
            text += f" Vaidya et al. state ε = {values.epsilon:g} for each count and pay <b>{paid:g}</b> in all."
        broken = [EVERY[m].title for m in chosen(values, facts) if not private(m, facts)]
        if broken:
            text += f" <b>Not private</b>, whatever ε is stated: {', '.join(broken)}."
        text += peers.words(chosen(values, facts), results, self._measure)
        missing = [why for m in asked(values) if (why := left_out(m, values.relation, facts))]
        if missing:
            text += f" Not drawn: {'; '.join(missing)}."
        if "rule" in chosen(values, facts):
            naive = rule_takes(values.dataset, values.epsilon) == "naive-bayes"
            text += f" The public rule takes {'naive Bayes' if naive else 'a support vector machine'} here."
        text += fewer_draws(trained(values, facts), values.draws)
        return text if results else ""


def none_left(values: TrainValues, facts: TrainFacts) -> str:
    """Return why none of the chosen methods is drawn, empty if one is or none is chosen."""
    if chosen(values, facts):
        return ""
    return "; ".join(f"{left_out(m, values.relation, facts)}." for m in asked(values))


def fewer_draws(methods: tuple[str, ...], draws: int) -> str:
    """Return in a sentence which methods have fewer draws than are chosen, and how many; empty if none has.

    Examples
    --------
    >>> fewer_draws(("output", "l1", "descent"), 50)
    ' Fewer draws, for each trains anew: 20 of Objective L1; 10 of Descent.'
    """
    fewer = [f"{EVERY[m].draws(draws)} of {EVERY[m].look.label}" for m in methods if EVERY[m].draws(draws) < draws]
    return f" Fewer draws, for each trains anew: {'; '.join(fewer)}." if fewer else ""
