"""Cards: accuracy of the published table against Θ, shares, columns and records, and other publishers beside it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from dpml_app.core.card import WORKER, ResultKey, Results, here
from dpml_app.core.curves_card import CurvesCard
from dpml_app.drawing.figure import PLAIN_DIGITS, set_ticks
from dpml_app.pages.publish import compute, shipped, words
from dpml_app.pages.publish.compute import PublishFacts
from dpml_app.pages.publish.figures import (
    CHOICE_STYLES,
    RECORD_STYLES,
    RECORDED_STYLES,
    RIVAL_STYLES,
    choices_figure,
    ladder_figure,
    models_figure,
    records_figure,
    rivals_figure,
    time_figure,
)
from dpml_app.pages.publish.settings import GRIDS, SHARE_LADDER, PublishValues
from dpml_app.settings import SWEEP_EPSILONS
from dpml_app.work.pool import Task

# those of Su et al. 2018, Figs. 4 to 7
RIVAL_EPSILONS = (0.05, 0.1, 0.2, 0.5, 1.0)
RIVAL_DRAWS = 5


class _BesideTrue(CurvesCard[PublishValues, PublishFacts]):
    """Curves with the true table and the majority as level lines."""

    def prepare(self, values: PublishValues, facts: PublishFacts, now: Results) -> None:
        self.figure.levels["majority"].location = facts.majority
        self.figure.marker.location = self.marker_x(values, facts)

    def marker_x(self, values: PublishValues, facts: PublishFacts) -> float | None:
        """Return where the chosen setting is on the axis."""
        return float(values.epsilon)

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        super().show(results, wanted)
        true = here(results, "true")
        if true is not None:
            self.figure.levels["true"].location = true
        self.figure.fit()


class ModelsCard(_BesideTrue):
    """The published table beside its cells and a linear model, which are trained for the same ε."""

    draw = models_figure
    name, title, caption = "models", "Models at the same ε", words.CAPTIONS["models"]

    def work(self, values: PublishValues, facts: PublishFacts) -> dict[ResultKey, Task]:
        work: dict[ResultKey, Task] = {("true", WORKER): shipped.true_task(values)}
        at: dict[Any, float] = {WORKER: values.epsilon, **{e: e for e in SWEEP_EPSILONS}}
        return work | {(s, x): task for x, e in at.items() for s, task in shipped.tasks(values, e).items()}

    def readout(self, values: PublishValues, facts: PublishFacts, results: Results) -> str:
        return words.models(here(results, "cells"), here(results, "linear"))


class _LadderCard(_BesideTrue):
    """The published table against one thing that a publisher chooses: a setting at some steps, unless it says more."""

    setting: ClassVar[str]
    steps: ClassVar[Sequence[Any]]

    def __init__(self) -> None:
        super().__init__(ladder_figure(self.name))

    def marker_x(self, values: PublishValues, facts: PublishFacts) -> float | None:
        return float(getattr(values, self.setting))

    def ladder(self, values: PublishValues, facts: PublishFacts) -> Mapping[float, tuple]:
        """Return the arguments of `compute.published` at each place on the axis."""
        return {x: replace(values, **{self.setting: x}).table_key(values.epsilon) for x in self.steps}

    def work(self, values: PublishValues, facts: PublishFacts) -> dict[ResultKey, Task]:
        work: dict[ResultKey, Task] = {("true", WORKER): shipped.true_task(values)}
        steps = self.ladder(values, facts).items()
        return work | {("table", x): Task(compute.published, key) for x, key in steps}

    def readout(self, values: PublishValues, facts: PublishFacts, results: Results) -> str:
        tables = {x: draws for (series, x), draws in results.items() if series == "table"}
        return words.ladder(self.name, values, tables)


class GridsCard(_LadderCard):
    """Su et al.'s Fig. 8."""

    name, title, caption = "grids", "Number of candidate grids", words.CAPTIONS["grids"]
    setting, steps = "publish_grids", GRIDS


class SharesCard(_LadderCard):
    """Su et al.'s Fig. 9, with more than two allocations."""

    name, title, caption = "shares", "Allocation of ε", words.CAPTIONS["shares"]
    setting, steps = "publish_share", SHARE_LADDER


class ColumnsCard(_LadderCard):
    """As Su et al.'s Fig. 11, at the chosen ε."""

    name, title, caption = "columns", "Number of columns", words.CAPTIONS["columns"]

    def lay_out(self, facts: PublishFacts) -> None:
        self.figure.plot.x_range.update(start=0, end=len(facts.columns) + 1)

    def ladder(self, values: PublishValues, facts: PublishFacts) -> Mapping[float, tuple]:
        steps = compute.column_ladder(len(facts.columns))
        return {n: values.table_key(values.epsilon, n) for n in steps}

    def marker_x(self, values: PublishValues, facts: PublishFacts) -> None:
        return None


def _rival(publisher: str, values: PublishValues, epsilon: float, n_records: int = 0, draws: int = RIVAL_DRAWS) -> Task:
    """Return the task of a publisher with its own shares of ε."""
    place = publisher, values.dataset, values.relation, epsilon, int(values.publish_grids)
    drawn = values.publish_classifier, draws, values.seed
    return Task(compute.rival, (*place, *drawn, *([n_records] if n_records else [])))


class RecordsCard(_BesideTrue):
    """As Su et al.'s Fig. 12, for any data set and ε."""

    draw = records_figure
    name, title, caption = "records", "Number of records", words.CAPTIONS["records"]

    def lay_out(self, facts: PublishFacts) -> None:
        n = facts.n_train
        p = self.figure.plot
        p.x_range.update(start=compute.record_ladder(n)[0] / 1.15, end=1.15 * n)
        # more have no room on a phone
        steps = (1, 3) if n < 50_000 else (1,)
        set_ticks(p.xaxis[0], [m * 10**k for k in range(1, 7) for m in steps], PLAIN_DIGITS, p.xgrid[0])

    def work(self, values: PublishValues, facts: PublishFacts) -> dict[ResultKey, Task]:
        whole, epsilon = facts.n_train, values.epsilon
        work: dict[ResultKey, Task] = {}
        drawn = values.publish_classifier, values.publish_draws, values.seed
        for n in (*compute.record_ladder(whole), whole):
            some = n if n < whole else 0
            # all records are the tables of the page's picture
            key = values.table_key(epsilon)
            work["table", n] = Task(compute.published, (*key, some) if some else key)
            few = Task(compute.on_few_records, (values.dataset, drawn[0], some, *drawn[1:]))
            work["same", n] = few if some else shipped.true_task(values)
            for publisher in RECORD_STYLES.keys() & set(compute.RIVALS):
                work[publisher, n] = _rival(publisher, values, epsilon, some)
        return work

    def waits(self, result_key: ResultKey) -> bool:
        return result_key[0] in compute.RIVALS

    def draws(self, series: str, result: Any) -> np.ndarray:
        return np.atleast_1d(result["accuracy"] if series in compute.RIVALS else result)

    def marker_x(self, values: PublishValues, facts: PublishFacts) -> None:
        return None

    def readout(self, values: PublishValues, facts: PublishFacts, results: Results) -> str:
        by_series: dict[str, dict[float, np.ndarray]] = {"table": {}, "same": {}}
        for (series, n), result in results.items():
            if series in by_series:
                by_series[series][n] = self.draws(series, result)
        return words.records(values, by_series["table"], by_series["same"])


class RivalsCard(_BesideTrue):
    """Su et al.'s Figs. 4 to 7."""

    draw: ClassVar[Callable[[], Any]] = rivals_figure
    name, title, caption = "rivals", "Accuracy of other methods", words.CAPTIONS["rivals"]
    column = "accuracy"
    publishers: ClassVar[Collection[str]] = RIVAL_STYLES
    controls: ClassVar[tuple[str, ...]] = ("publish_slow",)

    def waits(self, result_key: ResultKey) -> bool:
        return True  # its fits are the slowest by far

    def work(self, values: PublishValues, facts: PublishFacts) -> dict[ResultKey, Task]:
        work: dict[ResultKey, Task] = {("true", WORKER): shipped.true_task(values)}
        work |= {(p, e): _rival(p, values, e) for e in RIVAL_EPSILONS for p in self.publishers}
        if values.publish_slow in RECORDED_STYLES:
            work[values.publish_slow, WORKER] = _rival(values.publish_slow, values, values.epsilon, draws=1)
        return work

    def prepare(self, values: PublishValues, facts: PublishFacts, now: Results) -> None:
        super().prepare(values, facts, now)
        self._recorded = shipped.recorded(values.dataset, values.publish_classifier)

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        super().show(results, wanted)
        self._show_slow(results, wanted)

    def _show_slow(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        """Show what is recorded of slow publishers, and the table that was fitted here."""
        rows = [*self._recorded]
        for name in RECORDED_STYLES:
            fitted = here(results, name)
            if fitted is not None:
                row = {column: float(drawn.mean()) for column, drawn in fitted.items()}
                rows.append({"method": name, "epsilon": wanted[name, WORKER].arguments[3], "folds": 0, **row})
        self.figure.show_recorded(rows, self.column)

    def readout(self, values: PublishValues, facts: PublishFacts, results: Results) -> str:
        by_series: dict[str, dict[float, Any]] = {}
        for (series, epsilon), drawn in results.items():
            if series != "true" and series not in RECORDED_STYLES:
                by_series.setdefault(series, {})[epsilon] = drawn[self.column]
        return words.rivals(self.column, by_series)


class ChoicesCard(RivalsCard):
    """Su et al.'s Fig. 10."""

    draw: ClassVar[Callable[[], Any]] = choices_figure
    name, title, caption = "choices", "Cost of private selection", words.CAPTIONS["choices"]
    publishers, controls = CHOICE_STYLES, ()

    def work(self, values: PublishValues, facts: PublishFacts) -> dict[ResultKey, Task]:
        return super().work(replace(values, publish_slow="none"), facts)

    def prepare(self, values: PublishValues, facts: PublishFacts, now: Results) -> None:
        _BesideTrue.prepare(self, values, facts, now)

    def _show_slow(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        """Show none: they have no form with exact choices."""


class TimeCard(RivalsCard):
    """Su et al.'s Fig. 13."""

    draw = time_figure
    name, title, caption = "time", "Time per fit", words.CAPTIONS["time"]
    no_script = "it measures time, which a script cannot reproduce"
    column, controls = "seconds", ()

    def prepare(self, values: PublishValues, facts: PublishFacts, now: Results) -> None:
        self.figure.marker.location = values.epsilon
        self._recorded = shipped.recorded(values.dataset, values.publish_classifier)

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        CurvesCard.show(self, results, wanted)
        self._show_slow(results, wanted)
        self.figure.fit_log()
