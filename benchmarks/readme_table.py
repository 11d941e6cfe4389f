"""Test accuracy of the README's two classifiers beside the same kind of model without privacy.

python benchmarks/readme_table.py [--epsilon 0.1] [--runs 50] [--datasets adult ...]

The script reads the real files (DPML_DATA) and prints one Markdown table in %, with standard errors over the runs in
brackets. All rows use the fixed public split. Rows:

1. scikit-learn's logistic regression on the binary columns, λ by five-fold cross-validation, as in
   `accuracy_linear.py`: not private;
2. `LinearClassifier` on the same binary columns;
3. `AutoClassifier` without noise: the best setting of `dpml.studies.cost`, chosen on the test records, so a generous
   baseline: not private;
4. `AutoClassifier` on the raw columns, or on the binary columns of a text: the runs of the stored study
   (`dpml_app.data.default_study`) where it covers the data set and ε;
5. the majority-class baseline.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from accuracy_linear import DATA, LAMBDAS, cell
from dpml_app.data import default_study
from dpml_app.jobs import Task
from sklearn.linear_model import LogisticRegressionCV

from dpml.classifiers import AutoClassifier, LinearClassifier
from dpml.datasets import Dataset, load
from dpml.exceptions import FactWarning
from dpml.studies.accuracy import majority_accuracy
from dpml.studies.comparison import best_without_noise
from dpml.studies.mixed import AutoStudy, raw_table

ROWS = (
    "Logistic regression, non-private",
    "LinearClassifier",
    "AutoClassifier without noise, non-private",
    "AutoClassifier",
    "Majority-class baseline",
)


def logistic_regression(data: Dataset) -> float:
    """Return the test accuracy of logistic regression without privacy."""
    model = LogisticRegressionCV(Cs=[1 / v for v in LAMBDAS], cv=5, max_iter=2000, l1_ratios=(0,), scoring="accuracy")
    return float(model.fit(data.X_train, data.y_train).score(data.X_test, data.y_test))


def linear_runs(data: Dataset, epsilon: float, runs: int) -> np.ndarray:
    """Return the test accuracy of each run of `LinearClassifier`."""
    models = (LinearClassifier(epsilon, schema=data.schema, random_state=seed) for seed in range(runs))
    return np.array([model.fit(data.X_train, data.y_train).score(data.X_test, data.y_test) for model in models])


def automatic_runs(data: Dataset, epsilon: float, runs: int) -> np.ndarray:
    """Return the test accuracy of each run of `AutoClassifier`, from the stored study if it covers the data set."""
    stored = default_study.shipped_results(data.name)
    task = Task(default_study.default_runs, (data.name, default_study.RELATION, epsilon, default_study.SEED))
    if task in stored:
        return stored[task]["accuracy"]
    schema, train, test = raw_table(data)
    options = {"schema": schema, "on_invalid": "clip"}
    y_train, y_test = (np.asarray(schema.classes)[codes] for codes in (data.y_train, data.y_test))
    models = (AutoClassifier(epsilon, random_state=seed, **options) for seed in range(runs))
    return np.array([model.fit(train, y_train).score(test, y_test) for model in models])


def column(name: str, epsilon: float, runs: int) -> list[str]:
    """Return the cells of one data set, in the order of `ROWS`."""
    data = load(name)
    return [
        f"{100 * logistic_regression(data):.1f}",
        cell(linear_runs(data, epsilon, runs)),
        f"{100 * best_without_noise(AutoStudy(data)):.1f}",
        cell(automatic_runs(data, epsilon, runs)),
        f"{100 * majority_accuracy(data):.1f}",
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epsilon", type=float, default=0.1)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--datasets", nargs="+", default=DATA, choices=DATA)
    args = parser.parse_args()
    warnings.simplefilter("ignore", FactWarning)
    warnings.filterwarnings("ignore", "The fitted attributes", FutureWarning)
    columns = {}
    for name in args.datasets:
        begun = time.perf_counter()
        columns[name] = column(name, args.epsilon, args.runs)
        print(f"{name}: {columns[name]}, {time.perf_counter() - begun:.0f} s", flush=True)
    print(f"\n| ε = {args.epsilon:g} |", " | ".join(columns), "|")
    print("|---" * (1 + len(columns)) + "|")
    for row, cells in zip(ROWS, zip(*columns.values(), strict=True), strict=True):
        print(f"| {row} |", " | ".join(cells), "|")


if __name__ == "__main__":
    main()
