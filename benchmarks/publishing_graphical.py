"""Errors of classifiers on tables of MST and AIM: ``python benchmarks/publishing_graphical.py [--folds 5]``, DPML_DATA.

As publishing_competitors.py, at ε = 0.1 and 1, for the optional extra ``graphical``. Writes
``results/publishing_graphical.csv`` with the seconds of one fit, of which most compile the model.
"""

from __future__ import annotations

import argparse

from publishing_competitors import DATASETS, FEW, published, summary
from result_files import write_results
from sklearn.model_selection import StratifiedKFold

from dpml.publishing.graphical import AIM, MST

METHODS = {"MST": MST, "AIM": AIM}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--folds", type=int, default=5, help="how many of the five folds")
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument("--datasets", nargs="+", default=list(DATASETS))
    chosen = parser.parse_args()
    rows = []
    for dataset in chosen.datasets:
        frame, label, schema = DATASETS[dataset]()
        folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(frame, label))[: chosen.folds]
        for epsilon in FEW:
            for what in chosen.methods:
                for k, (train, test) in enumerate(folds):
                    parts = (frame.iloc[train], label[train]), (frame.iloc[test], label[test])
                    found = published(what, METHODS[what], epsilon, *parts, schema, k)
                    rows += [(dataset, epsilon, *row) for row in found]
                write_results("publishing_graphical", summary(rows))  # what is there so far
    print(summary(rows).to_string())


if __name__ == "__main__":
    main()
