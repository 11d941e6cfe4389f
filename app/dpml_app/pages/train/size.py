"""Card: accuracy against the number of training records."""

from __future__ import annotations

from bokeh.models import NumeralTickFormatter

from dpml_app.core.card import ResultKey, Results
from dpml_app.drawing.styles import Style
from dpml_app.pages.train.accuracy import REFERENCES
from dpml_app.pages.train.card import BandCard, every_style, none_left, trained
from dpml_app.pages.train.compute import sizes
from dpml_app.pages.train.facts import TrainFacts
from dpml_app.pages.train.figures import share_figure
from dpml_app.pages.train.measure import measured
from dpml_app.pages.train.methods import styles
from dpml_app.pages.train.settings import TrainValues
from dpml_app.pages.train.words import CAPTIONS
from dpml_app.work.pool import Task


class SizeCard(BandCard):
    """Every chosen method on fewer and fewer records, at the ε that is chosen."""

    name, title = "size", "Accuracy against training size"
    families, wide = ("naive-bayes", "linear"), True
    caption = CAPTIONS["size"]

    def __init__(self):
        figure = share_figure(
            "train-size",
            every_style(),
            "share of test records classified correctly",
            REFERENCES,
            marker=False,
            x_axis_type="log",
            x_range=(50, 30_000),
            x_axis_label="training records (log scale)",
        )
        figure.plot.xaxis.formatter = NumeralTickFormatter(format="0,0")
        super().__init__(figure)

    def refusal(self, values: TrainValues, facts: TrainFacts) -> str:
        return none_left(values, facts)

    def styles(self, values: TrainValues, facts: TrainFacts) -> dict[str, Style]:
        return styles(trained(values, facts), facts)

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
            f"At ε = {values.epsilon:g}, with {steps[max(len(steps) - 4, 0)]:,} records: {few.split(', ')[0]} is "
            f"best; with all {steps[-1]:,}: {all_.split(', ')[0]}."
        )
