"""Card: how ε is shared out between numbers and categories (Zafarani and Clifton 2021, Fig. 14 to 16)."""

from __future__ import annotations

from dataclasses import replace

from dpml_app.core.card import IMMEDIATE, ResultKey, Results
from dpml_app.drawing.figure import set_ticks
from dpml_app.drawing.styles import Style
from dpml_app.pages.train.card import BandCard, method_styles
from dpml_app.pages.train.facts import TrainFacts
from dpml_app.pages.train.figures import share_figure
from dpml_app.pages.train.measure import measured
from dpml_app.pages.train.methods import METHODS, styles
from dpml_app.pages.train.settings import WEIGHTS, TrainValues
from dpml_app.pages.train.words import CAPTIONS
from dpml_app.work.pool import Task

WEIGHED = tuple(name for name, method in METHODS.items() if "train_weight" in method.options)
RATIOS = {name: numeric / categorical for name, (numeric, categorical) in WEIGHTS.items()}


class WeightCard(BandCard):
    """The methods that share ε out, over what a number gets to what a categorical attribute gets."""

    name, title = "weight", "Weight of numbers and categories"
    controls = ("train_weight",)
    caption = CAPTIONS["weight"]

    def __init__(self):
        figure = share_figure(
            "train-weight",
            {name: style for name, style in method_styles().items() if name in WEIGHED},
            "share of test records classified correctly",
            {"majority": ("A guess", "dotted")},
            x_axis_type="log",
            x_range=(0.1, 10),
            x_axis_label="← categories get more      numbers get more →",
        )
        words = ", ".join(f"'{ratio:.3f}': '{name}'" for name, ratio in RATIOS.items())
        set_ticks(figure.plot.xaxis[0], list(RATIOS.values()), f"({{{words}}})[tick.toFixed(3)]", figure.plot.xgrid[0])
        super().__init__(figure)

    def refusal(self, values: TrainValues, facts: TrainFacts) -> str:
        if not facts.numeric or not facts.categorical:
            missing = "numbers" if not facts.numeric else "categories"
            return f"these data have no {missing}, so there is nothing to weigh against each other."
        if not set(WEIGHED) & set(values.train_methods):
            return f"choose one of {', '.join(METHODS[m].title for m in WEIGHED)}: the others share ε out differently."
        return ""

    def styles(self, values: TrainValues, facts: TrainFacts) -> dict[str, Style]:
        return styles(tuple(m for m in WEIGHED if m in values.train_methods), facts)

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
        return f"At ε = {values.epsilon:g} and {values.train_weight}, mean and 90 % of draws: {ranking}."
