"""The work of the pool for one page: tasks in an order, results as they come, progress, Cancel; the latest wins."""

import asyncio
import time
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar

from dpml_app.work.fair_queue import Priority
from dpml_app.work.pool import FORMULAS, Pool, Task
from dpml_app.work.progress import ButtonLabels, Progress
from dpml_app.work.run import Run

# how long an answer waits for what can follow it; a lever has 150 ms for all
PATIENCE = 0.05


class DeferredRequest:
    """The latest request wins; its parameters are those of `dpml_app.work.task_runner.TaskRunner`."""

    def __init__(
        self,
        pool: Pool,
        *,
        what: str,
        spawn: Callable[[Coroutine], None],
        hold: Callable[[], AbstractContextManager[None]],
        show: Callable[[Mapping[Task, Any]], None],
        failed: Callable[[str, BaseException], None],
    ):
        self.pool, self.what, self._show, self._failed = pool, what, show, failed
        self._spawn, self._hold = spawn, hold
        # what was asked for last, also once it is there
        self.coming: asyncio.Future | None = None

    def stop(self) -> None:
        """Show nothing that has not come yet."""
        if self.coming is not None:
            self.coming.cancel()

    async def request(self, tasks: Collection[Task]) -> None:
        """Compute what is not kept, and wait a moment for it."""
        self.stop()
        missing = [task for task in tasks if self.pool.cache.get(task.key) is None]
        if not missing:
            return
        self.coming = coming = asyncio.gather(*map(self._compute, missing))
        await asyncio.wait({coming}, timeout=PATIENCE)
        if coming.done():
            coming.result()
        else:
            self._spawn(self._follow(coming, missing))

    async def _compute(self, task: Task) -> Any:
        return await asyncio.wrap_future(FORMULAS.call(self.pool.cache.call, task.function, *task.arguments))

    async def _follow(self, coming: asyncio.Future, tasks: list[Task]) -> None:
        try:
            results = await coming
        except Exception as error:
            with self._hold():
                self._failed(self.what.capitalize(), error)
        else:
            with self._hold():
                self._show(dict(zip(tasks, results, strict=True)))


# a slider that is being dragged should not fade and start curves at every step
DELAY = 0.15
FLUSH_EVERY = 0.25


class TaskRunner:
    """One run at a time for one page.

    `name`: of the source that tells tests and the browser how far it is.
    `what`: what is computed, for the status line.
    `spawn`: starts a coroutine in the context of the page's document.
    `hold`: returns the page's context within which all changes are one message.
    `show`: called inside a hold with the results that have just come, by task.
    `failed`: takes what failed, in words, and the exception.

    `seen`, set of Task: those of the present request whose results have been shown.
    """

    # before whom and after whom its tasks have their turns
    priority: ClassVar[Priority] = Priority.CURVES
    # seconds between results that are shown for the first time; 0: they are shown as they come, some at a time
    pace: ClassVar[float] = 0.0
    button_labels: ClassVar[ButtonLabels] = ButtonLabels()

    def __init__(
        self,
        pool: Pool,
        *,
        name: str,
        what: str,
        spawn: Callable[[Coroutine], None],
        hold: Callable[[], AbstractContextManager[None]],
        show: Callable[[Mapping[Task, Any]], None],
        failed: Callable[[str, BaseException], None],
    ):
        self.pool, self.what, self._show, self._failed = pool, what, show, failed
        self._spawn, self._hold = spawn, hold
        self._run: Run | None = None
        self._tasks: list[Task] = []
        self.seen: set[Task] = set()
        self.progress = Progress(name, self._on_button, self.button_labels)

    # ---- what a page can say of it ----------------------------------------------------------------------------------

    def here(self, task: Task) -> bool:
        """Return whether the server computes a task itself."""
        return False

    def said(self, done: int, total: int) -> str:
        """Return in words how far a run is."""
        return f"Computing {self.what}: {done} of {total}" if done < total else ""

    async def turn(self) -> None:
        """Wait while something else goes first."""

    # ---- runs -------------------------------------------------------------------------------------------------------

    @property
    def running(self) -> bool:
        """Whether there is something to come, and nobody has stopped it."""
        return bool(self.progress.state.data["running"][0])

    def stop(self) -> None:
        """Compute no more."""
        if self._run is not None:
            self._run.cancel()
        self._run = None

    def rest(self, text: str) -> None:
        """Say why there is nothing to compute."""
        self.stop()
        self.progress.tell(text, 0, 0)

    def request(self, tasks: Sequence[Task]) -> None:
        """Compute these, in this order, instead of what is asked for now; what is asked for already goes on.

        What a person has cancelled stays so, until `stop` says that something else is wanted.
        """
        if self._run is not None and self._tasks == list(tasks):
            return
        cancelled = self._run is not None and self._run.cancelled
        self.stop()
        self._tasks = list(tasks)
        self.seen.intersection_update(tasks)
        if tasks and cancelled:
            self._run = Run(self.pool, tasks, priority=self.priority, here=self.here)
            self._cancel(self._run)
        elif tasks:
            self._start()
        else:
            self.progress.tell("", 0, 0)

    def _start(self) -> None:
        self._run = run = Run(self.pool, self._tasks, priority=self.priority, here=self.here)
        self._tell(run, running=True)

        async def follow() -> None:
            try:
                await self._follow(run)
            except Exception as error:
                if run is self._run:
                    run.cancel()
                    self._run = None  # the next request tries again
                    with self._hold():
                        self._failed(self.what.capitalize(), error)
                        self.progress.tell("Stopped by an error", run.done, len(run.tasks))

        self._spawn(follow())

    async def _follow(self, run: Run) -> None:
        arrived: dict[Task, Any] = {}
        shown = time.monotonic()
        await self.turn()
        async for task, result in run.results():
            arrived[task] = result
            paced = self.pace and task not in self.seen
            if paced or time.monotonic() - shown > FLUSH_EVERY:
                self._flush(run, arrived)
                arrived, shown = {}, time.monotonic()
            if paced:
                await asyncio.sleep(self.pace)
            await self.turn()
        if not run.cancelled:
            self._flush(run, arrived, running=False)

    def _flush(self, run: Run, arrived: Mapping[Task, Any], *, running: bool = True) -> None:
        with self._hold():
            self.seen.update(arrived)
            self._show(arrived)
            if not run.cancelled:  # showing may have shown that there is nothing to ask for
                self._tell(run, running)

    def _tell(self, run: Run, running: bool) -> None:
        done, total = run.done, len(run.tasks)
        self.progress.tell(self.said(done, total), done, total, running)

    def _cancel(self, run: Run) -> None:
        run.cancel()
        self.progress.cancelled(run.done, len(run.tasks))

    def _on_button(self) -> None:
        """Stop a run, take a stopped one up again, or show once more what is done."""
        run = self._run
        if run is not None and self.running:
            self._cancel(run)
        elif run is not None and not run.cancelled and not self.button_labels.again:
            run.cancel()  # it ended while the click was on its way: what its setting still asks for stays
        elif self._tasks:
            if run is None or not run.cancelled:
                self.seen.clear()
            self._start()
