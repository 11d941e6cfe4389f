"""Binary tables whose columns tell the class, and the classes' codes."""

import numpy as np


def told_by_all(n=60, D=4, rate=0.7, seed=0):
    """Each column is 1 with this rate in class 1, and 0 with it in class 0."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    return (rng.random((n, D)) < np.where(y, rate, 1 - rate)[:, None]).astype(int), y


def told_by_some(columns, n=300, D=6, rate=0.5, seed=0):
    """Some columns, {column: share}, say that share of the classes; all others are 1 with this rate."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    X = (rng.random((n, D)) < rate).astype(float)
    for column, share in columns.items():
        X[:, column] = np.where(rng.random(n) < share, y, 1 - y)
    return X, y


def of_any_rates(n=400, D=8, C=2, seed=0):
    """Each column has a rate of its own in each class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(C, size=n)
    rates = rng.uniform(0.1, 0.9, size=(C, D))
    return (rng.random((n, D)) < rates[y]).astype(float), y
