"""Errors of classifiers on tables of MST and AIM: ``python benchmarks/publishing_graphical.py``, DPML_DATA.

As publishing_competitors.py, for the optional extra ``graphical``: with Laplace noise and ε alone, and with Gaussian
noise at δ = 1/n² of the n training records. AIM divides its cost into 1.6 parts for each attribute at first,
where its default is 3: each round compiles a model anew, which is most of its time. More folds than five are those of
another shuffle.

Writes ``results/publishing_graphical.csv`` with the seconds of one fit. Rows of more draws stay as they are. Each
fold is kept in ``build`` as it comes, so that a run which was stopped goes on. Each fit compiles anew, and after about
two hundred the compiler has no memory left: ask for more folds in several runs.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from auto_sets import judged_set
from kept_folds import KeptFolds
from publishing_competitors import DATASETS, KEPT, published, summary
from result_files import FOLDER, write_results
from sklearn.model_selection import StratifiedKFold

from dpml.publishing import AIM, MST
from dpml.studies.publishing import with_levels

ROUNDS = 1.6


def aim(epsilon, schema, **options):
    return AIM(epsilon, n_rounds=round(ROUNDS * (schema.n_features + 1)), schema=schema, **options)


def nursery():
    data = judged_set("nursery")
    return (
        pd.concat([data.train, data.test]),
        np.concatenate([data.y_train, data.y_test]),
        with_levels(data.schema, "nursery"),
    )


METHODS = {"MST": MST, "AIM": aim, "MST, δ": MST, "AIM, δ": aim}
SETS = {**DATASETS, "nursery": nursery}
EPSILONS = (0.05, 0.1, 0.5, 1.0, 3.0)
FOLDS = 5
CELL = ["dataset", "method", "classifier", "epsilon"]


def one_fold(what, dataset, epsilon, fold):
    frame, label, schema = SETS[dataset]()
    repeat, place = divmod(fold, FOLDS)
    train, test = list(StratifiedKFold(FOLDS, shuffle=True, random_state=repeat).split(frame, label))[place]
    parts = (frame.iloc[train], label[train]), (frame.iloc[test], label[test])
    make = partial(METHODS[what], delta=1 / len(train) ** 2 if what.endswith("δ") else 0.0)
    found = published(what, make, epsilon, *parts, schema, fold)
    return [(dataset, epsilon, *row) for row in found]


def write(before, rows):
    """Write the table with these rows, but for those of which there are more draws already."""
    table = pd.concat([before, summary(rows)]).sort_values("n", kind="stable")
    write_results("publishing_graphical", table.drop_duplicates(CELL, keep="last").sort_values(CELL))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--folds", type=int, default=FOLDS, help="how many draws")
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument("--datasets", nargs="+", default=list(SETS))
    parser.add_argument("--kept", type=Path, default=KEPT.with_name("publishing_graphical.jsonl"))
    chosen = parser.parse_args()
    pieces = [
        (what, dataset, epsilon, fold)
        for fold in range(chosen.folds)
        for dataset in chosen.datasets
        for epsilon in EPSILONS
        for what in chosen.methods
    ]
    before = pd.read_csv(FOLDER / "publishing_graphical.csv", comment="#")
    rows = KeptFolds(chosen.kept).run(pieces, one_fold, 1, partial(write, before))
    print(summary(rows).to_string())


if __name__ == "__main__":
    main()
