"""Comparison of two classifiers on a private test set, of two ROC curves, and of a selection with the true one.

The comparison of classifiers is a release, with its uncertainty after the noise. The other two are exact, for studies.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._arrays import FloatArray
from dpml._validate import check_choice, check_epsilon, check_integer, check_number
from dpml.budget import Budget, charge
from dpml.budget.shares import split_epsilon
from dpml.claims import claim
from dpml.evaluation.histogram import (
    N_BINS,
    SCORE_SCALES,
    check_two_classes,
    noise_scale,
    read_records,
    release_histogram,
)
from dpml.evaluation.intervals import auc_sums, ratio_intervals, simulate, stretched
from dpml.evaluation.private_evaluation import N_BOOT, PrivateEvaluation, count_scores, number_or_array, release_counts
from dpml.exceptions import InvalidParameter
from dpml.mechanisms.private import statistic
from dpml.mechanisms.source import check_start

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
        """Return an interval for the exact difference, given the release, widened to contain `difference`.

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
            samples = np.atleast_2d(self._simulated_differences(sampling=sampling, n_boot=n_boot, rng=rng))
            ends = np.quantile(samples, [(1 - level) / 2, (1 + level) / 2], axis=-1).T
        else:
            ends = ratio_intervals(self._sums(), self._noise(n_boot, rng, sampling), level, -1.0, 1.0)
        return stretched(ends, self.difference())

    def _noise(self, n_boot: int, rng: np.random.Generator | None, sampling: bool) -> FloatArray:
        """Return simulated errors of both sums, shape (draws, 2, n_boot)."""
        counts, weight = np.atleast_2d(self.counts), 1.0 if sampling else None  # type: ignore[arg-type]
        scale, step = self.noise_scale, self.noise_step
        return simulate(counts, scale, step, n_boot, rng, weight, lambda e, _: (e[:, 0] - e[:, 1], e.sum(axis=-1)))

    def _simulated_differences(
        self, *, sampling: bool = False, n_boot: int = N_BOOT, rng: np.random.Generator | None = None
    ) -> FloatArray:
        """Return simulated exact differences, of shape (..., n_boot): the released counts minus new noise.

        This is the posterior under a flat prior on counts, negative ones included: a prior that cuts counts at 0 does
        not cover. If noise has left nothing of a class, its AUC is uniform between 0 and 1.
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

        If B is at least as good as A, it exceeds 1 - α with probability at most about α. Ties count half.

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
        possible = self._simulated_differences(sampling=sampling, n_boot=n_boot, rng=rng)
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
        Lowest score that predicts `pos_label`, for accuracy. It is public. None means 0.5, or 0 in log-odds.
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
        "raise" raises an error for an invalid value. "clip" drops the record, or clips its score for the AUC.
    release : bool, default=False
        Use integer noise from OpenDP, and ``on_invalid="clip"``, so that no data raise an error.
    budget : Budget, optional
        Privacy budget that is charged `draws` times ε before any noise is drawn.

    Returns
    -------
    Comparison
        Noisy counts, with the difference and its interval.

    See Also
    --------
    release_evaluation : Release all measures of one classifier.

    Notes
    -----
    Privacy: ε = epsilon per draw. δ = 0. Relation: `relation`. Sensitivity: 1 in L1 norm under add/remove, and 2 under
    replace-one, because a record is in one of the three cells. Two separate accuracies would cost twice as much. For
    the AUC, the two histograms get ε/2 each, by composition. The warning in `release_evaluation` applies.

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
            "n_bins": n_bins,
            "thresholds": thresholds,
            "pos_label": pos_label,
            "classes": classes,
        }
        options |= {"rng": rng, "score_scale": score_scale, "on_invalid": on_invalid, "release": release}
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


# Most numbers in memory at a time.
BLOCK_CELLS = 1 << 20


def area_between(fpr1: Any, tpr1: Any, fpr2: Any, tpr2: Any) -> float | FloatArray:
    """Return the area between two ROC curves.

    It is the integral over the false positive rate of the absolute difference in true positive rate, exact for
    piecewise linear curves. A single curve is compared to each of a batch.

    Parameters
    ----------
    fpr1 : array-like of shape (n_points,) or (draws, n_points)
        False positive rates of the first curves, which increase from 0 to 1. Ties are vertical steps.
    tpr1 : array-like of the same shape
        Their true positive rates.
    fpr2 : array-like of shape (m_points,) or (draws, m_points)
        False positive rates of the second curves.
    tpr2 : array-like of the same shape
        Their true positive rates.

    Returns
    -------
    float or ndarray of shape (draws,)
        Area in [0, 1].

    Raises
    ------
    InvalidParameter
        If an fpr does not increase from 0 to 1, a value is not finite, or shapes do not fit.

    See Also
    --------
    private_roc_curve : Return a private ROC curve.

    Notes
    -----
    Privacy: no data is read. The area to an exact curve is not private, so do not publish it.

    References
    ----------
    Stoddard et al. (2014), section 5.2, Table 1.

    Examples
    --------
    >>> area_between([0, 0, 1], [0, 1, 1], [0, 1], [0, 1])
    0.5
    """
    f1, t1 = _check_curve(fpr1, tpr1, "1")
    f2, t2 = _check_curve(fpr2, tpr2, "2")
    single = f1.ndim == 1 and f2.ndim == 1
    f1, t1, f2, t2 = (np.atleast_2d(a) for a in (f1, t1, f2, t2))
    if 1 not in (len(f1), len(f2)) and len(f1) != len(f2):
        raise InvalidParameter("draws of curves 1 and 2", (len(f1), len(f2)), "equal, or 1 for one of them")
    draws = len(f2) if len(f1) == 1 else len(f1)
    f1, t1 = (np.broadcast_to(a, (draws, a.shape[1])) for a in (f1, t1))
    f2, t2 = (np.broadcast_to(a, (draws, a.shape[1])) for a in (f2, t2))
    areas = np.empty(draws)
    rows = max(BLOCK_CELLS // (f1.shape[1] + f2.shape[1]), 1)
    for start in range(0, draws, rows):
        block = slice(start, start + rows)
        areas[block] = _areas(f1[block], t1[block], f2[block], t2[block])
    return float(areas[0]) if single else areas


def _check_curve(fpr: Any, tpr: Any, which: str) -> tuple[FloatArray, FloatArray]:
    f, t = np.asarray(fpr, dtype=float), np.asarray(tpr, dtype=float)
    if f.ndim not in (1, 2) or f.shape != t.shape or f.shape[-1] < 2 or f.shape[0] < 1:
        shapes, allowed = f"{f.shape} and {t.shape}", "equal, (n_points,) or (draws, n_points)"
        raise InvalidParameter(f"shapes of fpr{which} and tpr{which}", shapes, allowed)
    if not np.isfinite(t).all():
        raise InvalidParameter(f"tpr{which}", tpr, "finite")
    if not ((f[..., 0] == 0) & (f[..., -1] == 1)).all() or not (f[..., 1:] >= f[..., :-1]).all():
        raise InvalidParameter(f"fpr{which}", fpr, "increasing from 0 to 1")
    return f, t


def _areas(f1: NDArray, t1: NDArray, f2: NDArray, t2: NDArray) -> FloatArray:
    """Return the areas between two batches of curves, row by row."""
    n = f1.shape[1]
    fpr = np.concatenate([f1, f2], axis=1)
    order = np.argsort(fpr, axis=1, kind="stable")
    fpr = np.take_along_axis(fpr, order, axis=1)
    # number of points of each curve at or left of each breakpoint; of ties the last counts, the others have no width
    passed1 = np.cumsum(order < n, axis=1)
    passed2 = np.arange(1, fpr.shape[1] + 1) - passed1
    left1, right1 = _between(f1, t1, fpr, passed1)
    left2, right2 = _between(f2, t2, fpr, passed2)
    left, right = left1 - left2, right1 - right2
    ends = np.abs(left) + np.abs(right)
    # where the curves cross inside an interval the area is that of two triangles
    crossing = (left**2 + right**2) / (2 * np.where(ends > 0, ends, 1.0))
    height = np.where(left * right >= 0, ends / 2, crossing)
    return np.sum(height * np.diff(fpr, axis=1), axis=1)


def _between(f: NDArray, t: NDArray, fpr: NDArray, passed: NDArray) -> tuple[FloatArray, FloatArray]:
    """Return a curve's limits at both ends of each interval between breakpoints, from inside the interval."""
    i = np.clip(passed[:, :-1] - 1, 0, f.shape[1] - 2)
    x0, x1 = np.take_along_axis(f, i, axis=1), np.take_along_axis(f, i + 1, axis=1)
    y0, y1 = np.take_along_axis(t, i, axis=1), np.take_along_axis(t, i + 1, axis=1)
    width = np.where(x1 > x0, x1 - x0, 1.0)
    at = [y0 + (np.clip(x, x0, x1) - x0) / width * (y1 - y0) for x in (fpr[:, :-1], fpr[:, 1:])]
    return at[0], at[1]


def selection_quality(truth: Any, selected: Any) -> dict[str, FloatArray]:
    """Compare selected sets of features with the true set (Stoddard et al. 2014, section 5.1.3).

    The true set depends on private data. These numbers are for studies of a method. They are not a release.

    Parameters
    ----------
    truth : array of bool, shape (D,)
        The true set.
    selected : array of bool, shape (draws, D) or (D,)
        The selection of a method in each draw.

    Returns
    -------
    dict of str to ndarray of shape (draws,)
        ``precision`` = both / selected, ``recall`` = both / true, ``f1``, their harmonic mean 2·both / (selected +
        true), ``jaccard``, the distance 1 - both / either (the paper prints the similarity and calls it a distance).
        A quotient 0/0 is 1, so that two empty sets have F1 1 and distance 0.

    Raises
    ------
    InvalidParameter
        If the shapes do not fit.

    See Also
    --------
    dpml.studies.SelectionStudy : Study any selector with any classifier.

    Examples
    --------
    >>> quality = selection_quality([True, True, False, False], [[True, False, True, False]])
    >>> {name: values.round(3).tolist() for name, values in quality.items()}
    {'precision': [0.5], 'recall': [0.5], 'f1': [0.5], 'jaccard': [0.667]}
    """
    truth, selected = np.asarray(truth, dtype=bool), np.atleast_2d(np.asarray(selected, dtype=bool))
    if truth.ndim != 1 or selected.ndim != 2 or selected.shape[1] != truth.size:
        raise InvalidParameter("selected", f"array of shape {selected.shape}", f"of shape (draws, {truth.size})")
    both = (selected & truth).sum(axis=1).astype(float)
    taken, true = selected.sum(axis=1), float(truth.sum())

    def share(part: Any, whole: Any) -> FloatArray:
        whole = np.broadcast_to(np.asarray(whole, dtype=float), np.shape(part))
        return np.divide(part, whole, out=np.ones(np.shape(part)), where=whole > 0)

    return {
        "precision": share(both, taken),
        "recall": share(both, true),
        "f1": share(2 * both, taken + true),
        "jaccard": 1 - share(both, taken + true - both),
    }


def expected_f1(truth: Any, inclusion: Any) -> float:
    """Return the exact expected F1 of a method that always selects T features.

    With T and the size of the true set fixed, F1 is linear in the number of features in both. The expectation of this
    number is the sum of the true features' inclusion probabilities.

    Parameters
    ----------
    truth : array of bool, shape (D,)
        True set of features.
    inclusion : array of shape (D,)
        Inclusion probabilities that add up to T, for example from `dpml.selection.inclusion_probabilities`.

    Returns
    -------
    float
        Expected F1 in [0, 1].

    Raises
    ------
    InvalidParameter
        If the shapes differ, or the probabilities do not add up to a whole number.

    See Also
    --------
    selection_quality : Compare selected sets with the true set.

    Notes
    -----
    Privacy: no data is read.

    Examples
    --------
    >>> expected_f1([True, False, False], [0.8, 0.1, 0.1])
    0.8
    """
    truth, inclusion = np.asarray(truth, dtype=bool), np.asarray(inclusion, dtype=float)
    if truth.ndim != 1 or inclusion.shape != truth.shape:
        raise InvalidParameter("inclusion", f"array of shape {inclusion.shape}", f"of shape ({truth.size},)")
    T = check_number(float(inclusion.sum()), "sum of inclusion", 0.0)
    if abs(T - round(T)) > 1e-6:
        raise InvalidParameter("sum of inclusion", T, "a whole number: the method selects T features always")
    whole = T + truth.sum()
    return float(2 * inclusion[truth].sum() / whole) if whole else 1.0
