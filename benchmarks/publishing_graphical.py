"""Errors of classifiers on tables of MST and AIM: ``python benchmarks/publishing_graphical.py [--folds 5]``, DPML_DATA.

As publishing_competitors.py, at ε = 0.1 and 1, for the optional extra ``graphical``. AIM divides ε into 1.6 parts for
each attribute at first, where its default is 3: each round compiles a model anew, which is most of its time.

Writes ``results/publishing_graphical.csv`` with the seconds of one fit. Its other rows stay as they are. Each fold is
kept in ``build`` as it comes, so that a run which was stopped goes on.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

import pandas as pd
from kept_folds import KeptFolds
from publishing_competitors import DATASETS, FEW, KEPT, published, summary
from result_files import FOLDER, write_results
from sklearn.model_selection import StratifiedKFold

from dpml.publishing.graphical import AIM, MST

ROUNDS = 1.6
METHODS = {
    "MST": MST,
    "AIM": lambda e, schema, **k: AIM(e, n_rounds=round(ROUNDS * (schema.n_features + 1)), schema=schema, **k),
}
FOLDS = 5
CELL = ["dataset", "method"]


def one_fold(what, dataset, epsilon, fold):
    frame, label, schema = DATASETS[dataset]()
    train, test = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(frame, label))[fold]
    parts = (frame.iloc[train], label[train]), (frame.iloc[test], label[test])
    found = published(what, METHODS[what], epsilon, *parts, schema, fold)
    return [(dataset, epsilon, *row) for row in found]


def write(before, rows):
    """Write the table with these rows in the place of those of the same data set and method."""
    table = summary(rows)
    measured = set(map(tuple, table[CELL].to_numpy()))
    kept = before[[cell not in measured for cell in map(tuple, before[CELL].to_numpy())]]
    columns = ["dataset", "method", "classifier", "epsilon"]
    write_results("publishing_graphical", pd.concat([kept, table]).sort_values(columns))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--folds", type=int, default=FOLDS, help="how many of the five folds")
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument("--datasets", nargs="+", default=list(DATASETS))
    parser.add_argument("--kept", type=Path, default=KEPT.with_name("publishing_graphical.jsonl"))
    chosen = parser.parse_args()
    pieces = [
        (what, dataset, epsilon, fold)
        for fold in range(chosen.folds)
        for what in chosen.methods
        for dataset in chosen.datasets
        for epsilon in FEW
    ]
    before = pd.read_csv(FOLDER / "publishing_graphical.csv", comment="#")
    rows = KeptFolds(chosen.kept).run(pieces, one_fold, 1, partial(write, before))
    print(summary(rows).to_string())


if __name__ == "__main__":
    main()
