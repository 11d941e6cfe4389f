"""Compute private ROC curves, the figures of a release and the attack on its labels."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import param
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score, roc_curve

from dpml import registry
from dpml.evaluation import (
    PrivateEvaluation,
    area_between,
    attack_bound,
    best_attack_success,
    published_roc_curve,
    recover_label,
    recover_label_from_counts,
    release_histogram,
    roc_histogram,
    roc_thresholds,
)
from dpml.evaluation.histogram import noise_scale
from dpml.evaluation.private_evaluation import LOG_LOSS_CLIP
from dpml.studies.accuracy import non_private_logistic, non_private_nb
from dpml_app.core.card import IMMEDIATE, ResultKey
from dpml_app.data.facts import BinaryFacts
from dpml_app.data.measures import dataset
from dpml_app.data.measures import facts as data_facts
from dpml_app.drawing.styles import styles_of
from dpml_app.jobs import Task, kept
from dpml_app.settings import EPSILONS, DatasetValues, MultiSelect, Shared, choice, declared_by

# ---- Settings ------------------------------------------------------------------------------------------------------


CLASSIFIERS = {"naive-bayes": "Naive Bayes", "logistic": "Logistic regression"}
# all test records
ALL = 0
TESTED = {200: "200", 500: "500", 2000: "2,000", ALL: "All"}
# noise in its scores, so that the area under its curve comes near a number
WEAKENED = {"none": "As trained", "some": "Weakened to AUC 0.9", "much": "Weakened to AUC 0.75"}
# as Stoddard et al. 2014 publish them, and with noise for all of ε and public thresholds or the exact calibration
ROC_STYLES = styles_of("curve")
METHODS = {name: style.label for name, style in ROC_STYLES.items()}
# log-odds between two of the default bins, lowest first
CUTS = tuple(float(f"{value:.3g}") + 0.0 for value in roc_thresholds(score_scale="log-odds")[-2:0:-1])


@dataclass(frozen=True)
class EvaluateValues(DatasetValues):
    """The settings of the ROC curve page. Curves are in the order of their list."""

    draws: int
    evaluate_classifier: str = choice("naive-bayes", CLASSIFIERS, "Classifier")
    evaluate_weakened: str = choice("none", WEAKENED, "Quality of the classifier")
    evaluate_tested: int = choice(500, TESTED, "Test records")
    evaluate_methods: tuple[str, ...] = choice(
        ["histogram", "recursive-medians", "fixed-space", "laplace"], METHODS, "Private curves", MultiSelect
    )
    evaluate_cut: float = choice(0.0, CUTS, "Threshold for the positive class")

    @classmethod
    def of(cls, settings: param.Parameterized) -> Self:
        values = super().of(settings)
        return replace(values, evaluate_methods=tuple(m for m in METHODS if m in values.evaluate_methods))

    def classifier_key(self) -> tuple[str, str, str, int]:
        """Return data set, kind and weakening of the classifier, and the number of test records."""
        return self.dataset, self.evaluate_classifier, self.evaluate_weakened, self.evaluate_tested

    def curve_key(self, method: str, epsilon: float) -> tuple:
        """Return the arguments of `curves` and `errors`."""
        draws = min(self.draws, FEW) if method in SLOW else self.draws
        return (method, *self.classifier_key(), self.relation, epsilon, draws, self.seed)


@declared_by(EvaluateValues)
class EvaluateSettings(Shared):
    """Every control that only the Evaluate page has."""


def probability(log_odds: float) -> str:
    """Return log-odds as a probability, with enough digits to differ from 0 and 100%.

    >>> probability(0.0), probability(3.81), probability(-12.2), probability(12.2)
    ('50%', '97.83%', '0.000503%', '99.999497%')
    """
    share = 100 * float(expit(-abs(log_odds)))
    small = f"{share:.3g}" if share >= 1e-4 else f"{share:.7f}".rstrip("0").rstrip(".")
    if log_odds <= 0:
        return f"{small}%"
    digits = len(small.split(".")[1]) if "." in small else 0
    return f"{100 - float(small):.{digits}f}%"


# ---- Classifiers and curves ----------------------------------------------------------------------------------------


Floats = NDArray[np.float64]
TARGETS = {"some": 0.9, "much": 0.75}
SCALE: Any = {"score_scale": "log-odds"}
# where bands of curves are drawn: closer where curves are steep
GRID = np.linspace(0.0, 1.0, 61) ** 2
# a tenth of a second a draw; Stoddard et al. have ten of them
SLOW, FEW = ("recursive-medians", "recursive-medians-exact"), 10
FAINT = 12  # curves of single draws that are sent
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
def scores(name: str, kind: str, weakened: str, tested: int) -> Floats:
    """Return the log-odds of class 1 for the test records in use."""
    return _locked(all_scores(name, kind, weakened)[tested_rows(name, tested)])


@kept(16)
def all_scores(name: str, kind: str, weakened: str) -> Floats:
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
    return EvaluateFacts(**vars(data_facts(name)), n_positive=int((labels(name) == 1).sum()))


@kept(16)
def exact_counts(name: str, kind: str, weakened: str, tested: int) -> NDArray[np.int64]:
    """Return the exact two-class histogram of the default bins, shape (2, B): private."""
    return np.asarray(roc_histogram(labels(name, tested), scores(name, kind, weakened, tested), **SCALE))


@kept(16)
def exact_curve(name: str, kind: str, weakened: str, tested: int) -> tuple[Floats, Floats]:
    """Return the true curve over all thresholds, without the points inside straight pieces."""
    fpr, tpr, _ = roc_curve(labels(name, tested), scores(name, kind, weakened, tested))
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
    name: str, kind: str, weakened: str, tested: int, relation: str, epsilon: float, draws: int, seed: int
) -> PrivateEvaluation:
    """Return all draws of one release: the exact histogram with `unit_noise`, scaled."""
    scale = noise_scale(epsilon, relation)
    counts = exact_counts(name, kind, weakened, tested) + scale * unit_noise(draws, seed)
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


def curves(
    method: str,
    name: str,
    kind: str,
    weakened: str,
    tested: int,
    relation: str,
    epsilon: float,
    draws: int,
    seed: int,
) -> dict[str, Floats]:
    """Return the band of a method's curves, a few of them, and areas: ``auc`` and ``error``, shape (draws,).

    The error is Stoddard et al.'s: the area between a private curve and the true one over all thresholds.
    """
    fpr, tpr = _curves(method, name, kind, weakened, tested, relation, epsilon, draws, seed)
    few = np.unique(np.linspace(0, draws - 1, FAINT).astype(int))
    x, y = fpr[few], tpr[few]
    if x.shape[1] > 2 * len(GRID):
        x, y = np.broadcast_to(GRID, (len(few), len(GRID))), heights(x, y, GRID)
    auc = np.clip(np.trapezoid(tpr, fpr, axis=1), 0.0, 1.0)
    return {**band(fpr, tpr), "fpr": x, "tpr": y, "auc": auc, "error": _errors(fpr, tpr, name, kind, weakened, tested)}


def errors(*arguments: Any) -> Floats:
    """Return the area between each draw's curve and the true one; arguments as for `curves`."""
    return _errors(*_curves(*arguments), *arguments[1:5])


def _curves(
    method: str, name: str, kind: str, weakened: str, tested: int, relation: str, epsilon: float, draws: int, seed: int
):
    if method == "histogram":
        fpr, tpr, _ = evaluation(name, kind, weakened, tested, relation, epsilon, draws, seed).roc_curve()
        return fpr, tpr
    y, s = labels(name, tested), scores(name, kind, weakened, tested)
    common: dict[str, Any] = {"rng": np.random.default_rng(seed), "relation": relation, "draws": draws}
    # Stoddard et al. have probabilities
    fpr, tpr, _ = published_roc_curve(y, expit(s), epsilon, **registry.method(method, "curve").options, **common)
    return fpr, tpr


def _errors(fpr: Floats, tpr: Floats, name: str, kind: str, weakened: str, tested: int) -> Floats:
    return np.atleast_1d(area_between(*exact_curve(name, kind, weakened, tested), fpr, tpr))


# ---- Figures of one release ----------------------------------------------------------------------------------------


FIGURES = {
    "roc_auc": "AUC",
    "accuracy": "Accuracy",
    "log_loss": "Log loss",
    "true_positive_rate": "True positive rate (recall)",
    "false_positive_rate": "False positive rate",
    "prevalence": "Share of the positive class",
}
WITH_CUT = ("accuracy", "true_positive_rate", "false_positive_rate")
LEVEL = 0.9
N_BOOT = 300
# releases whose intervals are drawn
SHOWN = 10


@kept(64)
def true_figures(name: str, kind: str, weakened: str, tested: int, cut: float) -> dict[str, Any]:
    """Return what the test records truly give, without bins; ``confusion`` is [[TN, FP], [FN, TP]].

    The log loss is of the classifier's own probabilities, kept as far from 0 and 1 as the private one keeps them.
    """
    y, s = labels(name, tested), scores(name, kind, weakened, tested)
    predicted = s >= cut
    p = np.clip(expit(s), LOG_LOSS_CLIP, 1 - LOG_LOSS_CLIP)
    confusion = np.array([[np.sum((y == c) & (predicted == guess)) for guess in (0, 1)] for c in (0, 1)])
    rates = confusion[:, 1] / np.maximum(confusion.sum(axis=1), 1)
    return {
        "roc_auc": float(roc_auc_score(y, s)),
        "accuracy": float(np.mean(predicted == y)),
        "log_loss": float(log_loss(y, p, labels=[0, 1])),
        "true_positive_rate": float(rates[1]),
        "false_positive_rate": float(rates[0]),
        "prevalence": float(np.mean(y == 1)),
        "n_records": len(y),
        "confusion": confusion,
    }


def intervals(released: PrivateEvaluation, cut: float) -> dict[str, tuple[float, float, float]]:
    """Return each figure of the first draw, and the ends of its 90 % interval: what one release would print."""
    first = replace(released, counts=released.counts[0])
    by_figure = {}
    for figure in FIGURES:
        value = getattr(first, figure)(cut) if figure in WITH_CUT else getattr(first, figure)()
        low, high = first.interval(figure, LEVEL, threshold=cut if figure in WITH_CUT else None, n_boot=N_BOOT)
        by_figure[figure] = value, low, high
    return by_figure


def areas(released: PrivateEvaluation) -> tuple[Floats, Floats, Floats]:
    """Return the area of each of the first draws, and the ends of its 90 % interval."""
    few = replace(released, counts=released.counts[:SHOWN])
    return np.atleast_1d(few.roc_auc()), *few.interval("roc_auc", LEVEL, n_boot=N_BOOT)


def exact_evaluation(name: str, kind: str, weakened: str, tested: int) -> PrivateEvaluation:
    """Return the exact table of the default bins as an evaluation without noise: private."""
    counts = exact_counts(name, kind, weakened, tested).astype(float)
    return PrivateEvaluation(counts, roc_thresholds(**SCALE), 0.0, np.inf, score_scale="log-odds")


# ---- Attack --------------------------------------------------------------------------------------------------------


# records that are attacked one by one
ATTACKED = 30


@kept(16)
def victims(name: str, kind: str, weakened: str, tested: int) -> NDArray[np.intp]:
    """Return the records that are attacked, by score, half of each class: blind guesses are right half of the time.

    Within a class they are spread over all scores.
    """
    y, s = labels(name, tested), scores(name, kind, weakened, tested)
    chosen = []
    for c in (0, 1):
        own = np.flatnonzero(y == c)
        own = own[np.argsort(s[own], kind="stable")]
        chosen.append(own[np.unique(np.linspace(0, len(own) - 1, ATTACKED // 2).round().astype(int))])
    both = np.concatenate(chosen)
    return both[np.argsort(s[both], kind="stable")]


@kept(16)
def exact_attack(name: str, kind: str, weakened: str, tested: int) -> NDArray[np.intp]:
    """Return each attacked record's label as it is recovered from the exact curve and all other records."""
    y, s = labels(name, tested), scores(name, kind, weakened, tested)
    curve = roc_curve(y, s, drop_intermediate=False)
    guesses = []
    for v in victims(name, kind, weakened, tested):
        others = np.arange(len(y)) != v
        guesses.append(recover_label(y[others], s[others], s[v], *curve))
    return np.array(guesses)


def private_attack(
    released: PrivateEvaluation, name: str, kind: str, weakened: str, tested: int, seed: int
) -> NDArray[np.intp]:
    """Return the likelier label of each attacked record, shape (draws, n), from the noisy tables.

    Each attack is by someone who knows all other records; all of them see the same releases. Where both labels are as
    likely, which is often, a coin is tossed.
    """
    rng = np.random.default_rng([seed, 2])
    y, s, exact = labels(name, tested), scores(name, kind, weakened, tested), exact_counts(name, kind, weakened, tested)
    ascending = released.thresholds[-2:0:-1]
    guesses = []
    for v in victims(name, kind, weakened, tested):
        own = released.n_bins - 1 - int(np.searchsorted(ascending, s[v], side="right"))
        known = exact.astype(float)
        known[y[v], own] -= 1
        probability = recover_label_from_counts(known, own, released.counts, released.noise_scale)
        coin = rng.integers(2, size=len(probability)) == 1
        # rounding of large counts must not decide
        guesses.append(np.where(np.abs(probability - 0.5) < 1e-9, coin, probability > 0.5))
    return np.array(guesses, dtype=np.intp).T


def attack_lines(relation: str) -> dict[str, Floats]:
    """Return the share of labels that the best attack on the noisy table recovers, and the bound on any attack."""
    return {
        "best": np.array([best_attack_success(epsilon, relation) for epsilon in EPSILONS]),
        "bound": np.array([attack_bound(epsilon) for epsilon in EPSILONS]),
    }


# ---- Answer --------------------------------------------------------------------------------------------------------


def answer(
    name: str,
    kind: str,
    weakened: str,
    tested: int,
    relation: str,
    epsilon: float,
    draws: int,
    seed: int,
    cut: float,
) -> dict[str, Any]:
    """Return what is true of a classifier, and what releases for ε say of it."""
    key = name, kind, weakened, tested
    released = evaluation(*key, relation, epsilon, draws, seed)
    attacked = labels(name, tested)[victims(*key)]
    fpr, tpr, _ = released.roc_curve()
    return {
        "counts": exact_counts(*key),
        "curve": thinned(exact_curve(*key)),
        "release": (fpr[0], tpr[0]),
        "true": true_figures(*key, cut),
        "one": intervals(released, cut),
        "every_area": released.roc_auc(),
        "areas": areas(released),
        "binned": exact_evaluation(*key).roc_auc(),
        "confusion": released.confusion_matrix(cut),
        "labels": attacked,
        "exact_attack": exact_attack(*key),
        "private_attack": private_attack(replace(released, counts=released.counts[:1]), *key, seed)[0],
        "success": best_attack_success(epsilon, relation),
        "lines": attack_lines(relation),
    }


def answered(values: EvaluateValues) -> dict[ResultKey, Task]:
    """Return the task of `answer`, which every card of the page reads."""
    common = values.relation, values.epsilon, values.draws, values.seed, values.evaluate_cut
    return {("answer", IMMEDIATE): Task(answer, (*values.classifier_key(), *common))}
