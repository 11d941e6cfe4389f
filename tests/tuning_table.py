"""A table whose first column tells the label, for the tests of private tuning."""

import numpy as np


def table(n=600, D=6, seed=0, n_classes=2):
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    X = (rng.random((n, D)) < 0.3).astype(float)
    X[:, 0] = np.where(rng.random(n) < 0.9, y > 0, y == 0)
    return X, y
