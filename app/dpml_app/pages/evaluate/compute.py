"""What the Evaluate page computes, as plain functions of plain values: the server and its workers call the same ones.

A classifier is named by (data set, kind, weakening). It has been trained without privacy on the training records, and
is judged on the test records, which are other people: only those pay ε here.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score, roc_curve

from dpml import registry
from dpml.evaluation import (
    PrivateEvaluation,
    area_between,
    compare_classifiers,
    private_roc_curve,
    published_roc_curve,
    release_histogram,
    roc_histogram,
    roc_thresholds,
)
from dpml.evaluation.histogram import noise_scale
from dpml.studies.accuracy import non_private_logistic, non_private_nb
from dpml_app.data.facts import BinaryFacts
from dpml_app.data.measures import dataset
from dpml_app.data.measures import facts as data_facts
from dpml_app.work.cache import kept

Floats = NDArray[np.float64]
TARGETS = {"some": 0.9, "much": 0.75}
SCALE: Any = {"score_scale": "log-odds"}
# where bands of curves are drawn: closer where curves are steep
GRID = np.linspace(0.0, 1.0, 61) ** 2
# a tenth of a second a draw; Stoddard et al. have ten of them
SLOW, FEW = ("recursive-medians", "recursive-medians-exact"), 10
FAINT = 12  # curves of single draws that are sent
MOST_POINTS = 400
N_BOOT = 500


# ---- classifiers --------------------------------------------------------------------------------------------------


def labels(name: str) -> NDArray[np.intp]:
    """Return the test records' classes, 0 or 1."""
    return dataset(name).y_test


@kept(16)
def scores(name: str, kind: str, weakened: str) -> Floats:
    """Return a classifier's log-odds of class 1 for each test record, each a function of its own record alone.

    A weakened one has noise on its scores, as much as brings it near the area that is wanted on a third of the training
    records that it was not trained on for this, and a slope and a level that make log-odds of them there (Platt); no
    test record has a say in it.
    """
    data = dataset(name)
    exact = _fit(data, kind).decision(data.X_test)[0, :, 0]
    if weakened == "none":
        return _locked(exact)
    rng = np.random.default_rng([("naive-bayes", "logistic").index(kind), 11])
    own = rng.standard_normal(len(exact))
    order = rng.permutation(len(data.y_train))
    fitted, held_out = np.split(order, [2 * len(order) // 3])
    part = replace(data, X_train=data.X_train[fitted], y_train=data.y_train[fitted])
    reference = _fit(part, kind).decision(data.X_train[held_out])[0, :, 0]
    noise, y = rng.standard_normal(len(held_out)), data.y_train[held_out]
    low, high = 0.0, 40.0 * float(reference.std() + 1e-9)
    if len(np.unique(y)) < 2 or roc_auc_score(y, reference) <= TARGETS[weakened]:
        return _locked(exact)
    for _ in range(20):
        middle = (low + high) / 2
        better = roc_auc_score(y, reference + middle * noise) > TARGETS[weakened]
        low, high = (middle, high) if better else (low, middle)
    model = LogisticRegression(C=1e6).fit((reference + high * noise)[:, None], y)
    return _locked(model.decision_function((exact + high * own)[:, None]))


def _fit(data: Any, kind: str) -> Any:
    return non_private_nb(data) if kind == "naive-bayes" else non_private_logistic(data)


def _locked(values: Floats) -> Floats:
    values.setflags(write=False)
    return values


@dataclass(frozen=True, eq=False, kw_only=True)
class EvaluateFacts(BinaryFacts):
    """Those of the Evaluate page, with the number of test records of the second class."""

    n_positive: int


def facts(name: str) -> EvaluateFacts:
    """Return what the page shows of a data set at every setting."""
    y = labels(name)
    return EvaluateFacts(**vars(data_facts(name)), n_positive=int((y == 1).sum()))


# ---- curves -------------------------------------------------------------------------------------------------------


@kept(16)
def exact_counts(name: str, kind: str, weakened: str) -> NDArray[np.int64]:
    """Return the exact two-class histogram of the default bins, shape (2, B): private."""
    return np.asarray(roc_histogram(labels(name), scores(name, kind, weakened), **SCALE))


@kept(16)
def exact_curve(name: str, kind: str, weakened: str) -> tuple[Floats, Floats]:
    """Return the true curve over all thresholds, without the points inside straight pieces."""
    fpr, tpr, _ = roc_curve(labels(name), scores(name, kind, weakened))
    return fpr, tpr


def thinned(curve: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Return at most `MOST_POINTS` points of a curve: more than a screen can show."""
    fpr, tpr = curve
    if len(fpr) > MOST_POINTS:
        keep = np.unique(np.linspace(0, len(fpr) - 1, MOST_POINTS).astype(int))
        fpr, tpr = fpr[keep], tpr[keep]
    return fpr, tpr


def unit_noise(draws: int, seed: int) -> Floats:
    """Return Laplace noise of scale 1 for all draws, shape (draws, 2, B): the same at every ε, only scaled."""
    shape = (2, len(roc_thresholds()) - 1)
    return release_histogram(np.zeros(shape), 1.0, rng=np.random.default_rng(seed), draws=draws)


def evaluation(
    name: str, kind: str, weakened: str, relation: str, epsilon: float, draws: int, seed: int
) -> PrivateEvaluation:
    """Return all draws of one release: the exact histogram with `unit_noise`, scaled."""
    scale = noise_scale(epsilon, relation)
    counts = exact_counts(name, kind, weakened) + scale * unit_noise(draws, seed)
    return PrivateEvaluation(counts, roc_thresholds(**SCALE), scale, epsilon, relation, "log-odds")


def heights(fpr: Floats, tpr: Floats, at: Floats) -> Floats:
    """Return each curve's tpr at places on the fpr axis, the upper end of vertical steps; shape (draws, n).

    >>> heights(np.array([[0.0, 0.0, 1.0]]), np.array([[0.0, 0.5, 1.0]]), np.array([0.0, 0.5])).tolist()
    [[0.5, 0.75]]
    """
    rows = []
    for x, y in zip(fpr, tpr, strict=True):
        k = np.searchsorted(x, at, side="right") - 1
        after = np.minimum(k + 1, len(x) - 1)
        width = np.where(x[after] > x[k], x[after] - x[k], 1.0)
        rows.append(y[k] + (at - x[k]) / width * (y[after] - y[k]))
    return np.array(rows)


def band(fpr: Floats, tpr: Floats) -> dict[str, Floats]:
    """Return the median curve and the band of 90 % of draws at each place of `GRID`."""
    low, mid, high = np.quantile(heights(fpr, tpr, GRID), [0.05, 0.5, 0.95], axis=0)
    return {"low": low, "mid": mid, "high": high}


def draws_of(method: str, draws: int) -> int:
    """Return how many draws a method has: fewer if it is slow."""
    return min(draws, FEW) if method in SLOW else draws


def curves(
    method: str,
    name: str,
    kind: str,
    weakened: str,
    relation: str,
    epsilon: float,
    size: int,
    draws: int,
    seed: int,
) -> dict[str, Floats]:
    """Return the band of a method's curves, a few of them, and areas: ``auc`` and ``error``, shape (draws,).

    The error is Stoddard et al.'s: the area between a private curve and the true one over all thresholds.
    """
    fpr, tpr = _curves(method, name, kind, weakened, relation, epsilon, size, draws, seed)
    few = np.unique(np.linspace(0, draws - 1, FAINT).astype(int))
    x, y = fpr[few], tpr[few]
    if x.shape[1] > 2 * len(GRID):
        x, y = np.broadcast_to(GRID, (len(few), len(GRID))), heights(x, y, GRID)
    auc = np.clip(np.trapezoid(tpr, fpr, axis=1), 0.0, 1.0)
    return {**band(fpr, tpr), "fpr": x, "tpr": y, "auc": auc, "error": _errors(fpr, tpr, name, kind, weakened)}


def errors(*arguments: Any) -> Floats:
    """Return the area between each draw's curve and the true one; arguments as for `curves`."""
    return _errors(*_curves(*arguments), *arguments[1:4])


def _curves(method: str, name: str, kind: str, weakened: str, relation: str, epsilon: float, *rest: int):
    size, draws, seed = rest
    if method == "histogram" and not size:
        fpr, tpr, _ = evaluation(name, kind, weakened, relation, epsilon, draws, seed).roc_curve()
        return fpr, tpr
    y, s = labels(name), scores(name, kind, weakened)
    common: dict[str, Any] = {"rng": np.random.default_rng(seed), "relation": relation, "draws": draws}
    if method == "histogram":
        fpr, tpr, _ = private_roc_curve(y, s, epsilon, n_bins=size, **SCALE, **common)
        return fpr, tpr
    # Stoddard et al. have probabilities
    fpr, tpr, _ = published_roc_curve(y, expit(s), epsilon, **published_options(method, size), **common)
    return fpr, tpr


def published_options(method: str, size: int) -> dict[str, Any]:
    """Return what `dpml.evaluation.published_roc_curve` is called with; size 0: as in Stoddard et al. 2014.

    >>> published_options("recursive-medians-exact", 16)
    {'method': 'recursive-medians', 'halves': False, 'calibration': 'exact', 'k': 4}
    >>> published_options("fixed-space", 0)
    {'method': 'fixed-space', 'halves': True}
    """
    options = dict(registry.method(method, "curve").options)
    if size:
        options |= {"k": size.bit_length() - 1} if "calibration" in options else {"n_thresholds": size}
    return options


def _errors(fpr: Floats, tpr: Floats, name: str, kind: str, weakened: str) -> Floats:
    return np.atleast_1d(area_between(*exact_curve(name, kind, weakened), fpr, tpr))


# ---- comparison ---------------------------------------------------------------------------------------------------


def comparison(
    metric: str,
    name: str,
    kind: str,
    weakened: str,
    rival: str,
    rival_weakened: str,
    relation: str,
    epsilon: float,
    cut: float,
    draws: int,
    seed: int,
) -> dict[str, Floats]:
    """Return, for each draw, the private difference A - B and how probable it makes it that A is better."""
    released = compare_classifiers(
        labels(name),
        scores(name, kind, weakened),
        scores(name, rival, rival_weakened),
        epsilon,
        rng=np.random.default_rng(seed),
        metric=metric,
        threshold=cut if metric == "accuracy" else None,
        relation=relation,
        draws=draws,
        **SCALE,
    )
    probability = released.probability_a_better(n_boot=N_BOOT, rng=np.random.default_rng([seed, 1]))
    return {"difference": released.difference(), "probability": probability}


@kept(64)
def true_difference(metric: str, name: str, first: tuple[str, str], second: tuple[str, str], cut: float) -> float:
    """Return the exact figure of A minus that of B."""
    y = labels(name)
    a, b = (scores(name, *which) for which in (first, second))
    if metric == "accuracy":
        return float(np.mean((a >= cut) == y) - np.mean((b >= cut) == y))
    return float(roc_auc_score(y, a) - roc_auc_score(y, b))
