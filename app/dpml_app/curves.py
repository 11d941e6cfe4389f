"""The curves and the map of a page: which are outdated, which chunks are missing, what is shown meanwhile."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any

import panel as pn
import panel_material_ui as pmui
from bokeh.document import Document
from bokeh.models import ColumnDataSource

from dpml_app import compute
from dpml_app.figures import AccuracyFigure, MapFigure
from dpml_app.jobs import Chunk, Pool, Run
from dpml_app.settings import EPSILONS, SWEEP_EPSILONS, Settings

__all__ = ["Curves", "statistic_key"]

# a slider that is being dragged should not start a sweep at every step
SWEEP_DELAY = 0.15
FLUSH_EVERY = 0.25
STATUS_STYLE = ":host { font-size: 0.9rem; opacity: 0.85; }"
RUNNING, DONE = "Computing curves and map", "Curves and map are up to date"
CANCELLED = "Cancelled: what is faded or missing is not of this setting"


def statistic_key(values: dict[str, Any], method: str, epsilon: float) -> tuple | None:
    """Return the arguments of the slow statistic that a method needs at this setting and ε, if any."""
    options = Settings.options(values, method)
    return compute.statistic_key(values["dataset"], method, epsilon, options, values["seed"])


class Curves:
    """The work of the pool for one page, with its progress and its Cancel button.

    Parameters
    ----------
    accuracy, map_figure : figures
    pool : Pool
    spawn : callable
        Starts a coroutine in the context of the page's document.
    failed : callable
        Takes what failed, in words, and the exception.
    on_map : callable
        Called after the map has changed.
    """

    def __init__(
        self,
        accuracy: AccuracyFigure,
        map_figure: MapFigure,
        pool: Pool,
        *,
        spawn: Callable[[Coroutine], None],
        failed: Callable[[str, BaseException], None],
        on_map: Callable[[], None],
    ):
        self.accuracy, self.map, self.pool = accuracy, map_figure, pool
        self._spawn, self._failed, self._on_map = spawn, failed, on_map
        self.doc: Document | None = None
        self._run: Run | None = None
        self._values: dict[str, Any] = {}
        self._ladder: tuple[int, ...] = ()
        self._wanted: dict[str, tuple] = {}
        self._results: dict[str, dict] = {}
        self.progress = pmui.LinearProgress(
            value=0,
            max=1,
            variant="determinate",
            sizing_mode="stretch_width",
            margin=(0, 16),
            label="Progress",
            visible=False,
        )
        self.status = pn.pane.HTML("Starting…", margin=(8, 8), sizing_mode="stretch_width", stylesheets=[STATUS_STYLE])
        self.cancel = pmui.Button(label="Cancel", variant="outlined", size="small", margin=(2, 8), visible=False)
        self.cancel.on_click(self._on_cancel)
        self.state = ColumnDataSource({"sweeping": [False], "done": [0], "total": [0]}, name="sweep-state")

    def clear(self) -> None:
        """Forget everything: another data set follows."""
        if self._run is not None:
            self._run.cancel()
        self._wanted, self._results = {}, {}

    def stop(self) -> None:
        """Stop computing for a page that has been closed."""
        if self._run is not None:
            self._run.cancel()
        self.doc = None

    def request(self, values: dict[str, Any], ladder: tuple[int, ...]) -> None:
        """Fade what the new setting outdates and compute it anew; what it does not touch stays."""
        wanted: dict[str, tuple] = {m: Settings.accuracy_key(values, m, 0.0) for m in compute.METHODS}
        wanted["map"] = Settings.map_key(values, 0)
        outdated = [name for name, key in wanted.items() if self._wanted.get(name) != key]
        if not outdated:
            return
        for name in outdated:
            self._results[name] = {}
            if name == "map":
                self.map.outdate()
                self._on_map()
            else:
                self.accuracy.outdate(name)
        self._wanted, self._values, self._ladder = wanted, values, ladder
        self._start()

    def _chunks(self) -> dict[Chunk, tuple[str, Any]]:
        """Return the chunks that are still missing, each with the curve and the point it is for."""
        values = self._values
        chunks: dict[Chunk, tuple[str, Any]] = {}
        # first what the answers at other ε will need in the server, too
        for method in compute.METHODS:
            for epsilon in EPSILONS:
                key = statistic_key(values, method, epsilon)
                if key is not None and not compute.is_here(key):
                    chunks[Chunk(compute.statistic, key)] = ("statistic", key)
        for method in compute.METHODS:
            for epsilon in SWEEP_EPSILONS:
                if epsilon not in self._results[method]:
                    chunks[Chunk(compute.accuracy, Settings.accuracy_key(values, method, epsilon))] = (method, epsilon)
        for n_features in self._ladder:
            if n_features not in self._results["map"]:
                chunks[Chunk(compute.map_row, Settings.map_key(values, n_features))] = ("map", n_features)
        return chunks

    def _start(self) -> None:
        if self._run is not None:
            self._run.cancel()
        places = self._chunks()
        self._run = run = Run(self.pool, list(places))
        self._show_progress(run, RUNNING, running=True)

        async def follow() -> None:
            try:
                await self._follow(run, places)
            except Exception as error:
                if run is self._run:
                    with pn.io.hold(self.doc):
                        self._failed("Curves and map", error)
                        self._show_progress(run, "Stopped by an error", running=False)

        self._spawn(follow())

    async def _follow(self, run: Run, places: dict[Chunk, tuple[str, Any]]) -> None:
        await asyncio.sleep(SWEEP_DELAY)
        touched: set[str] = set()
        shown = time.monotonic()
        async for chunk, result in run.results():
            if run.cancelled or self.doc is None:
                return
            name, point = places[chunk]
            if name == "statistic":
                compute.adopt(point, result)
                continue
            self._results[name][point] = result
            touched.add(name)
            if time.monotonic() - shown > FLUSH_EVERY:
                with pn.io.hold(self.doc):
                    self._show_results(touched)
                    self._show_progress(run, RUNNING, running=True)
                touched, shown = set(), time.monotonic()
        if run.cancelled or self.doc is None:
            return
        with pn.io.hold(self.doc):
            self._show_results(touched)
            self._show_progress(run, DONE, running=False)

    def _show_results(self, names: set[str]) -> None:
        for name in names:
            results = self._results[name]
            if name == "map":
                self.map.show_rows(results, len(results) == len(self._ladder))
                self._on_map()
            else:
                self.accuracy.show_curve(name, results, len(results) == len(SWEEP_EPSILONS))

    def _show_progress(self, run: Run, text: str, running: bool) -> None:
        total = len(run.chunks)
        self.progress.param.update(value=run.done, max=max(total, 1), visible=running)
        self.status.object = f"{text}: {run.done} of {total}" if running else text
        self.cancel.param.update(label="Cancel", visible=running)
        self.state.data = {"sweeping": [running], "done": [run.done], "total": [total]}

    def _on_cancel(self, _event) -> None:
        """Cancel a sweep that runs, or take a cancelled one up again."""
        run = self._run
        if run is None:
            return
        if run.cancelled:
            self._start()
            return
        run.cancel()
        self._show_progress(run, CANCELLED, running=False)
        self.cancel.param.update(label="Resume", visible=True)
