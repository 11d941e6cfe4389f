"""Records of words and their labels, for the tests of linear classifiers."""

import numpy as np


def words(n=600, D=8, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    X = (rng.random((n, D)) < np.where(y[:, None], np.linspace(0.1, 0.8, D), 0.4)).astype(int)
    return X, y
