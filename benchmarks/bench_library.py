"""Times of the library's batched steps, each also as a ratio to a plain operation of the same size in the same run.

    python benchmarks/bench_library.py            # needs the adult files: set DPML_DATA

Every line is the median of several runs. The two sides of a ratio alternate, so that a slow moment affects both.
"""

from __future__ import annotations

import statistics
import time
import tracemalloc
from collections.abc import Callable

import numpy as np
from sklearn.metrics import roc_curve
from sklearn.naive_bayes import BernoulliNB as PlainBernoulliNB

from dpml.classifiers import BernoulliNB
from dpml.datasets import load
from dpml.encoding import share_rows
from dpml.evaluation import private_roc_curve
from dpml.selection import inclusion_probabilities, one_shot, sample_joint, sample_masks
from dpml.studies.accuracy import RowBoundedNBStudy


def medians(*runs: Callable[[], object], repeats: int = 9) -> list[float]:
    """Return the median seconds of each function. The functions alternate, after one warm-up."""
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
        study = RowBoundedNBStudy(data, row_bound=row_bound)
        start = time.perf_counter()
        study.tables(row_bound)
        cut = time.perf_counter() - start
        product, fit = medians(
            lambda: weights @ X.T, lambda study=study: study(0.1, draws=1000, rng=np.random.default_rng(0))
        )
        print(
            f"1,000 private NB models on adult's {X.shape[0]:,} test rows, r = {row_bound}: {1e3 * fit:.0f} ms, "
            f"{fit / product:.2f} x the bare matrix product ({1e3 * product:.0f} ms); "
            f"exact counts {'of shared records ' if row_bound < 14 else ''}once: {1e3 * cut:.0f} ms"
        )


def naive_bayes_fit() -> None:
    """Time a whole fit on adult relative to scikit-learn's; the checks and the sharing of records are timed apart."""
    data = load("adult")
    X, y, schema = data.X_train, data.y_train, data.schema
    private = BernoulliNB(0.1, schema=schema, selection="none", random_state=0)
    plain = PlainBernoulliNB(binarize=None)
    whole, checks, sharing, exact = medians(
        lambda: private.fit(X, y),
        lambda: schema.check_table(X, y),
        lambda: share_rows(X, private.row_bound_),
        lambda: plain.fit(X, y),
    )
    rest = whole - checks - sharing
    print(
        f"a private fit on adult's {len(y):,} rows: {1e3 * rest:.0f} ms, {rest / exact:.2f} x scikit-learn's "
        f"({1e3 * exact:.0f} ms); apart: checking {1e3 * checks:.0f} ms, sharing {1e3 * sharing:.0f} ms"
    )


def selection() -> None:
    """Time each way of choosing T features relative to drawing plain noise for its scores (draws, D)."""
    small, large = (np.random.default_rng(0).normal(size=D) * 3 for D in (600, 33_000))
    for scores, T, draws in ((small, 50, 1000), (large, 100, 10)):
        D = scores.size
        shared: dict = {"draws": draws, "rng": np.random.default_rng(1)}
        runs: dict[str, Callable[[], object]] = {
            "plain noise": lambda D=D, draws=draws: np.random.default_rng(0).standard_exponential((draws, D)),
            "exact inclusion probabilities, once": lambda s=scores, T=T: inclusion_probabilities(s, T),
            "mask sampling": lambda s=scores, T=T, o=shared: sample_masks(s, T, o["draws"], rng=o["rng"]),
            "one shot": lambda s=scores, T=T, o=shared: one_shot(s, 1.0, T, 1.0, **o),
            "joint mechanism": lambda s=scores, T=T, o=shared: sample_joint(s, 1.0, T, 1.0, **o),
        }
        noise, *times = medians(*runs.values(), repeats=5)
        print(f"D = {D:,}, T = {T}, {draws:,} draws; plain noise of the scores {1e3 * noise:.1f} ms")
        for (name, run), seconds in zip(list(runs.items())[1:], times, strict=True):
            tracemalloc.start()
            run()
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            print(f"  {name}: {1e3 * seconds:.1f} ms, {seconds / noise:.2f} x the noise, at most {peak / 2**20:.0f} MB")


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
    naive_bayes_fit()
    selection()
    roc()
