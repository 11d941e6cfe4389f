"""Measures of a classifier, and their uncertainty, from a released histogram of scores.

`PrivateEvaluation` holds the histogram that `dpml.evaluation.release.release_evaluation` released, and public metadata.
All its methods are post-processing: they cost nothing, however many are called.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpml._arrays import FloatArray
from dpml._validate import check_choice, check_integer, check_number
from dpml.evaluation.calibration import LOG_LOSS_CLIP, CalibrationCurve, bin_probabilities, log_losses
from dpml.evaluation.histogram import lowered_shares, roc_from_histogram
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
    least the threshold. Thresholds are the public ones between bins.

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
    Comparison : Comparison of two classifiers.
    MulticlassEvaluation : One evaluation for each class.

    Notes
    -----
    Privacy: no data is read. The release contains `counts`. All else is public or computed from `counts`, and costs no
    ε.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 5000)
    >>> from dpml.evaluation import release_evaluation
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

    # ---- the table --------------------------------------------------------------------------------------------

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

    # ---- one threshold ----------------------------------------------------------------------------------------

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
            Threshold of the score. The nearest public threshold is used. None means even odds: 0.5, or 0 in log-odds.

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
        """Return the accuracy at the nearest public threshold.

        Parameters
        ----------
        threshold : float, optional
            Threshold of the score. The nearest public threshold is used. None means even odds: 0.5, or 0 in log-odds.

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
        """Return the recall at the nearest public threshold.

        Parameters
        ----------
        threshold : float, optional
            Threshold of the score. The nearest public threshold is used. None means even odds: 0.5, or 0 in log-odds.

        Returns
        -------
        float or ndarray of shape (draws,)
            Share of positives at or above the threshold.
        """
        return number_or_array(self._rates()[1][..., self._position(threshold)])

    def false_positive_rate(self, threshold: float | None = None) -> Any:
        """Return the false positive rate at the nearest public threshold.

        Parameters
        ----------
        threshold : float, optional
            Threshold of the score. The nearest public threshold is used. None means even odds: 0.5, or 0 in log-odds.

        Returns
        -------
        float or ndarray of shape (draws,)
            Share of negatives at or above the threshold.
        """
        return number_or_array(self._rates()[0][..., self._position(threshold)])

    def balanced_accuracy(self, threshold: float | None = None) -> Any:
        """Return the balanced accuracy at the nearest public threshold.

        Parameters
        ----------
        threshold : float, optional
            Threshold of the score. The nearest public threshold is used. None means even odds: 0.5, or 0 in log-odds.

        Returns
        -------
        float or ndarray of shape (draws,)
            Mean of the accuracies of both classes.
        """
        k = self._position(threshold)
        fpr, tpr = self._rates()
        return number_or_array((tpr[..., k] + 1.0 - fpr[..., k]) / 2)

    # ---- curves -----------------------------------------------------------------------------------------------

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

    # ---- probabilities ----------------------------------------------------------------------------------------

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

    # ---- uncertainty ------------------------------------------------------------------------------------------

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
        """Return an interval for a measure of the exact histogram, given the released one.

        Intervals of ratios of sums of cells are exact. Those of areas use plugged-in counts
        (`dpml.evaluation.intervals`). An interval is widened to contain the measure itself.

        Parameters
        ----------
        metric : str, default="roc_auc"
            "roc_auc", "accuracy", "balanced_accuracy", "true_positive_rate", "false_positive_rate", "log_loss",
            "prevalence" or "n_records".
        level : float
            Probability, over the noise, with which the interval contains the exact measure. In (0, 1).
        threshold : float, optional
            Threshold of the score, for measures that have one.
        sampling : bool
            Add the sampling variance of the test records. The interval is then for their population.
        n_boot : int
            Number of simulated draws of the noise.
        rng : numpy.random.Generator, optional
            Generator of the simulation. None uses the same generator in every call.

        Returns
        -------
        low : float or ndarray of shape (draws,)
            Lower end of the interval.
        high : float or ndarray of shape (draws,)
            Upper end of the interval.
        """
        check_choice(metric, "metric", METRICS)
        level = check_number(level, "level", 0.0, 1.0, open_lower=True, open_upper=True)
        if self._unit() != 1.0:
            low, high = self._rescaled().interval(
                metric, level, threshold=threshold, sampling=sampling, n_boot=n_boot, rng=rng
            )
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
        noise = simulate(
            counts,
            self.noise_scale,
            self.noise_step,
            n_boot,
            rng,
            self.weight_bound if sampling else None,
            lambda e, draw: auc_noise(cells[draw], binned(e)) if bilinear else sums(e),
        )
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
        band = roc_bands(
            self._batch(self.counts),
            rates,
            self.noise_scale,
            self.noise_step,
            level,
            n_boot,
            n_points,
            rng,
            self.weight_bound if sampling else None,
        )
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
