"""A card of curves: each series is shown as far as its results are there, faded once they are outdated."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, Protocol

import numpy as np

from dpml_app.core.card import CHOSEN, Card, F, ResultKey, Results, V
from dpml_app.jobs import Task


class CurvesFigure(Protocol):
    """What such a card asks of a figure."""

    plot: Any

    @property
    def curves(self) -> Collection[str]:
        """The names of its series."""

    def show(self, series: str, points: Mapping[Any, np.ndarray], complete: bool) -> None:
        """Show what is there of a series, by place on the x axis; the outdated one goes once it is complete."""

    def outdate(self, series: str) -> None:
        """Fade a series whose setting has changed."""

    def clear(self, series: str | None = None) -> None:
        """Take a series away, or all that is shown."""


class CurvesCard(Card[V, F]):
    """A card whose figures show series; a subclass says what is drawn of a result.

    Parameters
    ----------
    *figures : CurvesFigure
    """

    figures: Sequence[CurvesFigure]
    # the part of a result that is drawn; empty: all of it
    column: ClassVar[str] = ""

    def __init__(self, *figures: CurvesFigure):
        super().__init__(*figures)
        self._shown: dict[str, tuple] = {}

    def draws(self, series: str, result: Any) -> np.ndarray:
        """Return what is drawn of a result."""
        drawn: np.ndarray = result[self.column] if self.column else result
        return drawn

    def at_x(self, point: Any) -> Any:
        """Return where a place of the work is on the x axis."""
        return point

    def look(self) -> Any:
        """Return what the curves depend on besides their results."""

    def outdate(self, names: set[str]) -> None:
        for f in self.figures:
            for series in names & set(f.curves):
                f.outdate(series)
                self._shown.pop(series, None)

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        for f in self.figures:
            for series in f.curves:
                mine = [result_key for result_key in wanted if result_key[0] == series and result_key[1] not in CHOSEN]
                if not mine:
                    f.clear(series)
                    self._shown.pop(series, None)
                    continue
                there = tuple((result_key, wanted[result_key]) for result_key in mine if result_key in results)
                if self._shown.get(series) != (self.look(), there):
                    points = {
                        self.at_x(result_key[1]): self.draws(series, results[result_key]) for result_key, _task in there
                    }
                    f.show(series, points, len(there) == len(mine))
                    self._shown[series] = self.look(), there

    def clear(self) -> None:
        self._shown.clear()
        for f in self.figures:
            f.clear()
