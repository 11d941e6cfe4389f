"""Print what the library's speed is in ratios and slopes, in one run of some minutes: ``python -m benchmarks``.

It needs the files of adult (DPML_DATA). With ``--peer PYTHON`` it also times diffprivlib, which needs an environment of
its own (``pip install diffprivlib==0.6.6 "scikit-learn<1.8"``); PYTHON is that environment's.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
from collections.abc import Iterable

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: a ratio is of one thread

import numpy as np
import pandas as pd
import scipy
import sklearn

import dpml
from benchmarks import growth, ratios


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--peer", metavar="PYTHON", help="of an environment with diffprivlib")
    parser.add_argument("--jobs", type=int, default=2, help="processes of the second sweep (default 2)")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each, of which the shortest counts (default 5)")
    parser.add_argument("--only", choices=("ratios", "growth", "imports"), help="one part (default: all)")
    asked = parser.parse_args()
    versions = {"dpml": dpml, "numpy": np, "scipy": scipy, "pandas": pd, "scikit-learn": sklearn}
    print(f"{datetime.date.today()}, Python {platform.python_version()}, {os.cpu_count()} processors, ", end="")
    print(", ".join(f"{name} {module.__version__}" for name, module in versions.items()))
    print("\n| what | figure | of what |\n|---|---|---|")
    if asked.only in (None, "ratios"):
        throughput, found = ratios.of_the_sweep(asked.jobs)
        show(found)
        if asked.peer:
            show(ratios.peer(asked.peer, throughput))
        show(ratios.against_product())
        show(ratios.against_one_fit())
    if asked.only in (None, "imports"):
        show(ratios.imports(asked.repeats))
    if asked.only in (None, "growth"):
        show(growth.rows(asked.repeats))


def show(rows: Iterable[tuple[str, str, str]]) -> None:
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
