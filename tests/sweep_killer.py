"""Kills a sweep of its own at random moments and lets another go on: ``python sweep_killer.py FOLDER KILLS SEED``.

It runs as a process of its own, which imports everything once and forks. The last line is a JSON list: how many parts
there were after each kill.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from dpml.sweep import sweep

STUDY = {
    "study": ["naive-bayes", {"name": "row-bounded-naive-bayes", "row_bound": [1, 3]}],
    "data": {"name": "toy", "n": 100},
    "epsilon": [0.1, 0.5, 1.0, 2.0, 5.0, 10.0],
    "draws": 230,
    "block": 100,
    "seed": 4,
}


def started(folder):
    """Fork a process that sweeps into a folder; return its number."""
    child = os.fork()
    if child == 0:
        try:
            sweep(STUDY, out=folder)
        except BaseException:
            import traceback

            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return child


def finished(folder):
    """Sweep into a folder until the end; return the seconds it took."""
    start = time.perf_counter()
    _, status = os.waitpid(started(folder), 0)
    assert status == 0
    return time.perf_counter() - start


def main(folder, kills, seed):
    seconds = finished(folder / "undisturbed")
    rng, counts, turn = random.Random(seed), [], 0
    while len(counts) < kills:
        child = started(folder / f"killed{turn}")
        time.sleep(rng.uniform(0.0, seconds / 3))
        os.kill(child, signal.SIGKILL)
        if os.waitpid(child, 0)[1] == 0:
            turn += 1  # it was already at its end: kill another sweep
        else:
            counts.append(len(list((folder / f"killed{turn}").glob("parts/*.parquet"))))
    for each in range(turn + 1):
        finished(folder / f"killed{each}")
    print(json.dumps(counts))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
