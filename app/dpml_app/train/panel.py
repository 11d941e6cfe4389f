"""What a panel of the Train page is; each is in a file of its own, and the page knows them by this alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from dpml_app.drawing.looks import Style
from dpml_app.text import percent
from dpml_app.train.figures import BandFigure
from dpml_app.train.methods import EVERY, METHODS, families, why_not
from dpml_app.work.pool import Chunk

__all__ = [
    "NOW",
    "SOON",
    "BandPanel",
    "Place",
    "Results",
    "TrainPanel",
    "Values",
    "asked",
    "chosen",
    "every_style",
    "method_styles",
]

# A series and a place on its axis. What is at NOW is answered at once, in the server; what is at SOON is of the setting
# that is chosen as well, but slow, so that workers compute it, before anything else.
Place = tuple[str, Any]
NOW, SOON = "now", "soon"
Values = Mapping[str, Any]
Results = Mapping[Place, Any]


def chosen(values: Values, facts: Values) -> tuple[str, ...]:
    """Return the chosen methods, of the families that are shown, that the data set allows."""
    return tuple(m for m in asked(values) if not why_not(m, facts))


def asked(values: Values) -> tuple[str, ...]:
    """Return the chosen methods of the families that are shown."""
    shown = families(values)
    return tuple(m for m in (*values["train_methods"], *values["train_linear"]) if EVERY[m].family in shown)


class TrainPanel(ABC):
    """One card of the Train page: its figure, what has to be computed for it, and how results are shown.

    Attributes
    ----------
    name, title, caption : str
    above : tuple of str
        Settings whose controls stand in the card.
    families : tuple of str
        Families of methods that it is about; without them it is not on the page.
    patient : bool
        Whether all that it needs is computed after what the others need.
    plots : list of bokeh figures
    """

    name: ClassVar[str]
    title: ClassVar[str]
    caption: ClassVar[str]
    above: ClassVar[tuple[str, ...]] = ()
    wide: ClassVar[bool] = False
    families: ClassVar[tuple[str, ...]] = ("naive-bayes",)
    patient: ClassVar[bool] = False
    plots: list

    def refusal(self, values: Values, facts: Values) -> str:
        """Return in a sentence why the panel says nothing about this data set or choice; empty if it does."""
        return ""

    @abstractmethod
    def work(self, values: Values, facts: Values) -> dict[Place, Chunk]:
        """Return the chunks that the panel needs at this setting, each under its place."""

    @abstractmethod
    def prepare(self, values: Values, facts: Values, now: Results) -> None:
        """Lay out for a setting: markers, levels and legend, and the results at the setting that is chosen.

        `now` has those at NOW, and those at SOON that are known already.
        """

    @abstractmethod
    def outdate(self, names: set[str]) -> None:
        """Fade the curves of these series."""

    @abstractmethod
    def show(self, results: Results, wanted: Mapping[Place, Chunk]) -> None:
        """Show the curves as far as results are there."""

    @abstractmethod
    def readout(self, values: Values, facts: Values, results: Results) -> str:
        """Return in words, as HTML, what the plot shows at the setting that is chosen."""

    @abstractmethod
    def clear(self) -> None:
        """Show nothing."""


class BandPanel(TrainPanel):
    """A panel of lines with bands; a subclass says which series there are and what they look like."""

    figures: list[BandFigure]

    def __init__(self, *figures: BandFigure):
        self.figures, self.plots = list(figures), [f.plot for f in figures]
        self._shown: dict[str, tuple] = {}
        self._measure = "accuracy"
        self._at: float | None = None

    @abstractmethod
    def styles(self, values: Values, facts: Values) -> dict[str, Style]:
        """Return the look of the series that are shown."""

    def levels(self, values: Values, facts: Values) -> Mapping[str, float]:
        """Return the level lines."""
        return facts["accuracy"]

    def measure(self, values: Values) -> str:
        """Return which measure of a result is shown where the series does not say it."""
        return "accuracy"

    def at(self, values: Values, facts: Values) -> float | None:
        """Return the place on the axis that is chosen, if one can be chosen."""
        return None

    def prepare(self, values: Values, facts: Values, now: Results) -> None:
        styles, at = self.styles(values, facts), self.at(values, facts)
        self._at = at
        self._measure = self.measure(values)
        for f in self.figures:
            f.restyle(styles)
            f.levels(self.levels(values, facts) if f is self.figures[0] else {})
            f.marker.location = at
            for series in f.curves:
                here = now.get((series, NOW), now.get((series, SOON)))
                if at is None:
                    f.clear_now(series)
                elif here is None:
                    f.outdate_now(series)
                else:
                    f.show_now(series, at, self.draws(series, here))
        if len(self.figures) == 1:
            self.figures[0].make_room()
        start = 0.3 if len(facts["classes"]) == 2 else 0.0  # a guess among more classes is right less often
        if self.figures[0].plot.y_range.start != start:
            self.figures[0].plot.y_range.update(start=start, end=1.0)

    def outdate(self, names: set[str]) -> None:
        for f in self.figures:
            for series in names & set(f.curves):
                f.outdate(series)
                self._shown.pop(series, None)

    def draws(self, series: str, result: Mapping[str, Any]) -> np.ndarray:
        """Return what is drawn of a result."""
        return result[self._measure]

    def show(self, results: Results, wanted: Mapping[Place, Chunk]) -> None:
        for f in self.figures:
            for series in f.curves:
                mine = [place for place in wanted if place[0] == series and place[1] not in (NOW, SOON)]
                if (series, SOON) in results and self._at is not None:
                    f.show_now(series, self._at, self.draws(series, results[series, SOON]))
                if not mine:
                    f.clear(series)
                    self._shown.pop(series, None)
                    continue
                there = tuple((place, wanted[place]) for place in mine if place in results)
                if self._shown.get(series) != (self._measure, there):
                    points = {place[1]: self.draws(series, results[place]) for place, _chunk in there}
                    f.show(series, points, len(there) == len(mine))
                    self._shown[series] = self._measure, there

    def readout(self, values: Values, facts: Values, results: Results) -> str:
        return self.ranking(results, NOW)

    def ranking(self, results: Results, at: Any) -> str:
        """Return the means of the series at one place, best first, each with the range of 90 % of its draws.

        At NOW those that are slow are in it, too.
        """
        found = []
        for f in self.figures[:1]:
            for series in f.curves:
                place = (series, SOON) if at == NOW and (series, SOON) in results else (series, at)
                if place in results:
                    draws = self.draws(series, results[place])
                    low, high = np.quantile(draws, [0.05, 0.95])
                    text = f"{f.items[series].label.value} <b>{percent(draws.mean())}</b>"
                    found.append((draws.mean(), f"{text} ({percent(low)} to {percent(high)})"))
        return ", ".join(text for _mean, text in sorted(found, reverse=True))

    def clear(self) -> None:
        self._shown.clear()
        for f in self.figures:
            f.clear()
            f.levels({})
            f.marker.location = None


def method_styles() -> dict[str, Style]:
    """Return the look of every naive Bayes method before a data set is chosen."""
    return {name: method.look for name, method in METHODS.items()}


def every_style() -> dict[str, Style]:
    """Return the look of every method of either family before a data set is chosen."""
    return {name: method.look for name, method in EVERY.items()}
