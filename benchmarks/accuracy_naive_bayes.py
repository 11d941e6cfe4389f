"""Test accuracy of private naive Bayes on the real sets: mean and standard error over draws.

python benchmarks/accuracy_naive_bayes.py [draws]     # needs the real files: set DPML_DATA
"""

from __future__ import annotations

import sys

from dpml.datasets import load
from dpml.evaluation.studies import PublishedNBStudy, RowBoundedNBStudy, majority_accuracy, non_private_nb
from dpml.sweep import summarise, sweep

ROW_BOUNDS = {"newsgroup1": 1, "newsgroup2": 2, "newsgroup3": 2, "mushrooms": 21, "adult": 14, "xwindows": 2}


def main(draws: int) -> None:
    print(f"mean test accuracy over {draws} draws, add/remove-one (standard error)")
    for name, r in ROW_BOUNDS.items():
        data = load(name)
        exact = non_private_nb(data).accuracy(data.X_test, data.y_test)[0]
        print(f"\n{name}: majority {majority_accuracy(data):.4f}, non-private NB {exact:.4f}")
        studies = {
            "Algorithm 1 as published": PublishedNBStudy(data),
            f"row-bounded, r = {r}": RowBoundedNBStudy(data, row_bound=r),
            "row-bounded, default rule": RowBoundedNBStudy(data),
        }
        for label, study in studies.items():
            table = summarise(sweep(study, {"epsilon": [0.1, 1.0]}, draws=draws, seed=0), ["epsilon"])
            cells = "   ".join(f"ε = {row.epsilon:g}: {row.mean:.4f} ({row.se:.4f})" for row in table.itertuples())
            print(f"  {label:28s} {cells}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
