"""Labels of private prediction against one published model for the same ε: at how many labels the model leads.

python benchmarks/private_prediction_lr.py [draws] > benchmarks/results/private_prediction_lr.csv   # set DPML_DATA

All labels together cost ε, each an equal part. A draw takes 1,000 test records, new parts and new noise. One label of
an ε is one of ten at ten times the ε, which is computed once.
"""

from __future__ import annotations

import sys
from functools import cache

import numpy as np
from sklearn.base import clone

from dpml.classifiers import LinearClassifier, LogisticRegression, PrivatePredictionLR
from dpml.datasets import load

SETS = ("adult", "mushrooms", "sms", "census", "newsgroup1", "xwindows")
EPSILONS = (0.05, 0.1, 0.5, 1.0, 3.0)
LABELS = (1, 3, 10, 30, 100)
QUERIES = 1000


def row(data, epsilon: float, asked: int | str, method: str, right: list[float]) -> None:
    se = np.std(right, ddof=1) / np.sqrt(len(right))
    print(f"{data.name},{epsilon:g},{asked},{method},{np.mean(right):.4f},{se:.4f},{len(right)}", flush=True)


def shares(model, data, some) -> list[float]:
    """Return the share of right labels of a fit by each draw's seed, on that draw's test records."""
    fits = (clone(model).set_params(random_state=seed).fit(data.X_train, data.y_train) for seed in range(len(some)))
    return [
        float(np.mean(fit.predict(data.X_test[rows]) == data.y_test[rows]))
        for fit, rows in zip(fits, some, strict=True)
    ]


def main(draws: int) -> None:
    print("dataset,epsilon,labels,method,accuracy,se,draws")
    for name in SETS:
        data = load(name)
        rng = np.random.default_rng(0)
        some = [rng.choice(len(data.y_test), min(QUERIES, len(data.y_test)), replace=False) for _ in range(draws)]

        options = {"schema": data.schema, "on_invalid": "clip"}

        @cache
        def of_label(epsilon: float, method: str, options=options, data=data, some=some) -> list[float]:
            return shares(PrivatePredictionLR(epsilon, method=method, **options), data, some)

        for epsilon in EPSILONS:
            models = {
                "objective": LogisticRegression(epsilon, method="objective", **options),
                "LinearClassifier": LinearClassifier(epsilon, **options),
            }
            for method, model in models.items():
                row(data, epsilon, "any", method, shares(model, data, some))
            for asked in LABELS:
                for method in ("votes", "margin"):
                    row(data, epsilon, asked, method, of_label(float(f"{epsilon / asked:.12g}"), method))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
