"""ROC curves of a private test set (002 sec. 4), from a noisy two-class histogram of the scores.

Statistics: `roc_histogram` counts the records of each class in public bins of the score. Release: `release_histogram`
adds noise, and is the only step that sees both counts and ε. Model: `roc_from_histogram` turns noisy counts into a
curve. True positives and false positives above a threshold are sums of cells from the top (002 definition 5), so that
the noise is paid once for all thresholds. 002 chooses the bins from the data and splits ε between the two classes;
fixed bins on the log-odds scale with all of ε for both classes are this project's own (CHOICES below).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit

from dpml._validate import ON_INVALID, check_choice, check_integer, check_number, check_relation, check_rng
from dpml.budget import Budget, charge
from dpml.exceptions import InvalidData, InvalidParameter
from dpml.mechanisms.additive import Laplace
from dpml.schema import Schema

__all__ = [
    "private_roc_auc",
    "private_roc_curve",
    "release_histogram",
    "roc_from_histogram",
    "roc_histogram",
    "roc_thresholds",
]

SCORE_SCALES = ("probability", "log-odds")

# CHOICES: the least median area error over ten sets of scores and ε from 0.1 to 1 (see docs/decisions.md). More bins
# help only where there are many records for each unit of noise, and can be asked for.
N_BINS = 16
# The ends of the scale of log-odds. Bins beyond the outermost thresholds are open, so no score is out of range.
LOG_ODDS_END = 30.0
# Thresholds nearer to each other than rounding would be the same probability.
MOST_BINS = 10_000

# A record is in one cell: adding it changes one count by 1, replacing it takes 1 from a cell and gives 1 to another.
SENSITIVITY = {"add-remove": 1.0, "replace-one": 2.0}

# Beyond this scale noise could overflow.
MOST_NOISE = 1e300


def roc_thresholds(n_bins: int = N_BINS, score_scale: str = "probability") -> NDArray[np.float64]:
    """Return the public thresholds between bins, which depend on no data.

    In log-odds they are sinh(a (2k/B - 1)) for k = B-1, ..., 1, where sinh(a) = 30: about evenly spaced between -1
    and 1 and in equal ratios beyond. Scores of logistic regression crowd near 0 and those of naive Bayes reach far.

    Parameters
    ----------
    n_bins : int
        Number of bins B, from 2 to 10,000.
    score_scale : {"probability", "log-odds"}
        The scale on which the thresholds are wanted.

    Returns
    -------
    ndarray of shape (n_bins + 1,)
        Decreasing from inf to the lowest score (0, or -inf for log-odds). Bin k holds the scores
        thresholds[k+1] <= score < thresholds[k].

    Raises
    ------
    InvalidParameter
        If a parameter has a value that is not allowed.

    Examples
    --------
    >>> roc_thresholds(4, "log-odds").round(2)
    array([ inf,  3.81,  0.  , -3.81,  -inf])
    >>> roc_thresholds(4).round(3)
    array([  inf, 0.978, 0.5  , 0.022, 0.   ])
    """
    n_bins = check_integer(n_bins, "n_bins", 2, MOST_BINS)
    check_choice(score_scale, "score_scale", SCORE_SCALES)
    steps = 2 * np.arange(n_bins - 1, 0, -1) / n_bins - 1
    log_odds = np.sinh(np.arcsinh(LOG_ODDS_END) * steps)
    inner = expit(log_odds) if score_scale == "probability" else log_odds
    return np.concatenate([[np.inf], inner, [_lowest(score_scale)]])


def _lowest(score_scale: str) -> float:
    return 0.0 if score_scale == "probability" else -np.inf


def _check_thresholds(thresholds: Any, score_scale: str) -> NDArray[np.float64]:
    low = _lowest(score_scale)
    values = np.asarray(thresholds, dtype=float)
    inner = values[1:-1]
    if (
        values.ndim != 1
        or len(values) < 2
        or values[0] != np.inf
        or values[-1] != low
        or not np.isfinite(inner).all()
        or not (values[1:] < values[:-1]).all()
    ):
        raise InvalidParameter("thresholds", thresholds, f"public numbers that decrease from inf to {low:g}")
    return values


def roc_histogram(
    y_true: Any,
    y_score: Any,
    thresholds: Any = None,
    *,
    score_scale: str = "probability",
    pos_label: Any = 1,
    classes: Sequence = (0, 1),
    on_invalid: str = "raise",
) -> NDArray[np.int64]:
    """Count the records of each class in each bin of the score. Exact, so not private.

    Every record is counted in at most one cell, by rules that look at no other record: the L1 sensitivity is 1 under
    add/remove and 2 under replace-one.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels, each one of `classes`.
    y_score : array-like of shape (n,)
        Scores; higher means more likely `pos_label`. Log-odds may be infinite.
    thresholds : array-like of shape (n_bins + 1,), optional
        Public thresholds that decrease from inf to the lowest score; default `roc_thresholds`.
    score_scale : {"probability", "log-odds"}
        Probabilities must lie in [0, 1]. Prefer log-odds for naive Bayes, whose probabilities round to 0 and 1.
    pos_label : object
        The class that counts as positive.
    classes : sequence of two labels
        Both labels that a record can have, present or not: a public statement.
    on_invalid : {"raise", "clip"}
        Whether a score outside its scale and a label that is no class are errors or are moved to the nearest bin and
        dropped. A NaN is an error or dropped.

    Returns
    -------
    ndarray of int of shape (2, n_bins)
        Row 0 counts negatives, row 1 positives; column 0 is the bin of the highest scores.

    Raises
    ------
    InvalidData
        For shapes that do not fit, and with ``on_invalid="raise"`` for a label or score that is not allowed.
    InvalidParameter
        If a parameter has a value that is not allowed.

    Examples
    --------
    >>> roc_histogram([0, 1, 1, 0], [0.1, 0.4, 0.9, 0.5], [np.inf, 0.5, 0])
    array([[1, 1],
           [1, 1]])
    """
    check_choice(on_invalid, "on_invalid", ON_INVALID)
    check_choice(score_scale, "score_scale", SCORE_SCALES)
    if thresholds is None:
        thresholds = roc_thresholds(score_scale=score_scale)
    thresholds = _check_thresholds(thresholds, score_scale)
    classes = tuple(classes)
    if len(classes) != 2 or classes[0] == classes[1]:
        raise InvalidParameter("classes", classes, "two different labels")
    if pos_label not in classes:
        raise InvalidParameter("pos_label", pos_label, f"one of the classes {classes}")

    scores = _check_scores(y_score, score_scale, on_invalid)
    codes = Schema.binary(1, classes=classes).check_labels(y_true, on_invalid)
    if len(codes) != len(scores):
        # the numbers of records are private, so the message has none
        raise InvalidData("y_true and y_score have different lengths: they must have one entry for each record")
    drop = np.isnan(scores)
    drop |= codes < 0
    if drop.any():
        scores, codes = scores[~drop], codes[~drop]

    n_bins = len(thresholds) - 1
    ascending = thresholds[-2:0:-1]
    cells = np.searchsorted(ascending, scores, side="right")
    cells += n_bins * codes
    counts = np.bincount(cells, minlength=2 * n_bins).reshape(2, n_bins)[:, ::-1]
    return counts if classes[1] == pos_label else counts[::-1]


def _check_scores(y_score: Any, score_scale: str, on_invalid: str) -> NDArray[np.float64]:
    try:
        scores = np.asarray(y_score, dtype=float)
    except (TypeError, ValueError):
        # a score that is no number becomes NaN
        values = np.asarray(y_score, dtype=object)
        scores = values if values.ndim != 1 else pd.to_numeric(pd.Series(values), errors="coerce").to_numpy(float)
    if scores.ndim != 1:
        raise InvalidData(f"y_score has {scores.ndim} dimensions: it must have 1")
    if on_invalid == "raise":
        low, high = (0.0, 1.0) if score_scale == "probability" else (-np.inf, np.inf)
        # a NaN fails both comparisons
        allowed = (scores >= low) & (scores <= high)
        if not allowed.all():
            value = scores[~allowed][0].item()
            domain = "a number from 0 to 1" if score_scale == "probability" else "a number, log-odds"
            raise InvalidData(f"y_score has the value {value!r}: it must be {domain}")
    return scores


def release_histogram(
    counts: Any,
    epsilon: float,
    *,
    rng: np.random.Generator,
    relation: str = "add-remove",
    draws: int | None = None,
    budget: Budget | None = None,
) -> NDArray[np.float64]:
    """Add Laplace noise to every cell of a two-class histogram.

    Released: each count plus independent Laplace noise of scale Δ/ε.

    Privacy: ε per draw under `relation`; the sensitivity Δ is 1 (add/remove) or 2 (replace-one). Derivation: one
    record is counted in one cell, so adding or removing it changes the table by 1 in L1 norm, and replacing it by at
    most 2; Laplace noise of scale Δ/ε on each cell is then ε-DP (000 Theorem 2.2.1). Positives and negatives are
    different records, so both rows have all of ε (002 gives each half of it). Source: 002 sec. 4.2.1 for curves from
    counts of disjoint bins; the table of both classes is this project's own.

    Parameters
    ----------
    counts : array-like of shape (2, n_bins)
        Exact counts, from `roc_histogram`.
    epsilon : float
        Privacy parameter of one draw, finite and > 0.
    rng : numpy.random.Generator
        Source of the noise.
    relation : {"add-remove", "replace-one"}
        Which data sets are neighbours.
    draws : int, optional
        Number of independent releases, for a study.
    budget : Budget, optional
        Charged `draws` times ε before any noise is drawn.

    Returns
    -------
    ndarray of shape (2, n_bins) or (draws, 2, n_bins)

    Raises
    ------
    InvalidParameter
        If a parameter has a value that is not allowed.
    BudgetExceeded, RelationMismatch
        If the budget cannot pay; nothing is drawn.

    Examples
    --------
    >>> release_histogram([[0, 9], [8, 1]], 1.0, rng=np.random.default_rng(0), draws=3).shape
    (3, 2, 2)
    """
    mechanism = _mechanism(epsilon, relation)
    check_rng(rng)
    n_draws = 1 if draws is None else check_integer(draws, "draws", 1)
    charge(budget, relation, n_draws * mechanism.epsilon, label="ROC curve")
    return mechanism.release(counts, rng=rng, draws=draws)


def _mechanism(epsilon: float, relation: str) -> Laplace:
    mechanism = Laplace(epsilon, SENSITIVITY[check_relation(relation)])
    if mechanism.scale > MOST_NOISE:
        raise InvalidParameter("epsilon", epsilon, f"at least {SENSITIVITY[relation] / MOST_NOISE:g}, for finite noise")
    return mechanism


def roc_from_histogram(counts: Any, noise_scale: float = 0.0) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Turn counts, noisy or exact, into ROC curves. Post-processing, so it costs no ε.

    Every count is lowered by one noise scale and cut at 0 (soft thresholding), so that empty bins add nearly nothing;
    then the cells of each class are summed from the top and divided by their total. The totals are private too, so
    they are those of the noisy cells. A class of which nothing is left has its mass spread evenly over the bins.

    Parameters
    ----------
    counts : array-like of shape (..., 2, n_bins)
        Row 0 negatives, row 1 positives; column 0 is the bin of the highest scores.
    noise_scale : float
        Scale of the Laplace noise in `counts`, in records; a public number. 0 for exact counts.

    Returns
    -------
    fpr, tpr : ndarray of shape (..., n_bins + 1)
        Increasing from 0 to 1.

    Raises
    ------
    InvalidParameter
        If `counts` is no finite two-class histogram or `noise_scale` is negative.

    Examples
    --------
    >>> fpr, tpr = roc_from_histogram([[1, 1, 2], [3, 1, 0]])
    >>> fpr
    array([0.  , 0.25, 0.5 , 1.  ])
    >>> tpr
    array([0.  , 0.75, 1.  , 1.  ])
    """
    noise_scale = check_number(noise_scale, "noise_scale", 0.0)
    counts = np.asarray(counts, dtype=float)
    if counts.ndim < 2 or counts.shape[-2] != 2 or counts.shape[-1] < 1 or not np.isfinite(counts).all():
        raise InvalidParameter("counts", f"an array of shape {counts.shape}", "finite, of shape (..., 2, n_bins)")
    kept = np.maximum(counts - noise_scale, 0.0)
    largest = kept.max(axis=-1, keepdims=True)
    # dividing by the largest count first keeps the sums finite whatever the noise
    kept = np.where(largest > 0, kept / np.where(largest > 0, largest, 1.0), 1.0)
    rates = np.zeros((*kept.shape[:-1], kept.shape[-1] + 1))
    np.cumsum(kept, axis=-1, out=rates[..., 1:])
    # a quotient by the last, largest sum never passes 1 and ends at exactly 1
    rates /= rates[..., -1:].copy()
    return rates[..., 0, :], rates[..., 1, :]


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
    for a record is in one cell (see `release_histogram`). The thresholds are public. Source: 002 sec. 4 for the
    problem and for curves from counts of disjoint bins; the two-class histogram on fixed log-odds bins is this
    project's own.

    .. warning::
       Each score may depend on its own record only. The model must not have been trained on these records: then one
       record would change all scores. If it was, and by a method that is itself ε'-DP for them, both costs add up.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels, each one of `classes`.
    y_score : array-like of shape (n,)
        Scores; higher means more likely `pos_label`.
    epsilon : float
        Privacy parameter of one draw, finite and > 0.
    rng : numpy.random.Generator
        Source of the noise.
    relation : {"add-remove", "replace-one"}
        Which data sets are neighbours.
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
    draws : int, optional
        Number of independent releases, for a study.
    on_invalid : {"raise", "clip"}
        Whether invalid labels and scores are errors or are dropped and clipped (see `roc_histogram`).
    budget : Budget, optional
        Charged `draws` times ε before any noise is drawn.

    Returns
    -------
    fpr, tpr : ndarray of shape (n_bins + 1,) or (draws, n_bins + 1)
        False and true positive rates, increasing from 0 to 1.
    thresholds : ndarray of shape (n_bins + 1,)
        Decreasing, on the scale of `y_score`, with thresholds[0] = inf: point k counts scores >= thresholds[k].

    Raises
    ------
    InvalidData
        For shapes that do not fit, and with ``on_invalid="raise"`` for a label or score that is not allowed.
    InvalidParameter
        If a parameter has a value that is not allowed.
    BudgetExceeded, RelationMismatch
        If the budget cannot pay; nothing is drawn.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 500)
    >>> log_odds = rng.normal(4 * y - 2, 2)
    >>> fpr, tpr, thresholds = private_roc_curve(y, log_odds, 1.0, rng=rng, score_scale="log-odds", n_bins=4)
    >>> thresholds.round(1)
    array([ inf,  3.8,  0. , -3.8, -inf])
    >>> tpr.round(1)
    array([0. , 0.1, 0.8, 1. , 1. ])
    """
    check_choice(score_scale, "score_scale", SCORE_SCALES)
    if thresholds is None:
        thresholds = roc_thresholds(n_bins, score_scale)
    thresholds = _check_thresholds(thresholds, score_scale)
    counts = roc_histogram(
        y_true,
        y_score,
        thresholds,
        score_scale=score_scale,
        pos_label=pos_label,
        classes=classes,
        on_invalid=on_invalid,
    )
    noisy = release_histogram(counts, epsilon, rng=rng, relation=relation, draws=draws, budget=budget)
    fpr, tpr = roc_from_histogram(noisy, _mechanism(epsilon, relation).scale)
    return fpr, tpr, thresholds


def private_roc_auc(
    y_true: Any, y_score: Any, epsilon: float, *, rng: np.random.Generator, **options: Any
) -> float | NDArray[np.float64]:
    """Return the area under the curve of `private_roc_curve`.

    Released: the same noisy histogram, so a curve and an area from two calls cost twice.

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
        Area in [0, 1]; records of one bin count as ties.

    Raises
    ------
    InvalidData, InvalidParameter, BudgetExceeded, RelationMismatch
        As `private_roc_curve` does.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 500)
    >>> log_odds = rng.normal(4 * y - 2, 2)
    >>> round(private_roc_auc(y, log_odds, 1.0, rng=rng, score_scale="log-odds"), 2)
    0.93
    """
    fpr, tpr, _ = private_roc_curve(y_true, y_score, epsilon, rng=rng, **options)
    # rounding may pass 1 by a little
    area = np.clip(np.trapezoid(tpr, fpr, axis=-1), 0.0, 1.0)
    return float(area) if area.ndim == 0 else area
