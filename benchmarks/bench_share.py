"""How long sessions wait for an answer of the worker processes while another session floods them.

Run from the project's root: ``python benchmarks/bench_share.py``. In one process with one worker: 25 sessions ask for
one task now and then (each on average once in 5 s, so that the worker has time for them), and one session asks on each
of six pages for 33 tasks that are cancelled and asked for anew five times a second, as by a slider that is dragged.
A task sleeps for CHUNK seconds, so that the figures are of the turns and not of the machine. Then a worker is killed
in the middle of ten tasks: how long until they are complete.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import statistics
import time

import numpy as np
from dpml_app.jobs import Pool, Task

CHUNK = 0.03
SESSIONS = 25
# the pages of the one that floods
FLOODS = 6
SECONDS = 20.0
KILLS = 5
NUMBERS = itertools.count()


def new_task(seconds: float = CHUNK) -> Task:
    """Return a task that nobody has asked for before."""
    return Task(time.sleep, (seconds + next(NUMBERS) * 1e-9,))


async def result(pool: Pool, task: Task, owner: object = None) -> object:
    return await asyncio.wrap_future(pool.submit(task, owner=owner))


async def rest(pool: Pool, rng: np.random.Generator, waited: list[float]) -> None:
    """Ask for one task now and then, and note how long each took."""
    while True:
        await asyncio.sleep(rng.uniform(0, 10))
        begun = time.perf_counter()
        await result(pool, new_task())
        waited.append(time.perf_counter() - begun)


async def flood(pool: Pool) -> None:
    """Ask for as much as may wait, again and again; each time all that waits is cancelled by the next."""
    while True:
        futures = [pool.submit(new_task(), owner="flood") for _ in range(200 // FLOODS)]
        await asyncio.sleep(0.2)
        for future in futures:
            future.cancel()


async def measured(pool: Pool, *, flooded: bool) -> list[float]:
    waited: list[float] = []
    tasks = [asyncio.ensure_future(rest(pool, np.random.default_rng(i), waited)) for i in range(SESSIONS)]
    if flooded:
        tasks += [asyncio.ensure_future(flood(pool)) for _ in range(FLOODS)]
    await asyncio.sleep(SECONDS)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return waited


async def killed(pool: Pool) -> float:
    """Return the seconds from the end of a worker to the end of ten tasks that it had to compute."""
    await result(pool, new_task())
    pid = pool._workers[0].process.pid
    results = [asyncio.ensure_future(result(pool, new_task(), "one")) for _ in range(10)]
    await asyncio.sleep(3 * CHUNK)
    os.kill(pid, signal.SIGKILL)
    begun = time.perf_counter()
    await asyncio.gather(*results)
    return time.perf_counter() - begun


async def main() -> None:
    """Measure and print."""
    pool = Pool(1)
    try:
        await result(pool, Task(os.getpid, ()))
        for flooded in (False, True):
            waited = 1000 * np.array(await measured(pool, flooded=flooded))
            low, middle, high = np.percentile(waited, [25, 50, 75])
            print(
                f"{'one floods' if flooded else 'all at rest':<12} {len(waited):4} answers, median {middle:6.1f} ms "
                f"(quartiles {low:.1f} to {high:.1f}), longest {waited.max():.0f} ms"
            )
        times = [await killed(pool) for _ in range(KILLS)]
        print(
            f"a worker is killed: its tasks are complete after {statistics.median(times):.1f} s "
            f"(median of {KILLS}; {min(times):.1f} to {max(times):.1f})"
        )
    finally:
        pool.stop()


if __name__ == "__main__":
    asyncio.run(main())
