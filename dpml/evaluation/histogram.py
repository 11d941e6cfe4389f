"""The noisy two-class histogram of a private test set's scores, from which every measure of a classifier follows.

Reading: labels, scores and weights are private, and each record is read by itself. Statistics: `roc_histogram` counts
the records of each class in public bins of the score. Release: `release_histogram` adds noise, and is the only step
that sees both counts and ε. Model: `roc_from_histogram` turns noisy counts into a curve, `PrivateEvaluation` into all
other measures. True positives and false positives above a threshold are sums of cells from the top (Stoddard et al.
2014, definition 5), so that one noisy table serves all thresholds. Stoddard et al. choose the bins from the data and
split ε between the two classes. Fixed bins on the log-odds scale, with all of ε for both classes, are this project's
own (CHOICES below).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from dpml._arrays import FloatArray
from dpml._validate import (
    LEAST_WIDTH,
    ON_INVALID,
    check_choice,
    check_epsilon,
    check_integer,
    check_number,
    check_relation,
)
from dpml.budget import Budget, charge
from dpml.claims import claim
from dpml.encoding import SHARE_GRID
from dpml.exceptions import InvalidData, InvalidParameter
from dpml.mechanisms.noise import Laplace
from dpml.mechanisms.private import Private, for_study, statistic, to_integers
from dpml.mechanisms.secure import integer_scale
from dpml.mechanisms.source import Source, check_source
from dpml.schema import Schema
from dpml.schema.cells import plain_cells, plain_numbers
from dpml.schema.feature import stated_values


def different_classes(classes: Sequence) -> tuple:
    """Return public labels, at least two, or raise `InvalidSchema` where two of them have the same value."""
    classes = stated_values(classes, "classes", 2)
    for error in Schema.binary(1, classes=classes).ambiguities:
        raise error
    return classes


def check_two_classes(classes: Sequence, pos_label: Any) -> tuple:
    """Return the two public labels, one of them the positive one."""
    classes = different_classes(classes)
    if len(classes) != 2:
        raise InvalidParameter("classes", classes, "two different labels")
    if pos_label not in classes:
        raise InvalidParameter("pos_label", pos_label, f"one of the classes {classes}")
    return classes


def read_records(
    y_true: Any,
    columns: Mapping[str, Any],
    score_scale: str,
    classes: Sequence,
    on_invalid: str,
    sample_weight: Any = None,
    bound: float = 1.0,
) -> tuple[Any, list[Any], Any]:
    """Return class positions, columns of scores and weights (or None) of the records valid in all, all private."""
    given = to_read((y_true, dict(columns), sample_weight), on_invalid)
    codes, weights, *scores = map(Private, _read(given, score_scale, classes, on_invalid, bound))
    return codes, scores, weights


def to_read(given: Any, on_invalid: str) -> Any:
    """Return a caller's data as read: private, but open in a simulation that raises errors for invalid values."""
    # `check_start` of a release turns "raise" into "clip"
    return for_study(given, False, "an invalid value") if on_invalid == "raise" else Private(given)


@statistic
def _read(given: tuple, score_scale: str, classes: Sequence, on_invalid: str, bound: float) -> tuple:
    y_true, columns, sample_weight = given
    scores = [read_scores(values, name, score_scale, on_invalid) for name, values in columns.items()]
    codes = Schema.binary(1, classes=classes).check_labels(y_true, on_invalid)
    names, weights = ["y_true", *columns], None
    if sample_weight is not None:
        allowed = f"a number from 0 to weight_bound = {bound:g}"
        weights = np.clip(read_numbers(sample_weight, "sample_weight", 0.0, bound, allowed, on_invalid), 0.0, bound)
    read = scores if weights is None else [*scores, weights]
    aligned([*names, "sample_weight"][: len(read) + 1], codes, *read)
    drop = codes < 0
    for column in read:
        drop |= np.isnan(column)
    if drop.any():
        codes, scores = codes[~drop], [column[~drop] for column in scores]
        weights = None if weights is None else weights[~drop]
    return codes, weights, *scores


@statistic
def aligned(names: Sequence[str], *columns: Any) -> tuple:
    """Return columns that have one entry for each record, or raise `InvalidData`."""
    if any(len(column) != len(columns[0]) for column in columns):
        # the number of records is private, so the message does not contain it
        every = ", ".join(names[:-1]) + " and " + names[-1]
        raise InvalidData(f"{every} have different lengths: they must have one entry for each record")
    return columns


def check_weight_bound(sample_weight: Any, weight_bound: float | None) -> float:
    """Return the public bound on weights, 1 without weights."""
    if sample_weight is None:
        if weight_bound is not None:
            raise InvalidParameter("weight_bound", weight_bound, "None without sample_weight")
        return 1.0
    if weight_bound is None:
        raise InvalidParameter("weight_bound", None, "a public bound > 0 on the weights, which sets the noise")
    return check_number(weight_bound, "weight_bound", LEAST_WIDTH)


def read_scores(values: Any, name: str, score_scale: str, on_invalid: str) -> FloatArray:
    """Return one score for each record, read by `read_numbers`."""
    if score_scale == "probability":
        return read_numbers(values, name, 0.0, 1.0, "a number from 0 to 1", on_invalid)
    return read_numbers(values, name, -np.inf, np.inf, "a number, log-odds", on_invalid)


def read_numbers(values: Any, name: str, low: float, high: float, domain: str, on_invalid: str) -> FloatArray:
    """Return one float for each record, NaN for a value that is not a number. Each record is read by itself.

    With ``on_invalid="raise"``, a value outside [low, high] or not a number raises `InvalidData`. Otherwise it stays.
    """
    if on_invalid == "raise" and isinstance(values, (list, tuple)):
        dimensions = [np.ndim(v) for v in values if isinstance(v, (list, tuple, np.ndarray))]
        if dimensions:
            raise InvalidData(f"{name} has {max(dimensions) + 1} dimensions: it must have 1")
    cells = plain_cells(values)
    if cells.ndim != 1:
        raise InvalidData(f"{name} has {cells.ndim} dimensions: it must have 1")
    numbers = cells if cells.dtype == np.float64 else plain_numbers(cells)
    if on_invalid == "raise":
        # a NaN fails both comparisons
        allowed = (numbers >= low) & (numbers <= high)
        if not allowed.all():
            raise InvalidData(f"{name} has the value {numbers[~allowed][0].item()!r}: it must be {domain}")
    return numbers


# ---- statistics ----------------------------------------------------------------------------------------------------


def private_histogram(
    y_true: Any,
    y_score: Any,
    sample_weight: Any,
    thresholds: FloatArray,
    score_scale: str,
    pos_label: Any,
    classes: Sequence,
    on_invalid: str,
    weight_bound: float | None,
    grid: int | None,
) -> Any:
    """Return `roc_histogram` as a private value. Labels, scores and weights may be private."""
    classes = check_two_classes(classes, pos_label)
    bound = check_weight_bound(sample_weight, weight_bound)
    if grid is not None:
        check_integer(grid, "grid", 1, SHARE_GRID)
    codes, [scores], weights = read_records(
        y_true, {"y_score": y_score}, score_scale, classes, on_invalid, sample_weight, bound
    )
    return _cell_counts(codes, scores, weights, thresholds, classes[1] == pos_label, bound, grid)


@statistic
def _cell_counts(
    codes: NDArray[np.intp],
    scores: FloatArray,
    weights: FloatArray | None,
    thresholds: FloatArray,
    positive_last: bool,
    bound: float,
    grid: int | None,
) -> NDArray[Any]:
    n_bins = len(thresholds) - 1
    ascending = thresholds[-2:0:-1]
    cells = np.searchsorted(ascending, scores, side="right")
    cells += n_bins * codes
    units = weights
    if weights is not None and grid is not None:
        # whole numbers below 2^53 add up without rounding
        units = to_integers(weights, grid / bound)
    counts = np.bincount(cells, units, minlength=2 * n_bins).reshape(2, n_bins)[:, ::-1]
    if grid is not None:
        counts = to_integers(counts, grid if weights is None else 1)
    return counts if positive_last else counts[::-1]


SCORE_SCALES = ("probability", "log-odds")

# CHOICES: the median area error is small over many sets of scores and ε from 0.1 to 1, and on each set not far above
# that of the best other method (see docs/decisions/0007). More bins help only if there are many records for each unit
# of noise; `n_bins` sets their number.
N_BINS = 16
# The ends of the scale of log-odds. Bins beyond the outermost thresholds are open, so no score is out of range.
LOG_ODDS_END = 30.0
# Bins are about evenly spaced for log-odds within this distance of 0.
LOG_ODDS_MIDDLE = 0.5
# A curve's counts are lowered by this many noise scales.
LOWERED = 0.75
# With more bins, rounding would make neighbouring thresholds the same probability.
MAX_BINS = 10_000

# A record is in one cell. Adding it changes one count by 1; replacing it moves 1 from one cell to another.
SENSITIVITY = {"add-remove": 1.0, "replace-one": 2.0}

# Beyond this scale noise could overflow.
MAX_NOISE = 1e300


def roc_thresholds(n_bins: int = N_BINS, score_scale: str = "probability") -> FloatArray:
    """Return the default public thresholds between bins.

    In log-odds, they are ½·sinh(a (2k/B - 1)) for k = B-1, ..., 1, where sinh(a) = 60. They are about evenly spaced
    between -½ and ½, where logistic regression often lies, and have equal ratios beyond, where naive Bayes often lies.

    Parameters
    ----------
    n_bins : int, default=16
        Number of bins B, from 2 to 10,000.
    score_scale : {"probability", "log-odds"}, default="probability"
        Scale of the returned thresholds.

    Returns
    -------
    ndarray of shape (n_bins + 1,)
        Thresholds that decrease from inf to 0, or to -inf for log-odds. Bin k contains scores with thresholds[k+1] <=
        score < thresholds[k].

    See Also
    --------
    roc_histogram : Count records between the thresholds.

    Notes
    -----
    Privacy: no data is read.

    Examples
    --------
    >>> roc_thresholds(4, "log-odds").round(2)
    array([ inf,  2.72,  0.  , -2.72,  -inf])
    """
    n_bins = check_integer(n_bins, "n_bins", 2, MAX_BINS)
    check_choice(score_scale, "score_scale", SCORE_SCALES)
    steps = 2 * np.arange(n_bins - 1, 0, -1) / n_bins - 1
    log_odds = LOG_ODDS_MIDDLE * np.sinh(np.arcsinh(LOG_ODDS_END / LOG_ODDS_MIDDLE) * steps)
    inner = expit(log_odds) if score_scale == "probability" else log_odds
    return np.concatenate([[np.inf], inner, [lowest_score(score_scale)]])


def lowest_score(score_scale: str) -> float:
    """Return the lowest score of a scale."""
    return 0.0 if score_scale == "probability" else -np.inf


def check_thresholds(thresholds: Any, score_scale: str) -> FloatArray:
    """Return public thresholds that decrease from inf to the lowest score, or raise `InvalidParameter`."""
    low = lowest_score(score_scale)
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
    sample_weight: Any = None,
    weight_bound: float | None = None,
    grid: int | None = None,
) -> NDArray[Any]:
    """Count the records of each class in each bin of the score. The counts are exact, so they are not private.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels, each one of `classes`.
    y_score : array-like of shape (n,)
        Scores. Probabilities must lie in [0, 1]. Log-odds may be infinite.
    thresholds : array-like of shape (n_bins + 1,), optional
        Public thresholds that decrease from inf to 0, or to -inf for log-odds. The default is `roc_thresholds`.
    score_scale : {"probability", "log-odds"}, default="probability"
        Scale of the scores.
    pos_label : object, default=1
        Label of the positive class.
    classes : sequence of two labels, default=(0, 1)
        Both labels that a record can have. They are public metadata, present in the data or not.
    on_invalid : {"raise", "clip"}, default="raise"
        "raise" raises an error for an invalid value. "clip" drops the record, or clips its score or weight.
    sample_weight : array-like of shape (n,), optional
        Weight of each record, in [0, W]. A weight may depend on its own record only.
    weight_bound : float, optional
        Public bound W of the weights, greater than 0. It is required with weights.
    grid : int, optional
        Round each weight to a multiple of W/grid, at most 1024, and return sums in that unit for integer noise.

    Returns
    -------
    ndarray of shape (2, n_bins)
        Counts of type int, or float with weights and no grid. Row 0 counts negatives, row 1 positives. Column 0 is the
        bin of the highest scores.

    Raises
    ------
    InvalidData
        For shapes that do not fit, and with ``on_invalid="raise"`` for a label, score or weight that is not allowed.

    See Also
    --------
    release_histogram : Add noise to the counts.

    Notes
    -----
    Every record is counted in at most one cell, by rules that do not depend on other records. The L1 sensitivity is 1
    under add/remove and 2 under replace-one. With weights, it is W and 2W: the worst replacement moves a weight W from
    one cell to another.

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
    thresholds = check_thresholds(thresholds, score_scale)
    given = y_true, y_score, sample_weight
    counts = private_histogram(*given, thresholds, score_scale, pos_label, classes, on_invalid, weight_bound, grid)
    return for_study(counts, False, "an exact histogram")


@claim(
    "roc-histogram",
    "ROC curve of a noisy two-class histogram",
    "derived here (docs/explanation/errata.md, on [stoddard2014], section 4)",
    "ε, for scores of a model that was not trained on these records",
)
def release_histogram(
    counts: Any,
    epsilon: float,
    *,
    rng: np.random.Generator | None = None,
    relation: str = "add-remove",
    draws: int | None = None,
    budget: Budget | None = None,
    weight_bound: float = 1.0,
    secure: bool = False,
    grid: int = 1,
    label: str = "ROC curve",
) -> FloatArray:
    """Add Laplace noise of scale Δ/ε to every cell of a histogram in which a record is in one cell.

    Parameters
    ----------
    counts : array-like of shape (2, n_bins), or Private
        Exact counts, from `roc_histogram`, or another table in which a record is in one cell.
    epsilon : float
        Privacy parameter of one draw, finite and > 0.
    rng : numpy.random.Generator, optional
        Source of the noise. It is None with `secure`.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        Relation between neighbouring tables under which ε holds.
    draws : int, optional
        Number of independent releases of a simulation.
    budget : Budget, optional
        Privacy budget that is charged `draws` times ε before any noise is drawn.
    weight_bound : float, default=1.0
        Public bound W of the weights.
    secure : bool, default=False
        Use integer noise from OpenDP (`dpml.mechanisms.secure`), for a release. Counts are then integers.
    grid : int, default=1
        With `secure`, the unit of the counts is W/grid.
    label : str, default="ROC curve"
        Label of the charge in the ledger.

    Returns
    -------
    ndarray of shape (2, n_bins) or (draws, 2, n_bins)
        Noisy counts, or noisy sums of weights.

    See Also
    --------
    roc_histogram : Count the records.

    Notes
    -----
    Privacy: ε = epsilon per draw. δ = 0. Relation: `relation`. Sensitivity: Δ = W in L1 norm under add/remove, and 2W
    under replace-one, with W = `weight_bound`, or 1 without weights.

    Adding or removing a record changes one cell by at most W, and replacing it changes two. Positives and negatives are
    different records, so both rows have all of ε. Stoddard et al. give half of ε to each row, and compute curves from
    counts of disjoint bins. The table of both classes is this project's own.

    References
    ----------
    Antonova (2016), Theorem 2.2.1. Stoddard et al. (2014), section 4.2.1.

    Examples
    --------
    >>> release_histogram([[0, 9], [8, 1]], 1.0, rng=np.random.default_rng(0), draws=3).shape
    (3, 2, 2)
    """
    noise_scale(epsilon, relation, weight_bound=weight_bound, secure=secure, grid=grid)  # a check: it must be finite
    check_source(rng, secure)
    n_draws = 1 if draws is None else check_integer(draws, "draws", 1)
    charge(budget, relation, n_draws * check_epsilon(epsilon), label=label)
    sensitivity = SENSITIVITY[relation] * (grid if secure else weight_bound)
    noisy = Source(rng, secure).counts(counts, epsilon, sensitivity, draws=draws)
    return noisy * (weight_bound / grid) if secure else noisy


def noise_scale(
    epsilon: float, relation: str = "add-remove", *, weight_bound: float = 1.0, secure: bool = False, grid: int = 1
) -> float:
    """Return the scale of the noise on each cell, in records. It is public."""
    sensitivity = SENSITIVITY[check_relation(relation)]
    weight_bound = check_number(weight_bound, "weight_bound", LEAST_WIDTH)
    if secure:
        scale = integer_scale(epsilon, int(sensitivity) * check_integer(grid, "grid", 1)) * (weight_bound / grid)
    else:
        scale = Laplace(epsilon, weight_bound * sensitivity).scale
    if scale > MAX_NOISE:
        least = weight_bound * sensitivity / MAX_NOISE
        raise InvalidParameter("epsilon", epsilon, f"at least {least:g}, for finite noise")
    return scale


def roc_from_histogram(counts: Any, noise_scale: float = 0.0) -> tuple[FloatArray, FloatArray]:
    """Compute ROC curves from noisy or exact counts.

    Every count is lowered by 0.75 noise scales and cut at 0 (soft thresholding), so that empty bins add almost nothing.
    Then the cells of each class are summed from the top and divided by their total. If nothing is left of a class, its
    mass is spread evenly over the bins.

    Parameters
    ----------
    counts : array-like of shape (..., 2, n_bins)
        Row 0 counts negatives, row 1 positives. Column 0 is the bin of the highest scores.
    noise_scale : float, default=0.0
        Public scale of the Laplace noise in `counts`, in records. It is 0 for exact counts.

    Returns
    -------
    fpr : ndarray of shape (..., n_bins + 1)
        False positive rates, which increase from 0 to 1.
    tpr : ndarray of shape (..., n_bins + 1)
        True positive rates, which increase from 0 to 1.

    Raises
    ------
    InvalidParameter
        If `counts` is no finite two-class histogram or `noise_scale` is negative.

    See Also
    --------
    release_histogram : Add noise to the counts.

    Notes
    -----
    Privacy: no data is read. The curve of noisy counts is post-processing, so it costs no ε. The curve of exact counts
    is not private.

    Examples
    --------
    >>> fpr, tpr = roc_from_histogram([[1, 1, 2], [3, 1, 0]])
    >>> fpr.tolist(), tpr.tolist()
    ([0.0, 0.25, 0.5, 1.0], [0.0, 0.75, 1.0, 1.0])
    """
    noise_scale = check_number(noise_scale, "noise_scale", 0.0)
    counts = np.asarray(counts, dtype=float)
    if counts.ndim < 2 or counts.shape[-2] != 2 or counts.shape[-1] < 1 or not np.isfinite(counts).all():
        raise InvalidParameter("counts", f"an array of shape {counts.shape}", "finite, of shape (..., 2, n_bins)")
    kept = _lowered(counts, LOWERED * noise_scale, -1)
    rates = np.zeros((*kept.shape[:-1], kept.shape[-1] + 1))
    np.cumsum(kept, axis=-1, out=rates[..., 1:])
    # divided by the last, largest sum, rates never exceed 1 and end at exactly 1
    rates /= rates[..., -1:].copy()
    return rates[..., 0, :], rates[..., 1, :]


def lowered_shares(counts: Any, noise_scale: float) -> FloatArray:
    """Return noisy tables as shares of all records, lowered by a noise scale. Equal shares if nothing is left."""
    kept = _lowered(counts, noise_scale, (-1, -2))
    return kept / kept.sum(axis=(-1, -2), keepdims=True)


def with_sum(values: FloatArray, total: Any) -> FloatArray:
    """Return the numbers >= 0 with a sum that are nearest to values (..., m): moved by the same, and cut at 0."""
    falling = -np.sort(-values, axis=-1)
    move = (np.cumsum(falling, axis=-1) - np.asarray(total)[..., None]) / np.arange(1, values.shape[-1] + 1)
    # the largest ones stay above 0; at least one does where the sum is positive
    kept = np.maximum((falling > move).sum(axis=-1, keepdims=True), 1)
    return np.maximum(values - np.take_along_axis(move, kept - 1, axis=-1), 0.0)


def _lowered(counts: Any, by: float, axis: Any) -> FloatArray:
    """Lower counts, cut them at 0, and divide by the largest, so that sums stay finite. All 1 if nothing is left."""
    kept = np.maximum(counts - by, 0.0)
    largest = kept.max(axis=axis, keepdims=True)
    return np.where(largest > 0, kept / np.where(largest > 0, largest, 1.0), 1.0)
