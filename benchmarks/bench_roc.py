"""Private evaluation: its time relative to scikit-learn's exact curve, and the coverage of its intervals.

    python benchmarks/bench_roc.py              # time; no files needed
    python benchmarks/bench_roc.py coverage     # coverage of intervals and bands, some minutes; `coverage 100` for less

A time is the median of nine runs, where the two sides alternate. A coverage is a share of 400 releases, with a
standard error of 0.011 at 0.95.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from scipy.special import expit
from sklearn.metrics import roc_curve

from dpml.evaluation import (
    PrivateEvaluation,
    compare_classifiers,
    private_roc_curve,
    release_evaluation,
    roc_from_histogram,
    roc_histogram,
    roc_thresholds,
)

METRICS = ("roc_auc", "accuracy", "balanced_accuracy", "log_loss", "prevalence", "n_records")
EPSILONS = (0.1, 0.5, 1.0, 5.0)


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


def speed() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=1_000_000)
    log_odds = rng.normal(loc=2 * y - 1)
    weight = rng.random(1_000_000)
    for scale, scores in (("probability", expit(log_odds)), ("log-odds", log_odds)):
        for words, more in (("", {}), (" with weights", {"sample_weight": weight, "weight_bound": 1.0})):
            exact, private = medians(
                lambda s=scores, m=more: roc_curve(y, s, sample_weight=m.get("sample_weight")),
                lambda s=scores, c=scale, m=more: release_evaluation(y, s, 1.0, rng=rng, score_scale=c, **m),
            )
            print(
                f"evaluation of 1,000,000 scores ({scale}){words}: {1e3 * private:.0f} ms, {private / exact:.2f} x "
                f"scikit-learn's exact curve ({1e3 * exact:.0f} ms)"
            )
        exact, private = medians(
            lambda s=scores: roc_curve(y, s),
            lambda s=scores, c=scale: private_roc_curve(y, s, 1.0, rng=rng, score_scale=c),
        )
        print(f"private_roc_curve ({scale}): {1e3 * private:.0f} ms, {private / exact:.2f} x scikit-learn's")
    evaluation = release_evaluation(y, log_odds, 1.0, rng=rng, score_scale="log-odds")
    area, band = medians(evaluation.interval, evaluation.roc_band)
    print(f"an interval for the area: {1e3 * area:.0f} ms; a band: {1e3 * band:.0f} ms")


def test_sets() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Scored test sets of several sizes, qualities and class balances."""
    for n, gap, share in ((500, 1, 0.5), (500, 4, 0.15), (5000, 2, 0.3), (20_000, 1.5, 0.1), (100, 2, 0.5)):
        rng = np.random.default_rng(1)
        y = (rng.random(n) < share).astype(int)
        yield f"n={n} gap={gap} share={share}", y, rng.normal((2 * y - 1) * gap * 0.75, 1.5)
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], [77, 481])
    yield "like SMS", y, np.where(y == 1, rng.normal(20, 6, 558), rng.normal(-20, 14, 558))


def exact_figures(counts: np.ndarray) -> PrivateEvaluation:
    """Return the measures of an exact histogram."""
    return PrivateEvaluation(
        counts.astype(float), roc_thresholds(score_scale="log-odds"), 0.0, 1.0, "add-remove", "log-odds"
    )


def coverage(releases: int = 400) -> None:
    for name, y, scores in test_sets():
        for epsilon in EPSILONS:
            rng = np.random.default_rng(0)
            options = {"rng": rng, "draws": releases, "score_scale": "log-odds"}
            evaluation = release_evaluation(y, scores, epsilon, **options)
            exact = exact_figures(roc_histogram(y, scores, score_scale="log-odds"))
            line = []
            for metric in METRICS:
                low, high = evaluation.interval(metric, n_boot=1000, rng=np.random.default_rng(5))
                true = getattr(exact, metric)()
                held = (low - 1e-9 <= true) & (true <= high + 1e-9)
                line.append(f"{metric} {held.mean():.3f} (width {np.median(high - low):.3f})")
            band = evaluation.roc_band(n_boot=1000, rng=np.random.default_rng(5))
            fpr, tpr = roc_from_histogram(exact.counts)
            # a vertical step may be met anywhere along it
            low_end, high_end = (
                np.interp(band.fpr, fpr + 1e-9 * np.arange(17), tpr),
                np.interp(band.fpr, fpr - 1e-9 * np.arange(17)[::-1], tpr),
            )
            held = ((band.tpr_low <= high_end + 1e-6) & (low_end <= band.tpr_high + 1e-6)).all(axis=1)
            width = np.median((band.tpr_high - band.tpr_low).mean(axis=1))
            line.append(f"whole curve {held.mean():.3f} (width {width:.3f})")
            print(f"{name}, ε={epsilon}: " + ", ".join(line), flush=True)


def comparison_coverage(releases: int = 400) -> None:
    for name, y, scores in test_sets():
        other = scores + np.random.default_rng(2).normal(0, 1.0, len(y))
        exact = []
        for s in (scores, other):
            figures = exact_figures(roc_histogram(y, s, score_scale="log-odds"))
            exact.append({"accuracy": float(np.mean((s >= 0) == y)), "roc_auc": figures.roc_auc()})
        for epsilon in EPSILONS:
            line = []
            for metric in ("accuracy", "roc_auc"):
                compared = compare_classifiers(
                    y,
                    scores,
                    other,
                    epsilon,
                    rng=np.random.default_rng(0),
                    metric=metric,
                    draws=releases,
                    score_scale="log-odds",
                )
                true = exact[0][metric] - exact[1][metric]
                low, high = compared.interval(n_boot=1000)
                better = compared.probability_a_better(n_boot=1000)
                wrong = better > 0.95 if true <= 0 else better < 0.05
                held = ((low - 1e-9 <= true) & (true <= high + 1e-9)).mean()
                line.append(
                    f"{metric} {true:+.3f}: {held:.3f} (width {np.median(high - low):.3f}), "
                    f"wrongly sure {wrong.mean():.3f}"
                )
            print(f"A - B, {name}, ε={epsilon}: " + "; ".join(line), flush=True)


def sampling_coverage(releases: int = 400) -> None:
    """Intervals for the population: each release has a new test set."""
    for n, gap, share in ((100, 2, 0.5), (500, 4, 0.15), (5000, 2, 0.3)):
        rng = np.random.default_rng(3)

        def sample(n: int, rng: np.random.Generator = rng, gap: float = gap, share: float = share) -> np.ndarray:
            y = (rng.random(n) < share).astype(int)
            return roc_histogram(y, rng.normal((2 * y - 1) * gap * 0.75, 1.5), score_scale="log-odds")

        true = exact_figures(sample(3_000_000))
        for epsilon in EPSILONS:
            counts = np.array([sample(n) for _ in range(releases)]) + rng.laplace(
                scale=1 / epsilon, size=(releases, 2, 16)
            )
            evaluation = replace(true, counts=counts, noise_scale=1 / epsilon, epsilon=epsilon)
            line = []
            for metric in ("roc_auc", "accuracy", "balanced_accuracy"):
                low, high = evaluation.interval(metric, sampling=True, n_boot=1000, rng=np.random.default_rng(5))
                figure = getattr(true, metric)()
                line.append(f"{metric} {((low <= figure) & (figure <= high)).mean():.3f}")
            print(f"population, n={n} gap={gap} share={share}, ε={epsilon}: " + ", ".join(line), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["coverage"]:
        many = int(sys.argv[2]) if len(sys.argv) > 2 else 400
        coverage(many)
        comparison_coverage(many)
        sampling_coverage(many)
    else:
        speed()
