"""Errors and coverage of the measures of `private_confusion_matrix` with few and many classes.

    python benchmarks/many_classes.py [--runs 400]

Labels are drawn with equal class sizes, or with sizes that fall as 1/k. A prediction is right with a probability of its
class, and else drawn like a label. Printed for each number of classes C, of records n, and ε:

- the true accuracy, the mean of the released one, and its root mean square error (rmse);
- the same error of the balanced accuracy, and that of a recall;
- the coverage of the 95 % interval for the exact accuracy (binomial standard error in brackets), and its mean width;
- the coverage of the interval with `sampling` for the population's accuracy, over as many drawn tables.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpml.evaluation import private_confusion_matrix

SETTINGS = [(500, 0.5), (2_000, 0.1), (2_000, 0.5), (2_000, 2.0), (10_000, 0.5)]
ACCURACY = {2: 0.8, 3: 0.7, 5: 0.6, 10: 0.5, 50: 0.29}


class Population:
    """Labels and predictions of `n_classes` classes, whose accuracy is known."""

    def __init__(self, n_classes: int, skewed: bool):
        rng = np.random.default_rng(n_classes)
        sizes = 1.0 / np.arange(1, n_classes + 1) if skewed else np.ones(n_classes)
        self.sizes = sizes / sizes.sum()
        self.kept = np.clip(ACCURACY[n_classes] + rng.normal(0, 0.1, n_classes), 0.02, 0.98)
        self.accuracy = float(self.sizes @ (self.kept + (1 - self.kept) * self.sizes))

    def draw(self, n: int, rng: np.random.Generator) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return true and predicted classes of n records."""
        y, other = rng.choice(len(self.sizes), (2, n), p=self.sizes)
        return y, np.where(rng.random(n) < self.kept[y], y, other)


def rmse(released: Any, exact: Any) -> float:
    """Return the root mean square error."""
    return float(np.sqrt(np.mean((np.asarray(released) - exact) ** 2)))


def row(n_classes: int, skewed: bool, n: int, epsilon: float, runs: int) -> dict[str, Any]:
    """Return the figures of one setting."""
    population, rng = Population(n_classes, skewed), np.random.default_rng(0)
    options: dict[str, Any] = {"classes": tuple(range(n_classes)), "rng": rng}
    y, predicted = population.draw(n, rng)
    exact = np.mean(y == predicted)
    present = np.bincount(y, minlength=n_classes) > 0
    recalls = np.bincount(y[y == predicted], minlength=n_classes)[present] / np.bincount(y)[np.flatnonzero(present)]
    table = private_confusion_matrix(y, predicted, epsilon, draws=runs, **options)
    # draws of one call share their simulated noise: blocks of them have noise of their own
    blocks = [private_confusion_matrix(y, predicted, epsilon, draws=runs // 10, **options) for _ in range(10)]
    low, high = np.concatenate([block.interval(rng=rng) for block in blocks], axis=1)
    shown = np.concatenate([block.accuracy() for block in blocks])
    assert ((low <= shown) & (shown <= high)).all()
    covered = float(np.mean((low <= exact) & (exact <= high)))
    of_population = []
    for _ in range(runs):
        drawn = private_confusion_matrix(*population.draw(n, rng), epsilon, **options)
        ends = drawn.interval(sampling=True, n_boot=500, rng=rng)
        of_population.append(ends[0] <= population.accuracy <= ends[1])
    return {
        "C": n_classes,
        "sizes": "1/k" if skewed else "equal",
        "n": n,
        "epsilon": epsilon,
        "exact": round(float(exact), 3),
        "mean": round(float(np.mean(table.accuracy())), 3),
        "rmse": float(f"{rmse(table.accuracy(), exact):.2g}"),
        "balanced rmse": float(f"{rmse(table.balanced_accuracy(), recalls.mean()):.2g}"),
        "recall rmse": float(f"{rmse(table.recalls()[:, present], recalls):.2g}"),
        "coverage": f"{covered:.3f} ({np.sqrt(covered * (1 - covered) / runs):.3f})",
        "width": float(f"{np.mean(high - low):.2g}"),
        "population": round(float(np.mean(of_population)), 3),
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=400)
    runs = parser.parse_args().runs
    settings = [(c, skewed, n, e) for c in ACCURACY for skewed in (False, True) for n, e in SETTINGS]
    print(pd.DataFrame([row(*setting, runs) for setting in settings]).to_string(index=False))


if __name__ == "__main__":
    main()
