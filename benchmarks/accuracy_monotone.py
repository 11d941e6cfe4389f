"""Compare accuracy and log loss of the default classifier at each ε with those at all smaller ε.

python benchmarks/accuracy_monotone.py [--draws 10] [--epsilons 0.1 0.5 ...] [--sets census telco ...] [--results]

Draws of one number have a common seed at every ε. At each ε the mean is compared with the best one at a smaller ε. A
fall is printed with two standard errors: that of the draws alone, by their differences, and the one that adds the
choice of test records. The sets are those of `auto_sets.py`, which need the real files (DPML_DATA), and four of the
library. With `--results` the rows of these sets replace those in results/ after each set.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
import pandas as pd
from auto_sets import SETS, JudgedSet, judged_set
from result_files import FOLDER, write_results

from dpml.classifiers import AutoClassifier
from dpml.datasets import load
from dpml.exceptions import FactWarning
from dpml.studies import raw_table

LOADED = ("census", "toy", "seeds", "glass")
EPSILONS = [0.03, 0.05, 0.09, 0.15, 0.25, 0.42, 0.71, 1.2, 2.0, 3.5, 5.9, 10.0]
LARGEST_ERROR = 2.0
# the least fall that counts: in percentage points, and in nats
LEAST = {"accuracy": 0.3, "log score": 0.0}


def set_of(name: str) -> JudgedSet:
    """Return a set of `auto_sets.py`, or a data set of the library as a raw table."""
    if name not in LOADED:
        return judged_set(name)
    data = load(name)
    schema, train, test = raw_table(data)
    labels = np.asarray(schema.classes)
    return JudgedSet(name, train, labels[data.y_train], test, labels[data.y_test], schema, None)


def scores(data: JudgedSet, epsilon: float, draws: int) -> dict[str, np.ndarray]:
    """Return for each test record and draw whether the prediction is correct, in %, and minus its log loss."""
    y = data.schema.check_labels(data.y_test)
    found = []
    for seed in range(draws):
        model = AutoClassifier(epsilon, schema=data.schema, on_invalid="clip", random_state=seed)
        p = model.fit(data.train, data.y_train).predict_proba(data.test)
        found.append((100.0 * (p.argmax(axis=1) == y), np.log(np.maximum(p[np.arange(len(y)), y], 1e-6))))
    return dict(zip(LEAST, np.array(found).transpose(1, 0, 2), strict=True))


def compared(rows: list[np.ndarray], epsilons: list[float]) -> pd.DataFrame:
    """Return the mean at each ε, and how far it lies below the best one at a smaller ε, with standard errors."""
    found = []
    for i, row in enumerate(rows):
        best = max(range(i), key=lambda j: rows[j].mean()) if i else 0
        draws, records = ((rows[best] - row).mean(axis=axis) for axis in (1, 0))
        of_draws = draws.std(ddof=1) / np.sqrt(len(draws))
        of_both = np.hypot(of_draws, records.std(ddof=1) / np.sqrt(len(records)))
        error = row.mean(axis=1).std(ddof=1) / np.sqrt(len(row))
        found.append((epsilons[i], row.mean(), error, epsilons[best], draws.mean(), of_draws, of_both))
    columns = ["epsilon", "mean", "standard_error", "best_at", "fall", "fall_error", "fall_error_with_test"]
    return pd.DataFrame(found, columns=columns)


def write(table: pd.DataFrame) -> None:
    """Write the rows of these sets to results/ beside those of other sets that were written before."""
    path = FOLDER / "accuracy_monotone.csv"
    if path.exists():
        before = pd.read_csv(path, comment="#")
        table = pd.concat([before[~before["set"].isin(table["set"])], table])
    write_results("accuracy_monotone", table)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--epsilons", type=float, nargs="+", default=EPSILONS)
    parser.add_argument("--sets", nargs="+", default=[*LOADED, *SETS], choices=[*LOADED, *SETS])
    parser.add_argument("--results", action="store_true", help="write the rows of these sets to results/")
    args = parser.parse_args()
    warnings.simplefilter("ignore", FactWarning)
    tables = []
    for name in args.sets:
        data = set_of(name)
        found = [scores(data, epsilon, args.draws) for epsilon in args.epsilons]
        for measure, least in LEAST.items():
            table = compared([each[measure] for each in found], args.epsilons)
            cells = (f"{row.mean:.4g} ({row.standard_error:.2g})" for row in table.itertuples())
            print(f"\n{name}, {measure}: " + " ".join(cells))
            for error in ("fall_error", "fall_error_with_test"):
                falls = table[(table["fall"] > LARGEST_ERROR * table[error]) & (table["fall"] > least)]
                print(f"  falls of more than {least:g} and {LARGEST_ERROR:g} {error}s: {len(falls)}", flush=True)
                if len(falls):
                    print(falls.round(4).to_string(index=False), flush=True)
            tables.append(table.assign(set=name, measure=measure, draws=args.draws))
        if args.results:
            write(pd.concat(tables).set_index(["set", "measure"]).round(4).reset_index())


if __name__ == "__main__":
    main()
