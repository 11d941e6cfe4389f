"""Private evaluation with several classes: a curve for each class, or a noisy table of true and predicted classes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpml._arrays import FloatArray, IntArray
from dpml._validate import check_choice, check_epsilon, check_integer, check_number
from dpml.budget import Budget, charge
from dpml.budget.shares import equal_share, split_epsilon
from dpml.claims import claim
from dpml.evaluation.histogram import (
    N_BINS,
    aligned,
    different_classes,
    noise_scale,
    release_histogram,
    to_read,
    with_sum,
)
from dpml.evaluation.intervals import macro_auc_intervals, ratio_intervals, simulate, stretched
from dpml.evaluation.private_evaluation import N_BOOT, PrivateEvaluation, count_scores, number_or_array, release_counts
from dpml.exceptions import InvalidData
from dpml.mechanisms.private import Private, n_columns, statistic
from dpml.mechanisms.source import check_start
from dpml.schema import Schema
from dpml.schema.cells import plain_features

# CHOICES, compared in benchmarks/many_classes.py: from so many classes on, this share of ε is for the numbers of
# correct and wrong predictions. The accuracy then gains more than every other measure loses.
MANY_CLASSES, ACCURACY_SHARE = 5, 0.25


@dataclass(frozen=True, eq=False)
class MulticlassEvaluation:
    """Result of a private evaluation of each class against the rest.

    Attributes
    ----------
    evaluations : tuple of PrivateEvaluation
        One evaluation for each class, in the order of `classes`. Each cost ε/C.
    classes : tuple
        Labels of the C classes.
    epsilon : float
        Cost of one draw of all evaluations together, under `relation`.
    relation : {"add-remove", "replace-one"}
        Relation between neighbouring tables under which ε holds.

    See Also
    --------
    release_multiclass_evaluation : Release this result.

    Notes
    -----
    Privacy: no data is read. The object and its methods use the released counts only.
    """

    evaluations: tuple[PrivateEvaluation, ...]
    classes: tuple
    epsilon: float
    relation: str

    def roc_auc(self) -> dict[Any, Any]:
        """Return the AUC of each class.

        Returns
        -------
        dict of label to float or ndarray
            AUC of each class against the rest.
        """
        return {c: e.roc_auc() for c, e in zip(self.classes, self.evaluations, strict=True)}

    def macro_auc(self) -> Any:
        """Return the mean AUC of all classes.

        Returns
        -------
        float or ndarray of shape (draws,)
            Unweighted mean of the AUCs.
        """
        return number_or_array(np.mean(list(self.roc_auc().values()), axis=0))

    def interval(
        self,
        metric: str = "macro_auc",
        level: float = 0.95,
        *,
        sampling: bool = False,
        n_boot: int = N_BOOT,
        rng: np.random.Generator | None = None,
    ) -> tuple[Any, Any]:
        """Return an interval for the exact mean AUC, given the released histograms, widened to contain `macro_auc`.

        It combines the intervals of all classes (`dpml.evaluation.intervals.macro_auc_intervals`). With `sampling`, the
        coverage is at least `level`, because the release does not contain the covariance of the AUCs.

        Parameters
        ----------
        metric : {"macro_auc"}, default="macro_auc"
            Measure.
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
        check_choice(metric, "metric", ("macro_auc",))
        level = check_number(level, "level", 0.0, 1.0, open_lower=True, open_upper=True)
        # an area does not change with the unit of its counts; all classes have the same noise
        unit = max(one._unit() for one in self.evaluations)
        first = self.evaluations[0]
        tables = [one._batch(one.counts / unit) for one in self.evaluations]
        noise = first.noise_scale / unit, first.noise_step / unit, level, n_boot, rng
        ends = macro_auc_intervals(tables, *noise, first.weight_bound / unit if sampling else None)
        return stretched(ends, self.macro_auc())


@claim(
    "evaluation-multiclass",
    "One noisy histogram for each class against the rest",
    "derived here",
    "ε for all, ε/C each",
)
def release_multiclass_evaluation(
    y_true: Any,
    scores: Any,
    epsilon: float,
    *,
    classes: Sequence,
    rng: np.random.Generator | None = None,
    relation: str = "add-remove",
    n_bins: int = N_BINS,
    thresholds: Any = None,
    score_scale: str = "probability",
    draws: int | None = None,
    on_invalid: str = "raise",
    release: bool = False,
    budget: Budget | None = None,
) -> MulticlassEvaluation:
    """Release one evaluation for each class against the rest, for one ε.

    It releases C noisy two-class histograms, one of each class's scores.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels, each one of `classes`.
    scores : array-like of shape (n, C)
        One score for each class, in the order of `classes`.
    epsilon : float
        Privacy parameter of one draw, finite and > 0.
    classes : sequence
        All C labels that a record can have, which are public metadata.
    rng : numpy.random.Generator, optional
        Source of the noise. A simulation needs it, ``release=True`` forbids it.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        Relation between neighbouring tables under which ε holds.
    n_bins : int, default=16
        Number of public bins of the score, from 2 to 10,000. It is unused if `thresholds` are given.
    thresholds : array-like of shape (n_bins + 1,), optional
        Public thresholds that decrease from inf to 0, or to -inf for log-odds. The default is `roc_thresholds`.
    score_scale : {"probability", "log-odds"}, default="probability"
        Scale of the scores.
    draws : int, optional
        Number of independent releases of a simulation.
    on_invalid : {"raise", "clip"}, default="raise"
        "raise" raises an error for an invalid value. "clip" drops the record, or clips its score or weight.
    release : bool, default=False
        Use integer noise from OpenDP, and ``on_invalid="clip"``, so that no data raise an error.
    budget : Budget, optional
        Privacy budget that is charged `draws` times ε once, before any noise is drawn.

    Returns
    -------
    MulticlassEvaluation
        Evaluations of all classes.

    See Also
    --------
    private_confusion_matrix : Release counts of true and predicted classes.

    Notes
    -----
    Privacy: ε = epsilon per draw. δ = 0. Relation: `relation`. Sensitivity: C in L1 norm under add/remove, and 2C under
    replace-one.

    Every record is counted once in each of the C histograms. Each histogram therefore gets ε/C, by
    `release_evaluation`. `private_confusion_matrix` costs C times less at the same noise, if you need the predicted
    classes only.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(3, size=3000)
    >>> scores = rng.dirichlet(np.ones(3), size=3000) * 0.5 + 0.5 * np.eye(3)[y]
    >>> several = release_multiclass_evaluation(y, scores, 1.0, classes=(0, 1, 2), rng=rng)
    >>> round(several.macro_auc(), 2)
    0.99
    """
    epsilon = check_epsilon(epsilon)
    on_invalid = check_start(on_invalid, rng, release, relation)
    names, codes = _codes(y_true, classes, "y_true", on_invalid)
    C = len(names)
    table = _scores_of_classes(Private(scores), C, on_invalid)
    if n_columns(table) != C:
        raise InvalidData(f"scores has {n_columns(table)} columns: it must have one for each of {C} classes")
    codes, table = aligned(("y_true", "scores"), codes, table)
    how: dict[str, Any] = {"rng": rng, "n_bins": n_bins, "thresholds": thresholds, "score_scale": score_scale}
    how |= {"on_invalid": on_invalid, "release": release}
    exact = [count_scores(*_against_rest(codes, table, c), **how) for c in range(C)]
    n_draws = 1 if draws is None else check_integer(draws, "draws", 1)
    each = equal_share(epsilon, C)
    noise_scale(each, relation, secure=release)  # a check: it must be finite
    charge(budget, relation, n_draws * epsilon, label="evaluation of several classes")
    evaluations = tuple(release_counts(one, each, rng=rng, relation=relation, draws=draws) for one in exact)
    return MulticlassEvaluation(evaluations, names, epsilon, relation)


@statistic
def _scores_of_classes(scores: Any, n_classes: int, on_invalid: str) -> FloatArray:
    table = plain_features(scores, n_classes, on_invalid)
    if isinstance(table, np.ndarray):
        return table
    return table.to_numpy(float) if hasattr(table, "to_numpy") else table.toarray()


@statistic
def _against_rest(codes: IntArray, table: FloatArray, code: int) -> tuple[IntArray, FloatArray]:
    """Return 1 for the records of a class and 0 for those of the others, and the class's scores."""
    keep = codes >= 0
    return (codes[keep] == code).astype(int), table[keep, code]


@dataclass(frozen=True, eq=False)
class PrivateConfusionMatrix:
    """Noisy table of true and predicted classes.

    All measures start from sums of the noisy counts, negative ones included. Counts that are cut at 0 before they are
    summed would add a share of the noise of each of the C² cells to the wrong predictions.

    Attributes
    ----------
    counts : ndarray of shape (C, C) or (draws, C, C)
        Noisy counts, with a row for each true class and a column for each predicted class.
    classes : tuple
        Labels of the C classes.
    noise_scale : float
        Scale of the noise on each of `counts`.
    epsilon : float
        Cost of one draw, under `relation`.
    relation : {"add-remove", "replace-one"}
        Relation between neighbouring tables under which ε holds.
    noise_step : float
        0 for continuous noise, else the unit in which the noise is an integer.
    totals : ndarray of shape (2,) or (draws, 2), optional
        Noisy numbers of correct and of wrong predictions, if they received a share of ε.
    totals_scale : float
        Scale of the noise on each of `totals`.

    See Also
    --------
    private_confusion_matrix : Release this table.

    Notes
    -----
    Privacy: no data is read. The object and its methods use the released counts only.
    """

    counts: FloatArray
    classes: tuple
    noise_scale: float
    epsilon: float
    relation: str = "add-remove"
    noise_step: float = 0.0
    totals: FloatArray | None = None
    totals_scale: float = 0.0

    def _weights(self) -> FloatArray:
        """Return the inverse-variance weights of the table's sums of C and C(C - 1) cells, beside `totals`."""
        if self.totals is None:
            return np.ones(2)
        C = len(self.classes)
        return 1 / (1 + np.array([C, C * (C - 1)]) * (self.noise_scale / self.totals_scale) ** 2)

    def _sums(self) -> FloatArray:
        """Return the noisy numbers of correct and wrong predictions, shape (..., 2), which may be negative."""
        sums, w = _right_and_wrong(self.counts), self._weights()
        return sums if self.totals is None else w * sums + (1 - w) * self.totals

    def n_records(self) -> Any:
        """Return the noisy number of records, at least 0.

        Returns
        -------
        float or ndarray of shape (draws,)
            Noisy number of records.
        """
        return number_or_array(np.maximum(self._sums().sum(axis=-1), 0.0))

    def matrix(self) -> FloatArray:
        """Return the nearest table without negative counts that has the noisy numbers of correct and wrong predictions.

        Returns
        -------
        ndarray of shape (..., C, C)
            Table of counts that are at least 0.
        """
        right, wrong = np.moveaxis(np.maximum(self._sums(), 0.0), -1, 0)
        table, diagonal = np.empty_like(self.counts), np.eye(len(self.classes), dtype=bool)
        table[..., diagonal] = with_sum(self.counts[..., diagonal], right)
        table[..., ~diagonal] = with_sum(self.counts[..., ~diagonal], wrong)
        return table

    def accuracy(self) -> Any:
        """Return the accuracy, or 1/C if noise leaves no record.

        Returns
        -------
        float or ndarray of shape (draws,)
            Share of records with a correct prediction.
        """
        right, wrong = np.moveaxis(np.maximum(self._sums(), 0.0), -1, 0)
        total = right + wrong
        chance = np.full_like(total, 1 / len(self.classes))
        return number_or_array(np.divide(right, total, out=chance, where=total > 0))

    def recalls(self) -> FloatArray:
        """Return the recall of each class, near `accuracy` if noise hides it.

        A class has d correct predictions among r records, and the noise of r has variance s². First, r is shrunk
        towards the mean class size by the weight w = v/(v + s²). Here v is the variance of the class sizes beyond that
        of the noise. The recall is then (r·d + λ·a)/(r² + λ). This is the ridge estimate of the ratio d/r, shrunk
        towards the accuracy a. λ is the sum of the remaining variances: ws² of r, and that of the noise of d.

        Returns
        -------
        ndarray of shape (..., C)
            Recall of each class.
        """
        C, sizes = len(self.classes), self.counts.sum(axis=-1)
        # in this unit no square overflows
        unit = np.abs(sizes).max(axis=-1, keepdims=True) + self.noise_scale
        right, sizes = np.diagonal(self.counts, axis1=-2, axis2=-1) / unit, sizes / unit
        mean = np.asarray(self.n_records())[..., None] / unit / C
        of_cell = 2 * (self.noise_scale / unit) ** 2
        of_size = C * of_cell
        v = np.maximum(((sizes - mean) ** 2).mean(axis=-1, keepdims=True) - of_size, 0.0)
        w = np.divide(v, v + of_size, out=np.zeros_like(v), where=v > 0)
        sizes = np.maximum(mean + w * (sizes - mean), self.noise_scale / unit)
        ridge = w * of_size + of_cell
        accuracy = np.broadcast_to(np.asarray(self.accuracy())[..., None], sizes.shape)
        below = sizes**2 + ridge
        share = np.divide(sizes * right + ridge * accuracy, below, out=accuracy.copy(), where=below > 0)
        return np.clip(share, 0.0, 1.0)

    def balanced_accuracy(self) -> Any:
        """Return the mean recall of all classes.

        Returns
        -------
        float or ndarray of shape (draws,)
            Mean of `recalls`.
        """
        return number_or_array(self.recalls().mean(axis=-1))

    def interval(
        self,
        metric: str = "accuracy",
        level: float = 0.95,
        *,
        sampling: bool = False,
        n_boot: int = N_BOOT,
        rng: np.random.Generator | None = None,
    ) -> tuple[Any, Any]:
        """Return an interval for the exact accuracy, given the noisy counts.

        Parameters
        ----------
        metric : {"accuracy"}, default="accuracy"
            Measure.
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
        check_choice(metric, "metric", ("accuracy",))
        level = check_number(level, "level", 0.0, 1.0, open_lower=True, open_upper=True)
        rng = np.random.default_rng(0) if rng is None else rng
        sums, w = self._sums().reshape(-1, 2), self._weights()[:, None]
        tables = self.counts.reshape(-1, *self.counts.shape[-2:])

        def simulated(counts: FloatArray, scale: float, step: float, weight: float | None, figures: Any) -> FloatArray:
            return simulate(counts, scale, step, n_boot, rng, weight, lambda e, _: figures(e).T)

        noise = w * simulated(tables, self.noise_scale, self.noise_step, None, _right_and_wrong)
        if self.totals is not None:
            noise = noise + (1 - w) * simulated(sums, self.totals_scale, self.noise_step, None, np.asarray)
        if sampling:
            # the records of the table are those of the totals, so that both have the same sampling error
            noise = noise + simulated(sums, 0.0, 0.0, 1.0, np.asarray)
        # the accuracy is the ratio of the correct ones to both
        right, both = sums[:, 0], sums.sum(axis=1)
        noise = np.stack([noise[:, 0], noise.sum(axis=1)], axis=1)
        return stretched(ratio_intervals((right, both), noise, level, 0.0, 1.0), self.accuracy())


def _right_and_wrong(tables: Any) -> Any:
    """Return the sums of the diagonals of tables (..., C, C), and of all other cells: shape (..., 2)."""
    right = np.trace(tables, axis1=-2, axis2=-1)
    return np.stack([right, tables.sum(axis=(-1, -2)) - right], axis=-1)


@claim(
    "confusion-matrix",
    "Noisy table of true and predicted classes",
    "derived here",
    "ε, for predictions of a model that was not trained on these records",
)
def private_confusion_matrix(
    y_true: Any,
    y_pred: Any,
    epsilon: float,
    *,
    classes: Sequence,
    accuracy_share: float | None = None,
    rng: np.random.Generator | None = None,
    relation: str = "add-remove",
    draws: int | None = None,
    on_invalid: str = "raise",
    release: bool = False,
    budget: Budget | None = None,
) -> PrivateConfusionMatrix:
    """Release the table of true and predicted classes with noise.

    It releases C x C counts plus Laplace noise. With `accuracy_share`, it also releases the numbers of correct and of
    wrong predictions plus Laplace noise.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels, each one of `classes`.
    y_pred : array-like of shape (n,)
        Predicted labels, each one of `classes`.
    epsilon : float
        Privacy parameter of one draw, finite and > 0.
    classes : sequence
        All C labels, which are public metadata.
    accuracy_share : float, optional
        Share of ε for the two numbers, in [0, 1). The default is 1/4 from five classes on, and 0 for fewer.
    rng : numpy.random.Generator, optional
        Source of the noise. A simulation needs it, ``release=True`` forbids it.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        Relation between neighbouring tables under which ε holds.
    draws : int, optional
        Number of independent releases of a simulation.
    on_invalid : {"raise", "clip"}, default="raise"
        "raise" raises an error for an invalid label. "clip" drops the record.
    release : bool, default=False
        Use integer noise from OpenDP, and ``on_invalid="clip"``, so that no data raise an error.
    budget : Budget, optional
        Privacy budget that is charged `draws` times ε before any noise is drawn.

    Returns
    -------
    PrivateConfusionMatrix
        Noisy table with its measures.

    See Also
    --------
    release_multiclass_evaluation : Release ROC curves of each class against the rest.

    Notes
    -----
    Privacy: ε = epsilon per draw. δ = 0. Relation: `relation`. Sensitivity: 1 in L1 norm under add/remove, and 2 under
    replace-one, because a record is in one cell, and in one of the two numbers. Both releases share ε. The warning in
    `release_evaluation` applies.

    Wrong predictions are in C² - C cells. The noise of the accuracy that follows from the table therefore grows with C.
    The noise of the two numbers does not.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(3, size=3000)
    >>> predicted = np.where(rng.random(3000) < 0.9, y, 0)
    >>> table = private_confusion_matrix(y, predicted, 1.0, classes=(0, 1, 2), rng=rng)
    >>> round(table.accuracy(), 2)
    0.93
    """
    on_invalid = check_start(on_invalid, rng, release, relation)
    names, true = _codes(y_true, classes, "y_true", on_invalid)
    _, predicted = _codes(y_pred, classes, "y_pred", on_invalid)
    counts = _class_counts(*aligned(("y_true", "y_pred"), true, predicted), len(names))
    if accuracy_share is None:
        accuracy_share = ACCURACY_SHARE if len(names) >= MANY_CLASSES else 0.0
    share = check_number(accuracy_share, "accuracy_share", 0.0, 1.0, open_upper=True)
    of_table, of_totals = split_epsilon(epsilon, 1 - share) if share else (check_epsilon(epsilon), 0.0)
    how: dict[str, Any] = {"rng": rng, "relation": relation, "draws": draws, "secure": release}
    scales = [noise_scale(each, relation, secure=release) for each in (of_table, of_totals) if each]  # must be finite
    n_draws = 1 if draws is None else check_integer(draws, "draws", 1)
    charge(budget, relation, n_draws * check_epsilon(epsilon), label="confusion matrix")
    noisy = release_histogram(counts, of_table, **how)
    table = PrivateConfusionMatrix(noisy, names, scales[0], check_epsilon(epsilon), relation, 1.0 if release else 0.0)
    if not share:
        return table
    return replace(table, totals=release_histogram(_totals(counts), of_totals, **how), totals_scale=scales[1])


@statistic
def _class_counts(true: IntArray, predicted: IntArray, C: int) -> IntArray:
    keep = (true >= 0) & (predicted >= 0)
    return np.bincount(C * true[keep] + predicted[keep], minlength=C * C).reshape(C, C)


@statistic
def _totals(counts: IntArray) -> IntArray:
    """Return the numbers of correct and of wrong predictions. Exact: private."""
    return _right_and_wrong(counts)


def _codes(y: Any, classes: Sequence, name: str, on_invalid: str) -> tuple[tuple, Any]:
    """Return the public classes, and the position of each label among them, a private value."""
    names = different_classes(classes)
    try:
        return names, Private(_positions(to_read(y, on_invalid), names, on_invalid))
    except InvalidData as error:
        raise InvalidData(str(error).replace("y has", f"{name} has", 1)) from None


@statistic
def _positions(y: Any, classes: tuple, on_invalid: str) -> IntArray:
    return Schema.binary(1, classes=classes).check_labels(y, on_invalid)
