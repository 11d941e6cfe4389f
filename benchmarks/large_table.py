"""Counts of 10 million × 100 binary rows from Parquet: seconds and memory, in a process of its own.

    python benchmarks/large_table.py [MILLIONS_OF_ROWS]     # 10; needs the extra large

The table is made in a temporary folder, a file for each million (about 12 MiB), and deleted at the end. While it is
made its counts are added up; those from Parquet must equal them. The first million is also counted in memory.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from dpml.counts import contingency
from dpml.parquet import ParquetTable

MILLION, COLUMNS = 1_000_000, 100
COUNT = """
import sys, time
import numpy as np
from dpml.parquet import ParquetTable

def most():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024

table, before = ParquetTable(sys.argv[1], "label"), most()
for name, count in (("counts", table.counts), ("counts of shared records", lambda: table.shared_counts(5))):
    start, busy = time.perf_counter(), time.process_time()
    found = count()
    print(f"{name}: {time.perf_counter() - start:.1f} s ({time.process_time() - busy:.1f} s of the processor), "
          f"at most {most():.0f} MiB in the process, {before:.0f} MiB before")
    if name == "counts":
        np.save(sys.argv[1] + "/counts.npy", found.on)
"""


def make(folder: Path, millions: int) -> np.ndarray:
    """Write the table; return its counts."""
    rng, counts = np.random.default_rng(0), np.zeros((2, COLUMNS))
    for part in range(millions):
        y = rng.integers(2, size=MILLION, dtype=np.int16)
        ones = {f"f{j}": rng.integers(256, size=MILLION, dtype=np.uint8) < 30 + j + 20 * y for j in range(COLUMNS)}
        counts += [[column[y == c].sum() for column in ones.values()] for c in (0, 1)]
        pd.DataFrame({**ones, "label": y}).to_parquet(folder / f"part{part:03d}.parquet", compression="zstd")
    return counts


def main(millions: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder, start = Path(name), time.perf_counter()
        expected = make(folder, millions)
        size = sum(path.stat().st_size for path in folder.iterdir()) / 2**20
        print(f"{millions} million × {COLUMNS} rows, {size:.0f} MiB, made in {time.perf_counter() - start:.0f} s")
        subprocess.run([sys.executable, "-c", COUNT, name], check=True)
        assert np.array_equal(np.load(folder / "counts.npy"), expected)
        first = pd.read_parquet(folder / "part000.parquet")
        in_memory = contingency(first.drop(columns="label").to_numpy(dtype=float), first["label"].to_numpy(), 2)
        assert np.array_equal(ParquetTable(folder / "part000.parquet", "label").counts().on, in_memory.on)
        print("equal to the counts of the generator, and on the first million to those in memory")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
