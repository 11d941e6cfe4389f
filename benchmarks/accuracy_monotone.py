"""Whether the default classifier is ever worse at a larger ε.

python benchmarks/accuracy_monotone.py [--draws 10] [--points 20] [--sets census telco ...]

Draws of one number have a common seed at every ε. For each ε the mean accuracy is compared with the best one at a
smaller ε. A fall is printed with two standard errors: that of the draws alone, by their differences, and the one that
adds what the choice of test records does to the difference. The sets are those of `auto_sets.py`, which need the real
files (DPML_DATA), and the census that the library generates.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
import pandas as pd
from auto_sets import SETS, JudgedSet, judged_set

from dpml.classifiers import AutoClassifier
from dpml.datasets import load
from dpml.exceptions import FactWarning
from dpml.studies import raw_table

GENERATED = ("census",)
LARGEST_ERROR = 2.0


def set_of(name: str) -> JudgedSet:
    """Return a real or a generated set."""
    if name not in GENERATED:
        return judged_set(name)
    data = load(name)
    schema, train, test = raw_table(data)
    labels = np.asarray(schema.classes)
    return JudgedSet(name, train, labels[data.y_train], test, labels[data.y_test], schema, None)


def right(data: JudgedSet, epsilon: float, draws: int) -> np.ndarray:
    """Return whether each test record is predicted rightly by each draw, shape (draws, n)."""
    rows = []
    for seed in range(draws):
        model = AutoClassifier(epsilon, schema=data.schema, on_invalid="clip", random_state=seed)
        rows.append(model.fit(data.train, data.y_train).predict(data.test) == data.y_test)
    return np.array(rows)


def compared(rows: list[np.ndarray], epsilons: np.ndarray) -> pd.DataFrame:
    """Return, for each ε but the first, how far the mean lies below the best one at a smaller ε, in points."""
    found = []
    for i in range(1, len(rows)):
        best = max(range(i), key=lambda j: rows[j].mean())
        difference = 100 * (rows[best].astype(float) - rows[i])
        draws, records = difference.mean(axis=1), difference.mean(axis=0)
        of_draws = draws.std(ddof=1) / np.sqrt(len(draws))
        of_both = np.hypot(of_draws, records.std(ddof=1) / np.sqrt(len(records)))
        found.append((epsilons[i], 100 * rows[i].mean(), epsilons[best], draws.mean(), of_draws, of_both))
    return pd.DataFrame(found, columns=["epsilon", "accuracy", "best at", "fall", "error", "error with test"])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--points", type=int, default=20)
    parser.add_argument("--sets", nargs="+", default=[*GENERATED, *SETS], choices=[*GENERATED, *SETS])
    args = parser.parse_args()
    warnings.simplefilter("ignore", FactWarning)
    epsilons = np.geomspace(0.01, 10, args.points).round(4)
    for name in args.sets:
        data = set_of(name)
        rows = [right(data, float(epsilon), args.draws) for epsilon in epsilons]
        table = compared(rows, epsilons)
        print(f"\n{name}: " + " ".join(f"{100 * row.mean():.1f}" for row in rows))
        for error in ("error", "error with test"):
            falls = table[table["fall"] > LARGEST_ERROR * table[error]]
            print(f"  falls of more than {LARGEST_ERROR:g} {error}s: {len(falls)}")
            if len(falls):
                print(falls.round(3).to_string(index=False), flush=True)


if __name__ == "__main__":
    main()
