"""Fits without privacy: a test for a signal in a table's columns, and private fits without their noise."""

import math
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from dpml._arrays import BoolArray, FloatArray, IntArray
from dpml.datasets import Dataset
from dpml.exceptions import InvalidParameter, NotPrivate
from dpml.mechanisms import ExponentialMechanism, ReportNoisyMax, boundary
from dpml.mechanisms.noise import NormalNoise
from dpml.selection.top import JointDraw, OneShot, Peel, PeelByGumbel
from dpml.studies.accuracy import majority_accuracy

# probability with which labels that are unrelated to the columns count as a signal
LEVEL = 0.01
# with fewer test records, each record is tested once, in one of the folds, to find a weak signal
FEW, FOLDS = 1500, 5
# an ε so large, or a scale so small, that the noise is below rounding
HUGE, TINY = 1e15, 1e-15
# choices whose statistic is scores in units of their noise
IN_UNITS_OF_NOISE = ExponentialMechanism, ReportNoisyMax, OneShot, Peel, PeelByGumbel


class Signal(NamedTuple):
    """The accuracy of a fit without privacy and its p-value.

    Attributes
    ----------
    accuracy : float
        Accuracy on the test records.
    guess : float
        Accuracy of the majority-class baseline on the test records.
    p_value : float
        Probability, by a permutation test, that labels unrelated to the columns are predicted as well.
    auc : float
        AUC on the test records, NaN with several classes or if a class is missing.

    See Also
    --------
    signal_of : Compute the signal of a data set.
    advise : Compare private methods.
    """

    accuracy: float
    guess: float
    p_value: float
    auc: float = math.nan

    @property
    def exists(self) -> bool:
        """Whether the labels depend on the columns."""
        return self.p_value < LEVEL


def signal_of(dataset: Dataset) -> Signal:
    """Test a table's columns for a signal about its labels.

    The fit is the mean of boosted trees, which find columns that act together, and a logistic regression, which needs
    few records. Its probabilities are compared with the labels of records that did not train it. For labels in random
    order, the sum of the probabilities of the true classes has a known mean and variance (Hoeffding 1951), for any fit
    and any class sizes. The sum is taken as normal.

    Parameters
    ----------
    dataset : Dataset
        Data set with a raw table.

    Returns
    -------
    Signal
        Accuracy, baseline, p-value and AUC.

    Raises
    ------
    InvalidParameter
        If the data set has no raw table.

    See Also
    --------
    Signal : The result.
    advise : Compare private methods.

    Notes
    -----
    Privacy: ε = none, the result is not private. δ = 0. Relation: none. Sensitivity: not bounded.

    Examples
    --------
    >>> from dpml.datasets import load
    >>> signal = signal_of(load("census", n=2000))
    >>> signal.exists, signal.accuracy > signal.guess
    (True, True)
    """
    raw, binary = _numbers(with_table(dataset)), np.concatenate([_dense(dataset.X_train), _dense(dataset.X_test)])
    codes = np.concatenate([dataset.y_train, dataset.y_test])
    n_train, C = len(dataset.y_train), dataset.schema.n_classes
    held_out = np.arange(len(codes)) >= n_train
    shares = _probabilities(raw, binary, codes, held_out, C)
    accuracy = float((shares.argmax(axis=1) == dataset.y_test).mean())
    parts = [(shares, dataset.y_test)]
    if len(dataset.y_test) < FEW:
        fold = np.random.default_rng(0).permutation(len(codes)) % FOLDS
        parts = [(_probabilities(raw, binary, codes, fold == k, C), codes[fold == k]) for k in range(FOLDS)]
    excess, variance = np.sum([_permuted(*part) for part in parts], axis=0)
    z = excess / math.sqrt(variance) if variance > 0 else 0.0
    two = C == 2 and np.ptp(dataset.y_test) > 0
    area = float(roc_auc_score(dataset.y_test, shares[:, 1])) if two else math.nan
    return Signal(accuracy, majority_accuracy(dataset), float(norm.sf(z)), area)


def with_table(dataset: Dataset) -> Dataset:
    """Return the data set, which must have a table of attributes."""
    if dataset.frame_schema is None:
        raise InvalidParameter("dataset", dataset.name, "one that has a table of attributes")
    return dataset


def _permuted(shares: FloatArray, codes: IntArray) -> tuple[float, float]:
    """Return the excess of the true classes' sum over its mean for all orders of labels, and its variance."""
    n, sizes = len(codes), np.bincount(codes, minlength=shares.shape[1]).astype(float)
    if n < 2:
        return 0.0, 0.0
    by_record, by_class = shares @ sizes / n, shares.mean(axis=0)
    centred = shares - by_record[:, None] - by_class + by_record.mean()
    excess = shares[np.arange(n), codes].sum() - by_class @ sizes
    return float(excess), float((centred**2 @ sizes).sum() / (n - 1))


def _probabilities(
    raw: FloatArray, binary: FloatArray, codes: IntArray, held_out: BoolArray, n_classes: int
) -> FloatArray:
    """Return the probabilities of all classes for the records held out, by fits to the others."""
    shares = np.zeros((int(held_out.sum()), n_classes))
    present = np.unique(codes[~held_out])
    if len(present) < 2:
        shares[:, present] = 1.0
        return shares
    fits: tuple[tuple[Any, FloatArray], ...] = (
        (HistGradientBoostingClassifier(max_iter=40, early_stopping=False, random_state=0), raw),
        (LogisticRegression(C=0.1, max_iter=100), binary),
    )
    with warnings.catch_warnings():
        # a fit that ends early is nearly as accurate
        warnings.simplefilter("ignore", ConvergenceWarning)
        for model, X in fits:
            shares[:, present] += model.fit(X[~held_out], codes[~held_out]).predict_proba(X[held_out]) / len(fits)
    return shares


def _numbers(dataset: Dataset) -> FloatArray:
    """Return the raw table as numbers, the training records first: categories by their position."""
    schema: Any = dataset.frame_schema
    frame = dataset.frame
    columns = []
    for feature in schema.features:
        column = frame[feature.name]
        if feature.kind == "categorical":
            places = {value: place for place, value in enumerate(feature.categories)}
            column = column.map(places)
        columns.append(column.to_numpy(dtype=float))
    return np.column_stack(columns)


def _dense(X: Any) -> FloatArray:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)


# ---- private fits without noise --------------------------------------------------------------------------------------


@contextmanager
def without_noise() -> Iterator[None]:
    """Make all fits inside the ``with`` block release exact values and choose the best candidates.

    Not private: a budget inside is charged for noise that was not added. The settings that a method derives from its ε
    (a regulariser, a contribution bound, the part it leaves out) stay those of that ε. So the difference to the same
    fit with noise is what noise costs.

    Raises
    ------
    NotPrivate
        For a release with secure noise inside the block.
    InvalidParameter
        For a mechanism of another kind.

    See Also
    --------
    best_without_noise : Best accuracy without noise.
    cost : Privacy cost of the default classifier.

    Examples
    --------
    >>> from dpml.mechanisms import Laplace
    >>> with without_noise():
    ...     Laplace(0.1, 1.0).release([3.0, 4.0], rng=np.random.default_rng(0)).round(9)
    array([3., 4.])
    """
    with boundary.observe(_Noiseless()):
        yield


class _Noiseless:
    def release(self, mechanism: Any, statistic: Any, rng: np.random.Generator | None) -> Any:
        if rng is None:
            raise NotPrivate("a secure release inside without_noise(): it would release private values")
        if isinstance(mechanism, IN_UNITS_OF_NOISE):
            return mechanism._sample(np.asarray(statistic) * HUGE, rng)
        return _quiet(mechanism)._sample(statistic, rng)

    def public_randomness(self, rng: np.random.Generator | None, draw: str, arguments: tuple, size: Any) -> Any:
        return boundary.drawn_by(rng, draw, arguments, size)

    def best_of_runs(self, factor: float) -> AbstractContextManager[Any]:
        return nullcontext(nullcontext)


def _quiet(mechanism: Any) -> Any:
    """Return a mechanism with next to no noise."""
    if hasattr(getattr(mechanism, "noise", None), "_sample"):
        return replace(mechanism, noise=_quiet(mechanism.noise))
    if isinstance(mechanism, JointDraw):
        return replace(mechanism, weight=HUGE)
    if isinstance(mechanism, NormalNoise):
        return replace(mechanism, scale=TINY)
    if hasattr(mechanism, "epsilon") and hasattr(mechanism, "sensitivity"):
        return replace(mechanism, epsilon=HUGE)
    raise InvalidParameter("mechanism", type(mechanism).__name__, "one that adds noise to a vector, or a choice")
