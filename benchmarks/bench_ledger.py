"""The time of a charge to a ledger in a file, relative to a bare durable commit of SQLite in the same folder.

    python benchmarks/bench_ledger.py [--charges 10000] [--folder FOLDER]

Every charge is followed by two bare commits of one INSERT each, with ``synchronous = FULL`` and SQLite's default
journal mode, which the ledger uses too. One commit uses a connection that stays open; the other opens its own, as a
charge does. So a slow moment of the disk affects all three. The ledger itself uses EXTRA, which also syncs the folder.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import closing

import numpy as np

from dpml.budget import Budget

LAST = 200


def seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def connect(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def insert(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT INTO charge (label, epsilon) VALUES ('counts', 0.1)")


def insert_alone(path: str) -> None:
    with closing(connect(path)) as connection:
        insert(connection)


def ratio(some: np.ndarray, others: np.ndarray, rng: np.random.Generator) -> str:
    """Return the ratio of two medians with its standard error, from 1,000 resamples of the pairs."""
    picked = rng.integers(0, len(some), (1000, len(some)))
    spread = np.std(np.median(some[picked], axis=1) / np.median(others[picked], axis=1))
    return f"{np.median(some) / np.median(others):.2f} (s.e. {spread:.2f})"


def charges(folder: str, name: str, number: int, n_parts: int) -> None:
    """Charge a budget, or disjoint parts of it in turn."""
    budget = Budget(float(number), path=os.path.join(folder, f"{name}.ledger"))
    holders = list(budget.disjoint(*map(str, range(n_parts))).values()) if n_parts else [budget]
    holder = itertools.cycle(holders)
    paths = [os.path.join(folder, f"{name}.{kind}") for kind in ("kept", "alone")]
    for path in paths:
        with closing(connect(path)) as connection:
            connection.execute("CREATE TABLE charge (id INTEGER PRIMARY KEY, label TEXT, epsilon REAL)")
    with closing(connect(paths[0])) as kept:
        times = np.array(
            [
                (
                    seconds(lambda: next(holder).spend(0.1, label="counts")),
                    seconds(lambda: insert(kept)),
                    seconds(lambda: insert_alone(paths[1])),
                )
                for _ in range(number)
            ]
        )
    rng = np.random.default_rng(0)
    print(f"{number:,} charges to {name}:")
    for when, part in ((f"first {LAST}", times[:LAST]), (f"last {LAST}", times[-LAST:])):
        charge, bare, alone = 1e3 * np.median(part, axis=0)
        print(
            f"  {when}: {charge:.2f} ms a charge; bare commit, connection kept: {bare:.2f} ms, "
            f"ratio {ratio(part[:, 0], part[:, 1], rng)}; connection of its own: {alone:.2f} ms, "
            f"ratio {ratio(part[:, 0], part[:, 2], rng)}"
        )
    opening = [seconds(lambda: Budget(float(number), path=budget.path)) for _ in range(5)]
    size = os.path.getsize(budget.path) / 1e6
    print(f"  opening it and checking all of its {size:.1f} MB: {1e3 * np.median(opening):.0f} ms")


def in_memory(number: int) -> None:
    budget = Budget(float(number))
    times = [seconds(lambda: budget.spend(0.1, label="counts")) for _ in range(number)]
    first, last = (1e6 * np.median(part) for part in (times[:LAST], times[-LAST:]))
    print(f"{number:,} charges without a path: {first:.0f} µs a charge at first, {last:.0f} µs at last")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--charges", type=int, default=10_000)
    parser.add_argument("--folder", help="where the files go; a disk, not a file system in memory")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        charges(folder, "one budget", options.charges, 0)
        charges(folder, "100 disjoint parts", options.charges, 100)
    in_memory(options.charges)
