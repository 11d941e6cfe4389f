"""The work of the pool for one page: chunks in an order, results as they come, progress, Cancel; the latest wins."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from dpml_app.work.pool import Chunk, Pool
from dpml_app.work.progress import Progress
from dpml_app.work.run import Run

__all__ = ["DELAY", "FLUSH_EVERY", "Engine"]

# a slider that is being dragged should not fade and start curves at every step
DELAY = 0.15
FLUSH_EVERY = 0.25


class Engine:
    """One run at a time for one page.

    Parameters
    ----------
    pool : Pool
    name : str
        Of the source that tells tests and the browser how far it is.
    what : str
        What is computed, for the status line.
    spawn : callable
        Starts a coroutine in the context of the page's document.
    hold : callable
        Returns the page's context within which all changes are one message.
    show : callable
        Called inside a hold with the results that have just come, by chunk.
    failed : callable
        Takes what failed, in words, and the exception.
    """

    def __init__(
        self,
        pool: Pool,
        *,
        name: str,
        what: str,
        spawn: Callable[[Coroutine], None],
        hold: Callable[[], AbstractContextManager[None]],
        show: Callable[[Mapping[Chunk, Any]], None],
        failed: Callable[[str, BaseException], None],
    ):
        self.pool, self.what, self._show, self._failed = pool, what, show, failed
        self._spawn, self._hold = spawn, hold
        self._run: Run | None = None
        self._chunks: Sequence[Chunk] = ()
        self.progress = Progress(name, self._on_cancel)

    def stop(self) -> None:
        """Compute no more."""
        if self._run is not None:
            self._run.cancel()
        self._run = None

    def rest(self, text: str) -> None:
        """Say why there is nothing to compute."""
        self.stop()
        self.progress.tell(text, 0, 0)

    def request(self, chunks: Sequence[Chunk]) -> None:
        """Compute these, in this order, instead of what is asked for now."""
        self.stop()
        self._chunks = chunks
        if chunks:
            self._start()
        else:
            self.progress.tell(self._done, 0, 0)

    @property
    def _done(self) -> str:
        return ""

    def _start(self) -> None:
        self._run = run = Run(self.pool, self._chunks)
        self._tell_running(run)

        async def follow() -> None:
            try:
                await self._follow(run)
            except Exception as error:
                if run is self._run:
                    run.cancel()
                    with self._hold():
                        self._failed(self.what.capitalize(), error)
                        self.progress.tell("Stopped by an error", run.done, len(run.chunks))

        self._spawn(follow())

    async def _follow(self, run: Run) -> None:
        arrived: dict[Chunk, Any] = {}
        shown = time.monotonic()
        async for chunk, result in run.results():
            arrived[chunk] = result
            if time.monotonic() - shown > FLUSH_EVERY:
                with self._hold():
                    self._show(arrived)
                    self._tell_running(run)
                arrived, shown = {}, time.monotonic()
        if not run.cancelled:
            with self._hold():
                self._show(arrived)
                self.progress.tell(self._done, run.done, len(run.chunks))

    def _tell_running(self, run: Run) -> None:
        done, total = run.done, len(run.chunks)
        self.progress.tell(f"Computing {self.what}: {done} of {total}", done, total, running=True)

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
