"""The work of one page: its latest request, results as they come, and a line, a bar and a button that show how far."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from typing import Any

import panel as pn
import panel_material_ui as pmui
from bokeh.models import ColumnDataSource

from dpml_app.drawing.progress import AWAY, SHOWN, bar, filled
from dpml_app.jobs import FORMULAS, Pool, Task

# seconds that an answer waits for formulas, and between results that are shown
PATIENCE, FLUSH_EVERY = 0.05, 0.25
CANCEL, RESUME = "Cancel", "Resume"
CANCELLED = "Cancelled. Faded or missing curves do not belong to this setting."
STATUS_STYLE = ":host { font-size: min(0.9rem, 15px); opacity: 0.85; }"


class Progress:
    """The status line, bar and button of a page's runs; the source `state`, by its name, is for tests and scripts."""

    def __init__(self, name: str, pressed: Callable[[], None]):
        self.bar = bar()
        self.status = pn.pane.HTML("Starting…", margin=(8, 8), sizing_mode="stretch_width", stylesheets=[STATUS_STYLE])
        self._pressed = pressed
        self.row = pn.Row(self.status, sizing_mode="stretch_width", margin=0, height=42)
        self.state = ColumnDataSource({"running": [False], "done": [0], "total": [0]}, name=name)

    @property
    def column(self) -> pn.Column:
        """All parts, below one another."""
        return pn.Column(self.row, self.bar, sizing_mode="stretch_width", margin=(8, 6))

    @cached_property
    def button(self) -> pmui.Button:
        """The button, made when it first does something: a page that opens with stored results may need none."""
        button = pmui.Button(label=CANCEL, variant="outlined", size="small", margin=(2, 8))
        button.on_click(lambda _event: self._pressed())
        self.row.append(button)
        return button

    def tell(self, text: str, done: int, total: int, *, running: bool = False, label: str = "") -> None:
        """Show the status of a run, and the label of what the button does next."""
        label = label or (CANCEL if running else "")
        self.bar.object = filled("Progress", done, total) if running else ""
        self.status.object = text
        if label or len(self.row) > 1:
            styles = SHOWN if label else AWAY
            self.button.param.update(label=label or CANCEL, disabled=not label, styles=styles)
        self.state.data = {"running": [running], "done": [done], "total": [total]}


class TaskRunner:
    """The tasks that a page asks for: its latest request wins.

    `name`: of the source that tells tests and the browser the progress.
    `what`: what is computed, for the status line.
    `spawn`: starts a coroutine in the context of the page's document.
    `hold`: returns the page's context within which all changes are one message.
    `show`: called inside a hold with the results that have just come, by task.
    `failed`: takes what failed, in words, and the exception.
    """

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
        self.pool, self.what, self._spawn, self._hold, self._show, self._failed = pool, what, spawn, hold, show, failed
        # what was asked for last; whether another request for the same is none; whether a person has cancelled it
        self._tasks: list[Task] = []
        self._asked = self._cancelled = False
        self._generation = self._done = 0
        self._flying: dict[asyncio.Future, Task] = {}
        self._formulas: asyncio.Future | None = None
        self.progress = Progress(name, self._on_button)

    @property
    def running(self) -> bool:
        """Whether more results will come."""
        return bool(self.progress.state.data["running"][0])

    @property
    def computing(self) -> bool:
        """Whether more results will come, formulas included."""
        return self.running or (self._formulas is not None and not self._formulas.done())

    def stop(self) -> None:
        """Compute no more; the next request starts, whatever it asks for."""
        self._outdate()
        self._asked = self._cancelled = False

    def close(self) -> None:
        """Stop, and show no formula that comes later."""
        self.stop()
        if self._formulas is not None:
            self._formulas.cancel()

    def rest(self, text: str) -> None:
        """Say why there is nothing to compute."""
        self.stop()
        self.progress.tell(text, 0, 0)

    def request(self, tasks: Sequence[Task]) -> None:
        """Compute these, in this order, instead of the last request, unless it was the same.

        What a person has cancelled stays so, until `stop`.
        """
        if self._asked and self._tasks == list(tasks):
            return
        self._outdate()
        self._tasks, self._asked, self._done = list(tasks), True, 0
        if tasks and self._cancelled:
            self._cancel()
        elif tasks:
            self._start()
        else:
            self.progress.tell("", 0, 0)

    async def add_formulas(self, tasks: Collection[Task]) -> None:
        """Compute tasks in the server instead of the last ones; after a moment show them as they come."""
        if self._formulas is not None:
            self._formulas.cancel()
        missing = [task for task in tasks if self.pool.cache.get(task.key) is None]
        call = self.pool.cache.call
        futures = [FORMULAS.call(call, task.function, *task.arguments) for task in missing]
        coming = asyncio.gather(*map(asyncio.wrap_future, futures))
        self._formulas = coming
        if missing:
            await asyncio.wait({coming}, timeout=PATIENCE)
            if coming.done():
                coming.result()
            else:
                self._spawn(self._show_formulas(coming, missing))

    async def _show_formulas(self, coming: asyncio.Future, tasks: list[Task]) -> None:
        try:
            results = await coming
        except Exception as error:
            with self._hold():
                self._failed(self.what.capitalize(), error)
        else:
            with self._hold():
                self._show(dict(zip(tasks, results, strict=True)))

    def _outdate(self) -> None:
        self._generation += 1
        for future in self._flying:
            if not future.cancel() and not future.cancelled():
                future.exception()  # seen, so that nothing is logged of a result that nobody wants

    def _start(self) -> None:
        self._outdate()
        self._asked, self._cancelled, self._done = True, False, 0
        self._tell(running=True)
        self._spawn(self._follow(self._generation))

    async def _follow(self, generation: int) -> None:
        arrived: dict[Task, Any] = {}
        shown = time.monotonic()
        try:
            async for task, result in self._results(generation):
                arrived[task] = result
                if time.monotonic() - shown > FLUSH_EVERY:
                    self._flush(generation, arrived)
                    arrived, shown = {}, time.monotonic()
            if generation == self._generation:
                self._flush(generation, arrived, running=False)
        except Exception as error:
            if generation == self._generation:
                self.stop()  # the next request tries again
                with self._hold():
                    self._failed(self.what.capitalize(), error)
                    self.progress.tell("Stopped by an error", self._done, len(self._tasks))

    async def _results(self, generation: int) -> AsyncIterator[tuple[Task, Any]]:
        """Yield (task, result) as they come, while no newer request does; a few tasks at a time wait for workers."""
        waiting, self._flying = deque(self._tasks), {}
        flying = self._flying
        while generation == self._generation and (waiting or flying):
            # one more than there are workers, so that none waits for the server
            while waiting and len(flying) <= self.pool.workers:
                task = waiting.popleft()
                result = self.pool.cache.get(task.key)
                if result is None:
                    flying[asyncio.wrap_future(self.pool.submit(task))] = task
                    continue
                self._done += 1
                yield task, result
                if generation != self._generation:
                    return
            if flying:
                ready, _ = await asyncio.wait(flying, return_when=asyncio.FIRST_COMPLETED)
                for future in [one for one in flying if one in ready]:  # in the order in which they were asked
                    if generation != self._generation:
                        return
                    self._done += 1
                    yield flying.pop(future), future.result()

    def _flush(self, generation: int, arrived: Mapping[Task, Any], *, running: bool = True) -> None:
        with self._hold():
            self._show(arrived)
            if generation == self._generation:  # showing may have shown that there is nothing to ask for
                self._tell(running=running)

    def _tell(self, *, running: bool) -> None:
        done, total = self._done, len(self._tasks)
        text = f"Computing {self.what}: {done} of {total}" if done < total else ""
        self.progress.tell(text, done, total, running=running)

    def _cancel(self) -> None:
        self._outdate()
        self._cancelled = True
        self.progress.tell(CANCELLED, self._done, len(self._tasks), label=RESUME)

    def _on_button(self) -> None:
        """Cancel a run, or resume it."""
        if self.running:
            self._cancel()
        elif self._asked and not self._cancelled:
            self._cancelled = True  # it ended while the click was on its way: what its setting still asks for stays
        elif self._tasks:
            self._start()
