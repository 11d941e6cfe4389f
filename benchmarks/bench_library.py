"""How fast the library's batched steps are, each as a ratio to a plain operation of the same sizes in the same run.

    python benchmarks/bench_library.py            # needs the adult files: set DPML_DATA

Every line is the median of several runs, the two sides taken in turn, so that a slow moment hits both.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np
from sklearn.metrics import roc_curve

from dpml.datasets import load
from dpml.evaluation import private_roc_curve
from dpml.evaluation.studies import RowBoundedNBStudy
from dpml.selection import inclusion_probabilities, sample_masks


def medians(*runs: Callable[[], object], repeats: int = 9) -> list[float]:
    """Return the median seconds of each run, taken in turn after one warm-up."""
    times: list[list[float]] = [[] for _ in runs]
    for run in runs:
        run()
    for _ in range(repeats):
        for run, mine in zip(runs, times, strict=True):
            start = time.perf_counter()
            run()
            mine.append(time.perf_counter() - start)
    return [statistics.median(mine) for mine in times]


def naive_bayes_models() -> None:
    data = load("adult")
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(1000, data.schema.n_features))
    X = data.X_test
    for row_bound in (14, 2):
        study = RowBoundedNBStudy(data, row_bound=row_bound, subsamples=10)
        start = time.perf_counter()
        study.tables(row_bound)
        cut = time.perf_counter() - start
        product, fit = medians(
            lambda: weights @ X.T, lambda study=study: study(0.1, draws=1000, rng=np.random.default_rng(0))
        )
        print(
            f"1,000 private NB models on adult's {X.shape[0]:,} test rows, r = {row_bound}: {1e3 * fit:.0f} ms, "
            f"{fit / product:.2f} x the bare matrix product ({1e3 * product:.0f} ms); "
            f"exact counts {'with 10 cuts ' if row_bound < 14 else ''}once: {1e3 * cut:.0f} ms"
        )


def masks() -> None:
    rng = np.random.default_rng(0)
    small, large = rng.normal(size=600) * 3, rng.normal(size=33_000) * 3
    for text, run in [
        ("inclusion_probabilities, D = 600, T = 50", lambda: inclusion_probabilities(small, 50)),
        ("inclusion_probabilities, D = 33,000, T = 100", lambda: inclusion_probabilities(large, 100)),
        ("sample_masks, 1,000 masks, D = 600, T = 50", lambda: sample_masks(small, 50, 1000, rng=rng)),
    ]:
        print(f"{text}: {1e3 * medians(run)[0]:.1f} ms")


def roc() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=1_000_000)
    scores = 1 / (1 + np.exp(-rng.normal(loc=2 * y - 1)))
    exact, private = medians(
        lambda: roc_curve(y, scores),
        lambda: private_roc_curve(y, scores, 1.0, rng=np.random.default_rng(0)),
        repeats=5,
    )
    ratio = private / exact
    print(f"private ROC curve of 1,000,000 scores: {1e3 * private:.0f} ms, {ratio:.2f} x scikit-learn's exact one")


if __name__ == "__main__":
    naive_bayes_models()
    masks()
    roc()
