"""ROC curves of a private test set (Stoddard et al. 2014, sec. 4): the curve alone, from `release_evaluation`.

The noisy histogram of the curve also gives every other measure of the classifier. If you need more than the curve, call
`release_evaluation` once.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml.budget import Budget
from dpml.evaluation.histogram import N_BINS
from dpml.evaluation.private_evaluation import area_under
from dpml.evaluation.release import count_scores, release_counts


def private_roc_curve(
    y_true: Any,
    y_score: Any,
    epsilon: float,
    *,
    rng: np.random.Generator,
    relation: str = "add-remove",
    n_bins: int = N_BINS,
    thresholds: Any = None,
    score_scale: str = "probability",
    pos_label: Any = 1,
    classes: Sequence = (0, 1),
    draws: int | None = None,
    on_invalid: str = "raise",
    budget: Budget | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return a differentially private ROC curve of scores on a private test set.

    Released: for every class and every public bin of the score, the number of records plus Laplace noise; the curve
    is computed from these alone.

    Privacy: ε per call (per draw) under `relation`; the histogram has sensitivity 1 (add/remove) or 2 (replace-one),
    because a record is in one cell (see `release_histogram`). The thresholds are public. Source: Stoddard et al. 2014,
    sec. 4 for the problem and for curves from counts of disjoint bins; the two-class histogram on fixed log-odds bins
    is this project's own.

    .. warning::
       Each score may depend on its own record only. The model must not have been trained on these records, because one
       record would then change all scores. If it was trained on them by an ε'-DP method, both costs add up.

    Parameters
    ----------
    y_true, y_score, relation, n_bins, thresholds, score_scale, pos_label, classes, draws, on_invalid, budget
        As for `release_evaluation`.
    epsilon : float
        Privacy parameter of one draw, finite and > 0.
    rng : numpy.random.Generator
        Source of the noise.

    Returns
    -------
    fpr, tpr : ndarray of shape (n_bins + 1,) or (draws, n_bins + 1)
        False and true positive rates, increasing from 0 to 1.
    thresholds : ndarray of shape (n_bins + 1,)
        Decreasing, on the scale of `y_score`, with thresholds[0] = inf: point k counts scores >= thresholds[k].

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 500)
    >>> log_odds = rng.normal(4 * y - 2, 2)
    >>> fpr, tpr, thresholds = private_roc_curve(y, log_odds, 1.0, rng=rng, score_scale="log-odds", n_bins=4)
    >>> thresholds.round(1)
    array([ inf,  2.7,  0. , -2.7, -inf])
    >>> tpr.round(1)
    array([0. , 0.3, 0.8, 1. , 1. ])
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
        on_invalid=on_invalid,
    )
    options: dict[str, Any] = {"relation": relation, "draws": draws, "budget": budget}
    return release_counts(exact, epsilon, rng=rng, label="ROC curve", **options).roc_curve()


def private_roc_auc(
    y_true: Any, y_score: Any, epsilon: float, *, rng: np.random.Generator, **options: Any
) -> float | NDArray[np.float64]:
    """Return the area under the curve of `private_roc_curve`.

    Released: the same noisy histogram, so that a curve and an area from two calls cost ε twice.

    Privacy: ε per call (per draw) under `relation`; sensitivity 1 (add/remove) or 2 (replace-one). The warning at
    `private_roc_curve` about the model's training records holds here too.

    Parameters
    ----------
    y_true, y_score, epsilon, rng
        As for `private_roc_curve`.
    **options
        All other parameters of `private_roc_curve`.

    Returns
    -------
    float or ndarray of shape (draws,)
        Area in [0, 1]. Records in the same bin count as ties.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 500)
    >>> log_odds = rng.normal(4 * y - 2, 2)
    >>> round(private_roc_auc(y, log_odds, 1.0, rng=rng, score_scale="log-odds"), 2)
    0.92
    """
    fpr, tpr, _ = private_roc_curve(y_true, y_score, epsilon, rng=rng, **options)
    return area_under(fpr, tpr)
