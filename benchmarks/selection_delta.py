"""Which selection of T features leads at which T and ε, and what a δ gains: the share of the best exact scores.

    python benchmarks/selection_delta.py [--draws 20] [--data xwindows ...] [--results]

The share is the sum of the chosen features' scores by the count heuristic, divided by that of the T best. It says how
good a choice is, and is not private. Add/remove-one; peeling gets δ = 1e-6 in a row of its own, as the limited
domain does, which may keep fewer than T features.
"""

from __future__ import annotations

import argparse
from functools import partial

import numpy as np
import pandas as pd
from result_files import write_results

from dpml.counts import contingency
from dpml.datasets import load
from dpml.selection import MaskSelector, PublicFacts, TopSelector

DATA = ("xwindows", "mushrooms", "adult", "newsgroup1", "newsgroup2", "sms")
EPSILONS = (0.05, 0.1, 0.5, 1.0, 3.0)
SIZES = (1, 2, 5, 10, 20, 50, 100, 200)
DELTA = 1e-6
METHODS = {
    "masks": MaskSelector,
    "joint": TopSelector,
    "one shot": partial(TopSelector, method="one-shot"),
    "peeling": partial(TopSelector, method="peeling"),
    "peeling, δ": partial(TopSelector, method="peeling", delta=DELTA),
    "limited domain, δ": partial(TopSelector, method="limited-domain", delta=DELTA),
}


def rows(name: str, draws: int):
    """Yield the mean share, with its standard error, for each T, ε and method."""
    data = load(name)
    counts = contingency(data.X_train, data.y_train, data.schema.n_classes)
    scores = PublicFacts.of(data.schema, "add-remove").scores(counts, "count")
    best = np.cumsum(-np.sort(-scores))
    for T in SIZES:
        if data.schema.n_features // 2 < T:
            continue
        for epsilon in EPSILONS:
            for method, make in METHODS.items():
                masks = make(epsilon, T).masks(counts, data.schema, draws=draws, rng=np.random.default_rng(0))
                shares = masks @ scores / best[T - 1]
                error = shares.std(ddof=1) / np.sqrt(draws)
                yield {"data": name, "T": T, "epsilon": epsilon, "method": method, "share": shares.mean(), "se": error}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--data", nargs="*", default=DATA)
    parser.add_argument("--results", action="store_true")
    options = parser.parse_args()
    table = pd.DataFrame([row for name in options.data for row in rows(name, options.draws)]).round(4)
    for name, part in table.groupby("data", sort=False):
        print(name)
        wide = part.pivot_table(index=["T", "epsilon"], columns="method", values="share")[list(METHODS)]
        print(wide.assign(leads=wide.idxmax(axis=1)).to_string(float_format="%.3f"))
    if options.results:
        write_results("selection_delta", table)


if __name__ == "__main__":
    main()
