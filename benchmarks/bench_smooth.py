"""Time smooth sensitivities relative to one sort of the same values, and fit the growth of the time.

Run ``python benchmarks/bench_smooth.py``. With ``--check`` it fails if a statistic takes more than six sorts at
1,000,000 values, or has a log-log slope above 1.1.
"""

from __future__ import annotations

import argparse
import sys
import time
from functools import partial

import numpy as np

from dpml.mechanisms.smooth import KINDS, smooth_sensitivity

SIZES = (10_000, 31_623, 100_000, 316_228, 1_000_000)


def best_time(call, repeats=7):
    """Return the shortest of several runs, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epsilon", type=float, default=0.1, help="β is ε/6")
    parser.add_argument("--trim", type=float, default=0.01, help="share of the values trimmed at each end")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    makers = {
        "normal": lambda n: np.clip(rng.normal(50, 10, n), 0, 100),
        "uniform": lambda n: rng.uniform(0, 100, n),
        "lognormal": lambda n: np.clip(rng.lognormal(1, 1, n), 0, 100),
    }
    failed = False
    print(f"{'values':10} {'relation':12} {'kind':17} {'ms at 1e6':>10} {'sorts':>6} {'slope':>6}")
    for name, make in makers.items():
        data = [make(n) for n in SIZES]
        sort = best_time(partial(np.sort, data[-1]))
        for relation in ("replace-one", "add-remove"):
            for kind in KINDS:
                calls = [
                    partial(
                        smooth_sensitivity, kind, x, 0, 100, options.epsilon / 6, relation, int(options.trim * len(x))
                    )
                    for x in data
                ]
                times = [best_time(call) for call in calls]
                slope = np.polyfit(np.log(SIZES), np.log(times), 1)[0]
                failed |= times[-1] > 6 * sort or slope > 1.1
                print(f"{name:10} {relation:12} {kind:17} {times[-1] * 1e3:10.1f} {times[-1] / sort:6.1f} {slope:6.2f}")
    if options.check and failed:
        sys.exit("slower than six sorts, or steeper than 1.1")


if __name__ == "__main__":
    main()
