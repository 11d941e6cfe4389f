"""A card of curves over a setting, declared as data: axes, styles, levels, and the task of each point."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from dpml_app.core.card import CHOSEN, Card, F, ResultKey, Results, V
from dpml_app.core.layout import figure_pane
from dpml_app.drawing.styles import Style
from dpml_app.jobs import Task
from dpml_app.settings import SWEEP_EPSILONS
from dpml_app.views.curve import CurveFigure, curve_table
from dpml_app.views.frame import AXES, Axis
from dpml_app.views.rendered import Table

# a level reaches beyond both ends of every axis
FAR = (1e-9, 1e9)


class CurvesCard(Card[V, F]):
    """A card with a task for each series and place of its axis, from `task` or, with other tasks, from `work`."""

    plot_name: ClassVar[str]
    x: ClassVar[Axis] = AXES["epsilon"]
    y: ClassVar[Axis] = AXES["accuracy"]
    # the ends of both axes; without those of y, it follows what is shown
    xlim: ClassVar[tuple[float, float]] = (0.009, 11.0)
    ylim: ClassVar[tuple[float, float] | None] = None
    # every series and level line, in the order of the legend
    styles: ClassVar[Mapping[str, Style]] = {}
    levels: ClassVar[Mapping[str, Style]] = {}
    # the name of the places in tables, and what a line shows: "mean" or "median"
    x_column: ClassVar[str] = "epsilon"
    middle: ClassVar[str] = "mean"
    # the part of a result that is drawn; empty: all of it
    column: ClassVar[str] = ""
    # whether results at the chosen setting are points of the curves, too
    with_chosen: ClassVar[bool] = False
    # further options of its `CurveFigure`
    look: ClassVar[Mapping[str, Any]] = {}

    def __init__(self) -> None:
        super().__init__()
        self._seen: Any = None
        self._styles, self._levels = dict(self.styles), dict(self.levels)
        options: Any = {"column": self.x_column, "middle": self.middle, "marker": {}, **self.look}
        options["look"] = {"xlim": self.xlim, "ylim": self.ylim or (0.0, 1.0)}
        self.figure = CurveFigure(self.plot_name, self.x, self.y, self.styles, self.levels, **options)
        self.figures, self.plots = [self.figure], [self.figure.plot]
        self.pane = figure_pane(self.figure.plot)

    def content(self) -> list[Any]:
        return [self.pane]

    # ---- what a card declares ----------------------------------------------------------------------------------------

    def shown(self, values: V, facts: F) -> Mapping[str, Style]:
        """Return the styles of the series at a setting."""
        return self.styles

    def shown_levels(self, values: V, facts: F) -> Mapping[str, Style]:
        """Return the styles of the level lines that the legend names at a setting."""
        return self.levels

    def task(self, values: V, series: str, x: float) -> Task:
        """Return the task of a series at a place of the axis."""
        raise NotImplementedError

    def work(self, values: V, facts: F) -> dict[ResultKey, Task]:
        return {(name, x): self.task(values, name, x) for x in SWEEP_EPSILONS for name in self.shown(values, facts)}

    def draws(self, series: str, result: Any) -> np.ndarray:
        """Return what is drawn of a result."""
        drawn: np.ndarray = result[self.column] if self.column else result
        return drawn

    def at(self, values: V) -> float | None:
        """Return the place of the chosen setting on the x axis."""
        chosen: float = getattr(values, self.x_column)
        return chosen

    def level_values(self, values: V, facts: F, results: Results) -> Mapping[str, float]:
        """Return the levels that are known."""
        return {}

    def series(self, results: Results) -> Mapping[str, Mapping[float, Any]]:
        """Return the results of each series by their places on the x axis."""
        found: dict[str, dict[float, Any]] = {}
        for (name, place), result in results.items():
            x = self.at(self._values) if place in CHOSEN and self.with_chosen else place
            if name in self._styles and isinstance(x, int | float):
                found.setdefault(name, {})[x] = result
        return found

    # ---- what it shows -----------------------------------------------------------------------------------------------

    def show(self, values: V, facts: F, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        self._values = values
        styles, levels = dict(self.shown(values, facts)), dict(self.shown_levels(values, facts))
        if (styles, levels) != (self._styles, self._levels):
            new = {name: style for name, style in styles.items() if name not in self.figure.sources}
            if new:
                self.figure.add_series(new)
            self._styles, self._levels, self._seen = styles, levels, None
            self.figure.name_series({name: style.label for name, style in {**levels, **styles}.items()})
        self.figure.mark(self.at(values))
        curves = [key for key in wanted if key[1] not in CHOSEN]
        if curves and not any(key in results for key in curves):
            return
        series, heights = self.series(results), self.level_values(values, facts, results)
        seen = {name: [(x, id(each)) for x, each in points.items()] for name, points in series.items()}, heights
        if not series or seen == self._seen:
            return
        self._seen, self._series = seen, series  # which is kept, so that no other result has the id of one of them
        tables: dict[str, Table] = {}
        for name, points in series.items():
            drawn = {x: self.draws(name, result) for x, result in points.items()}
            tables[name] = curve_table(drawn, self._styles[name].label, self.x_column, self.middle)
        lines = {name: {"x": FAR, "y": (value, value)} for name, value in heights.items()}
        self.figure.show({**tables, **lines})
        if self.ylim is None:
            ends = [end for table in tables.values() for column in ("low", "high") for end in table[column]]
            self.figure.fit([*ends, *heights.values()])

    def clear(self) -> None:
        self._seen = None
        self.figure.clear()
