"""Test accuracy and AUC of private naive Bayes on the binary sets: mean and standard error over draws.

python benchmarks/accuracy_naive_bayes.py [draws]     # needs the real files: set DPML_DATA

"the default" is `BernoulliNB(epsilon, schema=...)` with no other parameter, fitted once for each seed 0, 1, ...
"""

from __future__ import annotations

import sys

import numpy as np
from sklearn.metrics import roc_auc_score

from dpml.classifiers import BernoulliNB
from dpml.datasets import Dataset, load
from dpml.studies.accuracy import PublishedNBStudy, RowBoundedNBStudy, majority_accuracy, non_private_nb
from dpml.sweep import summarise, sweep

DATA = ("newsgroup1", "newsgroup2", "newsgroup3", "mushrooms", "adult", "xwindows")
EPSILONS = (0.1, 1.0)


def default(data: Dataset, epsilon: float, draws: int) -> str:
    accuracy, auc = [], []
    for seed in range(draws):
        model = BernoulliNB(epsilon, schema=data.schema, random_state=seed).fit(data.X_train, data.y_train)
        accuracy.append(model.score(data.X_test, data.y_test))
        auc.append(roc_auc_score(data.y_test, model.predict_proba(data.X_test)[:, 1]))
    se = np.std(accuracy, ddof=1) / np.sqrt(draws)
    return f"ε = {epsilon:g}: {np.mean(accuracy):.4f} ({se:.4f}), AUC {np.mean(auc):.3f}"


def main(draws: int) -> None:
    print(f"mean test accuracy over {draws} draws, add/remove-one (standard error)")
    for name in DATA:
        data = load(name)
        exact = non_private_nb(data)
        X, y = data.X_test, data.y_test
        print(f"\n{name}: majority {majority_accuracy(data):.4f}, non-private NB {exact.accuracy(X, y)[0]:.4f}")
        studies = {
            "Algorithm 1 as published": PublishedNBStudy(data),
            "all features, row-bounded": RowBoundedNBStudy(data),
        }
        for label, study in studies.items():
            table = summarise(sweep(study, {"epsilon": list(EPSILONS)}, draws=draws, seed=0), ["epsilon"])
            cells = "   ".join(f"ε = {row.epsilon:g}: {row.mean:.4f} ({row.se:.4f})" for row in table.itertuples())
            print(f"  {label:28s} {cells}")
        print(f"  {'the default':28s} " + "   ".join(default(data, epsilon, draws) for epsilon in EPSILONS))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
