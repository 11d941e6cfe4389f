"""Test accuracy of private linear classifiers on the six binary sets of Antonova (2016), compared with its Table 4.2.

python benchmarks/accuracy_linear.py [--draws 50] [--epsilons 0.1 1] [--datasets adult ...] [--markdown]

The real files are needed (DPML_DATA). Every row is a mean over draws of the noise on the fixed public split. The rows
"as published" choose λ as Antonova (2016) does, by five-fold cross-validation on the private records, at no ε for
it. All other rows follow public rules. In Antonova (2016) all features are scaled to [-1, 1], so that a record of
binary features has length √D. Here absent features are 0, and its length is the square root of its number of ones.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import roc_auc_score

from dpml.classifiers import BernoulliNB, LinearClassifier, LinearSVC, LogisticRegression, PrivGene, PrivLocal
from dpml.classifiers.linear import release_weights
from dpml.classifiers.linear_models import LinearModels
from dpml.datasets import Dataset, load
from dpml.studies.accuracy import majority_accuracy

DATA = ("xwindows", "mushrooms", "adult", "newsgroup1", "newsgroup2", "newsgroup3")
# Antonova (2016), Table 4.2: logistic regression without privacy, objective and output perturbation, majority;
# percent at ε = 0.1
TABLE_4_2 = {
    "xwindows": (80, 50, 73, 50),
    "mushrooms": (100, 50, 71, 52),
    "adult": (85, 76, 76, 76),
    "newsgroup1": (91, 56, 61, 57),
    "newsgroup2": (90, 81, 81, 81),
    "newsgroup3": (93, 82, 82, 82),
}
LAMBDAS = tuple(10.0**k for k in range(-3, 6))
CV_DRAWS = 4
ESTIMATORS: dict[str, Callable[..., Any]] = {
    "LinearClassifier (public rule)": LinearClassifier,
    "BernoulliNB": BernoulliNB,
    "LR, objective, Laplace noise": lambda *a, **k: LogisticRegression(*a, method="objective", norm="l1", **k),
    "LR, objective, norm-gamma noise": lambda *a, **k: LogisticRegression(*a, method="objective", **k),
    "LR, output": lambda *a, **k: LogisticRegression(*a, method="output", **k),
    "LR, functional (FMsens3)": lambda *a, **k: LogisticRegression(*a, method="functional", **k),
    "SVM, objective, Laplace noise": lambda *a, **k: LinearSVC(*a, method="objective", norm="l1", huber=1.0, **k),
    "SVM, objective, norm-gamma noise": lambda *a, **k: LinearSVC(*a, method="objective", **k),
    "PrivLocal": PrivLocal,
    "PrivGene": PrivGene,
    "LR, noisy descent, δ = 1e-5": lambda *a, **k: LogisticRegression(*a, method="noisy-descent", **k),
    "LR, approximate minima, δ = 1e-5": lambda *a, **k: LogisticRegression(*a, method="approximate-minima", **k),
}


def dense(X: Any) -> np.ndarray:
    return X.toarray().astype(float) if sparse.issparse(X) else np.asarray(X, dtype=float)


def as_published(data: Dataset, method: str, epsilon: float, draws: int) -> tuple[np.ndarray, float]:
    """Return accuracies of Antonova's Algorithm 6 or 7 on records scaled as hers, and the λ it chooses."""
    scale = 1 / np.sqrt(data.X_train.shape[1])
    train, test = (scale * (2 * dense(X) - 1) for X in (data.X_train, data.X_test))
    options: dict[str, Any] = {"method": method, "calibration": "published", "rng": np.random.default_rng(0)}
    fold = np.random.default_rng(0).integers(5, size=len(train))

    def accuracy(lam, X, codes, X_test, y_test, n):
        theta = release_weights(X, codes, 2, epsilon, lam, draws=n, **options)
        return LinearModels(theta, np.zeros((n, 1))).accuracy(X_test, y_test)

    y = data.y_train
    found = [
        np.mean(
            [accuracy(v, train[fold != k], y[fold != k], train[fold == k], y[fold == k], CV_DRAWS) for k in range(5)]
        )
        for v in LAMBDAS
    ]
    best = LAMBDAS[int(np.argmax(found))]
    return accuracy(best, train, y, test, data.y_test, draws), best


def fits(kind: Callable[..., Any], data: Dataset, epsilon: float, draws: int) -> tuple[np.ndarray, float, float]:
    """Return accuracies, the mean AUC and the median seconds of a fit."""
    accuracy, auc, seconds = [], [], []
    for seed in range(draws):
        begun = time.perf_counter()
        model = kind(epsilon, schema=data.schema, random_state=seed).fit(data.X_train, data.y_train)
        seconds.append(time.perf_counter() - begun)
        accuracy.append(model.score(data.X_test, data.y_test))
        has_scores = hasattr(model, "decision_function")
        scores = model.decision_function(data.X_test) if has_scores else model.predict_proba(data.X_test)[:, 1]
        auc.append(roc_auc_score(data.y_test, scores))
    return np.array(accuracy), float(np.mean(auc)), float(np.median(seconds))


def cell(accuracy: np.ndarray) -> str:
    return f"{100 * accuracy.mean():.1f} ({100 * accuracy.std(ddof=1) / np.sqrt(len(accuracy)):.1f})"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument("--epsilons", type=float, nargs="+", default=[0.1, 1.0])
    parser.add_argument("--datasets", nargs="+", default=DATA, choices=DATA)
    parser.add_argument("--methods", nargs="+", help="words that a row's name must contain, any of them")
    parser.add_argument("--markdown", action="store_true")
    args = parser.parse_args()
    for name in args.datasets:
        data = load(name)
        exact = LogisticRegressionCV(
            Cs=[1 / v for v in LAMBDAS], cv=5, max_iter=2000, l1_ratios=(0,), scoring="accuracy"
        )
        without = exact.fit(data.X_train, data.y_train).score(data.X_test, data.y_test)
        print(
            f"\n{name}: majority {100 * majority_accuracy(data):.1f}, LR without privacy {100 * without:.1f}",
            flush=True,
        )
        told = "Antonova (2016), Table 4.2: LR {}, objective {}, output {}, majority {}".format(*TABLE_4_2[name])
        print(f"  {told}", flush=True)
        for epsilon in args.epsilons:
            for method in ("objective", "output"):
                label = f"LR, {method}, as published"
                if not args.methods or any(word in label for word in args.methods):
                    accuracy, best = as_published(data, method, epsilon, args.draws)
                    show(args.markdown, name, epsilon, label, cell(accuracy), f"λ = {best:g} by CV")
            for label, kind in ESTIMATORS.items():
                if not args.methods or any(word in label for word in args.methods):
                    accuracy, auc, seconds = fits(kind, data, epsilon, args.draws)
                    show(
                        args.markdown, name, epsilon, label, cell(accuracy), f"AUC {auc:.3f}", f"{seconds:.2f} s a fit"
                    )


def show(markdown: bool, *cells: Any) -> None:
    print(("| " + " | ".join(map(str, cells)) + " |") if markdown else "  " + "   ".join(map(str, cells)), flush=True)


if __name__ == "__main__":
    main()
