"""Records that one column separates, for the tests of local search."""

import numpy as np


def separable(n=600, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    return (rng.random((n, 5)) < np.where(y, 0.8, 0.2)[:, None]).astype(int), y
