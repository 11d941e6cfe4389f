"""Release all measures of a classifier on a private test set for one ε. It is the only step that sees ε."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_choice, check_epsilon
from dpml.budget import Budget
from dpml.claims import claim
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


@claim(
    "evaluation-clip",
    "All measures, invalid input clipped",
    "derived here: scores are moved into their scale, a record whose label is no class is dropped",
    "ε, for scores of a model that was not trained on these records",
)
@claim(
    "evaluation-release",
    "All measures, release",
    "the same with integer noise (OpenDP)",
    "ε, for scores of a model that was not trained on these records",
)
@claim(
    "evaluation",
    "All measures of a classifier from one noisy histogram",
    "derived here (docs/explanation/errata.md, on [stoddard2014], section 4)",
    "ε, for scores of a model that was not trained on these records",
)
@claim(
    "evaluation-weighted",
    "The same with weights under a public bound",
    "derived here",
    "ε, for weights that depend on their own record only",
)
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

    It releases the number of records (or the sum of their weights) plus Laplace noise, for every class and every public
    bin of the score.

    .. warning::
       Each score may depend on its own record only. The model must not have been trained on these records. If a private
       method trained it on them, both costs add up (`dpml.evaluation.private_cross_val_score`).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels, each one of `classes`.
    y_score : array-like of shape (n,)
        Scores. A higher score means a more likely `pos_label`.
    epsilon : float
        Privacy parameter ε of one draw, finite and greater than 0.
    rng : numpy.random.Generator, optional
        Source of the noise. A simulation needs it, ``release=True`` forbids it.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        Relation between neighbouring tables under which ε holds.
    n_bins : int, default=16
        Number of public bins of the score, from 2 to 10,000. It is unused if `thresholds` are given.
    thresholds : array-like of shape (n_bins + 1,), optional
        Public thresholds that decrease from inf to the lowest score (0, or -inf for log-odds). The default is
        `roc_thresholds`.
    score_scale : {"probability", "log-odds"}, default="probability"
        Scale of `y_score`. Prefer log-odds for naive Bayes, whose probabilities round to 0 and 1.
    pos_label : object, default=1
        Label of the positive class.
    classes : sequence of two labels, default=(0, 1)
        Both labels that a record can have. They are public metadata, present in the data or not.
    sample_weight : array-like of shape (n,), optional
        Weight of each record, in [0, W]. A weight may depend on its own record only.
    weight_bound : float, optional
        Public bound W of the weights, greater than 0. It is required with weights.
    draws : int, optional
        Number of independent releases of a simulation.
    on_invalid : {"raise", "clip"}, default="raise"
        "raise" raises an error for invalid labels, scores and weights. "clip" drops records with invalid labels, and
        clips scores and weights.
    release : bool, default=False
        Use integer noise from OpenDP. Invalid values are then clipped or dropped in every case, so that no data raise
        an error.
    budget : Budget, optional
        Privacy budget that is charged `draws` times ε before any noise is drawn.

    Returns
    -------
    PrivateEvaluation
        Noisy histogram with all its measures.

    Raises
    ------
    InvalidData
        For shapes that do not fit, and with ``on_invalid="raise"`` for a label, score or weight that is not allowed.

    See Also
    --------
    private_cross_val_score : Cross-validate a private classifier.
    compare_classifiers : Compare two classifiers.
    release_multiclass_evaluation : Release measures of several classes.

    Notes
    -----
    Privacy: ε = epsilon per draw. δ = 0. Relation: `relation`. Sensitivity: W in L1 norm under add/remove, and 2W under
    replace-one, with W = `weight_bound`, or 1 without weights.

    A record is in one cell of the table of both classes, by its own label and score, and adds at most W to it. Under
    replace-one, the two records add w and w' in [0, W]. In different cells, they change the table by w + w', at most 2W
    and attained. In the same cell, they change it by abs(w - w'), at most W. With ``release=True``, each weight is
    first rounded by itself to a multiple of W/1024, and the noise is integer Laplace in that unit.

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
    """The exact histogram, a private value, and the public metadata that its release needs."""

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
