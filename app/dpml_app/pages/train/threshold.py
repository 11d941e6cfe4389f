"""Card: the threshold of the thesis' Algorithm 1 and the features that it silences (Fig. 3.1 to 3.5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpml_app.core.card import IMMEDIATE, ResultKey, Results
from dpml_app.drawing.styles import BLUE, ORANGE, VERMILION, Style, style_of
from dpml_app.pages.train.card import BandCard
from dpml_app.pages.train.compute import PERCENTILES, nb_silenced
from dpml_app.pages.train.facts import TrainFacts
from dpml_app.pages.train.figures import share_figure
from dpml_app.pages.train.settings import TrainValues
from dpml_app.pages.train.words import CAPTIONS
from dpml_app.text.phrases import interval, percent
from dpml_app.work.pool import Task

ACCURACY = style_of("algorithm-1")
SILENCED = {
    "some": Style("On-count of some class raised", ORANGE, "square", "dotted"),
    "on": Style("On-counts of all classes raised", VERMILION, "circle", "solid"),
    "all": Style("All counts raised: says nothing", BLUE, "diamond", "solid"),
}


class ThresholdCard(BandCard):
    """Accuracy and silenced features over the percentile of the noise that is the threshold."""

    name, title = "threshold", "Threshold and silenced features"
    controls = ("threshold_percentile",)
    caption = CAPTIONS["threshold"]

    def __init__(self):
        options: Any = {"x_axis_label": "threshold, as a percentile of the noise"}
        top = share_figure(
            "train-threshold",
            {"accuracy": ACCURACY},
            "test records classified correctly",
            {"binary": ("No privacy", "dotdash"), "majority": ("A guess", "dotted")},
            x_range=(49, 100),
            **options,
        )
        bottom = share_figure(
            "train-silenced", SILENCED, "share of the features", x_range=top.plot.x_range, columns=1, **options
        )
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
            f"At ε = {values.epsilon:g} and percentile {values.threshold_percentile}, accuracy "
            f"<b>{percent(now['accuracy'].mean())}</b> ({interval(now['accuracy'])}). Of {D:,} features, on "
            f"average <b>{now['some'].mean() * D:,.0f}</b> have the on-count of some class raised, "
            f"<b>{now['on'].mean() * D:,.0f}</b> those of all classes, and <b>{now['all'].mean() * D:,.0f}</b> all "
            "counts, so that they say nothing."
        )
