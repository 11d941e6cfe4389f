"""Naive Bayes for many words, with noisy counts that are shrunk by the part that exceeds the noise.

Statistics and release are those of `dpml.classifiers.BernoulliNB`: class counts of words, each record's ones shared
down to the contribution bound. The model differs. With thousands of words most counts are noise, and the classes differ
in size: the same noise is then a far larger part of a rare class' counts, and a product over words predicts that class
at random. Here a count moves from the pooled rate only as far as it stands out of its own noise.

With few records a noisy test first decides whether a few words are enough. If not, a second test selects the model of
the noisy counts that is correct most often: this one, the one of `BernoulliNB`, or the majority-class baseline.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from dpml._validate import check_epsilon, check_relation
from dpml.budget.shares import rest_of
from dpml.classifiers.linear_models import LinearModels
from dpml.classifiers.naive_bayes.bernoulli import (
    default_class_share,
    default_row_bound,
    default_shrinkage,
    models_from_row_bounded,
)
from dpml.counts import FACTOR, Contingency, NoisyCounts, contingency, release_row_bounded, row_bounded_scales
from dpml.encoding import SHARE_GRID, columns_of, share_rows
from dpml.exceptions import InvalidParameter
from dpml.mechanisms import PermuteAndFlip
from dpml.mechanisms.private import statistic
from dpml.mechanisms.secure import noisy_max
from dpml.parquet import BatchedTable, parts_of
from dpml.schema import Schema
from dpml.selection.plan import choose_features

__all__ = ["release_words", "shrunken_models"]

FloatArray = NDArray[np.float64]
# share of ε for the choice among models of the same counts; no more than for noise of this share of the records. The
# model of `BernoulliNB` is left only where another is better by more than a scale of the noise
CHECK_SHARE, FINE, BONUS = 0.1, 1 / 75, 1.0
MOST_BONUS = 2**40  # more than any number of records; larger numbers have no secure maximum
# standard deviation of a word's relative rate in a class, for words whose counts are noise
SPREAD = 0.5
# a count moves freely where its square is this many variances of its noise
OUTSTANDING = 14.0
# least pooled count of a word, in mean counts; largest rate; least ratio of a class' rate to the pooled one
LEAST_POOLED, MOST_RATE, LEAST_RATIO = 0.25, 0.97, 0.05


def release_words(
    X: Any,
    codes: Any,
    schema: Schema,
    epsilon: float,
    *,
    look: bool = False,
    relation: str = "add-remove",
    rng: np.random.Generator | None = None,
    secure: bool = False,
) -> LinearModels:
    """Release the model of a table of words, checked binary records and their classes 0..C-1.

    It releases with `look`, for few records, the decision whether few words are enough, and their names, then noisy
    class counts of words, and with all words the model of these counts that is correct most often.

    Privacy: ε for `relation` by composition of `dpml.selection.choose_features`, `dpml.counts.release_row_bounded` and
    permute-and-flip. The latter compares the number of records for which each model is right. The models are released
    before, so that a record adds 0 or 1 to each number, and the difference of two changes by at most 1 (2 under
    replace-one).
    """
    epsilon, factor = check_epsilon(epsilon), FACTOR[check_relation(relation)]
    C, mask, for_check = schema.n_classes, np.ones(schema.n_features, dtype=bool), 0.0
    if look:
        counted = partial(word_counts, X, codes, C)
        options: dict[str, Any] = {"relation": relation, "rng": None if secure else rng, "counted": counted}
        choice = choose_features(None, np.zeros(0, dtype=np.intp), schema, epsilon, **options)
        epsilon, mask = choice.epsilon_left, choice.mask
        if mask.all():
            for_check = min(CHECK_SHARE * epsilon, factor / (FINE * (schema.n_lower or 1)))
            epsilon = rest_of(epsilon, for_check)
    kept = schema if mask.all() else schema.subset(mask)
    r = default_row_bound(kept, epsilon)
    exact = word_counts(X, codes, C, r, mask)
    shared: dict[str, Any] = {"relation": relation, "class_share": default_class_share(kept.n_features)}
    noisy = release_row_bounded(exact, epsilon, r, grid=SHARE_GRID, rng=rng, secure=secure, **shared)
    shrunken = shrunken_models(noisy, epsilon, r, **shared)
    if not look:
        return shrunken
    pooled = default_shrinkage(kept) * row_bounded_scales(epsilon, r, **shared)[0]
    plain = models_from_row_bounded(noisy, 1.0, pooled, kept)
    if not mask.all():
        return plain.spread(np.flatnonzero(mask)[None, :], schema.n_features)
    candidates = [shrunken, plain, constant_models(noisy, schema.n_features)]
    right = numbers_correct(candidates, X, codes, (0, round(min(BONUS * factor / for_check, MOST_BONUS)), 0))
    if secure:
        return candidates[int(noisy_max(right, for_check, factor))]
    assert rng is not None
    return candidates[int(PermuteAndFlip(for_check, factor).release(right, rng=rng))]


def word_counts(
    X: Any, codes: Any, n_classes: int, row_bound: int | None = None, mask: NDArray[np.bool_] | None = None
) -> Contingency:
    """Return the exact counts of words, of all or of some of them, that share a contribution bound if there is one."""
    return Contingency(*_word_counts(X, codes, n_classes, row_bound, mask))


@statistic
def _word_counts(
    X: Any, codes: Any, n_classes: int, row_bound: int | None, mask: NDArray[np.bool_] | None
) -> tuple[FloatArray, FloatArray]:
    if isinstance(X, BatchedTable):
        counts = X.counts() if row_bound is None else X.shared_counts(row_bound, mask)
    else:
        some = X if mask is None else columns_of(X, mask)
        counts = contingency(some if row_bound is None else share_rows(some, row_bound), codes, n_classes)
    return counts.on, counts.n


@statistic
def numbers_correct(models: Sequence[LinearModels], X: Any, codes: Any, more: Sequence[int]) -> NDArray[np.int64]:
    """Return the number of records that each model classifies correctly, plus a public number."""
    right = np.array(more, dtype=np.int64)
    for part, classes in parts_of(X, codes):
        right += [np.count_nonzero(model.predicted(part)[0] == classes) for model in models]
    return right


def constant_models(noisy: NoisyCounts, n_features: int) -> LinearModels:
    """Return the models that know the released class counts alone."""
    assert noisy.n is not None
    sizes = np.log(np.maximum(noisy.n, 1.0))
    # for two classes the log odds of class 1
    intercept = sizes[:, 1:] - sizes[:, :1] if sizes.shape[1] == 2 else log_softmax(sizes, axis=1)
    return LinearModels(np.zeros((*intercept.shape, n_features)), intercept)


def shrunken_models(
    noisy: NoisyCounts, epsilon: float, row_bound: int, *, relation: str = "add-remove", class_share: float = 0.1
) -> LinearModels:
    """Return the models of `release_row_bounded` counts with the same ε, bound, relation and share. Post-processing.

    Let t be a word's pooled count, π_c the released share of class c and E = π_c·t the count of the class at the pooled
    rate. The excess x = on_c - π_c·Σ on has the variance V = 2b²((1 - π_c)² + (C - 1)π_c²) + E. Its relative size d =
    x/E gets the prior N(0, τ²), so that its posterior mean is τ²E·x/(τ²E² + V) (empirical Bayes). τ is `SPREAD`, or the
    rest of the excess after `OUTSTANDING` variances: few words are very informative, and must be shrunk less than the
    many. The pooled counts are shrunk to their mean in the same way.
    """
    if noisy.n is None:
        raise InvalidParameter("noisy", "counts without class counts", "from release_row_bounded")
    b, _ = row_bounded_scales(epsilon, row_bound, relation=relation, class_share=class_share)
    n = np.maximum(noisy.n, 1.0)
    total, C = n.sum(axis=1), n.shape[1]
    share = (n / total[:, None])[:, :, None]
    raw = noisy.on.sum(axis=1)
    pooled = _pooled(raw, 2 * C * b * b)
    expected = share * pooled[:, None, :]
    excess = noisy.on - share * raw[:, None, :]
    variance = 2 * b * b * ((1 - share) ** 2 + (C - 1) * share**2) + expected
    spread = np.maximum(SPREAD**2, (excess**2 - OUTSTANDING * variance) / expected**2)
    relative = spread * expected * excess / (spread * expected**2 + variance)
    rate = np.minimum(pooled / total[:, None], 0.95)[:, None, :]
    rates = np.clip(rate * (1 + relative), np.maximum(LEAST_RATIO * rate, 1e-6), MOST_RATE)
    coef = np.log(rates) - np.log1p(-rates)
    intercept = np.log1p(-rates).sum(axis=2) + np.log(share[:, :, 0])
    if C == 2:
        coef, intercept = coef[:, 1:] - coef[:, :1], intercept[:, 1:] - intercept[:, :1]
    return LinearModels(coef, intercept)


def _pooled(raw: FloatArray, variance: float) -> FloatArray:
    """Return pooled counts > 0, shrunk to their mean unless they stand out of the noise."""
    mean = np.maximum(raw.mean(axis=1, keepdims=True), 1.0)
    among = np.maximum(raw.var(axis=1, keepdims=True) - variance, 1e-9)
    signal = np.maximum(among, raw**2 - 2 * variance)
    kept = signal / (signal + variance)
    return np.maximum(kept * raw + (1 - kept) * mean, LEAST_POOLED * mean)
