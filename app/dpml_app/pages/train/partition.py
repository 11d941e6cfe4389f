"""Card: the thesis' partitioning strategy against training on all features at once (Fig. 3.8)."""

from __future__ import annotations

from dataclasses import replace

from bokeh.models import FixedTicker, NumeralTickFormatter

from dpml_app.core.card import ResultKey, Results
from dpml_app.drawing.styles import Style
from dpml_app.pages.train.card import BandCard, method_styles
from dpml_app.pages.train.compute import EXACT, feature_steps
from dpml_app.pages.train.facts import TrainFacts
from dpml_app.pages.train.figures import share_figure
from dpml_app.pages.train.measure import measured
from dpml_app.pages.train.settings import TrainValues
from dpml_app.pages.train.words import CAPTIONS
from dpml_app.text.phrases import percent, points
from dpml_app.work.pool import Task

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

    name, title = "partition", "Partitioning the records"
    wide = True
    caption = CAPTIONS["partition"]

    def __init__(self):
        figure = share_figure(
            "train-partition",
            _looks(),
            "share of test records classified correctly",
            {"majority": ("A guess", "dotdash")},
            marker=False,
            columns=1,
            x_axis_type="log",
            x_range=(0.9, 330),
            x_axis_label="binary columns used, T (log scale)",
        )
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
            f"At ε = {values.epsilon:g} with {T} columns, mean: partitioned <b>{percent(mean['partitioned'])}</b>, "
            f"Algorithm 1 <b>{percent(mean['algorithm-1'])}</b>, row-bounded <b>{percent(mean['row-bounded'])}</b>. "
            f"Dealing out the records alone changes accuracy by "
            f"{points(mean['partitioned-exact'] - mean['algorithm-1-exact'])}, its noise by "
            f"{points(mean['partitioned'] - mean['partitioned-exact'])} more; Algorithm 1's noise by "
            f"{points(mean['algorithm-1'] - mean['algorithm-1-exact'])}."
        )
