"""Measures of a classifier, and their uncertainty, from a released histogram of scores.

`PrivateEvaluation` holds the histogram that `dpml.evaluation.release.release_evaluation` released, and public facts.
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
    """A released histogram of scores, and all measures that follow from it.

    Released: `counts`. Everything else is public or computed from `counts`, and costs no ε.

    If `counts` has a leading axis `draws`, so has every measure. A record is predicted positive if its score is at
    least the threshold; thresholds are the public ones between bins. Measures use counts that are lowered for the noise
    and cut at 0: rates and curves those of `roc_from_histogram`, all other measures but `n_records` the `shares`,
    lowered by one noise scale.

    Attributes
    ----------
    counts : ndarray of shape (2, B) or (draws, 2, B)
        Noisy counts (or sums of weights): row 0 negatives, row 1 positives, column 0 the highest scores.
    thresholds : ndarray of shape (B + 1,)
        Public, decreasing from inf; bin k holds thresholds[k+1] <= score < thresholds[k].
    noise_scale : float
        Scale of the noise on each count.
    epsilon : float
        Cost of one draw, under `relation`.
    relation : {"add-remove", "replace-one"}
    score_scale : {"probability", "log-odds"}
    noise_step : float
        0 for continuous noise, else the unit in which the noise is an integer.
    weight_bound : float
        Largest weight of a record; 1 without weights.

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
        """Return the table as shares of all records, shape (..., 2, B); equal shares if noise has left nothing."""
        return lowered_shares(self.counts, self.noise_scale)

    def n_records(self) -> Any:
        """Return the noisy number of records (or sum of weights), at least 0."""
        return number_or_array(np.maximum(self.counts.sum(axis=(-1, -2)), 0.0))

    def prevalence(self) -> Any:
        """Return the share of positives."""
        return number_or_array(np.clip(self.shares()[..., 1, :].sum(axis=-1), 0.0, 1.0))

    # ---- one threshold ----------------------------------------------------------------------------------------

    def used_threshold(self, threshold: float | None = None) -> float:
        """Return the public threshold nearest to the given one, which is used in its place.

        None means even odds: 0.5, or 0 in log-odds. Infinity means that no record is predicted positive.
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
        """Return counts [[TN, FP], [FN, TP]], none negative, shape (..., 2, 2); see `used_threshold`."""
        k = self._position(threshold)
        shares = self.shares()
        above = shares[..., :k].sum(axis=-1)
        below = shares[..., k:].sum(axis=-1)
        return np.stack([below, above], axis=-1) * np.asarray(self.n_records())[..., None, None]

    def accuracy(self, threshold: float | None = None) -> Any:
        """Return the share of records on the right side of the nearest public threshold (`used_threshold`)."""
        k = self._position(threshold)
        shares = self.shares()
        right = shares[..., 0, k:].sum(axis=-1) + shares[..., 1, :k].sum(axis=-1)
        return number_or_array(np.clip(right, 0.0, 1.0))

    def true_positive_rate(self, threshold: float | None = None) -> Any:
        """Return the share of positives at or above the nearest public threshold."""
        return number_or_array(self._rates()[1][..., self._position(threshold)])

    def false_positive_rate(self, threshold: float | None = None) -> Any:
        """Return the share of negatives at or above the nearest public threshold."""
        return number_or_array(self._rates()[0][..., self._position(threshold)])

    def balanced_accuracy(self, threshold: float | None = None) -> Any:
        """Return the mean of both classes' accuracies at the nearest public threshold."""
        k = self._position(threshold)
        fpr, tpr = self._rates()
        return number_or_array((tpr[..., k] + 1.0 - fpr[..., k]) / 2)

    # ---- curves -----------------------------------------------------------------------------------------------

    def _rates(self) -> tuple[FloatArray, FloatArray]:
        return roc_from_histogram(self.counts, self.noise_scale)

    def roc_curve(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return fpr, tpr (each (..., B + 1), increasing from 0 to 1) and the thresholds (B + 1,)."""
        return *self._rates(), self.thresholds

    def roc_auc(self) -> Any:
        """Return the area under `roc_curve`. Records in the same bin count as ties."""
        return area_under(*self._rates())

    def precision_recall_curve(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return precision and recall (each (..., B + 1)) and thresholds (B,), in scikit-learn's order.

        Thresholds increase; the last point is precision 1 and recall 0. Precision is 1 where nothing is predicted.
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
        """Return the sum of precision times the steps of recall, as scikit-learn's `average_precision_score`."""
        precision, recall = self._precision_recall()
        return number_or_array(np.clip((precision * np.diff(recall, axis=-1, prepend=0.0)).sum(axis=-1), 0.0, 1.0))

    # ---- probabilities ----------------------------------------------------------------------------------------

    def bin_probabilities(self) -> FloatArray:
        """Return the public probability in the middle of each bin (by its log-odds), shape (B,), highest first."""
        return bin_probabilities(self.thresholds, self.score_scale)

    def _losses(self, clip: float) -> FloatArray:
        return log_losses(self.bin_probabilities(), clip)

    def log_loss(self, clip: float = LOG_LOSS_CLIP) -> Any:
        """Return the mean log loss of the bins' probabilities, clipped to [clip, 1 - clip]: at most -log(clip)."""
        losses = self._losses(clip)
        return number_or_array(np.minimum((self.shares() * losses).sum(axis=(-1, -2)), losses.max()))

    def calibration_curve(self) -> CalibrationCurve:
        """Return the share of positives in each bin beside the bin's probability, lowest scores first."""
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

        Intervals of ratios of sums of cells are exact; those of areas use plugged-in counts
        (`dpml.evaluation.intervals`). An interval is widened to contain the measure that is shown.

        Parameters
        ----------
        metric : {"roc_auc", "accuracy", "balanced_accuracy", "true_positive_rate", "false_positive_rate", "log_loss",
                "prevalence", "n_records"}
        level : float
            Probability, over the noise, with which the interval contains the exact measure; in (0, 1).
        threshold : float, optional
            For the measures that have one.
        sampling : bool
            Add the sampling variance of the test records. The interval is then for their population.
        n_boot : int
            Number of simulated draws of the noise.
        rng : numpy.random.Generator, optional
            For the simulation. None: always the same generator.

        Returns
        -------
        low, high : float or ndarray of shape (draws,)
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
        """Return a band that contains the whole ROC curve of the exact histogram with probability about `level`.

        It has `n_points` points on the fpr axis, from 2; the other parameters are as for `interval`.
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
