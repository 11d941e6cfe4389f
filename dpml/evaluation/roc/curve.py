"""ROC curves of a private test set (Stoddard et al. 2014, sec. 4): the curve alone, from `release_evaluation`.

The noisy histogram of the curve also gives every other measure of the classifier. If you need more than the curve, call
`release_evaluation` once.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml.budget import Budget
from dpml.claims import claim
from dpml.evaluation.histogram import N_BINS
from dpml.evaluation.private_evaluation import area_under
from dpml.evaluation.release import count_scores, release_counts


@claim(
    "private-roc-curve",
    "ROC curve from scores and labels",
    "derived here (docs/explanation/errata.md, on [stoddard2014], section 4)",
    "ε, for scores of a model that was not trained on these records",
)
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

    It releases the number of records plus Laplace noise, for every class and every public bin of the score. The curve
    is computed from these noisy counts alone.

    .. warning::
       Each score may depend on its own record only. The model must not have been trained on these records, because one
       record would then change all scores. If an ε'-DP method trained it on them, both costs add up.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels, each one of `classes`.
    y_score : array-like of shape (n,)
        Scores. A higher score means a more likely `pos_label`.
    epsilon : float
        Privacy parameter of one draw, finite and > 0.
    rng : numpy.random.Generator
        Source of the noise.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        Relation between neighbouring tables under which ε holds.
    n_bins : int, default=16
        Number of public bins of the score, from 2 to 10,000. It is unused if `thresholds` are given.
    thresholds : array-like of shape (n_bins + 1,), optional
        Public thresholds that decrease from inf to the lowest score (0, or -inf for log-odds). The default is
        `roc_thresholds`.
    score_scale : {"probability", "log-odds"}, default="probability"
        Scale of the scores.
    pos_label : object, default=1
        Label of the positive class.
    classes : sequence of two labels, default=(0, 1)
        Both labels that a record can have. They are public metadata, present in the data or not.
    draws : int, optional
        Number of independent releases of a simulation.
    on_invalid : {"raise", "clip"}, default="raise"
        "raise" raises an error for invalid labels, scores and weights. "clip" drops records with invalid labels, and
        clips scores and weights.
    budget : Budget, optional
        Privacy budget that is charged `draws` times ε before any noise is drawn.

    Returns
    -------
    fpr, tpr : ndarray of shape (n_bins + 1,) or (draws, n_bins + 1)
        False and true positive rates, which increase from 0 to 1.
    thresholds : ndarray of shape (n_bins + 1,)
        Thresholds on the scale of `y_score`, which decrease from inf. Point k counts the scores >= thresholds[k].

    See Also
    --------
    private_roc_auc : Return a private AUC.
    release_evaluation : Release all measures of a classifier.
    published_roc_curve : Return a curve by the published algorithm.

    Notes
    -----
    Privacy: ε = epsilon per draw. δ = 0. Relation: `relation`. Sensitivity: 1 in L1 norm under add/remove, and 2 under
    replace-one. A record is in one cell (`release_histogram`), and the thresholds are public.

    Stoddard et al. state the problem and compute curves from counts of disjoint bins. The histogram of two classes
    on fixed log-odds bins is this project's own.

    References
    ----------
    - Stoddard, B., Chen, Y. and Machanavajjhala, A. (2014). Differentially private algorithms for empirical
      machine learning. Section 4.

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


@claim(
    "private-roc-auc",
    "AUC from scores and labels",
    "derived here (docs/explanation/errata.md, on [stoddard2014], section 4)",
    "ε, for scores of a model that was not trained on these records",
)
def private_roc_auc(
    y_true: Any, y_score: Any, epsilon: float, *, rng: np.random.Generator, **options: Any
) -> float | NDArray[np.float64]:
    """Return a private area under the ROC curve.

    It releases the noisy histogram of `private_roc_curve`, so that a curve and an area from two calls cost ε twice.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels, each one of `classes`.
    y_score : array-like of shape (n,)
        Scores. A higher score means a more likely `pos_label`.
    epsilon : float
        Privacy parameter ε of one draw, finite and greater than 0.
    rng : numpy.random.Generator
        Source of the noise.
    **options : object
        All other parameters of `private_roc_curve`.

    Returns
    -------
    float or ndarray of shape (draws,)
        AUC in [0, 1]. Records in the same bin count as ties.

    See Also
    --------
    private_roc_curve : Return a private ROC curve.
    release_evaluation : Release all measures of a classifier for one ε.

    Notes
    -----
    Privacy: ε = epsilon per draw. δ = 0. Relation: `relation`. Sensitivity: 1 in L1 norm under add/remove, and 2 under
    replace-one. The model must not have been trained on these records. The warning in `private_roc_curve` applies.

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
