"""Comparison of two classifiers on a private test set, and its uncertainty after the noise."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_choice, check_epsilon, check_integer, check_number
from dpml.budget import Budget, charge
from dpml.budget.shares import split_epsilon
from dpml.claims import claim
from dpml.evaluation._records import check_two_classes, read_records
from dpml.evaluation.histogram import N_BINS, SCORE_SCALES, noise_scale, release_histogram
from dpml.evaluation.intervals import auc_sums, ratio_intervals, simulate, stretched
from dpml.evaluation.private_evaluation import N_BOOT, PrivateEvaluation, number_or_array
from dpml.evaluation.release import count_scores, release_counts
from dpml.mechanisms.private import statistic
from dpml.mechanisms.source import check_start

FloatArray = NDArray[np.float64]
COMPARED = ("accuracy", "roc_auc")


@dataclass(frozen=True, eq=False)
class Comparison:
    """Result of a private comparison of classifiers A and B.

    Attributes
    ----------
    metric : {"accuracy", "roc_auc"}
        Compared measure.
    epsilon : float
        Cost of one draw, under `relation`.
    relation : {"add-remove", "replace-one"}
        Relation between neighbouring tables under which ε holds.
    noise_scale : float
        Scale of the noise on each count.
    counts : ndarray of shape (3,) or (draws, 3), or None
        For accuracy: noisy numbers of records that only A classifies correctly, that only B does, and of all others.
    evaluations : tuple of two PrivateEvaluation, or None
        For the AUC: the evaluations of A and of B.
    noise_step : float
        0 for continuous noise, else the unit in which the noise is an integer.

    See Also
    --------
    compare_classifiers : Compare two classifiers and return this result.
    PrivateEvaluation : Measures of one classifier.

    Notes
    -----
    Privacy: no data is read. The object and its methods use the released counts only.
    """

    metric: str
    epsilon: float
    relation: str
    noise_scale: float
    counts: FloatArray | None = None
    evaluations: tuple[PrivateEvaluation, PrivateEvaluation] | None = None
    noise_step: float = 0.0

    def difference(self) -> Any:
        """Return the measure of A minus that of B.

        Returns
        -------
        float or ndarray of shape (draws,)
            Difference of the measures.
        """
        if self.evaluations is not None:
            return self.evaluations[0].roc_auc() - self.evaluations[1].roc_auc()
        gap, total = self._sums()
        ratio = np.clip(np.divide(gap, total, out=np.zeros_like(gap), where=total > 0), -1.0, 1.0)
        return float(ratio[0]) if self._single else ratio

    @property
    def _single(self) -> bool:
        return (self.counts.ndim == 1) if self.counts is not None else (self.evaluations[0].counts.ndim == 2)  # type: ignore[index]

    def _sums(self) -> tuple[FloatArray, FloatArray]:
        counts = np.atleast_2d(self.counts)  # type: ignore[arg-type]
        return counts[:, 0] - counts[:, 1], counts.sum(axis=-1)

    def interval(
        self,
        level: float = 0.95,
        *,
        sampling: bool = False,
        n_boot: int = N_BOOT,
        rng: np.random.Generator | None = None,
    ) -> tuple[Any, Any]:
        """Return an interval for the exact difference, given the release.

        The interval of the accuracy is that of a ratio (`dpml.evaluation.intervals`). The ends of the interval of the
        AUC are quantiles of `simulated_differences`. An interval is widened to contain the difference that `difference`
        returns.

        For the AUC, the sampling variance is that of separate records for each classifier. The interval is therefore
        too wide if the two classifiers mostly agree.

        Parameters
        ----------
        level : float, default=0.95
            Probability, over the noise, that the interval contains the exact measure, in (0, 1).
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
        level = check_number(level, "level", 0.0, 1.0, open_lower=True, open_upper=True)
        if self.evaluations is not None:
            samples = np.atleast_2d(self.simulated_differences(sampling=sampling, n_boot=n_boot, rng=rng))
            ends = np.quantile(samples, [(1 - level) / 2, (1 + level) / 2], axis=-1).T
        else:
            ends = ratio_intervals(self._sums(), self._noise(n_boot, rng, sampling), level, -1.0, 1.0)
        return stretched(ends, self.difference())

    def _noise(self, n_boot: int, rng: np.random.Generator | None, sampling: bool) -> FloatArray:
        """Return simulated errors of both sums, shape (draws, 2, n_boot)."""
        counts, weight = np.atleast_2d(self.counts), 1.0 if sampling else None  # type: ignore[arg-type]
        scale, step = self.noise_scale, self.noise_step
        return simulate(counts, scale, step, n_boot, rng, weight, lambda e, _: (e[:, 0] - e[:, 1], e.sum(axis=-1)))

    def simulated_differences(
        self, *, sampling: bool = False, n_boot: int = N_BOOT, rng: np.random.Generator | None = None
    ) -> FloatArray:
        """Simulate exact differences, given the release.

        The differences use the released counts minus new noise. This is the posterior under a flat prior on counts,
        negative ones included. Intervals from a prior that cuts counts at 0 do not cover. If noise has left nothing of
        a class, its AUC is uniform between 0 and 1.

        Parameters
        ----------
        sampling : bool, default=False
            Add the sampling variance of the test records.
        n_boot : int, default=2000
            Number of simulated draws of the noise.
        rng : numpy.random.Generator, optional
            Generator of the simulation. None uses the same generator in every call.

        Returns
        -------
        ndarray of shape (n_boot,) or (draws, n_boot)
            Simulated exact differences of the measures.
        """
        rng = np.random.default_rng(0) if rng is None else rng
        if self.evaluations is None:
            gap, _ = self._sums()
            possible = gap[:, None] - self._noise(n_boot, rng, sampling)[:, 0]
            return possible[0] if self._single else possible
        areas = [_possible_areas(e, n_boot, rng, sampling) for e in self.evaluations]
        possible = areas[0] - areas[1]
        return possible[0] if self._single else possible

    def probability_a_better(
        self, *, sampling: bool = False, n_boot: int = N_BOOT, rng: np.random.Generator | None = None
    ) -> Any:
        """Return the probability that the exact measure of A is higher, given the release.

        It is the share of `simulated_differences` above 0, where ties count half. If B is at least as good as A, it
        exceeds 1 - α with probability at most about α.

        Parameters
        ----------
        sampling : bool, default=False
            Add the sampling variance of the test records.
        n_boot : int, default=2000
            Number of simulated draws of the noise.
        rng : numpy.random.Generator, optional
            Generator of the simulation. None uses the same generator in every call.

        Returns
        -------
        float or ndarray of shape (draws,)
            Probability in [0, 1].
        """
        possible = self.simulated_differences(sampling=sampling, n_boot=n_boot, rng=rng)
        return number_or_array((possible > 0).mean(axis=-1) + (possible == 0).mean(axis=-1) / 2)


def _possible_areas(evaluation: PrivateEvaluation, n_boot: int, rng: np.random.Generator, sampling: bool) -> FloatArray:
    counts = evaluation.counts[None] if evaluation.counts.ndim == 2 else evaluation.counts

    def areas(errors: FloatArray, draw: int) -> FloatArray:
        possible = counts[draw] - errors
        pairs, total = auc_sums(possible)
        known = (possible.sum(axis=-1) > 0).all(axis=-1)
        ratio = np.divide(pairs, total, out=np.zeros_like(pairs), where=known)
        return np.where(known, np.clip(ratio, 0.0, 1.0), rng.random(len(ratio)))

    weight = evaluation.weight_bound if sampling else None
    return simulate(counts, evaluation.noise_scale, evaluation.noise_step, n_boot, rng, weight, areas)


@claim(
    "comparison",
    "Comparison of the accuracies of two classifiers",
    "derived here",
    "ε, for models that were not trained on these records",
)
@claim("comparison-auc", "Comparison of the AUCs of two classifiers", "derived here", "ε for both, ε/2 each")
def compare_classifiers(
    y_true: Any,
    score_a: Any,
    score_b: Any,
    epsilon: float,
    *,
    rng: np.random.Generator | None = None,
    metric: str = "accuracy",
    threshold: float | None = None,
    relation: str = "add-remove",
    n_bins: int = N_BINS,
    thresholds: Any = None,
    score_scale: str = "probability",
    pos_label: Any = 1,
    classes: Sequence = (0, 1),
    draws: int | None = None,
    on_invalid: str = "raise",
    release: bool = False,
    budget: Budget | None = None,
) -> Comparison:
    """Compare two classifiers on the same private records, for one ε.

    For accuracy, it releases three numbers of records plus Laplace noise: those that only A classifies correctly, those
    that only B does, and all others. For the AUC, it releases one noisy histogram for each classifier.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels, each one of `classes`.
    score_a : array-like of shape (n,)
        Scores of classifier A.
    score_b : array-like of shape (n,)
        Scores of classifier B for the same records, in the same order.
    epsilon : float
        Privacy parameter of one draw, finite and > 0.
    rng : numpy.random.Generator, optional
        Source of the noise. A simulation needs it. It is forbidden with ``release=True``.
    metric : {"accuracy", "roc_auc"}, default="accuracy"
        Measure to compare.
    threshold : float, optional
        Public threshold for accuracy. `pos_label` is predicted for a score of at least this threshold. None means 0.5,
        or 0 in log-odds.
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
        "raise" raises an error for invalid labels and scores. "clip" drops records with invalid labels and clips
        scores. For accuracy, it also drops records with invalid scores.
    release : bool, default=False
        Use integer noise from OpenDP. Invalid values are then clipped or dropped in every case, so that no data raise
        an error.
    budget : Budget, optional
        Privacy budget that is charged `draws` times ε before any noise is drawn.

    Returns
    -------
    Comparison
        Noisy counts, with the difference and its interval.

    See Also
    --------
    release_evaluation : Release all measures of one classifier.
    Comparison : Result of the comparison.

    Notes
    -----
    Privacy: ε = epsilon per draw. δ = 0. Relation: `relation`. Sensitivity: 1 in L1 norm under add/remove, and 2 under
    replace-one. This is the sensitivity of the three numbers, because a record is in one of the three cells. Two
    separate accuracies would cost twice as much. For the AUC, the two histograms get ε/2 each, by composition. The
    models must not have been trained on these records. The warning in `release_evaluation` applies.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 2000)
    >>> good, poor = (rng.normal(2 * y - 1, spread) for spread in (1, 2))
    >>> comparison = compare_classifiers(y, good, poor, 0.5, rng=rng, score_scale="log-odds")
    >>> round(comparison.difference(), 2), comparison.probability_a_better()
    (0.15, 1.0)
    """
    epsilon = check_epsilon(epsilon)
    check_choice(metric, "metric", COMPARED)
    check_choice(score_scale, "score_scale", SCORE_SCALES)
    on_invalid = check_start(on_invalid, rng, release, relation)
    label = "comparison of two classifiers"
    n_draws = 1 if draws is None else check_integer(draws, "draws", 1)
    if metric == "roc_auc":
        shares = split_epsilon(epsilon, 0.5)
        options: dict[str, Any] = {
            "rng": rng,
            "n_bins": n_bins,
            "thresholds": thresholds,
            "score_scale": score_scale,
            "pos_label": pos_label,
            "classes": classes,
            "on_invalid": on_invalid,
            "release": release,
        }
        exact = [count_scores(y_true, scores, **options) for scores in (score_a, score_b)]
        scale = noise_scale(min(shares), relation, secure=release)
        charge(budget, relation, n_draws * epsilon, label=label)
        first, second = (
            release_counts(one, share, rng=rng, relation=relation, draws=draws)
            for one, share in zip(exact, shares, strict=True)
        )
        return Comparison(metric, epsilon, relation, scale, evaluations=(first, second), noise_step=float(release))
    if threshold is None:
        threshold = 0.5 if score_scale == "probability" else 0.0
    threshold = check_number(threshold, "threshold")
    counts = paired_counts(
        y_true, score_a, score_b, threshold, score_scale, pos_label=pos_label, classes=classes, on_invalid=on_invalid
    )
    noisy = release_histogram(
        counts, epsilon, rng=rng, relation=relation, draws=draws, budget=budget, secure=release, label=label
    )
    scale = noise_scale(epsilon, relation, secure=release)
    return Comparison(metric, epsilon, relation, scale, counts=noisy, noise_step=float(release))


def paired_counts(
    y_true: Any,
    score_a: Any,
    score_b: Any,
    threshold: float,
    score_scale: str = "probability",
    *,
    pos_label: Any = 1,
    classes: Sequence = (0, 1),
    on_invalid: str = "raise",
) -> Any:
    """Count the records that only A classifies correctly, that only B does, and the others: a private value."""
    classes = check_two_classes(classes, pos_label)
    codes, [a, b], _ = read_records(y_true, {"score_a": score_a, "score_b": score_b}, score_scale, classes, on_invalid)
    return _pair_counts(codes, classes.index(pos_label), a, b, threshold)


@statistic
def _pair_counts(codes: NDArray[np.intp], pos_code: int, a: FloatArray, b: FloatArray, threshold: float) -> NDArray:
    positive = codes == pos_code
    right_a, right_b = ((scores >= threshold) == positive for scores in (a, b))
    first, second = np.sum(right_a & ~right_b), np.sum(right_b & ~right_a)
    return np.array([first, second, len(positive) - first - second], dtype=np.int64)
