"""What the cards of the Train page have in common: which methods they are about, their figure and their captions."""

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from bokeh.models import Axis

from dpml_app.core.card import IMMEDIATE, WORKER, Card, ResultKey, Results, here
from dpml_app.core.curves_card import CurvesCard
from dpml_app.drawing.band import BandFigure
from dpml_app.drawing.figure import epsilon_axis, new_figure, percent_axis
from dpml_app.drawing.styles import Style
from dpml_app.pages.train import peers
from dpml_app.pages.train.facts import TrainFacts
from dpml_app.pages.train.methods import EVERY, METHODS, why_not
from dpml_app.pages.train.settings import TrainValues
from dpml_app.settings import EPSILONS
from dpml_app.text.phrases import interval, percent, read_captions
from dpml_app.work.pool import Task

CAPTIONS = read_captions(Path(__file__).with_name("captions.yaml"))
MEASURED = {
    "accuracy": "accuracy on test records",
    "auc": "AUC (chance: 50%)",
}


def share_figure(
    name: str,
    styles: Mapping[str, Style],
    references: Mapping[str, tuple[str, str]],
    *,
    marker: bool = True,
    columns: int = 2,
    **options: Any,
) -> BandFigure:
    """Return a figure of accuracies; of each level line label and dash are given, and `options` are for the plot."""
    look = {"x_axis_type": "log", "y_axis_label": MEASURED["accuracy"], **options}
    p = new_figure(name, y_range=(0.3, 1.0), **look)
    percent_axis(p.yaxis)
    chart = BandFigure(p, styles, columns=columns, marker=marker, marks=True, dots=True, deferred=True)
    for key, (label, dash) in references.items():
        chart.level(key, label, dash=dash)
    return chart


def share_over_epsilon(name: str, styles: Mapping[str, Style], references: Any, columns: int = 2) -> BandFigure:
    """Return such a figure over ε."""
    ends = EPSILONS[0] / 1.15, EPSILONS[-1] * 1.15
    chart = share_figure(name, styles, references, columns=columns, x_range=ends)
    epsilon_axis(chart.plot)
    return chart


def chosen(values: TrainValues, facts: TrainFacts) -> tuple[str, ...]:
    """Return the chosen methods, of the families that are shown, that the data set allows."""
    return _allowed(asked(values), values.relation, facts)


@lru_cache(16)  # of some data sets, for each card asks for it several times an answer
def _allowed(methods: tuple[str, ...], relation: str, facts: TrainFacts) -> tuple[str, ...]:
    return tuple(m for m in methods if not left_out(m, relation, facts))


def trained(values: TrainValues, facts: TrainFacts) -> tuple[str, ...]:
    """Return the chosen methods that are trained here, and not recorded."""
    return _trained(chosen(values, facts))


@lru_cache(16)
def _trained(methods: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(m for m in methods if not EVERY[m].recorded)


def asked(values: TrainValues) -> tuple[str, ...]:
    """Return the chosen methods of the families that are shown, and those that belong to none."""
    shown = values.families
    both = (m for m in (*values.train_methods, *values.train_linear) if EVERY[m].family in shown)
    return (*values.train_begin, *both)


def left_out(method: str, relation: str, facts: TrainFacts) -> str:
    """Return why a method is not drawn at these settings, or nothing."""
    if EVERY[method].recorded:
        return peers.why_not(method, facts.name, relation)
    return why_not(method, facts)


def nearest(steps: Sequence[float], epsilon: float) -> float:
    """Return the step that is nearest to an ε on the log scale.

    >>> nearest((0.1, 1.0), 0.25), nearest((0.1, 1.0), 50)
    (0.1, 1.0)
    """
    return min(steps, key=lambda step: abs(math.log(step / epsilon)))


def label_measure(axis: Axis, values: TrainValues) -> None:
    """Say on an axis what the methods are measured by."""
    if axis.axis_label != MEASURED[values.train_measure]:
        axis.axis_label = MEASURED[values.train_measure]


def levels(values: TrainValues, facts: TrainFacts) -> Mapping[str, float]:
    """Return what is known of the data set without privacy, by what the methods are measured by."""
    return facts.accuracy if values.train_measure == "accuracy" else facts.auc


def nothing_to_compare(values: TrainValues, facts: TrainFacts) -> str:
    """Return why no method is drawn by what they are measured by, empty if one is or none is chosen."""
    if values.train_measure == "auc" and len(facts.classes) > 2:
        return f"AUC needs two classes, and this data set has {len(facts.classes)}. Choose accuracy."
    return none_left(values, facts)


def none_left(values: TrainValues, facts: TrainFacts) -> str:
    """Return why none of the chosen methods is drawn, empty if one is or none is chosen."""
    if chosen(values, facts):
        return ""
    return " ".join(f"{left_out(m, values.relation, facts)}." for m in asked(values))


class TrainCard(Card[TrainValues, TrainFacts]):
    """A card of the Train page, with the caption of its name."""

    # families of methods that it is about; without them it is not on the page
    families: ClassVar[tuple[str, ...]] = ("naive-bayes",)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" in vars(cls):
            cls.caption = CAPTIONS[cls.name]

    @classmethod
    def belongs(cls, values: TrainValues) -> bool:
        return bool(set(cls.families) & set(values.families))


class BandCard(TrainCard, CurvesCard[TrainValues, TrainFacts]):
    """A card of lines with bands; a subclass says which series there are and what they look like."""

    figures: list[BandFigure]
    # whether the axis follows the curves where a place is chosen, too
    fitted: ClassVar[bool] = False

    def __init__(self, *figures: BandFigure):
        super().__init__(*figures)
        self._measure = "accuracy"
        self._at: float | None = None

    @abstractmethod
    def styles(self, values: TrainValues, facts: TrainFacts) -> dict[str, Style]:
        """Return the look of the series that are shown."""

    def levels(self, values: TrainValues, facts: TrainFacts) -> Mapping[str, float]:
        """Return the level lines."""
        return facts.accuracy

    def measure(self, values: TrainValues) -> str:
        """Return which measure of a result is shown where the series does not say it."""
        return "accuracy"

    def at(self, values: TrainValues, facts: TrainFacts) -> float | None:
        """Return the place on the axis that is chosen, if one can be chosen."""
        return None

    def prepare(self, values: TrainValues, facts: TrainFacts, now: Results) -> None:
        styles, at = self.styles(values, facts), self.at(values, facts)
        self._at = at
        self._measure = self.measure(values)
        for f in self.figures:
            f.restyle(styles)
            f.place_levels(self.levels(values, facts) if f is self.figures[0] else {})
            f.marker.location = at
            for series in f.curves:
                result = here(now, series)
                if at is None:
                    f.clear_now(series)
                elif result is None:
                    f.outdate_now(series)
                else:
                    f.show_now(series, at, self.draws(series, result))
        if len(self.figures) == 1:
            self.figures[0].make_room()
        # a dot that has not come yet must not move the axis
        start = 0.3 if len(facts.classes) == 2 else 0.0  # a guess among more classes is right less often
        if at is not None and not self.fitted and self.figures[0].plot.y_range.start != start:
            self.figures[0].plot.y_range.update(start=start, end=1.0)

    def draws(self, series: str, result: Mapping[str, Any]) -> np.ndarray:
        return result[self._measure]

    def look(self) -> str:
        return self._measure

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        super().show(results, wanted)
        for f in self.figures:
            for series in f.curves:
                if (series, WORKER) in results and self._at is not None:
                    f.show_now(series, self._at, self.draws(series, results[series, WORKER]))
        if self._at is None or self.fitted:
            self.figures[0].fit()

    def readout(self, values: TrainValues, facts: TrainFacts, results: Results) -> str:
        return self.ranking(results, IMMEDIATE)

    def ranking(self, results: Results, at: Any) -> str:
        """Return the means of the series at one place, best first, each with the range of 90 % of its draws.

        At IMMEDIATE those that are slow are in it, too.
        """
        ranked = []
        for f in self.figures[:1]:
            for series in f.curves:
                result_key = (series, WORKER) if at == IMMEDIATE and (series, WORKER) in results else (series, at)
                if result_key in results:
                    draws = self.draws(series, results[result_key])
                    text = f"{f.items[series].label.value} <b>{percent(draws.mean())}</b>"
                    ranked.append((draws.mean(), f"{text} ({interval(draws)})"))
        return ", ".join(text for _mean, text in sorted(ranked, reverse=True))

    def clear(self) -> None:
        super().clear()
        for f in self.figures:
            f.place_levels({})
            f.marker.location = None


def method_styles() -> dict[str, Style]:
    """Return the look of every naive Bayes method before a data set is chosen."""
    return {name: method.look for name, method in METHODS.items()}


def every_style() -> dict[str, Style]:
    """Return the look of every method of either family before a data set is chosen."""
    return {name: method.look for name, method in EVERY.items()}
