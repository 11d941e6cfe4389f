"""Card: privacy cost of each class, and of each group of people that the data set's card names."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from bokeh.models import FactorRange
from numpy.typing import NDArray

from dpml_app.core.card import Card, ResultKey, Results, here
from dpml_app.data.facts import GroupFacts
from dpml_app.drawing.figure import Figure, across, empty_source, new_figure
from dpml_app.drawing.styles import COST, OVERLAY
from dpml_app.pages.explore import words
from dpml_app.pages.explore.main_card import at_chosen
from dpml_app.pages.explore.settings import ExploreValues
from dpml_app.work.pool import Task

# ends of the axis, in points: it moves from one to the next, not with each number
REACH = (1, 2, 5, 10, 20, 50, 100)


def _reach(points: float) -> int:
    return next((r for r in REACH if r >= points), REACH[-1])


class WhoFigure(Figure):
    """A row for all, for each class and for each group: a dot for the mean cost, a line for 90 % of the runs."""

    computed = ("rows",)

    def __init__(self) -> None:
        self.rows = empty_source("who-rows", "name", "records", "mean", "low", "high")
        self.plot = p = new_figure(
            "who",
            y_range=FactorRange(),
            x_range=(-1, 5),
            x_axis_label="← gain      percentage points of accuracy      loss →",
        )
        p.height = 440
        p.ygrid.visible = False
        across(p, "height", 0)
        look: Any = {"source": self.rows, "level": OVERLAY, "color": COST}
        p.segment("low", "name", "high", "name", line_width=4, line_alpha=0.5, **look)
        p.scatter("mean", "name", size=12, **look)

    def show(self, names: list[str], records: list[int], paid: NDArray[np.float64]) -> None:
        """Show costs in points of shape (draws, rows), the first row on top."""
        low, high = np.quantile(paid, [0.05, 0.95], axis=0)
        if list(self.plot.y_range.factors) != names[::-1]:
            self.plot.y_range.factors = names[::-1]
        ends = {"start": -_reach(max(-low.min(), 0)), "end": _reach(max(high.max(), 0))}
        if (self.plot.x_range.start, self.plot.x_range.end) != tuple(ends.values()):
            self.plot.x_range.update(**ends)
        mean = paid.mean(axis=0)
        self.rows.data = {"name": names, "records": records, "mean": mean, "low": low, "high": high}


class WhoCard(Card[ExploreValues, GroupFacts]):
    """The cost of each class and group, beside that of all."""

    draw: ClassVar[Any] = WhoFigure
    name, title, caption = "who", "Cost by group", words.CAPTIONS["who"]

    def work(self, values: ExploreValues, facts: GroupFacts) -> dict[ResultKey, Task]:
        return at_chosen(values)

    def prepare(self, values: ExploreValues, facts: GroupFacts, now: Results) -> None:
        self._facts = facts
        if here(now, "private") is None or here(now, "best") is None:
            self.clear()  # what is there is of another setting
        self.show(now, {})

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        runs, best = here(results, "private"), here(results, "best")
        if runs is None or best is None:
            return
        names, paid = words.costs(self._facts, runs, best)
        n = list(self._facts.records)
        self.figure.show(names, [sum(n), *n, *self._facts.members], paid)

    def readout(self, values: ExploreValues, facts: GroupFacts, results: Results) -> str:
        runs, best = here(results, "private"), here(results, "best")
        return "Computing…" if runs is None or best is None else words.cost_extremes(values, facts, runs, best)
