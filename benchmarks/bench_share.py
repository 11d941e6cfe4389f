"""How long sessions wait for an answer of the worker processes while another session floods them.

Run from the project's root: ``python benchmarks/bench_share.py``. In one process with one worker: 25 sessions ask for
one task now and then (each on average once in 5 s, so that the worker has time for them), and one session has on each
of six pages a run of 200 tasks that is cancelled and started anew five times a second, as by a slider that is dragged.
A task sleeps for CHUNK seconds, so that the figures are of the turns and not of the machine. Then a worker is killed
in the middle of a run of ten tasks: how long until the run is complete.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import statistics
import time

import numpy as np
from dpml_app.work.pool import Pool, Task
from dpml_app.work.run import Run

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


async def follow(run: Run) -> None:
    async for _ in run.results():
        pass


async def rest(pool: Pool, rng: np.random.Generator, waited: list[float]) -> None:
    """Ask for one task now and then, and note how long each took."""
    while True:
        await asyncio.sleep(rng.uniform(0, 10))
        begun = time.perf_counter()
        await follow(Run(pool, [new_task()]))
        waited.append(time.perf_counter() - begun)


async def flood(pool: Pool) -> None:
    """Start run after run, each cancelled by the next."""
    while True:
        run = Run(pool, [new_task() for _ in range(200)], owner="flood")
        following = asyncio.ensure_future(follow(run))
        await asyncio.sleep(0.2)
        run.cancel()
        await following


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
    """Return the seconds from the end of a worker to the end of its run."""
    await follow(Run(pool, [new_task()]))
    pid = pool._hands[0].worker.process.pid
    run = Run(pool, [new_task() for _ in range(10)])
    following = asyncio.ensure_future(follow(run))
    await asyncio.sleep(3 * CHUNK)
    os.kill(pid, signal.SIGKILL)
    begun = time.perf_counter()
    await following
    return time.perf_counter() - begun


async def main() -> None:
    """Measure and print."""
    pool = Pool(1)
    try:
        await pool.result(Task(os.getpid, ()))
        for flooded in (False, True):
            waited = 1000 * np.array(await measured(pool, flooded=flooded))
            low, middle, high = np.percentile(waited, [25, 50, 75])
            print(
                f"{'one floods' if flooded else 'all at rest':<12} {len(waited):4} answers, median {middle:6.1f} ms "
                f"(quartiles {low:.1f} to {high:.1f}), longest {waited.max():.0f} ms"
            )
        times = [await killed(pool) for _ in range(KILLS)]
        print(
            f"a worker is killed: the run is complete after {statistics.median(times):.1f} s "
            f"(median of {KILLS}; {min(times):.1f} to {max(times):.1f})"
        )
    finally:
        pool.stop()


if __name__ == "__main__":
    asyncio.run(main())
