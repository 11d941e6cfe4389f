"""Records in the unit ball and their signs, for the tests of linear classifiers."""

import numpy as np


def random_records(rng, n, dimension):
    """Records in the unit ball, some on the sphere, some the same, some of one class."""
    X = rng.normal(size=(n, dimension))
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-300)
    X *= np.where(rng.random((n, 1)) < 0.5, 1.0, rng.random((n, 1)))
    if n and rng.random() < 0.3:
        X[: n // 2] = X[0]
    signs = np.where(rng.random(n) < rng.choice([0.0, 0.5, 0.9]), 1.0, -1.0)
    return X, signs
