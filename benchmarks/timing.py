"""How the benchmarks take the time: processor seconds of one thread, the shortest of several runs that alternate.

Other work on the machine lengthens every run, so the shortest is nearest to the truth, and a ratio of two that
alternate suffers least from a slow moment.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

__all__ = ["seconds", "slope"]


def seconds(*calls: Callable[[], object], repeats: int = 5, least: float = 0.02) -> list[float]:
    """Return the processor seconds of one run of each call; a call shorter than `least` is run several times."""
    numbers = []
    for call in calls:
        start = time.process_time()
        call()
        numbers.append(max(1, int(least / max(time.process_time() - start, 1e-6))))
    best = [np.inf] * len(calls)
    for _ in range(repeats):
        for place, (call, number) in enumerate(zip(calls, numbers, strict=True)):
            start = time.process_time()
            for _ in range(number):
                call()
            best[place] = min(best[place], (time.process_time() - start) / number)
    return best


def slope(sizes: Sequence[float], times: Sequence[float]) -> float:
    """Return the slope of the logarithm of the time over that of the size: 1 is linear growth."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
