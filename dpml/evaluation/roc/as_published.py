"""Private ROC curves as published by Stoddard et al. 2014 (section 4, Algorithm 3), where every part can be replaced.

First come the thresholds: for a share of ε, public, or taken from the data as in the paper's baseline. Then come, for
each label, noisy numbers of records above every threshold, as one-sided range queries. The last step is monotone
regression. The project's own curve, `private_roc_curve`, has public bins and one table for both labels. It is compared
with this one.

Statistics: sorted scores of each label. Releases: the thresholds (`dpml.evaluation.roc.thresholds`), then the sums
(`dpml.mechanisms.ranges`). Model: `roc_from_sums`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_choice, check_epsilon, check_integer, check_number, check_relation, check_rng
from dpml.budget import Budget, charge
from dpml.budget.shares import rest_of
from dpml.evaluation._records import check_two_classes, read_records
from dpml.evaluation.histogram import lowest_score
from dpml.evaluation.roc.thresholds import (
    alpha_fixed_space,
    check_scores,
    fixed_space,
    quantile_thresholds,
    recursive_medians,
)
from dpml.exceptions import InvalidParameter, NotPrivate
from dpml.mechanisms.noise import Laplace
from dpml.mechanisms.private import for_study, number_of, public_number, statistic
from dpml.mechanisms.ranges import Hierarchy, IdentityRanges, Privelet, isotonic

Floats = NDArray[np.float64]

METHODS = ("recursive-medians", "quantiles", "fixed-space", "laplace", "laplace-fixed")
CALIBRATIONS = ("published", "exact")
RANGES = {"privelet": Privelet, "hierarchy": Hierarchy, "identity": IdentityRanges}
# Stoddard et al.'s t
BASELINE_THRESHOLDS = 10
# Beyond this, sums of noise could overflow.
MOST_NOISE = 1e300


def published_roc_is_private(method: str, n_thresholds: int | None = None, relation: str = "add-remove") -> bool:
    """Return True if the options of `published_roc_curve` are ε-differentially private.

    "laplace" takes its thresholds from the data and is not private. "fixed-space" without `n_thresholds` has ⌊α·n⌋
    thresholds, which reveals n. It is private under replace-one, where n is public, but not under add/remove.

    Parameters
    ----------
    method : str
        Method of `published_roc_curve`.
    n_thresholds : int, optional
        Public number of thresholds.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        Relation between neighbouring tables under which ε holds.

    Returns
    -------
    bool
        True if the curve is private.

    See Also
    --------
    published_roc_curve : Return a curve by the published algorithm.

    Examples
    --------
    >>> published_roc_is_private("fixed-space"), published_roc_is_private("fixed-space", 100)
    (False, True)
    """
    check_choice(method, "method", METHODS)
    if method == "fixed-space" and n_thresholds is None:
        return check_relation(relation) == "replace-one"
    return method != "laplace"


def published_roc_curve(
    y_true: Any,
    y_score: Any,
    epsilon: float,
    *,
    rng: np.random.Generator,
    method: str = "recursive-medians",
    split: float = 0.2,
    k: int = 10,
    n_thresholds: int | None = None,
    alpha: float = 1.0,
    calibration: str = "published",
    ranges: str = "privelet",
    halves: bool = True,
    relation: str = "add-remove",
    score_scale: str = "probability",
    pos_label: Any = 1,
    classes: Sequence = (0, 1),
    draws: int | None = None,
    on_invalid: str = "raise",
    budget: Budget | None = None,
) -> tuple[Floats, Floats, Floats]:
    """Return a ROC curve by Algorithm 3 (PriROC) of Stoddard et al. (2014).

    It releases the thresholds and, for each label, noisy numbers of records with scores at or above each of them. The
    default options are as published, for simulation and comparison.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels, each one of `classes`. The model must not have been trained on these records.
    y_score : array-like of shape (n,)
        Scores. A higher score means a more likely `pos_label`.
    epsilon : float
        Privacy parameter of one draw, finite and > 0.
    rng : numpy.random.Generator
        Source of all noise.
    method : {"recursive-medians", "quantiles", "fixed-space", "laplace", "laplace-fixed"}, default="recursive-medians"
        Choice of thresholds. "recursive-medians" uses Algorithm 4. "quantiles" uses the exponential mechanism, which is
        not in the paper. "fixed-space" uses even steps. "laplace" is the paper's baseline, t quantiles of the data, and
        is NOT private. "laplace-fixed" is that baseline with even public thresholds.
    split : float, default=0.2
        Share of ε for the thresholds, in (0, 1). The paper uses 0.2.
    k : int, default=10
        Public number of levels of the recursion, for 2^k thresholds. The paper uses ⌈log2 n⌉, which is 10 on its data.
    n_thresholds : int, optional
        Public number of thresholds. The default is 2^k for quantiles, 10 for the baselines, and ⌊`alpha`·n⌋ for
        "fixed-space", which reveals n.
    alpha : float, default=1.0
        Share α of α-FixedSpace. It is unused if `n_thresholds` is given.
    calibration : {"published", "exact"}, default="published"
        Noise of recursive medians, as in `recursive_medians`.
    ranges : {"privelet", "hierarchy", "identity"}, default="privelet"
        Strategy for the sums. The baselines do not use it.
    halves : bool, default=True
        Whether each label gets half of ε2, as published, or all of it.
    relation : {"add-remove", "replace-one"}
        Relation between neighbouring tables under which ε holds.
    score_scale : {"probability", "log-odds"}, default="probability"
        Scale of the scores.
    pos_label : object, default=1
        Label of the positive class.
    classes : sequence of two labels, default=(0, 1)
        Both labels that a record can have. They are public metadata, present in the data or not.
    draws : int, optional
        Number of independent releases, for a study.
    on_invalid : {"raise", "clip"}, default="raise"
        "raise" raises an error for invalid labels, scores and weights. "clip" drops records with invalid labels, and
        clips scores and weights.
    budget : Budget, optional
        Charged `draws` times ε before anything is drawn.

    Returns
    -------
    fpr, tpr : ndarray of shape (m + 1,) or (draws, m + 1)
        False and true positive rates, which increase from 0 to 1.
    thresholds : ndarray of the same shape
        Thresholds that decrease from inf to the lowest score.

    Raises
    ------
    NotPrivate
        If a budget is given to a method that is not private.

    See Also
    --------
    private_roc_curve : Return the recommended private curve.
    published_roc_is_private : Check the privacy of the options.
    recursive_medians : Draw the thresholds of Algorithm 4.

    Notes
    -----
    Privacy: ε = at most epsilon per draw, if `published_roc_is_private` returns True. δ = 0. Relation: `relation`.
    Sensitivity: 1 in the count of one bin of one label under add/remove, and 2 in L1 norm under replace-one.

    A method that is not private is kept for comparison and takes no budget. ε1 = `split`·ε is spent on drawn thresholds
    (0 for other thresholds), and ε2 = ε - ε1 on the sums. A record adds to the sums of one label only, so both labels
    may have all of ε2 under add/remove. With `halves`, each label has ε2/2 as published, and the actual ε is at most ε1
    + ε2/2. Under replace-one a record may change its label, so all noise is doubled.

    For "laplace" with t thresholds and the number of records of a label, a record changes at most t + 1 sums by 1.
    Noise of scale (t + 1)/ε is therefore enough. The paper uses (2t + 1)/ε, and so does `halves`.

    References
    ----------
    - Stoddard, B., Chen, Y. and Machanavajjhala, A. (2014). Differentially private algorithms for empirical
      machine learning. Algorithms 3 and 4.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 500)
    >>> scores = rng.beta(1 + 2 * y, 3 - 2 * y)
    >>> fpr, tpr, thresholds = published_roc_curve(y, scores, 1.0, rng=rng, k=2)
    >>> thresholds.shape, round(float(np.trapezoid(tpr, fpr)), 1)
    ((5,), 0.9)
    """
    check_choice(method, "method", METHODS)
    check_choice(calibration, "calibration", CALIBRATIONS)
    check_choice(ranges, "ranges", tuple(RANGES))
    if not isinstance(halves, (bool, np.bool_)):
        raise InvalidParameter("halves", halves, "True or False")
    epsilon, relation = check_epsilon(epsilon), check_relation(relation)
    split = check_number(split, "split", 0.0, 1.0, open_lower=True, open_upper=True)
    rows = 1 if draws is None else check_integer(draws, "draws", 1)
    scores, codes = _records(y_true, y_score, score_scale, pos_label, classes, on_invalid)
    options: dict[str, Any] = {"relation": relation, "score_scale": score_scale, "draws": rows, "rng": check_rng(rng)}
    options["on_invalid"] = "clip"  # the scores have been checked
    if budget is not None and not published_roc_is_private(method, n_thresholds, relation):
        raise NotPrivate(f"published_roc_curve(method={method!r}) is not private: it takes no budget")

    count, second = _plan(method, y_true, epsilon, split, k, n_thresholds, alpha, relation)
    first = rest_of(epsilon, second)
    _check_noise(first, second, count, relation)
    charge(budget, relation, rows * epsilon, label=f"published ROC curve, {method}")
    if method == "recursive-medians":
        thresholds = recursive_medians(scores, first, k, calibration=calibration, **options)
    elif method == "quantiles":
        thresholds = quantile_thresholds(scores, first, count, **options)
    elif method == "laplace":
        thresholds = for_study(_data_thresholds(scores, count, score_scale), False, "quantiles of the scores")
    else:
        thresholds = fixed_space(count, score_scale)

    exact = _records_above(scores, codes, thresholds)
    if method.startswith("laplace"):
        per_label = (2 * count - 1 if halves else count) * (1 if relation == "add-remove" else 2)
        mechanism = Laplace(epsilon, per_label)
        sums = mechanism.release(exact, rng=rng, draws=rows)
    else:
        part = RANGES[ranges](second / 2 if halves else second, count, relation, 2)
        sums = part.release(_cells(exact), rng=rng, draws=rows if thresholds.ndim == 1 else None)
    fpr, tpr = roc_from_sums(sums)
    thresholds = np.broadcast_to(thresholds, fpr.shape).copy()
    return (fpr[0], tpr[0], thresholds[0]) if draws is None else (fpr, tpr, thresholds)


def roc_from_sums(sums: Any) -> tuple[Floats, Floats]:
    """Compute ROC curves from numbers of records above falling thresholds.

    The numbers may be noisy or exact. The sums of each label are replaced by the nearest increasing ones, cut at 0, and
    divided by the last one. If nothing is left of a label, its rates rise evenly.

    Parameters
    ----------
    sums : array-like of shape (..., 2, m)
        Row 0 counts negatives, row 1 positives. The last column is the number of all records of the label.

    Returns
    -------
    fpr : ndarray of shape (..., m + 1)
        False positive rates, which increase from 0 to 1.
    tpr : ndarray of shape (..., m + 1)
        True positive rates, which increase from 0 to 1.

    See Also
    --------
    roc_from_histogram : Compute ROC curves from counts of bins.

    Notes
    -----
    Privacy: no data is read. The sums may be released ones, so this is post-processing and costs no ε.

    References
    ----------
    - Stoddard, B., Chen, Y. and Machanavajjhala, A. (2014). Differentially private algorithms for empirical
      machine learning. Section 4.2.3.

    Examples
    --------
    >>> fpr, tpr = roc_from_sums([[1, 2, 4], [4, 3, 4]])
    >>> tpr.round(3)
    array([0.   , 0.875, 0.875, 1.   ])
    """
    values = np.asarray(sums, dtype=float)
    if values.ndim < 2 or values.shape[-2] != 2 or values.shape[-1] < 1 or not np.isfinite(values).all():
        raise InvalidParameter("sums", f"an array of shape {values.shape}", "finite, of shape (..., 2, m)")
    # regression adds up many values: dividing by the largest first keeps the sums finite, whatever the noise
    largest = np.abs(values).max(axis=-1, keepdims=True)
    rising = isotonic(values / np.where(largest > 0, largest, 1.0), lower=0.0)
    last = rising[..., -1:]
    even = np.arange(1, values.shape[-1] + 1) / values.shape[-1]
    rates = np.zeros((*values.shape[:-1], values.shape[-1] + 1))
    rates[..., 1:] = np.where(last > 0, rising / np.where(last > 0, last, 1.0), even)
    return rates[..., 0, :], rates[..., 1, :]


def _plan(
    method: str,
    y_true: Any,
    epsilon: float,
    split: float,
    k: int,
    n_thresholds: int | None,
    alpha: float,
    relation: str,
) -> tuple[int, float]:
    """Return the number of bins and ε2."""
    given = None if n_thresholds is None else check_integer(n_thresholds, "n_thresholds", 2, 1 << 16)
    k = check_integer(k, "k", 1, 16)
    alpha = check_number(alpha, "alpha", 0.0, 1.0, open_lower=True)
    if method == "recursive-medians":
        if given is not None:
            raise InvalidParameter("n_thresholds", n_thresholds, "None for recursive medians, which have 2^k")
        return 1 << k, (1 - split) * epsilon
    if method == "quantiles":
        return given or 1 << k, (1 - split) * epsilon
    if method == "fixed-space":
        return given or len(alpha_fixed_space(_published_n(y_true, relation), alpha)) - 1, epsilon
    # t thresholds, and the number of all records of a label
    return (given or BASELINE_THRESHOLDS) + 1, epsilon


def _published_n(y_true: Any, relation: str) -> int:
    """Return the number of records: under replace-one that of the given ones, since a dropped one is a null record."""
    if relation == "replace-one":
        return public_number(y_true, relation)
    return for_study(number_of(y_true), False, "the number of records, which is not private here")


def _check_noise(first: float, second: float, count: int, relation: str) -> None:
    # a bound on every scale: all levels of all strategies together, both halves, both relations
    most = 8 * (count + 2)
    for share in (first, second):
        if 0 < share < most / MOST_NOISE:
            raise InvalidParameter("epsilon", share, f"at least {most / MOST_NOISE:g} for each part, for finite noise")


def _records(
    y_true: Any, y_score: Any, score_scale: str, pos_label: Any, classes: Sequence, on_invalid: str
) -> tuple[Any, Any]:
    """Return private scores and labels, 1 for positive, of the records that have both."""
    classes = check_two_classes(classes, pos_label)
    scores = check_scores(y_score, score_scale, on_invalid)
    codes, [scores], _ = read_records(y_true, {"y_score": scores}, score_scale, classes, on_invalid)
    return scores, codes if classes[1] == pos_label else _swapped(codes)


@statistic
def _swapped(codes: NDArray[np.intp]) -> NDArray[np.intp]:
    return 1 - codes


@statistic
def _cells(above: Floats) -> Floats:
    return np.diff(above, axis=-1, prepend=0)


@statistic
def _records_above(scores: Floats, codes: NDArray[np.intp], thresholds: Floats) -> Floats:
    """Return for each label the number of scores >= each threshold but the first, (..., 2, m). Exact, so private."""
    labels = []
    for code in (0, 1):
        own = np.sort(scores[codes == code])
        labels.append(len(own) - np.searchsorted(own, thresholds[..., 1:], side="left"))
    return np.stack(labels, axis=-2).astype(float)


@statistic
def _data_thresholds(scores: Floats, count: int, score_scale: str) -> Floats:
    """Return `count` - 1 quantiles of the scores themselves between inf and the lowest score. NOT private."""
    if not len(scores):
        return fixed_space(count, score_scale)
    inner = np.quantile(scores, np.arange(count - 1, 0, -1) / count, method="lower")
    return np.concatenate([[np.inf], inner, [lowest_score(score_scale)]])
