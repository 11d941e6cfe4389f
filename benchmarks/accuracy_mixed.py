"""Test accuracy of private naive Bayes for mixed tables: mean and standard error over draws, sets × methods × ε.

python benchmarks/accuracy_mixed.py [draws]              # needs the real files: set DPML_DATA
python benchmarks/accuracy_mixed.py [draws] search       # the search that chose the default rules
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from dpml.classifiers.naive_bayes.cells import Design, cell_counts, default_n_bins
from dpml.classifiers.private_prediction import default_pseudocount, label_scores, release_labels, score_range
from dpml.datasets import load
from dpml.studies.accuracy import majority_accuracy
from dpml.studies.mixed import BinnedNBStudy, MomentsNBStudy, non_private_mixed_nb
from dpml.sweep import summarise, sweep

SIX = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
SETS: dict[str, tuple[str, tuple[str, ...] | None, tuple[float, ...]]] = {
    "skin": ("skin", None, (0.01, 0.1, 0.5, 1.0, 2.0)),
    "seeds": ("seeds", None, (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)),
    "glass": ("glass", None, (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)),
    "adult, its six numbers": ("adult", SIX, (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)),
    "adult": ("adult", None, (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)),
    "mushrooms": ("mushrooms", None, (0.1, 1.0)),
    "bank": ("bank", None, (0.05, 0.1, 1.0)),
    "breast_cancer": ("breast_cancer", None, (0.5, 1.0, 5.0)),
}
DELTA = 1e-6
MOMENTS: dict[str, tuple[str, dict[str, Any]]] = {
    "class sums, global sensitivity": ("global", {}),
    "smooth, Cauchy": ("smooth", {"noise": "cauchy"}),
    "smooth, Cauchy, without trimming": ("smooth", {"noise": "cauchy", "trim": 0}),
    "smooth, Student's t": ("smooth", {"noise": "student-t"}),
    "trimmed means, Cauchy": ("bun-steinke", {"noise": "cauchy"}),
    "trimmed means, Student's t": ("bun-steinke", {"noise": "student-t"}),
    "smooth, Laplace (δ = 1e-6)": ("smooth", {"noise": "laplace", "delta": DELTA}),
    "smooth, Gaussian (δ = 1e-6)": ("smooth", {"noise": "gaussian", "delta": DELTA}),
    "trimmed means, LLN (½ε²-CDP)": ("bun-steinke", {"noise": "laplace-log-normal"}),
    "trimmed means, arsinh-normal (½ε²-CDP)": ("bun-steinke", {"noise": "arsinh-normal"}),
    "Zafarani and Clifton, Algorithm 1 (not private)": ("published", {}),
}


def cells(study: Any, epsilons: tuple[float, ...], draws: int, **setting: Any) -> str:
    grid = {"epsilon": list(epsilons), **{name: [value] for name, value in setting.items()}}
    table = summarise(sweep(study, grid, draws=draws, seed=0), ["epsilon"])
    return "  ".join(f"{100 * row.mean:5.1f} ({100 * row.se:.1f})" for row in table.itertuples())


def compare(draws: int) -> None:
    print(f"mean test accuracy in % over {draws} draws, add/remove-one (standard error)")
    for title, (name, columns, epsilons) in SETS.items():
        data = load(name)
        exact = non_private_mixed_nb(data, columns=columns)["accuracy"]
        print(f"\n{title}: majority {100 * majority_accuracy(data):.1f}, Gaussian without noise {100 * exact:.1f}")
        print(f"{'':40s}" + "  ".join(f"ε = {epsilon:<7g}" for epsilon in epsilons))
        ours = BinnedNBStudy(data, columns=columns)
        print(f"{'binned, the default':40s}" + cells(ours, epsilons, draws))
        for label, (method, setting) in MOMENTS.items():
            study = MomentsNBStudy(data, method, columns=columns)
            print(f"{label:40s}" + cells(study, epsilons, draws, **setting))
        affordable = MomentsNBStudy(data, "vaidya", columns=columns)
        A = affordable.schema.n_features
        each = [(epsilon - 1) / A for epsilon in epsilons if epsilon > 1]
        if each:
            rest = "  ".join(["     -     "] * (len(epsilons) - len(each)))
            print(f"{'Vaidya et al., Aε + 1 for the ε above':40s}{rest}  {cells(affordable, tuple(each), draws)}")


def private_prediction(draws: int) -> None:
    print("\nprivate prediction: accuracy of labels in %, ε for each label; 2,000 test records")
    for name in ("skin", "adult", "seeds", "mushrooms"):
        study = BinnedNBStudy(load(name))
        schema, test, y = study.schema, study._table.test.iloc[:2000], study.y_test[:2000]
        row = []
        for epsilon in (0.01, 0.1, 1.0):
            n_bins, alpha = default_n_bins(schema, epsilon), default_pseudocount(schema, epsilon)
            design = Design(schema, n_bins, binary_cells=True)
            counts = cell_counts(design, study._table.train, study.y_train, (schema.n_features, 0))
            scores = label_scores(counts, design, test, alpha)
            rng = np.random.default_rng(0)
            labels = release_labels(scores, epsilon, score_range(design.sizes, alpha), draws=draws, rng=rng)
            row.append(f"ε = {epsilon:g}: {100 * (labels == y).mean():.1f}")
        print(f"{name:12s}" + "   ".join(row))


def search(draws: int) -> None:
    for setting, values in (("factor", (0.7, 1.0, 1.4, 2.0, 2.8, 4.0)), ("shrinkage", (0.0, 0.1, 0.3, 1.0, 3.0))):
        print(f"\n{setting}: mean accuracy in % over {draws} draws at " + ", ".join(map(str, values)))
        for title, (name, columns, epsilons) in SETS.items():
            study = BinnedNBStudy(load(name), columns=columns)
            for epsilon in epsilons[:: max(len(epsilons) // 3, 1)]:
                row = []
                for value in values:
                    # the rule without its lower and upper limit
                    rule = (
                        2 * (study.schema.n_lower * epsilon / study.schema.n_classes / study.schema.n_features) ** 0.5
                    )
                    options = {"n_bins": max(round(rule * value / 2), 2)} if setting == "factor" else {setting: value}
                    row.append(study(epsilon, draws=draws, rng=np.random.default_rng(0), **options)["accuracy"].mean())
                print(f"{title:24s} ε = {epsilon:<5g}" + "  ".join(f"{100 * a:5.1f}" for a in row))


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    if "search" in sys.argv:
        search(number)
    else:
        compare(number)
        private_prediction(min(number, 20))
