"""Scores of two classes, and their released and exact figures, for the tests of released evaluations."""

import numpy as np
from scipy import stats

from dpml.evaluation import (
    PrivateEvaluation,
    release_evaluation,
    roc_histogram,
    roc_thresholds,
)


def scores(n=600, gap=2.0, share=0.5, seed=3):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    return y, rng.normal(gap * (y - 0.5), 1.5)


def assert_valid(fpr, tpr):
    for rate in (fpr, tpr):
        assert np.isfinite(rate).all()
        assert (np.diff(rate, axis=-1) >= 0).all()
        assert (rate[..., 0] == 0).all()
        assert (rate[..., -1] == 1).all()


def evaluate(y, s, epsilon, seed=0, **options):
    return release_evaluation(y, s, epsilon, rng=np.random.default_rng(seed), **options)


def exact_of(y, log_odds, **options):
    """The evaluation with no noise at all."""
    counts = roc_histogram(y, log_odds, score_scale="log-odds", **options).astype(float)
    return PrivateEvaluation(counts, roc_thresholds(score_scale="log-odds"), 0.0, 1.0, "add-remove", "log-odds")


# The least share of 400 that a probability of 0.95 gives in all but one of 10,000 samples: 0.904.
LEAST = stats.binom.ppf(1e-4, 400, 0.95) / 400
