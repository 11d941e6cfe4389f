"""The cost and the gain of private tuning: test accuracy of each scheme, mean and standard error over draws.

python benchmarks/tuning.py [draws] [--markdown] [--results] [--data newsgroup1,mushrooms,adult]   # set DPML_DATA

All schemes have the same total ε, under add/remove-one. "best in hindsight" is not private: it uses the test records.
The standard errors are over draws of the noise, of the search and of three splits into parts.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pandas as pd
from result_files import write_results

from dpml.datasets import load
from dpml.studies.tuning import TuningStudy

DATA = "newsgroup1,mushrooms,adult"
EPSILONS = (0.1, 1.0)
GRIDS = {
    "BernoulliNB, row_bound": {"row_bound": (1, 2, 3, 5, 8)},
    "LogisticRegression(method='objective'), reg_lambda": {"reg_lambda": (1.0, 10.0, 100.0, 1000.0)},
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("draws", nargs="?", type=int, default=20)
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--results", action="store_true", help="replace results/tuning.csv")
    parser.add_argument("--data", default=DATA)
    given = parser.parse_args()
    names = given.data.split(",")
    found = []
    for title, grid in GRIDS.items():
        [(parameter, values)] = grid.items()
        columns = [(name, epsilon) for name in names for epsilon in EPSILONS]
        rows: dict[str, list[str]] = {}
        began = time.perf_counter()
        for name in names:
            study = TuningStudy(load(name), grid)
            for epsilon in EPSILONS:
                result = study(epsilon, draws=given.draws, rng=np.random.default_rng(0))
                for scheme, accuracy in result.items():
                    se = accuracy.std(ddof=1) / np.sqrt(given.draws)
                    rows.setdefault(scheme, []).append(f"{accuracy.mean():.4f} ({se:.4f})")
                    found.append((parameter, scheme, name, epsilon, round(accuracy.mean(), 4), round(se, 4)))
        heads = [f"{name}, ε = {epsilon:g}" for name, epsilon in columns]
        print(f"\n{title} in {values}, {given.draws} draws, {time.perf_counter() - began:.0f} s\n")
        if given.markdown:
            print("| scheme | " + " | ".join(heads) + " |")
            print("|---" * (len(heads) + 1) + "|")
            for scheme, cells in rows.items():
                print(f"| {scheme} | " + " | ".join(cells) + " |")
        else:
            print(f"{'':30s}" + "".join(f"{head:>24s}" for head in heads))
            for scheme, cells in rows.items():
                print(f"{scheme:30s}" + "".join(f"{cell:>24s}" for cell in cells))
    if given.results:
        columns = ["parameter", "scheme", "data", "epsilon", "accuracy", "standard_error"]
        write_results("tuning", pd.DataFrame(found, columns=columns))


if __name__ == "__main__":
    main()
