"""Cards: accuracy against ε, or against one thing that is chosen: records, weight of numbers, threshold, columns."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from bokeh.models import FixedTicker, NumeralTickFormatter

from dpml_app.core.card import IMMEDIATE, ResultKey, Results, kept_but_for
from dpml_app.drawing.figure import set_ticks
from dpml_app.drawing.styles import BLUE, ORANGE, VAIDYA_TRUE, VERMILION, Style, style_of
from dpml_app.pages.train import peers
from dpml_app.pages.train.card import (
    BandCard,
    chosen,
    every_style,
    label_measure,
    levels,
    method_styles,
    nearest,
    none_left,
    nothing_to_compare,
    share_figure,
    share_over_epsilon,
    trained,
)
from dpml_app.pages.train.compute import EXACT, PERCENTILES, feature_steps, nb_silenced, sizes, true_epsilon
from dpml_app.pages.train.facts import TrainFacts
from dpml_app.pages.train.measure import measured
from dpml_app.pages.train.methods import EVERY, METHODS, private, styles
from dpml_app.pages.train.settings import WEIGHTS, TrainValues
from dpml_app.settings import EPSILONS, SWEEP_EPSILONS
from dpml_app.text.phrases import interval, percent, points
from dpml_app.work.pool import Task

TRUE = "vaidya-true"
REFERENCES = {
    "table": ("Non-private, table", "solid"),
    "binary": ("Non-private, binary", "dotdash"),
    "logistic": ("Non-private, logistic", "dashed"),
    "majority": ("Majority-class baseline", "dotted"),
}


class AccuracyCard(BandCard):
    """Every chosen method over all ε."""

    name, title = "accuracy", "Accuracy against ε"
    wide, families = True, ("naive-bayes", "linear")

    def __init__(self):
        super().__init__(share_over_epsilon("train-accuracy", {**every_style(), TRUE: VAIDYA_TRUE}, REFERENCES))

    def styles(self, values: TrainValues, facts: TrainFacts) -> dict[str, Style]:
        looks = styles(chosen(values, facts), facts, values.train_noise)
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
        return f"At ε = {near:g}, mean and 90% of runs: {ranked}." if ranked else ""


class SizeCard(BandCard):
    """Every chosen method on fewer and fewer records, at the ε that is chosen."""

    name, title = "size", "Accuracy against training size"
    families, wide = ("naive-bayes", "linear"), True

    def __init__(self):
        axis: Any = {"x_range": (50, 30_000), "x_axis_label": "training records (log scale)"}
        figure = share_figure("train-size", every_style(), REFERENCES, marker=False, **axis)
        figure.plot.xaxis.formatter = NumeralTickFormatter(format="0,0")
        super().__init__(figure)

    def refusal(self, values: TrainValues, facts: TrainFacts) -> str:
        return none_left(values, facts)

    def styles(self, values: TrainValues, facts: TrainFacts) -> dict[str, Style]:
        return styles(trained(values, facts), facts, values.train_noise)

    def work(self, values: TrainValues, facts: TrainFacts) -> dict[ResultKey, Task]:
        methods, epsilon = trained(values, facts), values.epsilon
        return {(m, n): measured(m, values, epsilon, n=n) for n in sizes(facts.n_train)[::-1] for m in methods}

    def prepare(self, values: TrainValues, facts: TrainFacts, now: Results) -> None:
        super().prepare(values, facts, now)
        steps = sizes(facts.n_train)
        x_range = self.figures[0].plot.x_range
        if x_range.end != steps[-1] * 1.2:
            x_range.update(start=steps[0] / 1.2, end=steps[-1] * 1.2)

    def readout(self, values: TrainValues, facts: TrainFacts, results: Results) -> str:
        steps = sizes(facts.n_train)
        few = self.ranking(results, steps[max(len(steps) - 4, 0)])
        all_ = self.ranking(results, steps[-1])
        if not few or not all_:
            return "Computing…"
        return (
            f"Best at ε = {values.epsilon:g}: {few.split(', ')[0]} with {steps[max(len(steps) - 4, 0)]:,} records, "
            f"{all_.split(', ')[0]} with all {steps[-1]:,}."
        )


WEIGHED = tuple(name for name, method in METHODS.items() if "train_weight" in method.options)
RATIOS = {name: numeric / categorical for name, (numeric, categorical) in WEIGHTS.items()}


class WeightCard(BandCard):
    """The methods that share ε out, over what a number gets to what a categorical attribute gets."""

    name, title = "weight", "Weight of numeric features"
    controls = ("train_weight",)

    def __init__(self):
        looks = {name: style for name, style in method_styles().items() if name in WEIGHED}
        axis: Any = {"x_range": (0.1, 10), "x_axis_label": "weight, numeric:categorical (log scale)"}
        figure = share_figure("train-weight", looks, {"majority": ("Majority-class baseline", "dotted")}, **axis)
        words = ", ".join(f"'{ratio:.3f}': '{name}'" for name, ratio in RATIOS.items())
        set_ticks(figure.plot.xaxis[0], list(RATIOS.values()), f"({{{words}}})[tick.toFixed(3)]", figure.plot.xgrid[0])
        super().__init__(figure)

    def refusal(self, values: TrainValues, facts: TrainFacts) -> str:
        if not facts.numeric or not facts.categorical:
            missing = "numeric" if not facts.numeric else "categorical"
            return f"this data set has no {missing} features to weigh."
        if not set(WEIGHED) & set(values.train_methods):
            return f"only {', '.join(METHODS[m].title for m in WEIGHED)} use this weight. Choose one of them."
        return ""

    def styles(self, values: TrainValues, facts: TrainFacts) -> dict[str, Style]:
        return styles(tuple(m for m in WEIGHED if m in values.train_methods), facts, values.train_noise)

    def at(self, values: TrainValues, facts: TrainFacts) -> float:
        return RATIOS[values.train_weight]

    def work(self, values: TrainValues, facts: TrainFacts) -> dict[ResultKey, Task]:
        def task(method: str, weight: str) -> Task:
            return measured(method, replace(values, train_weight=weight), values.epsilon)

        methods = [m for m in WEIGHED if m in values.train_methods]
        tasks: dict[ResultKey, Task] = {(m, IMMEDIATE): task(m, values.train_weight) for m in methods}
        return tasks | {(m, RATIOS[weight]): task(m, weight) for m in methods for weight in WEIGHTS}

    def readout(self, values: TrainValues, facts: TrainFacts, results: Results) -> str:
        ranking = self.ranking(results, IMMEDIATE)
        return f"At ε = {values.epsilon:g} and {values.train_weight}, mean and 90% of runs: {ranking}."


ACCURACY = style_of("algorithm-1")
SILENCED = {
    "some": Style("Count of ones raised in some class", ORANGE, "square", "dotted"),
    "on": Style("Counts of ones raised in all classes", VERMILION, "circle", "solid"),
    "all": Style("All counts raised (no information)", BLUE, "diamond", "solid"),
}


class ThresholdCard(BandCard):
    """Accuracy and silenced features over the percentile of the noise that is the threshold."""

    name, title = "threshold", "Threshold of Algorithm 1"
    controls = ("threshold_percentile",)
    # accuracy moves little with the threshold
    fitted = True

    def __init__(self):
        options: Any = {"x_axis_type": "linear", "x_axis_label": "threshold (percentile of the noise)"}
        options |= {"x_range": (49, 100), "y_axis_label": "accuracy on test records"}
        levels = {"binary": ("Non-private", "dotdash"), "majority": ("Majority-class baseline", "dotted")}
        top = share_figure("train-threshold", {"accuracy": ACCURACY}, levels, **options)
        options |= {"x_range": top.plot.x_range, "y_axis_label": "share of features"}
        bottom = share_figure("train-silenced", SILENCED, {}, columns=1, **options)
        bottom.plot.y_range.update(start=-0.02, end=1.02)
        for f in (top, bottom):
            f.plot.height = 360
        super().__init__(top, bottom)

    def styles(self, values: TrainValues, facts: TrainFacts) -> dict[str, Style]:
        return {"accuracy": ACCURACY, **SILENCED}

    def at(self, values: TrainValues, facts: TrainFacts) -> float:
        return values.threshold_percentile

    def draws(self, series: str, result: Mapping[str, Any]) -> np.ndarray:
        return result[series]

    def work(self, values: TrainValues, facts: TrainFacts) -> dict[ResultKey, Task]:
        def task(percentile: int) -> Task:
            common = values.dataset, values.relation, values.epsilon, percentile
            return Task(nb_silenced, (*common, values.draws, values.seed))

        tasks: dict[ResultKey, Task] = {}
        for series in ("accuracy", *SILENCED):
            tasks[series, IMMEDIATE] = task(values.threshold_percentile)
            tasks |= {(series, float(p)): task(p) for p in PERCENTILES}
        return tasks

    def readout(self, values: TrainValues, facts: TrainFacts, results: Results) -> str:
        if ("on", IMMEDIATE) not in results:
            return "Computing…"
        now, D = results["on", IMMEDIATE], len(facts.binary_columns)
        return (
            f"Accuracy at ε = {values.epsilon:g} and percentile {values.threshold_percentile}: "
            f"<b>{percent(now['accuracy'].mean())}</b> ({interval(now['accuracy'])}). Of {D:,} features, on average "
            f"<b>{now['some'].mean() * D:,.0f}</b> have a raised count of ones in some class, "
            f"<b>{now['on'].mean() * D:,.0f}</b> in all classes, and <b>{now['all'].mean() * D:,.0f}</b> have only "
            "raised counts and carry no information."
        )


RIVALS = ("partitioned", "algorithm-1", "row-bounded")
# the same two without noise: what is lost by dealing out the records alone
QUIET = {"partitioned-exact": "partitioned", "algorithm-1-exact": "algorithm-1"}


def _looks() -> dict[str, Style]:
    looks = {name: method_styles()[name] for name in RIVALS}
    for quiet, name in QUIET.items():
        looks[quiet] = replace(looks[name], label=f"{looks[name].label}, no noise", dash="dotted")
    return looks


class PartitionCard(BandCard):
    """Each record trains one feature only, or all of them."""

    name, title = "partition", "Partitioned records"
    wide = True

    def __init__(self):
        axis: Any = {"x_range": (0.9, 330), "x_axis_label": "number of binary columns T (log scale)"}
        guess = {"majority": ("Majority-class baseline", "dotdash")}
        figure = share_figure("train-partition", _looks(), guess, marker=False, columns=1, **axis)
        figure.plot.xaxis.ticker = FixedTicker(ticks=[1, 2, 5, 10, 20, 50, 100, 300])
        figure.plot.xaxis.formatter = NumeralTickFormatter(format="0")
        super().__init__(figure)

    def styles(self, values: TrainValues, facts: TrainFacts) -> dict[str, Style]:
        return _looks()

    def work(self, values: TrainValues, facts: TrainFacts) -> dict[ResultKey, Task]:
        def task(series: str, features: int) -> Task:
            method = QUIET.get(series, series)
            epsilon = EXACT if series in QUIET else values.epsilon
            return measured(method, values, epsilon, features=features)

        steps = feature_steps(len(facts.binary_columns))
        return {(series, T): task(series, T) for T in steps for series in (*RIVALS, *QUIET)}

    def readout(self, values: TrainValues, facts: TrainFacts, results: Results) -> str:
        T = feature_steps(len(facts.binary_columns))[-1]
        if any((series, T) not in results for series in (*RIVALS, *QUIET)):
            return "Computing…"
        mean = {series: results[series, T]["accuracy"].mean() for series in (*RIVALS, *QUIET)}
        return (
            f"Mean accuracy at ε = {values.epsilon:g} with {T} columns: partitioned "
            f"<b>{percent(mean['partitioned'])}</b>, Algorithm 1 <b>{percent(mean['algorithm-1'])}</b>, row-bounded "
            f"<b>{percent(mean['row-bounded'])}</b>. Partitioning alone changes accuracy by "
            f"{points(mean['partitioned-exact'] - mean['algorithm-1-exact'])}, and its noise by another "
            f"{points(mean['partitioned'] - mean['partitioned-exact'])}. The noise of Algorithm 1 changes it by "
            f"{points(mean['algorithm-1'] - mean['algorithm-1-exact'])}."
        )
