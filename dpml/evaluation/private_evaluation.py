"""Measures of a classifier from a released histogram of scores, and their uncertainty.

`release_evaluation` releases the histogram, and is the only step that sees ε. `PrivateEvaluation` computes all measures
from it. Its methods are post-processing: they cost nothing, however many are called. `private_roc_curve` and
`private_roc_auc` release the histogram for one measure (Stoddard et al. 2014, sec. 4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, logit

from dpml._arrays import FloatArray
from dpml._validate import check_choice, check_epsilon, check_integer, check_number
from dpml.budget import Budget
from dpml.claims import claim
from dpml.encoding import SHARE_GRID
from dpml.evaluation.histogram import (
    N_BINS,
    SCORE_SCALES,
    check_thresholds,
    check_weight_bound,
    lowered_shares,
    noise_scale,
    private_histogram,
    release_histogram,
    roc_from_histogram,
    roc_thresholds,
)
from dpml.evaluation.intervals import (
    ROCBand,
    auc_noise,
    auc_sums,
    noise_variance,
    ratio_intervals,
    roc_bands,
    simulate,
    stretched,
)
from dpml.exceptions import InvalidParameter
from dpml.mechanisms.source import check_start

# Probabilities are kept this far from 0 and 1 in a log loss, so that one record loses at most 6.9.
LOG_LOSS_CLIP = 1e-3


class CalibrationCurve(NamedTuple):
    """Share of positive records in each bin, lowest scores first.

    Attributes
    ----------
    prob_true : ndarray of shape (..., B)
        Share of positives, NaN in a bin that is empty after the counts are lowered by the noise.
    prob_pred : ndarray of shape (B,)
        Public probability in the middle of the bin.
    n_records : ndarray of shape (..., B)
        Noisy number of records. It may be negative.
    n_std : float
        Standard deviation of the noise in `n_records`.
    """

    prob_true: FloatArray
    prob_pred: FloatArray
    n_records: FloatArray
    n_std: float


def bin_probabilities(thresholds: FloatArray, score_scale: str) -> FloatArray:
    """Return the probability in the middle (of log-odds, or of probability at the ends) of each bin, highest first."""
    inner = np.clip(thresholds[1:-1], *((0.0, 1.0) if score_scale == "probability" else (None, None)))
    log_odds = logit(inner) if score_scale == "probability" else inner
    probability = np.concatenate([[1.0], expit(log_odds), [0.0]])
    middle = (probability[1:] + probability[:-1]) / 2
    with np.errstate(invalid="ignore"):
        halfway = (log_odds[1:] + log_odds[:-1]) / 2
    finite = np.isfinite(halfway)
    middle[1:-1][finite] = expit(halfway[finite])
    return middle


def log_losses(probabilities: FloatArray, clip: float) -> FloatArray:
    """Return the log loss of each class at each probability, (2, B), with probabilities in [clip, 1 - clip]."""
    clip = check_number(clip, "clip", 0.0, 0.5, open_lower=True, open_upper=True)
    p = np.clip(probabilities, clip, 1 - clip)
    return -np.log(np.stack([1 - p, p]))


# Measures that have an interval (docs/decisions/0017).
METRICS = (
    "roc_auc",
    "accuracy",
    "balanced_accuracy",
    "true_positive_rate",
    "false_positive_rate",
    "log_loss",
    "prevalence",
    "n_records",
)
WITH_THRESHOLD = ("accuracy", "balanced_accuracy", "true_positive_rate", "false_positive_rate")
N_BOOT = 2000


def area_under(fpr: FloatArray, tpr: FloatArray) -> Any:
    """Return the area under curves, a float for one curve."""
    # rounding may exceed 1 slightly
    return number_or_array(np.clip(np.trapezoid(tpr, fpr, axis=-1), 0.0, 1.0))


def number_or_array(values: Any) -> Any:
    """Return a float for one number, else the array."""
    return float(values) if np.ndim(values) == 0 else values


@dataclass(frozen=True, eq=False)
class PrivateEvaluation:
    """Released histogram of scores, and all measures that follow from it.

    If `counts` has a leading axis `draws`, so has every measure. A record is predicted positive if its score is at
    least the threshold. Thresholds are the public ones between bins: each measure uses the one nearest to its argument.

    Measures use counts that are lowered for the noise and cut at 0. Rates and curves use the counts of
    `roc_from_histogram`. All other measures but `n_records` use `shares`, which are lowered by one noise scale.

    Attributes
    ----------
    counts : ndarray of shape (2, B) or (draws, 2, B)
        Noisy counts, or noisy sums of weights. Row 0 counts negatives, row 1 positives. Column 0 is the bin of the
        highest scores.
    thresholds : ndarray of shape (B + 1,)
        Public thresholds that decrease from inf. Bin k contains scores with thresholds[k+1] <= score < thresholds[k].
    noise_scale : float
        Scale of the noise on each count.
    epsilon : float
        Cost of one draw, under `relation`.
    relation : {"add-remove", "replace-one"}
        Relation between neighbouring tables under which ε holds.
    score_scale : {"probability", "log-odds"}
        Scale of `thresholds`.
    noise_step : float
        0 for continuous noise, else the unit in which the noise is an integer.
    weight_bound : float
        Largest weight of a record, or 1 without weights.

    See Also
    --------
    release_evaluation : Release this histogram.

    Notes
    -----
    Privacy: no data is read. The release contains `counts`. All else is public or computed from `counts`, and costs no
    ε.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 5000)
    >>> evaluation = release_evaluation(y, rng.normal(2 * y - 1, 1), epsilon=1.0, rng=rng, score_scale="log-odds")
    >>> round(evaluation.roc_auc(), 2), round(evaluation.accuracy(), 2), evaluation.used_threshold()
    (0.92, 0.84, 0.0)
    """

    counts: FloatArray
    thresholds: FloatArray
    noise_scale: float
    epsilon: float
    relation: str = "add-remove"
    score_scale: str = "probability"
    noise_step: float = 0.0
    weight_bound: float = 1.0

    @property
    def n_bins(self) -> int:
        """Number of bins, B."""
        return self.counts.shape[-1]

    def shares(self) -> FloatArray:
        """Return the table as shares of all records.

        All shares are equal if noise has left nothing.

        Returns
        -------
        ndarray of shape (..., 2, B)
            Shares that add up to 1.
        """
        return lowered_shares(self.counts, self.noise_scale)

    def n_records(self) -> Any:
        """Return the noisy number of records (or sum of weights), at least 0.

        Returns
        -------
        float or ndarray of shape (draws,)
            Noisy number of records, or noisy sum of weights.
        """
        return number_or_array(np.maximum(self.counts.sum(axis=(-1, -2)), 0.0))

    def prevalence(self) -> Any:
        """Return the share of positive records.

        Returns
        -------
        float or ndarray of shape (draws,)
            Share in [0, 1].
        """
        return number_or_array(np.clip(self.shares()[..., 1, :].sum(axis=-1), 0.0, 1.0))

    def used_threshold(self, threshold: float | None = None) -> float:
        """Return the public threshold nearest to a given one, which is used in its place.

        Parameters
        ----------
        threshold : float, optional
            Threshold of the score. None means even odds: 0.5, or 0 in log-odds. Infinity predicts no record positive.

        Returns
        -------
        float
            One of `thresholds`.
        """
        return float(self.thresholds[self._position(threshold)])

    def _position(self, threshold: float | None) -> int:
        if threshold is None:
            threshold = 0.5 if self.score_scale == "probability" else 0.0
        if isinstance(threshold, bool) or not isinstance(threshold, (int, float, np.integer, np.floating)):
            raise InvalidParameter("threshold", threshold, "a number on the scale of the scores, or None")
        if np.isnan(threshold):
            raise InvalidParameter("threshold", threshold, "a number on the scale of the scores, or None")
        if np.isinf(threshold):
            return 0 if threshold > 0 else self.n_bins
        if len(self.thresholds) == 2:
            return 1
        finite = self.thresholds[1:] if np.isfinite(self.thresholds[-1]) else self.thresholds[1:-1]
        return 1 + int(np.argmin(np.abs(finite - threshold)))

    def confusion_matrix(self, threshold: float | None = None) -> FloatArray:
        """Return the confusion matrix without negative counts.

        Parameters
        ----------
        threshold : float, optional
            Threshold of the score. None means even odds: 0.5, or 0 in log-odds.

        Returns
        -------
        ndarray of shape (..., 2, 2)
            Counts [[TN, FP], [FN, TP]] of true and false negatives and positives.
        """
        k = self._position(threshold)
        shares = self.shares()
        above = shares[..., :k].sum(axis=-1)
        below = shares[..., k:].sum(axis=-1)
        return np.stack([below, above], axis=-1) * np.asarray(self.n_records())[..., None, None]

    def accuracy(self, threshold: float | None = None) -> Any:
        """Return the accuracy.

        Parameters
        ----------
        threshold : float, optional
            Threshold of the score. None means even odds: 0.5, or 0 in log-odds.

        Returns
        -------
        float or ndarray of shape (draws,)
            Share of correct predictions.
        """
        k = self._position(threshold)
        shares = self.shares()
        right = shares[..., 0, k:].sum(axis=-1) + shares[..., 1, :k].sum(axis=-1)
        return number_or_array(np.clip(right, 0.0, 1.0))

    def true_positive_rate(self, threshold: float | None = None) -> Any:
        """Return the recall.

        Parameters
        ----------
        threshold : float, optional
            Threshold of the score. None means even odds: 0.5, or 0 in log-odds.

        Returns
        -------
        float or ndarray of shape (draws,)
            Share of positives at or above the threshold.
        """
        return number_or_array(self._rates()[1][..., self._position(threshold)])

    def false_positive_rate(self, threshold: float | None = None) -> Any:
        """Return the false positive rate.

        Parameters
        ----------
        threshold : float, optional
            Threshold of the score. None means even odds: 0.5, or 0 in log-odds.

        Returns
        -------
        float or ndarray of shape (draws,)
            Share of negatives at or above the threshold.
        """
        return number_or_array(self._rates()[0][..., self._position(threshold)])

    def balanced_accuracy(self, threshold: float | None = None) -> Any:
        """Return the balanced accuracy.

        Parameters
        ----------
        threshold : float, optional
            Threshold of the score. None means even odds: 0.5, or 0 in log-odds.

        Returns
        -------
        float or ndarray of shape (draws,)
            Mean of the accuracies of both classes.
        """
        k = self._position(threshold)
        fpr, tpr = self._rates()
        return number_or_array((tpr[..., k] + 1.0 - fpr[..., k]) / 2)

    def _rates(self) -> tuple[FloatArray, FloatArray]:
        return roc_from_histogram(self.counts, self.noise_scale)

    def roc_curve(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the ROC curve.

        Returns
        -------
        fpr, tpr : ndarray of shape (..., B + 1)
            False and true positive rates, which increase from 0 to 1.
        thresholds : ndarray of shape (B + 1,)
            Public thresholds that decrease from inf.
        """
        return *self._rates(), self.thresholds

    def roc_auc(self) -> Any:
        """Return the area under the ROC curve.

        Returns
        -------
        float or ndarray of shape (draws,)
            AUC in [0, 1]. Records in the same bin count as ties.
        """
        return area_under(*self._rates())

    def precision_recall_curve(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return precision and recall at each threshold, in scikit-learn's order.

        Returns
        -------
        precision, recall : ndarray of shape (..., B + 1)
            Rates in [0, 1]. The last point is precision 1 and recall 0. Precision is 1 where nothing is predicted
            positive.
        thresholds : ndarray of shape (B,)
            Public thresholds that increase.
        """
        precision, recall = self._precision_recall()
        ends = np.ones((*precision.shape[:-1], 1))
        return (
            np.concatenate([precision[..., ::-1], ends], axis=-1),
            np.concatenate([recall[..., ::-1], 0 * ends], axis=-1),
            self.thresholds[:0:-1],
        )

    def _precision_recall(self) -> tuple[FloatArray, FloatArray]:
        """Return both from the highest threshold down."""
        above = np.cumsum(self.shares(), axis=-1)
        predicted = above.sum(axis=-2)
        precision = np.divide(above[..., 1, :], predicted, out=np.ones_like(predicted), where=predicted > 0)
        return np.clip(precision, 0.0, 1.0), self._rates()[1][..., 1:]

    def average_precision(self) -> Any:
        """Return the average precision, as scikit-learn's `average_precision_score`.

        Returns
        -------
        float or ndarray of shape (draws,)
            Sum of precision times the steps of recall.
        """
        precision, recall = self._precision_recall()
        return number_or_array(np.clip((precision * np.diff(recall, axis=-1, prepend=0.0)).sum(axis=-1), 0.0, 1.0))

    def bin_probabilities(self) -> FloatArray:
        """Return the public probability of each bin.

        Returns
        -------
        ndarray of shape (B,)
            Probabilities in the middle of the log-odds of each bin, highest first.
        """
        return bin_probabilities(self.thresholds, self.score_scale)

    def _losses(self, clip: float) -> FloatArray:
        return log_losses(self.bin_probabilities(), clip)

    def log_loss(self, clip: float = LOG_LOSS_CLIP) -> Any:
        """Return the mean log loss of the bins' probabilities.

        Parameters
        ----------
        clip : float, default=0.001
            Probabilities are clipped to [clip, 1 - clip].

        Returns
        -------
        float or ndarray of shape (draws,)
            Log loss in nats, at most -log(clip).
        """
        losses = self._losses(clip)
        return number_or_array(np.minimum((self.shares() * losses).sum(axis=(-1, -2)), losses.max()))

    def calibration_curve(self) -> CalibrationCurve:
        """Return the calibration curve, lowest scores first.

        Returns
        -------
        CalibrationCurve
            Share of positives in each bin, and the bin's probability.
        """
        shares = self.shares()[..., ::-1]
        total = shares.sum(axis=-2)
        share = np.divide(shares[..., 1, :], total, out=np.full_like(total, np.nan), where=total > 0)
        noisy = self.counts.sum(axis=-2)[..., ::-1]
        std = np.sqrt(2 * noise_variance(self.noise_scale, self.noise_step))
        return CalibrationCurve(share, self.bin_probabilities()[::-1], noisy, float(std))

    def interval(
        self,
        metric: str = "roc_auc",
        level: float = 0.95,
        *,
        threshold: float | None = None,
        sampling: bool = False,
        n_boot: int = N_BOOT,
        rng: np.random.Generator | None = None,
    ) -> tuple[Any, Any]:
        """Return an interval for a measure of the exact histogram, widened to contain the released measure.

        Intervals of ratios of sums of cells are exact. Those of areas use plugged-in counts
        (`dpml.evaluation.intervals`).

        Parameters
        ----------
        metric : str, default="roc_auc"
            "roc_auc", "accuracy", "balanced_accuracy", "true_positive_rate", "false_positive_rate", "log_loss",
            "prevalence" or "n_records".
        level : float, default=0.95
            Probability, over the noise, that the interval contains the exact measure, in (0, 1).
        threshold : float, optional
            Threshold of the score, for measures that have one.
        sampling : bool, default=False
            Add the sampling variance of the test records. The interval is then for their population.
        n_boot : int, default=2000
            Number of simulated draws of the noise.
        rng : numpy.random.Generator, optional
            Generator of the simulation. None uses the same generator in every call.

        Returns
        -------
        tuple of two float or ndarray
            Lower and upper end of the interval.
        """
        check_choice(metric, "metric", METRICS)
        level = check_number(level, "level", 0.0, 1.0, open_lower=True, open_upper=True)
        if self._unit() != 1.0:
            options: dict[str, Any] = {"threshold": threshold, "sampling": sampling, "n_boot": n_boot, "rng": rng}
            low, high = self._rescaled().interval(metric, level, **options)
            return (low * self._unit(), high * self._unit()) if metric == "n_records" else (low, high)
        counts, k = self._batch(self.counts), self._position(threshold)
        weights = self._sums(metric, k)
        bilinear = metric in ("roc_auc", "balanced_accuracy")

        def binned(table: FloatArray) -> FloatArray:
            # the balanced accuracy is the area of the histogram with two bins
            return _two_bins(table, k) if metric == "balanced_accuracy" else table

        def sums(table: FloatArray) -> list[FloatArray]:
            return [np.tensordot(table, w, 2) for w in weights]

        cells = binned(np.maximum(counts, 0.0))
        weight = self.weight_bound if sampling else None
        figures = (lambda e, draw: auc_noise(cells[draw], binned(e))) if bilinear else (lambda e, _: sums(e))
        noise = simulate(counts, self.noise_scale, self.noise_step, n_boot, rng, weight, figures)
        noisy = auc_sums(binned(counts)) if bilinear else sums(counts)
        if metric == "n_records":
            reach = np.quantile(np.abs(noise[:, 0]), level, axis=-1, method="higher")
            ends = np.maximum(np.stack([noisy[0] - reach, noisy[0] + reach], axis=1), 0.0)
        else:
            ends = ratio_intervals(noisy, noise, level, 0.0, float(weights[0].max()) if metric == "log_loss" else 1.0)
        figure = getattr(self, metric)
        return stretched(ends, figure(threshold) if metric in WITH_THRESHOLD else figure())

    def roc_band(
        self,
        level: float = 0.95,
        *,
        sampling: bool = False,
        n_points: int = 101,
        n_boot: int = N_BOOT,
        rng: np.random.Generator | None = None,
    ) -> ROCBand:
        """Return a band that contains the whole ROC curve of the exact histogram.

        Parameters
        ----------
        level : float, default=0.95
            Approximate probability, over the noise, that the band contains the whole curve, in (0, 1).
        sampling : bool, default=False
            Add the sampling variance of the test records. The band is then for their population.
        n_points : int, default=101
            Number of points on the axis of false positive rates, at least 2.
        n_boot : int, default=2000
            Number of simulated draws of the noise.
        rng : numpy.random.Generator, optional
            Generator of the simulation. None uses the same generator in every call.

        Returns
        -------
        ROCBand
            False positive rates, and the lower and upper true positive rates.
        """
        level = check_number(level, "level", 0.0, 1.0, open_lower=True, open_upper=True)
        if self._unit() != 1.0:
            return self._rescaled().roc_band(level, sampling=sampling, n_points=n_points, n_boot=n_boot, rng=rng)
        n_points = check_integer(n_points, "n_points", 2)
        rates = np.stack([self._batch(rate, 1) for rate in self._rates()], axis=1)
        noise, weight = (self.noise_scale, self.noise_step), self.weight_bound if sampling else None
        band = roc_bands(self._batch(self.counts), rates, *noise, level, n_boot, n_points, rng, weight)
        if self.counts.ndim == 2:
            return ROCBand(band.fpr, band.tpr_low[0], band.tpr_high[0])
        return band

    def _unit(self) -> float:
        """Return 1, or a larger unit if products of counts could overflow."""
        largest = max(float(np.abs(self.counts).max()), self.noise_scale)
        return largest if largest > 1e100 else 1.0

    def _rescaled(self) -> PrivateEvaluation:
        unit = self._unit()
        smaller = {name: getattr(self, name) / unit for name in ("counts", "noise_scale", "noise_step", "weight_bound")}
        return replace(self, **smaller)

    def _batch(self, table: FloatArray, single: int = 2) -> FloatArray:
        return table[None] if table.ndim == single else table

    def _sums(self, metric: str, k: int) -> tuple[FloatArray, FloatArray]:
        """Return the weights (2, B) of a measure's numerator and denominator."""
        top, bottom = np.zeros((2, 2, self.n_bins))
        if metric == "accuracy":
            top[0, k:], top[1, :k], bottom[:] = 1.0, 1.0, 1.0
        elif metric == "true_positive_rate":
            top[1, :k], bottom[1] = 1.0, 1.0
        elif metric == "false_positive_rate":
            top[0, :k], bottom[0] = 1.0, 1.0
        elif metric == "prevalence":
            top[1], bottom[:] = 1.0, 1.0
        elif metric == "log_loss":
            top[:], bottom[:] = self._losses(LOG_LOSS_CLIP), 1.0
        else:
            top[:] = 1.0
        return top, bottom


def _two_bins(table: FloatArray, k: int) -> FloatArray:
    return np.stack([table[..., :k].sum(axis=-1), table[..., k:].sum(axis=-1)], axis=-1)


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
        Public thresholds that decrease from inf to 0, or to -inf for log-odds. The default is `roc_thresholds`.
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
        "raise" raises an error for an invalid value. "clip" drops the record, or clips its score or weight.
    release : bool, default=False
        Use integer noise from OpenDP, and ``on_invalid="clip"``, so that no data raise an error.
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
    options: dict[str, Any] = {"n_bins": n_bins, "thresholds": thresholds, "score_scale": score_scale}
    options |= {"pos_label": pos_label, "classes": classes, "on_invalid": on_invalid, "release": release}
    weights: Any = {"sample_weight": sample_weight, "weight_bound": weight_bound}
    exact = count_scores(y_true, y_score, rng=rng, **options, **weights)
    return release_counts(exact, epsilon, rng=rng, relation=relation, draws=draws, budget=budget)


@dataclass(frozen=True, eq=False)
class ScoreCounts:
    """The exact histogram, a private value, and the public metadata that its release needs."""

    counts: Any
    thresholds: FloatArray
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
    thresholds = roc_thresholds(n_bins, score_scale) if thresholds is None else thresholds
    thresholds = check_thresholds(thresholds, score_scale)
    bound = check_weight_bound(sample_weight, weight_bound)
    grid = SHARE_GRID if release and sample_weight is not None else 1
    given, unit = (y_true, y_score, sample_weight), grid if release else None
    counts = private_histogram(*given, thresholds, score_scale, pos_label, classes, on_invalid, weight_bound, unit)
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
    more: dict[str, Any] = {"relation": relation, "draws": draws, "budget": budget, "label": label}
    noisy = release_histogram(exact.counts, epsilon, rng=rng, **more, **how)
    scale, step = noise_scale(epsilon, relation, **how), exact.bound / exact.grid if exact.release else 0.0
    facts = relation, exact.score_scale, step, exact.bound
    return PrivateEvaluation(noisy, exact.thresholds, scale, check_epsilon(epsilon), *facts)


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
) -> tuple[FloatArray, FloatArray, FloatArray]:
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
        Public thresholds that decrease from inf to 0, or to -inf for log-odds. The default is `roc_thresholds`.
    score_scale : {"probability", "log-odds"}, default="probability"
        Scale of the scores.
    pos_label : object, default=1
        Label of the positive class.
    classes : sequence of two labels, default=(0, 1)
        Both labels that a record can have. They are public metadata, present in the data or not.
    draws : int, optional
        Number of independent releases of a simulation.
    on_invalid : {"raise", "clip"}, default="raise"
        "raise" raises an error for an invalid value. "clip" drops the record, or clips its score or weight.
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

    Notes
    -----
    Privacy: ε = epsilon per draw. δ = 0. Relation: `relation`. Sensitivity: 1 in L1 norm under add/remove, and 2 under
    replace-one. A record is in one cell (`release_histogram`), and the thresholds are public.

    Stoddard et al. state the problem and compute curves from counts of disjoint bins. The histogram of two classes
    on fixed log-odds bins is this project's own.

    References
    ----------
    Stoddard et al. (2014), section 4.

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
    options: dict[str, Any] = {"n_bins": n_bins, "thresholds": thresholds, "score_scale": score_scale}
    options |= {"pos_label": pos_label, "classes": classes, "on_invalid": on_invalid}
    exact = count_scores(y_true, y_score, rng=rng, **options)
    how: dict[str, Any] = {"relation": relation, "draws": draws, "budget": budget}
    return release_counts(exact, epsilon, rng=rng, label="ROC curve", **how).roc_curve()


@claim(
    "private-roc-auc",
    "AUC from scores and labels",
    "derived here (docs/explanation/errata.md, on [stoddard2014], section 4)",
    "ε, for scores of a model that was not trained on these records",
)
def private_roc_auc(
    y_true: Any, y_score: Any, epsilon: float, *, rng: np.random.Generator, **options: Any
) -> float | FloatArray:
    """Return a private area under the ROC curve, from the noisy histogram of `private_roc_curve`.

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
    release_evaluation : Release all measures of a classifier for one ε.

    Notes
    -----
    Privacy: ε = epsilon per draw. δ = 0. Relation: `relation`. Sensitivity: 1 in L1 norm under add/remove, and 2 under
    replace-one. A curve and an area from two calls cost ε twice. The warning in `private_roc_curve` applies.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 500)
    >>> round(private_roc_auc(y, rng.normal(4 * y - 2, 2), 1.0, rng=rng, score_scale="log-odds"), 2)
    0.92
    """
    fpr, tpr, _ = private_roc_curve(y_true, y_score, epsilon, rng=rng, **options)
    return area_under(fpr, tpr)
