"""Private evaluation with several classes: a curve for each class, or a noisy table of true and predicted classes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpml._arrays import FloatArray, IntArray
from dpml._validate import check_choice, check_epsilon, check_integer, check_number
from dpml.budget import Budget, charge
from dpml.budget.shares import equal_share
from dpml.evaluation._records import aligned, different_classes, to_read
from dpml.evaluation.histogram import N_BINS, lowered_shares, noise_scale, release_histogram
from dpml.evaluation.intervals import macro_auc_intervals, ratio_intervals, simulate, stretched
from dpml.evaluation.private_evaluation import N_BOOT, PrivateEvaluation, number_or_array
from dpml.evaluation.release import count_scores, release_counts
from dpml.exceptions import InvalidData
from dpml.mechanisms.private import Private, n_columns, statistic
from dpml.mechanisms.source import check_start
from dpml.schema import Schema
from dpml.schema.untrusted import plain_features


@dataclass(frozen=True, eq=False)
class MulticlassEvaluation:
    """One `PrivateEvaluation` for each class against the rest.

    Attributes
    ----------
    evaluations : tuple of PrivateEvaluation
        In the order of `classes`; each cost epsilon / C.
    classes : tuple
    epsilon : float
        Cost of one draw of all of them together, under `relation`.
    relation : {"add-remove", "replace-one"}
    """

    evaluations: tuple[PrivateEvaluation, ...]
    classes: tuple
    epsilon: float
    relation: str

    def roc_auc(self) -> dict[Any, Any]:
        """Return each class's area."""
        return {c: e.roc_auc() for c, e in zip(self.classes, self.evaluations, strict=True)}

    def macro_auc(self) -> Any:
        """Return the mean of the areas of all classes."""
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
        """Return an interval for the exact mean of areas, given the released histograms.

        It combines the intervals of all classes (`dpml.evaluation.intervals.macro_auc_intervals`), and is widened to
        contain the mean that is shown. Parameters and result are those of `PrivateEvaluation.interval`. With `sampling`
        it covers at least as often as `level` says, for how the areas of a record's classes vary together is not
        released.
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

    Released: C noisy two-class histograms, one of each class's scores.

    Privacy: ε per call (per draw) under `relation`. Every record is counted once in each of the C histograms, so that
    their joint sensitivity is C (add/remove) or 2C (replace-one), and each gets ε/C: `release_evaluation`, C times.
    `private_confusion_matrix` costs C times less at the same noise, if you need only the predicted classes.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels, each one of `classes`.
    scores : array-like of shape (n, C)
        One score for each class, in the order of `classes`.
    epsilon : float
        Privacy parameter of one draw, finite and > 0.
    classes : sequence
        All labels that a record can have: a public statement.
    rng, relation, n_bins, thresholds, score_scale, draws, on_invalid, release, budget
        As for `release_evaluation`. The budget is charged once, for all.

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
    table = _scores_of_classes(Private(scores), C)
    if n_columns(table) != C:
        raise InvalidData(f"scores has {n_columns(table)} columns: it must have one for each of {C} classes")
    codes, table = aligned(("y_true", "scores"), codes, table)
    exact = [
        count_scores(
            *_against_rest(codes, table, c),
            rng=rng,
            n_bins=n_bins,
            thresholds=thresholds,
            score_scale=score_scale,
            on_invalid=on_invalid,
            release=release,
        )
        for c in range(C)
    ]
    n_draws = 1 if draws is None else check_integer(draws, "draws", 1)
    each = equal_share(epsilon, C)
    noise_scale(each, relation, secure=release)  # a check: it must be finite
    charge(budget, relation, n_draws * epsilon, label="evaluation of several classes")
    evaluations = tuple(release_counts(one, each, rng=rng, relation=relation, draws=draws) for one in exact)
    return MulticlassEvaluation(evaluations, names, epsilon, relation)


@statistic
def _scores_of_classes(scores: Any, n_classes: int) -> FloatArray:
    table = plain_features(scores, n_classes)
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
    """A noisy table of true and predicted classes; the methods are post-processing.

    Attributes
    ----------
    counts : ndarray of shape (C, C) or (draws, C, C)
        Noisy counts: a row for each true class, a column for each predicted class.
    classes : tuple
    noise_scale : float
    epsilon : float
        Cost of one draw, under `relation`.
    relation : {"add-remove", "replace-one"}
    noise_step : float
        0 for continuous noise, else the unit in which the noise is an integer.
    """

    counts: FloatArray
    classes: tuple
    noise_scale: float
    epsilon: float
    relation: str = "add-remove"
    noise_step: float = 0.0

    def _shares(self) -> FloatArray:
        return lowered_shares(self.counts, self.noise_scale)

    def n_records(self) -> Any:
        """Return the noisy number of records, at least 0."""
        return number_or_array(np.maximum(self.counts.sum(axis=(-1, -2)), 0.0))

    def matrix(self) -> FloatArray:
        """Return the table without negative counts: lowered by one noise scale, then scaled to the noisy total."""
        return self._shares() * np.asarray(self.n_records())[..., None, None]

    def accuracy(self) -> Any:
        """Return the share of records whose class is predicted correctly."""
        return number_or_array(np.clip(np.trace(self._shares(), axis1=-2, axis2=-1), 0.0, 1.0))

    def recalls(self) -> FloatArray:
        """Return the share of correct predictions in each class, shape (..., C); 0 for a class left empty by noise."""
        shares = self._shares()
        total = shares.sum(axis=-1)
        right = np.diagonal(shares, axis1=-2, axis2=-1)
        return np.divide(right, total, out=np.zeros_like(total), where=total > 0)

    def balanced_accuracy(self) -> Any:
        """Return the mean of `recalls`."""
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
        """Return an interval for the exact accuracy, given the noisy table, as `PrivateEvaluation.interval` does."""
        check_choice(metric, "metric", ("accuracy",))
        level = check_number(level, "level", 0.0, 1.0, open_lower=True, open_upper=True)
        counts = self.counts[None] if self.counts.ndim == 2 else self.counts

        def sums(table: FloatArray) -> tuple[FloatArray, FloatArray]:
            return np.trace(table, axis1=-2, axis2=-1), table.sum(axis=(-1, -2))

        weight = 1.0 if sampling else None
        noise = simulate(counts, self.noise_scale, self.noise_step, n_boot, rng, weight, lambda e, _: sums(e))
        return stretched(ratio_intervals(sums(counts), noise, level, 0.0, 1.0), self.accuracy())


def private_confusion_matrix(
    y_true: Any,
    y_pred: Any,
    epsilon: float,
    *,
    classes: Sequence,
    rng: np.random.Generator | None = None,
    relation: str = "add-remove",
    draws: int | None = None,
    on_invalid: str = "raise",
    release: bool = False,
    budget: Budget | None = None,
) -> PrivateConfusionMatrix:
    """Release the table of true and predicted classes with noise.

    Released: C x C counts plus Laplace noise.

    Privacy: ε per call (per draw) under `relation`; a record is in one cell, so that the sensitivity is 1 (add/remove)
    or 2 (replace-one). The warning at `release_evaluation` about the model's training records holds here too.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        True and predicted labels, each one of `classes`.
    epsilon : float
        Privacy parameter of one draw, finite and > 0.
    classes : sequence
        All labels, public.
    rng, relation, draws, on_invalid, release, budget
        As for `release_evaluation`. A record with an invalid label is dropped unless that is an error.

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
    noisy = release_histogram(
        counts,
        epsilon,
        rng=rng,
        relation=relation,
        draws=draws,
        budget=budget,
        secure=release,
        label="confusion matrix",
    )
    scale = noise_scale(epsilon, relation, secure=release)
    return PrivateConfusionMatrix(noisy, names, scale, check_epsilon(epsilon), relation, 1.0 if release else 0.0)


@statistic
def _class_counts(true: IntArray, predicted: IntArray, C: int) -> IntArray:
    keep = (true >= 0) & (predicted >= 0)
    return np.bincount(C * true[keep] + predicted[keep], minlength=C * C).reshape(C, C)


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
