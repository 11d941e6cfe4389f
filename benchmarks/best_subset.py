"""Best subset selection against masks, peeling and the default classifier: recovery, test accuracy and seconds.

    python benchmarks/best_subset.py [--draws 10] [--only adult sms 1000 8000] [--results]

A selector spends half of ε, and `AutoClassifier` on the selected columns the other half. The default has all of ε and
all columns. Adult has D = 126 and SMS 8,444. The generated tables have 5,000 records: four features decide the class,
three noisy copies of each tell less, and all others are unrelated and rare. Recovery is the share of the T selected
features that are the strongest T of the four. For real data it is the share that the same method selects at ε = 10^6.
Add/remove-one.
"""

from __future__ import annotations

import argparse
import math
import time
from typing import Any

import numpy as np
import pandas as pd
from result_files import write_results

from dpml.classifiers import AutoClassifier
from dpml.counts import contingency
from dpml.datasets import load
from dpml.schema import Schema
from dpml.selection import MaskSelector, TopSelector
from dpml.selection.subsets import SubsetDraw, SubsetSelector, best_supports, round_sizes, support_at

EPSILONS = (0.1, 0.3, 1.0)
SIZES = {"adult": (2, 3), "sms": (2,), "1000": (2, 4), "8000": (2,)}
COUNTED = {
    "masks": MaskSelector,
    "peeling": lambda epsilon, T: TopSelector(epsilon, T, method="peeling"),
}
SUBSETS: dict[str, dict[str, Any]] = {
    "best subset": {},
    "best subset, errors": {"loss": "error"},
    "best subset, R = 100": {"n_best": 100},
}


def generated(n_features: int, n: int = 10_000, seed: int = 0) -> tuple[Any, Any]:
    """Return records and classes of which the first four features decide the class."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, n_features)) < 0.02).astype(np.int8)
    X[:, :4] = rng.integers(2, size=(n, 4))
    for copy in range(1, 4):
        X[:, 4 * copy : 4 * copy + 4] = X[:, :4] ^ (rng.random((n, 4)) < 0.15)
    odds = (2.0 * X[:, :4] - 1) @ [1.6, 1.2, 0.9, 0.7]
    return X, (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int)


def table(name: str) -> tuple[Any, ...]:
    """Return X_train, y_train, X_test, y_test and the schema."""
    if not name.isdigit():
        data = load(name)
        return data.X_train, data.y_train, data.X_test, data.y_test, data.schema
    X, y = generated(int(name))
    return X[:5_000], y[:5_000], X[5_000:], y[5_000:], Schema.binary(int(name), n_lower=5_000)


def subset_masks(X, y, schema, epsilon, T, draws, rng, known, loss="squared", n_best=100_000):
    """Return masks as `SubsetSelector` draws them. The statistics of a single round are computed once."""
    D = schema.n_features
    if len(round_sizes(T, D)) > 1:
        options: dict[str, Any] = {"loss": loss, "n_best": n_best, "schema": schema, "random_state": rng}
        return [SubsetSelector(epsilon, T, **options).fit(X, y).get_support() for _ in range(draws)]
    if (loss, n_best) not in known:
        known[loss, n_best] = best_supports(X, y, 2, (), T, loss, n_best)
    masks = np.zeros((draws, D), dtype=bool)
    drawn = SubsetDraw(math.comb(D, T), epsilon, draws)._sample(known[loss, n_best], rng)
    for mask, rank in zip(masks, drawn, strict=True):
        mask[support_at(int(rank), D, T)] = True
    return masks


def rows(name: str, draws: int):
    """Yield recovery and accuracy with standard errors of each T, ε and method, and the seconds of one selection."""
    X, y, X_test, y_test, schema = table(name)
    counts = contingency(X, y, schema.n_classes)

    def accuracy(columns: Any, epsilon: float, seed: int) -> float:
        kept = schema.subset(columns)
        model = AutoClassifier(epsilon, schema=kept, random_state=seed).fit(X[:, columns], y)
        return float(model.score(X_test[:, columns], y_test))

    def row(method: str, T: int, epsilon: float, found: Any, accuracies: Any, seconds: float) -> dict[str, Any]:
        return {
            "data": name, "T": T, "epsilon": epsilon, "method": method,
            "recovery": np.mean(found), "recovery_se": np.std(found, ddof=1) / np.sqrt(len(found)),
            "accuracy": 100 * np.mean(accuracies),
            "accuracy_se": 100 * np.std(accuracies, ddof=1) / np.sqrt(len(accuracies)),
            "seconds": seconds,
        }  # fmt: skip

    for T in SIZES[name]:
        for method in (*COUNTED, *SUBSETS):
            known: dict[Any, Any] = {}

            def select(epsilon: float, draws: int, method: str = method, T: int = T, known: Any = known) -> Any:
                rng = np.random.default_rng(0)
                if method in COUNTED:
                    return COUNTED[method](epsilon, T).masks(counts, schema, draws=draws, rng=rng)
                return subset_masks(X, y, schema, epsilon, T, draws, rng, known, **SUBSETS[method])

            begin = time.perf_counter()
            chosen = np.flatnonzero(select(1e6, 1)[0])
            target = np.arange(T) if name.isdigit() else chosen
            seconds = time.perf_counter() - begin
            for epsilon in EPSILONS:
                masks = select(epsilon / 2, draws)
                found = [mask[target].mean() for mask in masks]
                scored = [accuracy(np.flatnonzero(mask), epsilon / 2, i) for i, mask in enumerate(masks)]
                yield row(method, T, epsilon, found, scored, seconds)
    for epsilon in EPSILONS:
        everything = np.arange(schema.n_features)
        scored = [accuracy(everything, epsilon, i) for i in range(draws)]
        yield row("default", len(everything), epsilon, [np.nan] * draws, scored, np.nan)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--only", nargs="+", default=list(SIZES), choices=list(SIZES))
    parser.add_argument("--results", action="store_true", help="replace results/best_subset.csv")
    options = parser.parse_args()
    found = []
    for name in options.only:
        for each in rows(name, options.draws):
            found.append(each)
            print(pd.DataFrame([each]).round(3).to_string(index=False, header=len(found) == 1), flush=True)
    if options.results:
        write_results("best_subset", pd.DataFrame(found).round(3))


if __name__ == "__main__":
    main()
