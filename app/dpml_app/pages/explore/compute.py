"""The settings of the page Privacy cost, and the computations at them, as plain functions that workers can call.

Two models are compared. The *default* classifier is `dpml.classifiers.AutoClassifier` (`dpml_app.data.default_study`).
The *custom* model selects features by the exponential mechanism with a share of ε, and trains naive Bayes or logistic
regression on them with the rest.
"""

import math
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml.classifiers.linear_models import LinearModels
from dpml.evaluation import private_roc_curve
from dpml.studies import SelectedLogisticStudy, SelectedNBStudy
from dpml_app.data import default_study
from dpml_app.data.default_study import RELATION, SEED
from dpml_app.data.measures import dataset
from dpml_app.data.shipped import VERSIONS, made_with, read_shipped
from dpml_app.jobs import Task, kept
from dpml_app.settings import EPSILONS, LAMBDAS, DatasetValues, Shared, choice, declared_by, number

MOST_CURVE_POINTS = 400
CUSTOM_DRAWS = 20
# a fit on more features takes tens of milliseconds, so its runs share selections of features
FEW_FEATURES, DRAWS_OF_A_CHOICE = 24, 4
FloatArray = NDArray[np.float64]

# ---- settings -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ExploreValues(DatasetValues):
    """All settings that the page Privacy cost depends on, and the arguments of its computations."""

    threshold_percentile: int
    n_features: int
    selection_share: float
    draws: int
    wanted: float = number(85.0, (50.0, 100.0), "Target accuracy (%)", 0.5)
    reg_lambda: float = choice(50.0, LAMBDAS, "Regularisation λ")
    hand_model: str = choice("naive-bayes", {"naive-bayes": "Naive Bayes", "logistic": "Logistic"}, "Model")
    map_score: str = choice("count", {"count": "Counts", "mutual_information": "Mutual information"}, "Score")

    def custom_model(self) -> tuple:
        """Return the custom model: model, score, and (number of features, share, percentile or λ)."""
        own = self.reg_lambda if self.hand_model == "logistic" else self.threshold_percentile
        return self.hand_model, self.map_score, (self.n_features, self.selection_share, own)

    def custom_key(self, epsilon: float) -> tuple:
        """Return the arguments of `custom_accuracy`."""
        return self.dataset, self.relation, epsilon, *self.custom_model(), CUSTOM_DRAWS, self.seed

    def roc_key(self) -> tuple:
        """Return the arguments of `roc`."""
        return self.dataset, self.relation, self.epsilon, *self.custom_model(), self.draws, self.seed


@declared_by(ExploreValues)
class ExploreSettings(Shared):
    """The settings that only the page Privacy cost has."""


# ---- custom model -------------------------------------------------------------------------------------------------


@kept(8)
def _study(name: str, model: str, score: str, relation: str) -> SelectedNBStudy | SelectedLogisticStudy:
    kind = SelectedLogisticStudy if model == "logistic" else SelectedNBStudy
    return kind(dataset(name), score, relation=relation)


def _models(
    name: str, relation: str, epsilon: float, model: str, score: str, options: tuple, draws: int, seed: int
) -> LinearModels:
    n_features, share, own = options
    setting: dict[str, Any] = {"n_features": n_features, "selection_share": share, "draws": draws}
    if model == "logistic":
        setting["reg_lambda"] = own
        setting["masks"] = draws if n_features <= FEW_FEATURES else math.ceil(draws / DRAWS_OF_A_CHOICE)
    else:
        setting["threshold_percentile"] = own
    study = _study(name, model, score, relation)
    models: LinearModels = study.models(epsilon, rng=np.random.default_rng(seed), **setting)
    return models


def custom_accuracy(
    name: str, relation: str, epsilon: float, model: str, score: str, options: tuple, draws: int, seed: int
) -> FloatArray:
    """Return test accuracies of the custom model, shape (draws,); `options` are of `ExploreValues.custom_model`."""
    data = dataset(name)
    return _models(name, relation, epsilon, model, score, options, draws, seed).accuracy(data.X_test, data.y_test)


def roc(
    name: str, relation: str, epsilon: float, model: str, score: str, options: tuple, draws: int, seed: int
) -> dict[str, FloatArray]:
    """Return the exact and the private ROC curves of one custom model on the test records.

    Training spends ε of the training records, and the curve spends ε of the test records.
    """
    data = dataset(name)
    # one model, the same whatever the number of samples of the curve
    fitted = _models(name, relation, epsilon, model, score, options, 1, seed)
    scores = fitted.decision(data.X_test)[0, :, 0]
    options_of_curve: dict[str, Any] = {"relation": relation, "draws": draws, "score_scale": "log-odds"}
    rng = np.random.default_rng([seed, 1])
    fpr, tpr, _ = private_roc_curve(data.y_test, scores, epsilon, rng=rng, **options_of_curve)
    exact_fpr, exact_tpr = _exact_curve(data.y_test, scores)
    return {
        "fpr": fpr,
        "tpr": tpr,
        "auc": np.clip(np.trapezoid(tpr, fpr, axis=1), 0, 1),
        "exact_fpr": exact_fpr,
        "exact_tpr": exact_tpr,
        "exact_auc": fitted.auc(data.X_test, data.y_test),
    }


def _exact_curve(y: NDArray, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return at most `MOST_CURVE_POINTS` points of the exact curve: more than a screen can show."""
    order = np.argsort(-scores, kind="stable")
    last = np.append(np.flatnonzero(np.diff(scores[order])), len(scores) - 1)
    hits = np.cumsum(y[order] == 1)[last]
    misses = last + 1 - hits
    if len(last) > MOST_CURVE_POINTS:
        keep = np.unique(np.linspace(0, len(last) - 1, MOST_CURVE_POINTS).astype(int))
        hits, misses = hits[keep], misses[keep]
    return np.append(0.0, misses / max(misses[-1], 1)), np.append(0.0, hits / max(hits[-1], 1))


# ---- results that ship --------------------------------------------------------------------------------------------

# Made by ``python -m benchmarks.shipped cost DATASET ...``: of the custom model, numbers of test records.
SHIPPED = Path(__file__).parent / "shipped"
read = partial(read_shipped, SHIPPED)


@cache
def shipped_results(name: str) -> dict[Task, Any]:
    """Return the results of a data set that ship, by the tasks that would compute them."""
    content = read(name)
    if not content:
        return {}
    custom = zip(EPSILONS, content["custom"], strict=True)
    n = content["records"]
    results = {Task(custom_accuracy, shipped_key(name, epsilon)): np.array(hits) / n for epsilon, hits in custom}
    return default_study.shipped_results(name) | results


def shipped_key(name: str, epsilon: float) -> tuple:
    """Return the arguments of `custom_accuracy` at the default settings."""
    values = ExploreValues.of(ExploreSettings(dataset=name, relation=RELATION, seed=SEED))
    return values.custom_key(epsilon)


def make(name: str, epsilons: tuple[float, ...] = EPSILONS) -> dict[str, Any]:
    """Compute the results of the custom model on a data set that ship."""
    n = len(dataset(name).y_test)
    custom = [custom_accuracy(*shipped_key(name, epsilon)) for epsilon in epsilons]
    return {
        "made with": made_with(*VERSIONS),
        "records": n,
        "custom": [np.rint(n * draws).astype(int).tolist() for draws in custom],
    }
