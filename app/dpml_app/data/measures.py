"""Facts of a data set, and the accuracy of methods on it: plain functions that the server and its workers call.

Nothing here knows of Panel. Every result depends on its arguments alone (seeds included), so it can be kept under them.
"""

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml.classifiers.linear import minimiser
from dpml.classifiers.naive_bayes import default_row_bound
from dpml.counts import Contingency, contingency
from dpml.datasets import Dataset, load
from dpml.encoding import share_rows, unit_scale
from dpml.selection import mask_change_range, public_n_rows, scores_from_counts
from dpml.studies.accuracy import (
    AccuracyStudy,
    LogisticStudy,
    PublishedNBStudy,
    RowBoundedNBStudy,
    SelectedNBStudy,
    majority_accuracy,
    non_private_nb,
)
from dpml_app import uploaded_table
from dpml_app.data.facts import BinaryFacts
from dpml_app.settings import EPSILONS
from dpml_app.work.cache import Cache, forget, kept

METHODS = ("published", "count", "mutual_information", "row-bounded", "logistic")
MOST_STATISTICS = 200
FloatArray = NDArray[np.float64]


def dataset(name: str) -> Dataset:
    """Return a data set, kept once loaded, or the table of a session."""
    return uploaded_table.dataset(name) if uploaded_table.is_uploaded(name) else _published(name)


@kept(3)
def _published(name: str) -> Dataset:
    return load(name)


# ---- statistics that take long, so that they travel from the worker that made them to the server ------------------

_STATISTICS = Cache(MOST_STATISTICS)


def statistic(kind: str, name: str, *values: Any) -> FloatArray:
    """Return an exact statistic that is slow to make, kept once made.

    ``tables``, row bound: counts of shared records, shape (C, D). ``theta``, λ: the minimiser of logistic
    regression.
    """
    key = (kind, name, *values)
    value = _STATISTICS.get(key)
    return _STATISTICS.put(key, _make(kind, dataset(name), *values)) if value is None else value


def detach(name: str) -> None:
    """Drop a session's table, and all that this process has of it."""
    uploaded_table.drop(name)
    forget(name)


def adopt(key: tuple, value: FloatArray) -> None:
    """Keep a statistic that a worker made; the oldest one goes."""
    _STATISTICS.put(key, value)


def _make(kind: str, data: Dataset, *values: Any) -> FloatArray:
    if kind == "tables":
        (row_bound,) = values
        return contingency(share_rows(data.X_train, row_bound), data.y_train, data.schema.n_classes).on
    (reg_lambda,) = values
    signs = np.where(data.y_train == 1, 1.0, -1.0)
    return np.asarray(minimiser(unit_scale(data.X_train, data.schema.row_bound), signs, reg_lambda))


def statistic_key(name: str, method: str, epsilon: float, options: tuple) -> tuple | None:
    """Return the arguments of `statistic` that a method needs at this setting, None if it needs nothing slow."""
    if method == "logistic":
        return ("theta", name, options[0])
    if method == "row-bounded":
        schema = dataset(name).schema
        r = options[0] or default_row_bound(schema, epsilon)
        return ("tables", name, min(r, schema.row_bound or r))
    return None


@kept(64)
def statistic_keys(name: str, method: str, options: tuple) -> tuple[tuple, ...]:
    """Return the arguments of `statistic` that a method needs at any ε of the slider, each once."""
    keys = dict.fromkeys(statistic_key(name, method, epsilon, options) for epsilon in EPSILONS)
    return tuple(key for key in keys if key is not None)


def is_here(key: tuple | None) -> bool:
    """Return whether a statistic need not be made."""
    return key is None or _STATISTICS.get(key) is not None


class _RowBounded(RowBoundedNBStudy):
    """The library's study with its tables taken from `statistic`."""

    def __init__(self, data: Dataset, **options: Any):
        super().__init__(data, **options)
        self.name = data.name

    def tables(self, row_bound: int) -> Contingency:
        return Contingency(statistic("tables", self.name, row_bound), self.counts.n)


class _Logistic(LogisticStudy):
    """The library's study with its minimiser taken from `statistic`."""

    def minimiser(self, reg_lambda: float) -> FloatArray:
        return statistic("theta", self.dataset.name, reg_lambda)


@kept(64)
def study(name: str, method: str, relation: str, value: Hashable = None) -> AccuracyStudy:
    """Return the study of a method on a data set, kept once made; `value` is the row bound, where it has one."""
    data = dataset(name)
    if method == "published":
        return PublishedNBStudy(data, relation=relation)
    if method == "row-bounded":
        assert isinstance(value, int)
        return _RowBounded(data, relation=relation, row_bound=value or None)
    if method == "logistic":
        return _Logistic(data, relation=relation)
    return SelectedNBStudy(data, method, relation=relation)


# ---- what is plotted ----------------------------------------------------------------------------------------------


def accuracy(
    name: str, method: str, relation: str, epsilon: float, options: tuple, draws: int, seed: int
) -> FloatArray:
    """Return test accuracies of shape (draws,).

    `options` are what the method depends on: the threshold percentile (published); T, selection share and percentile
    (count, mutual_information); the row bound, 0 for the public rule (row-bounded); λ (logistic).
    """
    rng = np.random.default_rng(seed)
    if method == "published":
        measure, setting = study(name, method, relation), {"threshold_percentile": options[0]}
    elif method == "row-bounded":
        measure, setting = study(name, method, relation, options[0]), {}
    elif method == "logistic":
        measure, setting = study(name, method, relation), {"reg_lambda": options[0]}
    else:
        names = ("n_features", "selection_share", "threshold_percentile")
        measure, setting = study(name, method, relation), dict(zip(names, options, strict=True))
    return measure(epsilon, draws=draws, rng=rng, **setting)["accuracy"]


def feature_ladder(n_total: int) -> tuple[int, ...]:
    """Return the feature counts of the map: about five a decade, and all of them where that is quick.

    >>> feature_ladder(24)
    (1, 2, 3, 5, 7, 10, 15, 20, 24)
    """
    steps = [1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500]
    # a mask costs D·T steps to draw: a thousand words and more stop at T = 100
    most = n_total if n_total <= 1000 else 100
    ladder = [t for t in steps if t < most and (t * 1.12 < most)]
    return (*ladder, most)


def facts(name: str) -> BinaryFacts:
    """Return what a page shows of a data set of binary features at every setting."""
    data = dataset(name)
    schema = data.schema
    exact = contingency(data.X_train, data.y_train, schema.n_classes)
    unit = {
        (kind, relation): mask_change_range(
            kind,
            relation,
            1,
            schema.n_features,
            schema.row_bound,
            n_rows=public_n_rows(schema, relation),
            n_classes=schema.n_classes,
        )
        for kind in ("count", "mutual_information")
        for relation in ("add-remove", "replace-one")
    }
    return BinaryFacts(
        title=data.card.get("title", name),
        n_train=len(data.y_train),
        n_test=len(data.y_test),
        classes=data.class_names,
        n_features=schema.n_features,
        row_bound=schema.row_bound,
        names=data.feature_names,
        records=tuple(np.bincount(data.y_test, minlength=schema.n_classes).tolist()),
        groups=tuple(data.groups),
        members=tuple(int(data.X_test[:, [column]].sum()) for column in data.groups.values()),
        majority=majority_accuracy(data),
        non_private=float(non_private_nb(data).accuracy(data.X_test, data.y_test)[0]),
        scores={kind: scores_from_counts(exact, kind) for kind in ("count", "mutual_information")},
        unit=unit,
    )
