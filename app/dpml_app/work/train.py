"""The work of the pool for the Train page: which chunks are missing, progress, Cancel; the latest request wins."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractContextManager

from bokeh.document import Document

from dpml_app.work.pool import Chunk, Pool
from dpml_app.work.progress import Progress
from dpml_app.work.run import Run
from dpml_app.work.sweep import FLUSH_EVERY

__all__ = ["TrainWork"]


class TrainWork:
    """Progress, Cancel, and results as they come.

    Parameters
    ----------
    pool : Pool
    spawn : callable
        Starts a coroutine in the context of the page's document.
    hold : callable
        Returns the page's context within which all changes are one message.
    show : callable
        Called inside a hold with the chunks whose results have just come.
    failed : callable
        Takes what failed, in words, and the exception.
    """

    def __init__(
        self,
        pool: Pool,
        *,
        spawn: Callable[[Coroutine], None],
        hold: Callable[[], AbstractContextManager[None]],
        show: Callable[[set[Chunk]], None],
        failed: Callable[[str, BaseException], None],
    ):
        self.pool, self._spawn, self._hold, self._show, self._failed = pool, spawn, hold, show, failed
        self.doc: Document | None = None
        self._run: Run | None = None
        self._chunks: Sequence[Chunk] = ()
        self.progress = Progress("train-work", self._on_cancel)

    def stop(self) -> None:
        """Compute no more."""
        if self._run is not None:
            self._run.cancel()
        self._run = None

    def nothing(self) -> None:
        """Say that there is nothing to compute with."""
        self.stop()
        self._tell("No data", 0, 0)

    def request(self, chunks: Sequence[Chunk]) -> None:
        """Compute these, in this order, instead of what is asked for now."""
        self.stop()
        self._chunks = chunks
        if chunks:
            self._start()
        else:
            self._tell("Curves are up to date", 0, 0)

    def _start(self) -> None:
        self._run = run = Run(self.pool, self._chunks)
        self._tell("", 0, len(run.chunks), running=True)

        async def follow() -> None:
            try:
                await self._follow(run)
            except Exception as error:
                if run is self._run:
                    run.cancel()
                    with self._hold():
                        self._failed("Curves", error)
                        self._tell("Stopped by an error", run.done, len(run.chunks))

        self._spawn(follow())

    async def _follow(self, run: Run) -> None:
        arrived: set[Chunk] = set()
        shown = time.monotonic()
        async for chunk, _result in run.results():
            arrived.add(chunk)
            if time.monotonic() - shown > FLUSH_EVERY:
                with self._hold():
                    self._show(arrived)
                    self._tell("", run.done, len(run.chunks), running=True)
                arrived, shown = set(), time.monotonic()
        if run.cancelled or self.doc is None:
            return
        with self._hold():
            self._show(arrived)
            self._tell("Curves are up to date", run.done, len(run.chunks))

    def _tell(self, text: str, done: int, total: int, running: bool = False) -> None:
        self.progress.tell(text or f"Computing curves: {done} of {total}", done, total, running)

    def _on_cancel(self) -> None:
        """Cancel a run, or take a cancelled one up again."""
        run = self._run
        if run is None:
            return
        if run.cancelled:
            self._start()
            return
        run.cancel()
        self.progress.cancelled(run.done, len(run.chunks))
