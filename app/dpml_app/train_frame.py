"""What a panel of the Train page is; each is in a file of its own, and the page knows them by this alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from dpml_app.jobs import Chunk
from dpml_app.plotting import Style
from dpml_app.train_figures import BandFigure
from dpml_app.train_methods import METHODS, why_not
from dpml_app.words import percent

__all__ = ["NOW", "BandPanel", "Place", "Results", "TrainPanel", "Values", "chosen", "method_styles"]

# a series and a place on its axis; what is at NOW is answered at once, in the server
Place = tuple[str, Any]
NOW = "now"
Values = Mapping[str, Any]
Results = Mapping[Place, Any]


def chosen(values: Values, facts: Values) -> tuple[str, ...]:
    """Return the chosen methods that the data set allows."""
    return tuple(m for m in values["train_methods"] if not why_not(m, facts))


class TrainPanel(ABC):
    """One card of the Train page: its figure, what has to be computed for it, and how results are shown.

    Attributes
    ----------
    name, title, caption : str
    above : tuple of str
        Settings whose controls stand in the card.
    plots : list of bokeh figures
    """

    name: ClassVar[str]
    title: ClassVar[str]
    caption: ClassVar[str]
    above: ClassVar[tuple[str, ...]] = ()
    wide: ClassVar[bool] = False
    plots: list

    def refusal(self, values: Values, facts: Values) -> str:
        """Return in a sentence why the panel says nothing about this data set or choice; empty if it does."""
        return ""

    @abstractmethod
    def work(self, values: Values, facts: Values) -> dict[Place, Chunk]:
        """Return the chunks that the panel needs at this setting, each under its place."""

    @abstractmethod
    def prepare(self, values: Values, facts: Values, now: Results) -> None:
        """Lay out for a setting: markers, levels and legend, and the results at the setting that is chosen."""

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
        self._measure = self.measure(values)
        for f in self.figures:
            f.restyle(styles)
            f.levels(self.levels(values, facts) if f is self.figures[0] else {})
            f.marker.location = at
            for series in f.curves:
                if at is not None and (series, NOW) in now:
                    f.show_now(series, at, self.draws(series, now[series, NOW]))
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
                mine = [place for place in wanted if place[0] == series and place[1] != NOW]
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
        """Return the means of the series at one place, best first, each with the range of 90 % of its draws."""
        found = []
        for f in self.figures[:1]:
            for series in f.curves:
                if (series, at) in results:
                    draws = self.draws(series, results[series, at])
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
    """Return the look of every method before a data set is chosen."""
    return {name: Style(m.short or m.title, m.color, m.marker, "solid") for name, m in METHODS.items()}
