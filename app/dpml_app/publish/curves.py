"""Cards: accuracy of the published table against Θ, shares and columns, and other publishers beside it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from dpml_app.card import SOON, Place, Results, Values, here
from dpml_app.drawing.curves import CurvesCard
from dpml_app.publish import compute, shipped, words
from dpml_app.publish.figures import ladder_figure, rivals_figure, time_figure
from dpml_app.publish.settings import GRIDS, SHARE_LADDER, PublishSettings
from dpml_app.work.pool import Chunk

__all__ = ["RIVAL_DRAWS", "RIVAL_EPSILONS", "ColumnsCard", "GridsCard", "RivalsCard", "SharesCard", "TimeCard"]

# those of Su et al. 2018, Figs. 4 to 7
RIVAL_EPSILONS = (0.05, 0.1, 0.2, 0.5, 1.0)
RIVAL_DRAWS = 5


class _BesideTrue(CurvesCard):
    """Curves with the true table and the majority as level lines."""

    def prepare(self, values: Values, facts: Values, now: Results) -> None:
        self.figure.levels["majority"].location = facts["majority"]
        self.figure.here.location = self.place(values, facts)

    def place(self, values: Values, facts: Values) -> float | None:
        """Return where the chosen setting is on the axis."""
        return float(values["epsilon"])

    def show(self, results: Results, wanted: Mapping[Place, Chunk]) -> None:
        super().show(results, wanted)
        true = here(results, "true")
        if true is not None:
            self.figure.levels["true"].location = true
        self.figure.fit()


class _LadderCard(_BesideTrue):
    """The published table against one thing that a publisher chooses; a subclass has a `ladder`."""

    def __init__(self) -> None:
        super().__init__(ladder_figure(self.name))

    @abstractmethod
    def ladder(self, values: Values, facts: Values) -> Mapping[float, tuple]:
        """Return the arguments of `compute.published` at each place on the axis."""

    def work(self, values: Values, facts: Values) -> dict[Place, Chunk]:
        work: dict[Place, Chunk] = {("true", SOON): shipped.true_chunk(dict(values))}
        steps = self.ladder(values, facts).items()
        return work | {("table", x): Chunk(compute.published, key) for x, key in steps}

    def readout(self, values: Values, facts: Values, results: Results) -> str:
        found = {x: draws for (series, x), draws in results.items() if series == "table"}
        return words.ladder(self.name, values, found)


class GridsCard(_LadderCard):
    """Su et al.'s Fig. 8."""

    name, title, caption = "grids", "How many grids to choose from?", words.CAPTIONS["grids"]

    def ladder(self, values: Values, facts: Values) -> Mapping[float, tuple]:
        return {n: PublishSettings.table_key(values, values["epsilon"], publish_grids=n) for n in GRIDS}

    def place(self, values: Values, facts: Values) -> float:
        return float(values["publish_grids"])


class SharesCard(_LadderCard):
    """Su et al.'s Fig. 9, with more than two allocations."""

    name, title, caption = "shares", "How to divide ε?", words.CAPTIONS["shares"]

    def ladder(self, values: Values, facts: Values) -> Mapping[float, tuple]:
        return {s: PublishSettings.table_key(values, values["epsilon"], publish_share=s) for s in SHARE_LADDER}

    def place(self, values: Values, facts: Values) -> float:
        return float(values["publish_share"])


class ColumnsCard(_LadderCard):
    """As Su et al.'s Fig. 11, at the chosen ε."""

    name, title, caption = "columns", "How many columns?", words.CAPTIONS["columns"]

    def lay_out(self, facts: Values) -> None:
        self.figure.plot.x_range.update(start=0, end=len(facts["columns"]) + 1)

    def ladder(self, values: Values, facts: Values) -> Mapping[float, tuple]:
        steps = compute.column_ladder(len(facts["columns"]))
        return {n: PublishSettings.table_key(values, values["epsilon"], n) for n in steps}

    def place(self, values: Values, facts: Values) -> None:
        return None


class RivalsCard(_BesideTrue):
    """Su et al.'s Figs. 4 to 7 and 10."""

    draw = rivals_figure
    name, title, caption = "rivals", "Other publishers", words.CAPTIONS["rivals"]
    column: ClassVar[str] = "accuracy"

    def waits(self, place: Place) -> bool:
        return True  # its fits are the slowest by far

    def work(self, values: Values, facts: Values) -> dict[Place, Chunk]:
        work: dict[Place, Chunk] = {("true", SOON): shipped.true_chunk(dict(values))}
        place = values["dataset"], values["relation"]
        rest = int(values["publish_grids"]), values["publish_classifier"], RIVAL_DRAWS, values["seed"]
        return work | {
            (publisher, epsilon): Chunk(compute.rival, (publisher, *place, epsilon, *rest))
            for epsilon in RIVAL_EPSILONS
            for publisher in compute.RIVALS
        }

    def draws(self, series: str, result: Mapping[str, Any]) -> np.ndarray:
        drawn: np.ndarray = result[self.column]
        return drawn

    def prepare(self, values: Values, facts: Values, now: Results) -> None:
        super().prepare(values, facts, now)
        rows = shipped.recorded(values["dataset"], values["publish_classifier"])
        self.figure.show_recorded(rows, self.column)

    def readout(self, values: Values, facts: Values, results: Results) -> str:
        found: dict[str, dict[float, Any]] = {}
        for (series, epsilon), drawn in results.items():
            if series != "true":
                found.setdefault(series, {})[epsilon] = drawn[self.column]
        return words.rivals(self.column, found)


class TimeCard(RivalsCard):
    """Su et al.'s Fig. 13."""

    draw = time_figure
    name, title, caption = "time", "How long does it take?", words.CAPTIONS["time"]
    column = "seconds"

    def prepare(self, values: Values, facts: Values, now: Results) -> None:
        self.figure.here.location = values["epsilon"]
        rows = shipped.recorded(values["dataset"], values["publish_classifier"])
        self.figure.show_recorded(rows, self.column)

    def show(self, results: Results, wanted: Mapping[Place, Chunk]) -> None:
        CurvesCard.show(self, results, wanted)
