"""Accuracy and time of PrivPfC: ``python benchmarks/publishing_privpfc.py [adult] [nursery] [time]``, with DPML_DATA.

- adult: error of CART on the published table and of `PrivPfCClassifier`, on the 45,222 complete records of both files,
  ten stratified folds once. CART is scikit-learn's tree with rpart's smallest node and leaf, pruned.
- nursery: accuracy of gradient boosting on the published table, as large as released and larger, and of
  `PrivPfCClassifier`, on the fixed test rows. The table is ``more/nursery.csv.gz`` in the data folder, with
  ``nursery.json`` for its public facts.
- time: the qualities of all candidate grids of adult, against one `numpy.bincount` a grid in the same run.

Each line has the mean, its standard error and the number of draws or folds.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold

from dpml.classifiers import PrivPfCClassifier
from dpml.classifiers.grid import GridQuality, Records, candidate_grids, grid_counts, places_of
from dpml.classifiers.grid.cells import grid_qualities
from dpml.datasets import data_folder, load
from dpml.publishing import PrivPfC
from dpml.schema import Feature, Schema
from dpml.studies.publishing import LEARNERS, one_hot, with_levels

DRAWS = 10
# records of a table that is drawn larger than the private one, which costs nothing and leaves less to chance
LARGE = 50_000


def adult():
    dataset = load("adult")
    frame, label = dataset.frame.drop(columns="income"), dataset.frame["income"]
    complete = ~(frame == "?").any(axis=1).to_numpy()
    facts = replace(dataset.frame_schema, n_rows=None, n_lower=1)
    return frame[complete].reset_index(drop=True), label[complete].to_numpy(), with_levels(facts, "adult")


def nursery():
    folder = data_folder() / "more"
    facts = json.loads((folder / "nursery.json").read_text(encoding="utf-8"))
    features = [Feature(f["name"], f["kind"], tuple(f["categories"])) for f in facts["features"]]
    table = pd.read_csv(folder / "nursery.csv.gz", dtype=str, keep_default_na=False)
    schema = with_levels(Schema(features, tuple(facts["classes"])), "nursery")
    parts = [table[table["split"] == split] for split in ("train", "test")]
    return [(part[schema.feature_names], part["label"].to_numpy()) for part in parts], schema


def said(what, values):
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    print(f"{what:<58} {100 * np.mean(values):6.2f} % ± {100 * error:.2f}   ({len(values)})", flush=True)


def tree_error(model, table, frame, label, schema):
    names = list(model.levels_) or schema.feature_names
    tree = LEARNERS["cart"]().fit(one_hot(table, schema, names), table[model.label_name_])
    return (tree.predict(one_hot(frame, schema, names)) != label).mean()


def measure_adult():
    frame, label, schema = adult()
    folds = list(StratifiedKFold(10, shuffle=True, random_state=0).split(frame, label))
    for epsilon in (0.1, 0.5):
        for calibration in ("range", "published"):
            errors, direct = [], []
            for seed, (train, test) in enumerate(folds):
                options = {"schema": schema, "random_state": seed, "calibration": calibration}
                model = PrivPfC(epsilon, **options).fit(frame.iloc[train], label[train])
                errors.append(tree_error(model, model.sample(), frame.iloc[test], label[test], schema))
                model = PrivPfCClassifier(epsilon, **options).fit(frame.iloc[train], label[train])
                direct.append((model.predict(frame.iloc[test]) != label[test]).mean())
            said(f"adult, ε = {epsilon}, {calibration}: error of CART on the table", errors)
            said(f"adult, ε = {epsilon}, {calibration}: error of PrivPfCClassifier", direct)


def measure_nursery():
    ((train, y), (test, truth)), schema = nursery()
    for epsilon in (0.1, 1.0, 3.0):
        accuracies, direct = {None: [], LARGE: []}, []
        for seed in range(DRAWS):
            model = PrivPfC(epsilon, schema=schema, random_state=seed).fit(train, y)
            names = list(model.levels_) or schema.feature_names
            for n, found in accuracies.items():
                table = model.sample(n)
                boosted = HistGradientBoostingClassifier(random_state=0)
                boosted.fit(one_hot(table, schema, names), table[model.label_name_])
                found.append((boosted.predict(one_hot(test, schema, names)) == truth).mean())
            model = PrivPfCClassifier(epsilon, schema=schema, random_state=seed).fit(train, y)
            direct.append((model.predict(test) == truth).mean())
        said(f"nursery, ε = {epsilon}: accuracy of boosting on the table", accuracies[None])
        said(f"nursery, ε = {epsilon}: the same on {LARGE:,} records of it", accuracies[LARGE])
        said(f"nursery, ε = {epsilon}: accuracy of PrivPfCClassifier", direct)


def measure_time():
    frame, label, schema = adult()
    X, codes, schema = schema.check_table(frame, label)
    levels = tuple(f.taxonomy for f in schema.features)
    for epsilon in (0.1, 1.0):
        for max_grids in (10_000, 200_000):
            records = Records(places_of(X, schema, levels), codes, 2, levels)
            begun, cpu = time.perf_counter(), time.process_time()
            pool = candidate_grids(levels, max_grids, 0.2 * len(codes) * 0.6 * epsilon)
            qualities = grid_qualities(pool, records, 0.6 * epsilon)
            passed, cpu = time.perf_counter() - begun, time.process_time() - cpu
            some = np.random.default_rng(0).choice(len(pool), 300, replace=False)
            quality = GridQuality(0.6 * epsilon, len(codes))
            begun = time.process_time()
            naive = [quality.of_grid(grid_counts(records, pool.levels(i))) for i in some.tolist()]
            slow = (time.process_time() - begun) * len(pool) / len(some)
            assert np.allclose(naive, qualities[some])
            print(
                f"adult, ε = {epsilon}, Θ = {max_grids}: {len(pool)} grids in {passed:.2f} s, {cpu:.2f} s of processor;"
                f" one bincount a grid {slow:.1f} s (from {len(some)} grids), {slow / cpu:.1f} times as long",
                flush=True,
            )


if __name__ == "__main__":
    measures = {"adult": measure_adult, "nursery": measure_nursery, "time": measure_time}
    for name in sys.argv[1:] or measures:
        measures[name]()
