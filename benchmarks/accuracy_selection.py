"""Accuracy of naive Bayes after every private selection method: six data sets, four ε, both relations, same seeds.

    python benchmarks/accuracy_selection.py [--draws 50] [--jobs 2] [--data xwindows ...] [--csv FILE] [--markdown]
        [--results]

Every method spends half of ε on selecting and half on row-bounded naive Bayes with its defaults, at two public numbers
of features: the T that `dpml.selection.plan` would take if it kept few, and half of all features. Two more rows are
naive Bayes with all features, which spends all of ε on training, and `BestSelector`, which gets only ε.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

import joblib
import numpy as np
import pandas as pd
from result_files import write_results

from dpml.classifiers import BernoulliNB
from dpml.datasets import load
from dpml.selection import (
    MaskSelector,
    NoisyClusterSelector,
    NoisyCountSelector,
    NoisyScoreSelector,
    SparseVectorSelector,
    TopSelector,
    plan,
)
from dpml.studies.accuracy import SelectionStudy, accuracy_of_selected
from dpml.tuning import BestSelector

DATA = ("xwindows", "mushrooms", "adult", "newsgroup1", "newsgroup2", "newsgroup3")
EPSILONS = (0.05, 0.1, 0.5, 1.0)
RELATIONS = ("add-remove", "replace-one")
ALL, BEST = "all features", "BestSelector"

# the study sets the ε of the selectors
SELECTORS: dict[str, Callable[[int, int], Any]] = {
    "Alg. 2 as published, MI": lambda T, n: NoisyCountSelector(1.0, T, method="published"),
    "Alg. 2 row-bounded, MI": lambda T, n: NoisyCountSelector(1.0, T, row_bound=2),
    "Alg. 3, MI": lambda T, n: NoisyScoreSelector(1.0, T, "mutual_information"),
    "Alg. 5 published weights, count": lambda T, n: MaskSelector(1.0, T, "count", calibration="published"),
    "Alg. 5 published weights, MI": lambda T, n: MaskSelector(1.0, T, "mutual_information", calibration="published"),
    "Alg. 5, count": lambda T, n: MaskSelector(1.0, T, "count"),
    "Alg. 5, MI": lambda T, n: MaskSelector(1.0, T, "mutual_information"),
    "Alg. 5, total count, r = 2": lambda T, n: MaskSelector(1.0, T, "total_count", row_bound=2),
    "score perturbation, total count, r = 2": lambda T, n: NoisyScoreSelector(1.0, T, "total_count", row_bound=2),
    "score perturbation, difference, r = 2": lambda T, n: NoisyScoreSelector(1.0, T, "difference_count", row_bound=2),
    "score perturbation, count": lambda T, n: NoisyScoreSelector(1.0, T, "count"),
    "noisy clusters, total count, r = 2": lambda T, n: NoisyClusterSelector(1.0, T, row_bound=2),
    "sparse vector, total count > n/10": lambda T, n: SparseVectorSelector(1.0, n / 10, T),
    "one shot, count": lambda T, n: TopSelector(1.0, T, "count", method="one-shot"),
    "one shot, difference": lambda T, n: TopSelector(1.0, T, "difference_count", method="one-shot"),
    "one shot, MI": lambda T, n: TopSelector(1.0, T, "mutual_information", method="one-shot"),
    "peeling, count": lambda T, n: TopSelector(1.0, T, "count", method="peeling"),
    "permute-and-flip, count": lambda T, n: TopSelector(1.0, T, "count", method="permute-and-flip"),
    "joint, count": lambda T, n: TopSelector(1.0, T, "count", method="joint"),
    "joint, MI": lambda T, n: TopSelector(1.0, T, "mutual_information", method="joint"),
}


def column(name: str, epsilon: float, relation: str, draws: int, seed: int = 0) -> pd.DataFrame:
    """Return the test accuracy of each method and draw, one in each row."""
    data = load(name)
    schema = data.schema
    few = plan(schema, epsilon, relation).n_features
    rows = []

    def add(method: str, size: str, accuracy: Any) -> None:
        facts = {"data": name, "epsilon": epsilon, "relation": relation, "method": method, "size": size}
        rows.extend({**facts, "draw": i, "accuracy": value} for i, value in enumerate(accuracy))

    for method, make in SELECTORS.items():
        for size, T in (("few", few), ("half", schema.n_features // 2)):
            study = SelectionStudy(data, make(T, schema.n_lower), relation=relation, seed=seed)
            add(method, size, study(epsilon, draws=draws, rng=np.random.default_rng(seed))["accuracy"])
    everything = np.ones(schema.n_features, dtype=bool)
    rng = np.random.default_rng(seed)
    model = BernoulliNB(epsilon, relation=relation, selection="none")
    add(ALL, "all", [accuracy_of_selected(data, everything, model, rng) for _ in range(draws)])
    rng = np.random.default_rng(seed)
    accuracy = []
    for _ in range(draws):
        best = BestSelector(epsilon, relation=relation, schema=schema, random_state=rng)
        accuracy.append(best.fit(data.X_train, data.y_train).score(data.X_test, data.y_test))
    add(BEST, "", accuracy)
    return pd.DataFrame(rows)


def against_best_row(table: pd.DataFrame) -> pd.DataFrame:
    """Return for each column its best other row, the gap of BestSelector to it, and the standard error of the gap."""
    rows = []
    for key, part in table.groupby(["data", "relation", "epsilon"], sort=False):
        named = part.assign(row=part["method"] + " " + part["size"])
        wide = named.pivot(index="draw", columns="row", values="accuracy")
        best = wide.pop(f"{BEST} ")
        first = wide.mean().idxmax()
        gap = best - wide[first]
        se = gap.std(ddof=1) / np.sqrt(len(gap))
        rows.append(
            dict(zip(("data", "relation", "epsilon"), key, strict=True))
            | {"best": best.mean(), "row": first.strip(), "accuracy": wide[first].mean(), "gap": gap.mean(), "se": se}
        )
    result = pd.DataFrame(rows)
    result["below"] = result["gap"] < -2 * result["se"]
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--data", nargs="+", default=list(DATA), choices=DATA)
    parser.add_argument("--csv", help="write every draw to this file")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--results", action="store_true", help="replace results/accuracy_selection.csv")
    options = parser.parse_args()
    grid = [(d, e, r) for d in options.data for r in RELATIONS for e in EPSILONS]
    runs = joblib.Parallel(n_jobs=options.jobs, return_as="generator")(
        joblib.delayed(column)(*point, options.draws) for point in grid
    )
    parts = []
    for part in runs:
        parts.append(part)
        print(f"{len(parts)} of {len(grid)} columns", file=sys.stderr, end="\r")
    table = pd.concat(parts, ignore_index=True)
    if options.csv:
        table.to_csv(options.csv, index=False)
    mean = table.groupby(["data", "relation", "method", "size", "epsilon"], sort=False)["accuracy"].agg(["mean", "sem"])
    if options.results:
        percent = {"accuracy": (100 * mean["mean"]).map("{:.1f}".format)}
        percent["standard_error"] = (100 * mean["sem"]).map("{:.1f}".format)
        columns = ["data", "method", "size", "relation", "epsilon", "accuracy", "standard_error"]
        write_results("accuracy_selection", pd.DataFrame(percent).reset_index()[columns])
    cells = (100 * mean["mean"]).map("{:.1f}".format) + " (" + (100 * mean["sem"]).map("{:.1f}".format) + ")"
    for data in options.data:
        wide = cells[data].unstack(["relation", "epsilon"]).reset_index()
        wide.columns = [" ".join(str(c) for c in name if c != "") for name in wide.columns]
        print(f"\n{data}\n" if not options.markdown else f"\n## {data}\n")
        print(_markdown(wide) if options.markdown else wide.to_string(index=False))
    gaps = against_best_row(table)
    print("\nBestSelector against the best other row of each column\n")
    print(_markdown(gaps.round(4)) if options.markdown else gaps.round(4).to_string(index=False))
    print(f"\nbelow by more than two standard errors: {gaps['below'].sum()} of {len(gaps)} columns")


def _markdown(table: pd.DataFrame) -> str:
    lines = [list(table.columns), ["---"] * len(table.columns), *table.astype(str).to_numpy().tolist()]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


if __name__ == "__main__":
    main()
