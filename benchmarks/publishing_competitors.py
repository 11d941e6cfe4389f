"""Errors of classifiers on published tables: ``python benchmarks/publishing_competitors.py [--repeats 5]``, DPML_DATA.

adult and bank with two classes, and with three (marital status, poutcome). Stratified ten-fold cross-validation,
several times. CART, LinearSVC and logistic regression are trained on a table of as many records as the method released,
60,000 at most, and tested on the fold. They see the columns that the release tells apart; all others of its table are
noise by design.
NoiseFree trains on the records themselves, with all columns, and Majority says the commoner class. PrivBayes, whose
tables need all columns, has five folds once, at ε = 0.1 and 1. MST and AIM: publishing_graphical.py.

Writes ``results/publishing_competitors.csv``: mean error, its standard error over folds and repeats, their number, and
the seconds of one fit. Each fold is kept in ``build`` as it comes, so that a run which was stopped goes on.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from kept_folds import KeptFolds
from publishing_privpfc import adult
from result_files import write_results
from sklearn.model_selection import StratifiedKFold

from dpml.classifiers import DiffPC45, DiffPID3, PrivPfCClassifier
from dpml.datasets import load
from dpml.publishing import (
    PPH,
    DiffGen,
    DiffGenStructNF,
    PrivBayes,
    PrivBayesStructNF,
    PrivPfC,
    PrivPfCSelNF,
    UniformGrid,
)
from dpml.schema import Feature
from dpml.studies.publishing import LEARNERS, one_hot, with_levels

EPSILONS = (0.05, 0.1, 0.2, 0.5, 1.0)
FEW = (0.1, 1.0)
MOST_RECORDS = 60_000
CLASSIFIERS = {"CART": LEARNERS["cart"], "SVM": LEARNERS["svm"], "logistic": LEARNERS["logistic"]}
PUBLISHERS = {
    "PrivPfC": PrivPfC,
    "PrivPfC-SelNF": PrivPfCSelNF,
    "DiffGen": DiffGen,
    "DiffGen-Struct-NF": DiffGenStructNF,
    "PPH": PPH,
    "PPH, counts as published": lambda e, **k: PPH(e, consistency="floor", **k),
    "EUG": UniformGrid,
    "UG": lambda e, **k: UniformGrid(e, rule="ug", **k),
}
DIRECT = {"PrivPfCClassifier": PrivPfCClassifier, "DiffP-C4.5": DiffPC45, "DiffP-ID3": DiffPID3}
WHOLE = {
    "PrivBayes": PrivBayes,
    "PrivBayes, k = 2": lambda e, **k: PrivBayes(e, degree=2, **k),
    "PrivBayes-Struct-NF": PrivBayesStructNF,
}
METHODS = {"noise-free": {}, "whole": WHOLE, "grids": {**PUBLISHERS, **DIRECT}}
FOLDS = {"noise-free": 10, "whole": 5, "grids": 10}
KEPT = Path(__file__).parents[1] / "build" / "publishing_competitors.jsonl"
# the married of the paper's three classes
MARITAL = {"Married-civ-spouse": "married", "Married-AF-spouse": "married", "Never-married": "never married"}


def adult_marital():
    frame, income, schema = adult()
    label = frame.pop("marital-status").map(lambda status: MARITAL.get(status, "once married")).to_numpy()
    features = [f for f in schema.features if f.name != "marital-status"]
    features.append(Feature("income", "categorical", schema.classes))
    schema = replace(schema, features=tuple(features), classes=("married", "never married", "once married"))
    return frame.assign(income=income), label, with_levels(schema, "adult-marital")


def bank(label="y"):
    dataset = load("bank")
    facts = replace(dataset.frame_schema, n_rows=None, n_lower=1)
    frame = dataset.frame.reset_index(drop=True)
    if label == "y":
        return frame.drop(columns="y"), frame["y"].to_numpy(), with_levels(facts, "bank")
    classes = next(f for f in facts.features if f.name == label).categories
    features = [f for f in facts.features if f.name != label] + [Feature("y", "categorical", facts.classes)]
    facts = replace(facts, features=tuple(features), classes=classes)
    return frame.drop(columns=label), frame[label].to_numpy(), with_levels(facts, "bank-poutcome")


DATASETS = {
    "adult": adult,
    "adult, 3 classes": adult_marital,
    "bank": bank,
    "bank, 3 classes": lambda: bank("poutcome"),
}


def errors_on(names, table, label, test, truth, schema):
    """Yield the error of each classifier that learns from a table."""
    X, Z = one_hot(table, schema, names), one_hot(test, schema, names)
    for name, made in CLASSIFIERS.items():
        if len(set(label)) < 2:
            guess = label[0] if len(label) else schema.classes[0]
            yield name, float((truth != guess).mean())
        else:
            yield name, float((made().fit(X, label).predict(Z) != truth).mean())


def published(what, make, epsilon, train, test, schema, seed):
    begun = time.perf_counter()
    model = make(epsilon, schema=schema, random_state=seed).fit(*train)
    seconds = time.perf_counter() - begun
    if not hasattr(model, "sample"):
        return [(what, "its own", float((model.predict(test[0]) != test[1]).mean()), seconds)]
    # PPH's counts as published add up to millions of records
    table = model.sample(grid_records(model)) if hasattr(model, "cell_counts_") else model.sample()
    names = list(getattr(model, "levels_", ())) or schema.feature_names
    label = table[model.label_name_].to_numpy(dtype=object)
    return [(what, name, e, seconds) for name, e in errors_on(names, table, label, *test, schema)]


def grid_records(model):
    return int(min(model.cell_counts_.sum(), MOST_RECORDS))


def one_fold(kind, dataset, epsilon, repeat, fold):
    """Return (dataset, ε, method, classifier, error, seconds) for one fold; ε None: no noise."""
    frame, label, schema = DATASETS[dataset]()
    folds = StratifiedKFold(FOLDS[kind], shuffle=True, random_state=repeat)
    train, test = list(folds.split(frame, label))[fold]
    held, truth = frame.iloc[test], label[test]
    rows = []
    if kind == "noise-free":
        kinds, counts = np.unique(label[train], return_counts=True)
        rows.append(("Majority", "", float((truth != kinds[counts.argmax()]).mean()), 0.0))
        found = errors_on(schema.feature_names, frame.iloc[train], label[train], held, truth, schema)
        rows += [("NoiseFree", name, e, 0.0) for name, e in found]
    for what, make in METHODS[kind].items():
        seed = 1000 * repeat + fold
        rows += published(what, make, epsilon, (frame.iloc[train], label[train]), (held, truth), schema, seed)
    return [(dataset, epsilon, *row) for row in rows]


def pieces(datasets, repeats):
    """Yield the arguments of `one_fold`: what has one repeat first, then a fold of everything after the other."""
    for dataset in datasets if 0 in repeats else ():
        yield from (("noise-free", dataset, None, 0, fold) for fold in range(FOLDS["noise-free"]))
        yield from (("whole", dataset, e, 0, fold) for e in FEW for fold in range(FOLDS["whole"]))
    for repeat in repeats:
        for fold in range(FOLDS["grids"]):
            yield from (("grids", dataset, e, repeat, fold) for dataset in datasets for e in EPSILONS)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--first", type=int, default=0, help="the first of the repeats, which seed their folds")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--datasets", nargs="+", default=list(DATASETS))
    parser.add_argument("--kept", type=Path, default=KEPT, help="what each fold found; delete it to begin anew")
    chosen = parser.parse_args()
    repeats = range(chosen.first, chosen.first + chosen.repeats)
    wanted, written = list(pieces(chosen.datasets, repeats)), [0.0]

    def write(rows, every=60.0):
        if time.monotonic() - written[0] >= every:
            write_results("publishing_competitors", summary(rows))  # what is there so far
            written[0] = time.monotonic()

    kept = KeptFolds(chosen.kept)
    print(f"{sum(piece in kept.done for piece in wanted)} of {len(wanted)} pieces are there", flush=True)
    rows = kept.run(wanted, one_fold, chosen.jobs, write)
    write(rows, every=0.0)
    print(summary(rows).to_string())


def summary(rows):
    columns = ["dataset", "epsilon", "method", "classifier", "error", "seconds"]
    groups = pd.DataFrame(rows, columns=columns).groupby(["dataset", "method", "classifier", "epsilon"], dropna=False)
    # the median: other work on the machine makes a few fits ten times as long
    table = groups["error"].agg(error="mean", standard_error="sem", n="size").join(groups["seconds"].median())
    return table.round({"error": 5, "standard_error": 5, "seconds": 3}).reset_index()


if __name__ == "__main__":
    main()
