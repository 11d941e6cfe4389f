"""Curves that the worker processes compute: which are outdated, which chunks are missing, progress and Cancel."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AbstractContextManager
from typing import Any

from bokeh.document import Document

from dpml_app.work.pool import Chunk, Pool
from dpml_app.work.progress import Progress
from dpml_app.work.run import Run

__all__ = ["Sweep"]

# a slider that is being dragged should not start a sweep at every step
SWEEP_DELAY = 0.15
FLUSH_EVERY = 0.25


class Sweep:
    """The work of the pool for one page: named curves, each of points, each point a chunk.

    Subclasses show results (`show`) and fade them (`outdate`).

    Parameters
    ----------
    pool : Pool
    spawn : callable
        Starts a coroutine in the context of the page's document.
    hold : callable
        Returns a context whose changes are sent as one message.
    failed : callable
        Takes what failed, in words, and the exception.
    what : str
        What is computed, for the status line.
    name : str
        Of the source that tells how far it is.
    """

    def __init__(
        self,
        pool: Pool,
        *,
        spawn: Callable[[Coroutine], None],
        hold: Callable[[], AbstractContextManager[None]],
        failed: Callable[[str, BaseException], None],
        what: str,
        name: str,
    ):
        self.pool, self.what = pool, what
        self._spawn, self._hold, self._failed = spawn, hold, failed
        self.doc: Document | None = None
        self._run: Run | None = None
        self._wanted: dict[str, dict[Any, Chunk]] = {}
        self._results: dict[str, dict] = {}
        self.progress = Progress(name, self._on_cancel)

    def show(self, name: str, results: dict[Any, Any], complete: bool) -> None:
        """Show what is there of a curve."""
        raise NotImplementedError

    def outdate(self, name: str) -> None:
        """Fade a curve whose settings have changed."""
        raise NotImplementedError

    def take(self, name: str, point: Any, result: Any) -> None:
        """Keep a result."""
        self._results[name][point] = result

    def places(self) -> dict[Chunk, tuple[str, Any]]:
        """Return the chunks that are still missing, each with the curve and the point it is for."""
        return {
            chunk: (name, point)
            for name, points in self._wanted.items()
            for point, chunk in points.items()
            if point not in self._results[name]
        }

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

    def request(self, wanted: Mapping[str, dict[Any, Chunk]]) -> None:
        """Fade what the new setting outdates and compute it anew; what it does not touch stays."""
        gone = [name for name in self._wanted if name not in wanted]
        outdated = [name for name, points in wanted.items() if self._wanted.get(name) != points]
        if not outdated and not gone:
            return
        self._wanted = dict(wanted)
        for name in gone:
            del self._results[name]
            self.outdate(name)
        for name in outdated:
            self._results[name] = {}
            self.outdate(name)
        if outdated or self.progress.state.data["running"][0]:
            self._start()

    def _start(self) -> None:
        if self._run is not None:
            self._run.cancel()
        places = self.places()
        self._run = run = Run(self.pool, list(places))
        self._show_progress(run, f"Computing {self.what}", running=True)

        async def follow() -> None:
            try:
                await self._follow(run, places)
            except Exception as error:
                if run is self._run:
                    with self._hold():
                        self._failed(self.what.capitalize(), error)
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
            self.take(name, point, result)
            touched.add(name)
            if time.monotonic() - shown > FLUSH_EVERY:
                with self._hold():
                    self._show_results(touched)
                    self._show_progress(run, f"Computing {self.what}", running=True)
                touched, shown = set(), time.monotonic()
        if run.cancelled or self.doc is None:
            return
        with self._hold():
            self._show_results(touched)
            self._show_progress(run, f"{self.what.capitalize()} are up to date", running=False)

    def _show_results(self, names: set[str]) -> None:
        for name in names & self._wanted.keys():
            self.show(name, self._results[name], len(self._results[name]) == len(self._wanted[name]))

    def _show_progress(self, run: Run, text: str, running: bool) -> None:
        total = len(run.chunks)
        self.progress.tell(f"{text}: {run.done} of {total}" if running else text, run.done, total, running)

    def _on_cancel(self) -> None:
        """Cancel a sweep that runs, or take a cancelled one up again."""
        run = self._run
        if run is None:
            return
        if run.cancelled:
            self._start()
            return
        run.cancel()
        self.progress.cancelled(run.done, len(run.chunks))
