"""A run: the tasks of one request, until they are done, cancelled or outdated by another run."""

import asyncio
from collections.abc import AsyncIterator, Callable, Hashable, Sequence
from typing import Any

from dpml_app.work.fair_queue import Priority, session
from dpml_app.work.pool import ANSWERS, Pool, Task


class Run:
    """The tasks of one request, of which a few at a time wait for their turn.

    `owner`: who takes turns with others; default: the session that makes the run, or else the run itself.
    `here`: returns whether the server computes a task itself.
    """

    def __init__(
        self,
        pool: Pool,
        tasks: Sequence[Task],
        *,
        owner: Hashable | None = None,
        priority: Priority = Priority.CURVES,
        here: Callable[[Task], bool] = lambda _task: False,
    ):
        self.pool, self.tasks, self.priority, self.here = pool, list(tasks), priority, here
        self.owner: Hashable = next(who for who in (owner, session(), self) if who is not None)
        self.cancelled = False
        self.done = 0
        self._flying: dict[asyncio.Future, Task] = {}

    def cancel(self) -> None:
        """Ask for nothing more; what workers compute already is kept for the next who asks."""
        self.cancelled = True
        for future in self._flying:
            future.cancel()

    async def results(self) -> AsyncIterator[tuple[Task, Any]]:
        """Yield (task, result) as they come, in no fixed order; stops early once cancelled.

        It pauses while the next result is not asked for: then no more than a few tasks are on their way.
        """
        waiting, exhausted = iter(self.tasks), False
        try:
            while not self.cancelled:
                # one more than there are workers, so that none waits for the server
                while not exhausted and len(self._flying) <= self.pool.workers:
                    task = next(waiting, None)
                    if task is None:
                        exhausted = True
                        break
                    kept = self.pool.cache.get(task.key)
                    if kept is None:
                        if self.here(task):
                            asked = ANSWERS.call(self.pool.cache.call, task.function, *task.arguments)
                        else:
                            asked = self.pool.submit(task, owner=self.owner, priority=self.priority)
                        self._flying[asyncio.wrap_future(asked)] = task
                        continue
                    self.done += 1
                    yield task, kept
                    if self.cancelled:
                        return
                if not self._flying:
                    return
                ready, _ = await asyncio.wait(self._flying, return_when=asyncio.FIRST_COMPLETED)
                for future in [one for one in self._flying if one in ready]:  # in the order in which they were asked
                    if self.cancelled:
                        return
                    self.done += 1
                    yield self._flying.pop(future), future.result()
        finally:
            for future in self._flying:
                if not future.cancel() and not future.cancelled():
                    future.exception()  # seen, so that nothing is logged of a result that nobody wants
            self._flying.clear()
