"""Work of the server that nothing waits for longer than a moment: what comes later is shown when it comes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Mapping
from contextlib import AbstractContextManager
from typing import Any

from dpml_app.work.pool import FORMULAS, Pool, Task

PATIENCE = 0.15


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
