"""Scores of two classes, and what every released curve must be."""

import numpy as np


def scores(n=600, seed=3, gap=2.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return y, rng.normal(gap * (y - 0.5), 1.5)


def assert_valid(fpr, tpr):
    for rate in (fpr, tpr):
        assert np.isfinite(rate).all()
        assert (np.diff(rate, axis=-1) >= 0).all()
        assert (rate[..., 0] == 0).all()
        assert (rate[..., -1] == 1).all()
