"""Compute private ROC curves, their errors, and the labels that a non-private one reveals."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import param
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.metrics import roc_auc_score, roc_curve

from dpml import registry
from dpml.evaluation import (
    PrivateEvaluation,
    area_between,
    attack_bound,
    best_attack_success,
    published_roc_curve,
    recover_label,
    release_histogram,
    roc_histogram,
    roc_thresholds,
)
from dpml.evaluation.histogram import noise_scale
from dpml.studies.accuracy import non_private_nb
from dpml_app.core.card import IMMEDIATE, ResultKey
from dpml_app.data.measures import dataset
from dpml_app.drawing.styles import styles_of
from dpml_app.jobs import Task, kept
from dpml_app.settings import EPSILONS, DatasetValues, MultiSelect, Shared, choice, declared_by

# ---- Settings ------------------------------------------------------------------------------------------------------


# all test records
ALL = 0
TESTED = {200: "200", 500: "500", 2000: "2,000", ALL: "All"}
# as Stoddard et al. 2014 publish them, and with noise for all of ε and public thresholds or the exact calibration
ROC_STYLES = styles_of("curve")
METHODS = {name: style.label for name, style in ROC_STYLES.items()}


@dataclass(frozen=True)
class EvaluateValues(DatasetValues):
    """The settings of the ROC curve page. Curves are in the order of their list."""

    draws: int
    evaluate_tested: int = choice(500, TESTED, "Test records")
    evaluate_methods: tuple[str, ...] = choice(
        ["histogram", "recursive-medians", "fixed-space", "laplace"], METHODS, "Private curves", MultiSelect
    )

    @classmethod
    def of(cls, settings: param.Parameterized) -> Self:
        values = super().of(settings)
        return replace(values, evaluate_methods=tuple(m for m in METHODS if m in values.evaluate_methods))

    def records_key(self) -> tuple[str, int]:
        """Return the data set and the number of test records."""
        return self.dataset, self.evaluate_tested

    def curve_key(self, method: str, epsilon: float) -> tuple:
        """Return the arguments of `errors`."""
        draws = min(self.draws, FEW) if method in SLOW else self.draws
        return (method, *self.records_key(), self.relation, epsilon, draws, self.seed)


@declared_by(EvaluateValues)
class EvaluateSettings(Shared):
    """Every control that only the Evaluate page has."""


# ---- Curves --------------------------------------------------------------------------------------------------------


Floats = NDArray[np.float64]
SCALE: Any = {"score_scale": "log-odds"}
# where bands of curves are drawn: closer where curves are steep
GRID = np.linspace(0.0, 1.0, 61) ** 2
# a tenth of a second a draw; Stoddard et al. have ten of them
SLOW, FEW = ("recursive-medians", "recursive-medians-exact"), 10
MOST_POINTS = 400


def tested_rows(name: str, tested: int) -> NDArray[np.intp]:
    """Return the test records in use: so many drawn at random with a public seed, or all of them for 0."""
    n = len(dataset(name).y_test)
    return np.sort(np.random.default_rng(0).permutation(n)[: tested or n])


def labels(name: str, tested: int = ALL) -> NDArray[np.intp]:
    """Return the classes of the test records in use, 0 or 1."""
    y: NDArray[np.intp] = dataset(name).y_test[tested_rows(name, tested)]
    return y


@kept(16)
def scores(name: str, tested: int) -> Floats:
    """Return the log-odds of class 1 of non-private naive Bayes for the test records in use."""
    data = dataset(name)
    return np.asarray(non_private_nb(data).decision(data.X_test)[0, :, 0][tested_rows(name, tested)])


@kept(16)
def exact_counts(name: str, tested: int) -> NDArray[np.int64]:
    """Return the exact two-class histogram of the default bins, shape (2, B): private."""
    return np.asarray(roc_histogram(labels(name, tested), scores(name, tested), **SCALE))


@kept(16)
def exact_curve(name: str, tested: int) -> tuple[Floats, Floats]:
    """Return the true curve over all thresholds, without the points inside straight pieces."""
    fpr, tpr, _ = roc_curve(labels(name, tested), scores(name, tested))
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


def evaluation(name: str, tested: int, relation: str, epsilon: float, draws: int, seed: int) -> PrivateEvaluation:
    """Return all draws of one release: the exact histogram with `unit_noise`, scaled."""
    scale = noise_scale(epsilon, relation)
    counts = exact_counts(name, tested) + scale * unit_noise(draws, seed)
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


def errors(method: str, name: str, tested: int, relation: str, epsilon: float, draws: int, seed: int) -> Floats:
    """Return the area between each private curve of a method and the true one, as Stoddard et al. 2014 measure it."""
    if method == "histogram":
        fpr, tpr, _ = evaluation(name, tested, relation, epsilon, draws, seed).roc_curve()
    else:
        y, p = labels(name, tested), expit(scores(name, tested))  # Stoddard et al. have probabilities
        options = {**registry.method(method, "curve").options, "relation": relation, "draws": draws}
        fpr, tpr, _ = published_roc_curve(y, p, epsilon, rng=np.random.default_rng(seed), **options)
    return np.atleast_1d(area_between(*exact_curve(name, tested), fpr, tpr))


# ---- Attack --------------------------------------------------------------------------------------------------------


# records that are attacked one by one
ATTACKED = 30


def victims(name: str, tested: int) -> NDArray[np.intp]:
    """Return the records that are attacked, half of each class: blind guesses are right half of the time."""
    y = labels(name, tested)
    return np.concatenate([np.flatnonzero(y == c)[: ATTACKED // 2] for c in (0, 1)])


@kept(16)
def exact_attack(name: str, tested: int) -> NDArray[np.intp]:
    """Return each attacked record's label as it is recovered from the exact curve and all other records."""
    y, s = labels(name, tested), scores(name, tested)
    curve = roc_curve(y, s, drop_intermediate=False)
    guesses = []
    for v in victims(name, tested):
        others = np.arange(len(y)) != v
        guesses.append(recover_label(y[others], s[others], s[v], *curve))
    return np.array(guesses)


# ---- Answer --------------------------------------------------------------------------------------------------------


def answer(name: str, tested: int, relation: str, epsilon: float, draws: int, seed: int) -> dict[str, Any]:
    """Return the exact curve with the labels that it reveals, and releases for ε."""
    key = name, tested
    released = evaluation(*key, relation, epsilon, draws, seed)
    fpr, tpr, _ = released.roc_curve()
    return {
        "counts": exact_counts(*key),
        "curve": thinned(exact_curve(*key)),
        "release": (fpr[0], tpr[0]),
        "exact_area": float(roc_auc_score(labels(*key), scores(*key))),
        "areas": released.roc_auc(),
        "n_records": len(labels(*key)),
        "recovered": int((exact_attack(*key) == labels(*key)[victims(*key)]).sum()),
        "success": best_attack_success(epsilon, relation),
        # of the best attack on the noisy table, and of any attack at most
        "lines": {
            "best": np.array([best_attack_success(each, relation) for each in EPSILONS]),
            "bound": np.array([attack_bound(each) for each in EPSILONS]),
        },
    }


def answered(values: EvaluateValues) -> dict[ResultKey, Task]:
    """Return the task of `answer`, which every card of the page reads."""
    common = values.relation, values.epsilon, values.draws, values.seed
    return {("answer", IMMEDIATE): Task(answer, (*values.records_key(), *common))}
