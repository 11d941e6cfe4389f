"""Time and memory of a fit of the default classifier, beside other classifiers, each in a process of its own.

    python -m benchmarks.time_auto [RECORDS ...]     # 10000 100000 1000000

The tables are generated: 20 numbers, or 10 numbers and 10 categories, and two or three classes. Other classifiers get
the numbers scaled to [0, 1] by their bounds. diffprivlib is measured where it is installed. Memory is the peak of the
process during the fit above its memory just before, when the table is already in it. A table in Parquet is in it too,
though the fit does not use it.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd

from benchmarks.timing import slope
from dpml.classifiers import AutoClassifier
from dpml.parquet import ParquetTable
from dpml.schema import Feature, Schema

SIZES = (10_000, 100_000, 1_000_000)
COLUMNS, EPSILON, REPEATS = 20, 1.0, 3
READING = ("auto", "parquet")
CASES = {
    "AutoClassifier, 20 numbers": ("auto", 0, 2),
    "AutoClassifier, 20 numbers in Parquet": ("parquet", 0, 2),
    "AutoClassifier, 10 numbers, 10 categories": ("auto", 10, 2),
    "AutoClassifier, the same in Parquet": ("parquet", 10, 2),
    "AutoClassifier, the same, 3 classes": ("auto", 10, 3),
    "LogisticRegression (scikit-learn), 20 numbers": ("regression", 0, 2),
    "HistGradientBoostingClassifier (scikit-learn), 20 numbers": ("boosting", 0, 2),
    "LogisticRegression (diffprivlib), 20 numbers": ("diffprivlib", 0, 2),
}


def table(n: int, n_categories: int, n_classes: int) -> tuple[pd.DataFrame, np.ndarray, Schema]:
    """Return a generated table, its labels and its public metadata."""
    rng = np.random.default_rng(0)
    columns, features, score = {}, [], rng.logistic(size=n)
    for j in range(COLUMNS):
        name, sign = f"x{j}", 1 if j % 2 else -1
        if j < n_categories:
            values = rng.integers(6, size=n)
            features.append(Feature(name, "categorical", tuple(range(6))))
            score += sign * 0.13 * (values - 2.5)
        else:
            values = rng.normal(50, 15, n).clip(0, 100)
            features.append(Feature(name, "numeric", lower=0, upper=100))
            score += sign * 0.027 * (values - 50)
        columns[name] = values
    labels = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    return pd.DataFrame(columns), labels, Schema(tuple(features), tuple(range(n_classes)), n_lower=n)


def fitter(model: str, schema: Schema) -> Callable:
    """Return the fit of a model, a function of a table and labels."""
    if model in READING:
        return AutoClassifier(EPSILON, schema=schema, random_state=0).fit
    if model == "regression":
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression().fit
    if model == "boosting":
        from sklearn.ensemble import HistGradientBoostingClassifier

        return HistGradientBoostingClassifier(random_state=0).fit
    from diffprivlib.models import LogisticRegression as PrivateRegression

    return PrivateRegression(epsilon=EPSILON, data_norm=COLUMNS**0.5).fit


def taken(model: str, X: pd.DataFrame, y: np.ndarray, path: str) -> tuple:
    """Return the arguments of a model's fit: the table in memory, or its Parquet file, which is written."""
    if model != "parquet":
        return (X if model == "auto" else X / 100), y
    import pyarrow

    X.assign(label=y).to_parquet(path)
    pyarrow.default_memory_pool().release_unused()  # memory that a fit would use again
    return (ParquetTable(path, "label"),)


def memory(field: str) -> float:
    """Return the memory of this process in MB, as Linux states it."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(field)) / 1000


def measure(model: str, n_categories: int, n_classes: int, n: int) -> None:
    """Print the least processor seconds of some fits, and the memory of the first one of the full table."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        small, labels, schema = table(2000, n_categories, n_classes)
        fitter(model, schema)(*taken(model, small, labels, f"{folder}/small.parquet"))  # loads all modules
        X, y, schema = table(n, n_categories, n_classes)
        data = taken(model, X, y, f"{folder}/table.parquet")
        with open("/proc/self/clear_refs", "w") as reset:
            reset.write("5")  # the peak so far is forgotten
        before, best = memory("VmRSS"), np.inf
        for repeat in range(REPEATS if n <= 100_000 else 1):
            begun = time.process_time()
            fitter(model, schema)(*data)
            best = min(best, time.process_time() - begun)
            if not repeat:
                above = memory("VmHWM") - before
        print(best, max(above, 0.0))


def main(sizes: list[int]) -> None:
    """Print a line for each classifier."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    for name, (model, *facts) in CASES.items():
        if model == "diffprivlib" and importlib.util.find_spec("diffprivlib") is None:
            print(f"{name}: not installed")
            continue
        found = []
        for n in sizes:
            call = [sys.executable, "-m", "benchmarks.time_auto", "--measure", model, *map(str, facts), str(n)]
            out = subprocess.run(call, env=environment, check=True, capture_output=True, text=True).stdout
            found.append(tuple(map(float, out.split())))
        each = ", ".join(f"{n:,}: {s:.2f} s, {mb:.0f} MB" for n, (s, mb) in zip(sizes, found, strict=True))
        growth = f"; slope {slope(sizes, [s for s, _ in found]):.2f}" if len(sizes) > 1 else ""
        print(f"{name}: {each}{growth}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2], *map(int, sys.argv[3:]))
    else:
        main([int(size) for size in sys.argv[1:]] or list(SIZES))
