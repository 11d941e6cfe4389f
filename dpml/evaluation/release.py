"""One release that pays for all measures of a classifier on a private test set. It is the only step that sees ε."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_choice, check_epsilon
from dpml.budget import Budget
from dpml.encoding import SHARE_GRID
from dpml.evaluation._records import check_weight_bound, private_histogram
from dpml.evaluation.histogram import (
    N_BINS,
    SCORE_SCALES,
    check_thresholds,
    noise_scale,
    release_histogram,
    roc_thresholds,
)
from dpml.evaluation.private_evaluation import PrivateEvaluation
from dpml.mechanisms.source import check_start


def release_evaluation(
    y_true: Any,
    y_score: Any,
    epsilon: float,
    *,
    rng: np.random.Generator | None = None,
    relation: str = "add-remove",
    n_bins: int = N_BINS,
    thresholds: Any = None,
    score_scale: str = "probability",
    pos_label: Any = 1,
    classes: Sequence = (0, 1),
    sample_weight: Any = None,
    weight_bound: float | None = None,
    draws: int | None = None,
    on_invalid: str = "raise",
    release: bool = False,
    budget: Budget | None = None,
) -> PrivateEvaluation:
    """Release all measures of a classifier on a private test set, for one ε.

    Released: for every class and every public bin of the score, the number of records (or the sum of their weights)
    plus Laplace noise.

    Privacy: ε per call (per draw) under `relation`. A record is in one cell of the table of both classes, by its own
    label and score, and adds at most W = `weight_bound` to it (1 without weights): sensitivity W under add/remove.
    Under replace-one the two records add w and w' in [0, W]. In different cells they change the table by w + w', at
    most 2W and attained. In the same cell they change it by |w - w'|, at most W. The sensitivity is 2W. With
    ``release=True`` each weight is first rounded by itself to a multiple of W/1024, and the noise is integer Laplace in
    that unit.

    .. warning::
       Each score may depend on its own record only: the model must not have been trained on these records. If it was
       trained on them by a private method, both costs add up (`dpml.evaluation.private_cross_val_score`).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels, each one of `classes`.
    y_score : array-like of shape (n,)
        Scores; higher means more likely `pos_label`.
    epsilon : float
        Privacy parameter of one draw, finite and > 0.
    rng : numpy.random.Generator, optional
        Source of the noise; needed in demonstration, forbidden with ``release=True``.
    relation : {"add-remove", "replace-one"}
    n_bins : int
        Number of public bins, from 2 to 10,000; unused when `thresholds` are given.
    thresholds : array-like, optional
        Public thresholds of your own, decreasing from inf to the lowest score (0, or -inf for log-odds).
    score_scale : {"probability", "log-odds"}
        Scale of `y_score`. Prefer log-odds for naive Bayes, whose probabilities round to 0 and 1.
    pos_label : object
        The class that counts as positive.
    classes : sequence of two labels
        Both labels that a record can have, present or not: a public statement.
    sample_weight : array-like of shape (n,), optional
        Weight of each record, in [0, W]. A weight may depend on its own record only.
    weight_bound : float, optional
        W, public, > 0; needed with weights.
    draws : int, optional
        Number of independent releases, for a study.
    on_invalid : {"raise", "clip"}
        Whether invalid labels, scores and weights are errors, or are dropped and clipped (see `roc_histogram`).
    release : bool
        Integer noise from OpenDP. Invalid values are clipped or dropped whatever `on_invalid` is, so that no data
        raise an error.
    budget : Budget, optional
        Charged `draws` times ε before any noise is drawn.

    Raises
    ------
    InvalidData
        For shapes that do not fit, and with ``on_invalid="raise"`` for a label, score or weight that is not allowed.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 5000)
    >>> evaluation = release_evaluation(y, rng.normal(2 * y - 1, 1), epsilon=1.0, rng=rng, score_scale="log-odds")
    >>> low, high = evaluation.interval("roc_auc")
    >>> low < evaluation.roc_auc() < high, high - low < 0.01
    (True, True)
    """
    exact = count_scores(
        y_true,
        y_score,
        rng=rng,
        n_bins=n_bins,
        thresholds=thresholds,
        score_scale=score_scale,
        pos_label=pos_label,
        classes=classes,
        sample_weight=sample_weight,
        weight_bound=weight_bound,
        on_invalid=on_invalid,
        release=release,
    )
    return release_counts(exact, epsilon, rng=rng, relation=relation, draws=draws, budget=budget)


@dataclass(frozen=True, eq=False)
class ScoreCounts:
    """The exact histogram, a private value, and the public facts that its release needs."""

    counts: Any
    thresholds: NDArray[np.float64]
    score_scale: str
    bound: float
    grid: int
    release: bool


def count_scores(
    y_true: Any,
    y_score: Any,
    *,
    rng: np.random.Generator | None,
    n_bins: int = N_BINS,
    thresholds: Any = None,
    score_scale: str = "probability",
    pos_label: Any = 1,
    classes: Sequence = (0, 1),
    sample_weight: Any = None,
    weight_bound: float | None = None,
    on_invalid: str = "raise",
    release: bool = False,
) -> ScoreCounts:
    """Return the statistics of `release_evaluation`. Labels, scores and weights may be private values."""
    check_choice(score_scale, "score_scale", SCORE_SCALES)
    on_invalid = check_start(on_invalid, rng, release)
    thresholds = check_thresholds(
        roc_thresholds(n_bins, score_scale) if thresholds is None else thresholds, score_scale
    )
    bound = check_weight_bound(sample_weight, weight_bound)
    grid = SHARE_GRID if release and sample_weight is not None else 1
    counts = private_histogram(
        y_true, y_score, sample_weight, thresholds, score_scale, pos_label, classes, on_invalid, weight_bound,
        grid if release else None,
    )  # fmt: skip
    return ScoreCounts(counts, thresholds, score_scale, bound, grid, bool(release))


def release_counts(
    exact: ScoreCounts,
    epsilon: float,
    *,
    rng: np.random.Generator | None,
    relation: str,
    draws: int | None,
    budget: Budget | None = None,
    label: str = "evaluation",
) -> PrivateEvaluation:
    """Return the release of `release_evaluation`."""
    how: dict[str, Any] = {"weight_bound": exact.bound, "secure": exact.release, "grid": exact.grid}
    noisy = release_histogram(
        exact.counts, epsilon, rng=rng, relation=relation, draws=draws, budget=budget, label=label, **how
    )
    return PrivateEvaluation(
        noisy,
        exact.thresholds,
        noise_scale(epsilon, relation, **how),
        check_epsilon(epsilon),
        relation,
        exact.score_scale,
        exact.bound / exact.grid if exact.release else 0.0,
        exact.bound,
    )
