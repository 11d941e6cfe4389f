"""Boyd, Lantz and Page 2015, the sequel of Stoddard et al. 2014: one number of a curve, with smooth sensitivity.

**Sensitivity, add/remove.** Of n records of the positive class and m of the other, in whatever order and with ties:

- *Area.* It is the mean over positives of the share of negatives below each. A removed positive whose share is u moves
  it by |u - A'|/n, where A' is the area of the others, so by at most 1/n; of negatives 1/m. Local: 1/min(n, m).
- *Average precision*, the mean over positives of i/(i + a), where i positives and a negatives are not below the i-th.
  One negative more or less changes a term by at most 1/(i + 1): the sum is H(n + 1) - 1. One positive less moves the
  terms below it from i/(i + a) to (i - 1)/(i - 1 + a), by at most 1/(√(i - 1) + √i)², its own away, and 1/n to
  1/(n - 1): at most (1 + Σ_{i<n} 1/(√i + √(i + 1))²)/n in all.

Both bounds b fall in the smaller number of records c, which k changes lower by k at most: max e^(-βk)·b(c - k) is a
β-smooth bound, and Cauchy noise of it costs ε. An empty class has area ½ and average precision 0.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.naive_bayes import BernoulliNB

from benchmarks.papers.measured import Measured
from benchmarks.papers.splits import MODELS, Found, runs
from dpml.evaluation import release_evaluation
from dpml.mechanisms.smooth import Cauchy

EPSILONS = (1.0, 0.5, 0.25, 0.1)
# words of the classifier, the most frequent ones; None: all of them
WORDS = (None, 40)


def local_bounds(kind: str, most: int) -> NDArray[np.float64]:
    """Return the bound for 0 to `most` records: of the smaller class for "area", of positives for "precision".

    >>> local_bounds("area", 4).tolist()
    [1.0, 1.0, 0.5, 0.3333333333333333, 0.25]
    >>> local_bounds("precision", 3).round(3).tolist()
    [1.0, 1.0, 0.586, 0.424]
    """
    n = np.arange(1, most + 1)
    if kind == "area":
        return np.r_[1.0, 1 / n]
    harmonic = np.cumsum(1 / (n + 1))
    moved = np.r_[0.0, np.cumsum(1 / (np.sqrt(n) + np.sqrt(n + 1)) ** 2)[:-1]]
    return np.r_[1.0, np.minimum(1.0, np.maximum(harmonic, 1 + moved) / n)]


def smooth_bound(kind: str, count: int, beta: float) -> float:
    """Return the β-smooth bound at a number of records."""
    bounds = local_bounds(kind, count)
    return float((np.exp(-beta * np.arange(count + 1)) * bounds[::-1]).max())


def claim_boyd(draws: int, random_state: int) -> Iterator[Measured]:
    """Mean error of both numbers on SMS in points: by smooth sensitivity, and from one noisy table of counts.

    Each run holds out other messages, 30% of all.
    """
    scores: dict[str, Callable[..., Any]] = {"area": roc_auc_score, "precision": average_precision_score}
    found = Found()
    for data, rng in runs("sms", draws, random_state):
        truth, positives = data.y_test, int(data.y_test.sum())
        smaller = {"area": min(positives, len(truth) - positives), "precision": positives}
        commonest = np.argsort(-np.asarray(data.X_train.sum(axis=0)).ravel(), kind="stable")
        for words in WORDS:
            columns = commonest[:words]
            model = BernoulliNB().fit(data.X_train[:, columns], data.y_train)
            joint = model.predict_joint_log_proba(data.X_test[:, columns])
            odds = joint[:, 1] - joint[:, 0]
            title = "all words" if words is None else f"{words} words"
            values = {kind: float(score(truth, odds)) for kind, score in scores.items()}
            for kind, value in values.items():
                found.add(f"{title}, {kind} without noise", value)
            for epsilon in EPSILONS:
                noise = Cauchy(epsilon, epsilon / 6)
                table = release_evaluation(truth, odds, epsilon, score_scale="log-odds", draws=MODELS, rng=rng)
                ours = {"area": table.roc_auc(), "precision": table.average_precision()}
                for kind, value in values.items():
                    smooth = smooth_bound(kind, smaller[kind], noise.beta)
                    theirs = noise.release(value, smooth, rng=rng, draws=MODELS).clip(0, 1)
                    at = f"{title}, ε = {epsilon:g}, {kind}"
                    found.add(f"{at}: smooth sensitivity", np.abs(theirs - value))
                    found.add(f"{at}: one noisy table for both", np.abs(ours[kind] - value))
    yield from found.rows()
