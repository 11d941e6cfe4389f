"""The settings of the page Privacy cost, and the computations at them, as plain functions that workers can call.

Two models are compared. The *default* classifier is `dpml.classifiers.AutoClassifier`. The *custom* model selects
features by the exponential mechanism with a share of ε, and trains naive Bayes or logistic regression on them with the
rest. The non-private baseline, and the parts of the gap to it, are measured on the test records: never publish them.
"""

import math
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml.classifiers import AutoClassifier
from dpml.classifiers.linear_models import LinearModels
from dpml.datasets import Dataset
from dpml.evaluation import private_roc_curve
from dpml.schema import Schema
from dpml.studies import AutoStudy, SelectedLogisticStudy, SelectedNBStudy, best_predictions, raw_table, without_noise
from dpml.studies.accuracy import majority_accuracy
from dpml_app.core.values import DatasetValues, declared_by
from dpml_app.data.facts import GroupFacts
from dpml_app.data.measures import dataset
from dpml_app.data.shipped import VERSIONS, made_with, read_shipped
from dpml_app.jobs import Task, kept
from dpml_app.settings import EPSILONS, LAMBDAS, SWEEP_EPSILONS, Shared, choice, number

MOST_CURVE_POINTS = 400
# runs at one ε; one of the default classifier takes half a second on adult
DRAWS = 20
CUSTOM_DRAWS = 20
# a fit on more features takes tens of milliseconds, so its runs share selections of features
FEW_FEATURES, DRAWS_OF_A_CHOICE = 24, 4
# runs in a cell of the map of logistic regression
CELL_DRAWS = 5
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

    def map_key(self, n_features: int) -> tuple:
        """Return the arguments of `map_row`."""
        model, score, (_, share, own) = self.custom_model()
        # each fit of logistic regression on many features takes a tenth of a second
        draws = CELL_DRAWS if model == "logistic" else self.draws
        return self.dataset, self.relation, SWEEP_EPSILONS, model, score, (n_features, share, own), draws, self.seed


@declared_by(ExploreValues)
class ExploreSettings(Shared):
    """The settings that only the page Privacy cost has."""


# ---- default classifier and non-private baseline ------------------------------------------------------------------


@kept(2)  # the data set that is shown, and the one before
def _table(name: str) -> tuple[Schema, Any, Any]:
    return raw_table(dataset(name))


def default_runs(name: str, relation: str, epsilon: float, seed: int, draws: int = 0) -> dict[str, FloatArray]:
    """Return shares of correct test predictions of `AutoClassifier` in `DRAWS` runs, or in the first `draws` of them.

    ``accuracy`` has shape (draws,), ``recall`` (draws, C) for each class, and ``groups`` (draws, G) for each group of
    people that the data set's card names.
    """
    runs = [_correct(name, _predicted(name, relation, epsilon, [seed, draw])) for draw in range(draws or DRAWS)]
    return {key: np.array([one[key] for one in runs]) for key in ("accuracy", "recall", "groups")}


def _predicted(name: str, relation: str, epsilon: float, seed: list[int]) -> NDArray:
    schema, train, test = _table(name)
    model = AutoClassifier(epsilon, relation=relation, schema=schema, random_state=np.random.default_rng(seed))
    labels = np.asarray(schema.classes)
    predicted: NDArray = model.fit(train, labels[dataset(name).y_train]).predict(test)
    return np.asarray(predicted)[:, None] == labels  # (n, C)


def members(data: Any) -> FloatArray:
    """Return which test records are in each group of people: zeros and ones of shape (n, G)."""
    if not data.groups:
        return np.empty((len(data.y_test), 0))
    return np.asarray(data.X_test[:, list(data.groups.values())], dtype=float)


def _correct(name: str, predicted: NDArray) -> dict[str, Any]:
    data = dataset(name)
    hit = predicted[np.arange(len(predicted)), data.y_test]
    counts = np.bincount(data.y_test, minlength=data.schema.n_classes)
    hits = np.bincount(data.y_test, weights=hit, minlength=data.schema.n_classes)
    groups = members(data)
    return {
        "accuracy": hit.mean(),
        "recall": hits / np.maximum(counts, 1),
        "groups": hit @ groups / np.maximum(groups.sum(axis=0), 1),
    }


def noiseless_accuracy(name: str, relation: str, epsilon: float) -> float:
    """Return the accuracy of the default classifier's method and settings at an ε, without noise."""
    with without_noise():
        return float(_correct(name, _predicted(name, relation, epsilon, [0]))["accuracy"])


def non_private(name: str, relation: str) -> dict[str, Any]:
    """Return the shares of the best that the default classifier reaches without noise: one baseline for every ε."""
    study = AutoStudy(_sized(dataset(name)), relation=relation)
    return _correct(name, np.eye(study.schema.n_classes, dtype=bool)[best_predictions(study)])


def _sized(data: Dataset) -> Dataset:
    """Return a data set whose size the rule may know: without privacy it is no secret."""
    schema = data.frame_schema or data.schema
    if schema.n_lower > 1:
        return data
    sized = replace(schema, n_lower=len(data.y_train))
    return replace(data, schema=sized) if data.frame_schema is None else replace(data, frame_schema=sized)


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


def map_row(
    name: str, relation: str, epsilons: tuple, model: str, score: str, options: tuple, draws: int, seed: int
) -> FloatArray:
    """Return accuracies of shape (ε, draws) for one number of features."""
    return np.array([custom_accuracy(name, relation, e, model, score, options, draws, seed) for e in epsilons])


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

# Made by ``python -m benchmarks.shipped cost DATASET ...``; a test makes a part of them again. Files hold numbers of
# test records, so that shares are the same to the last digit.
SHIPPED = Path(__file__).parent / "shipped"
RELATION, SEED = "add-remove", 0
read = partial(read_shipped, SHIPPED)


def shipped_facts(name: str) -> GroupFacts | None:
    """Return the facts of a data set that its first picture shows; None if nothing ships."""
    content = read(name)
    if not content:
        return None
    lists = {key: tuple(content.get(key, ())) for key in ("classes", "records", "groups", "members")}
    return GroupFacts(majority=content["majority"], **lists)


@cache
def shipped_results(name: str, relation: str, seed: int) -> dict[Task, Any]:
    """Return the results of a data set that ship, by the tasks that would compute them."""
    content = read(name)
    if not content:
        return {}
    n, by_task = sum(content["records"]), {}
    if relation == RELATION:
        by_task[Task(non_private, (name, RELATION))] = _shares(content["best"], content)
        for epsilon, hits in zip(EPSILONS, content["exact"], strict=True):
            by_task[Task(noiseless_accuracy, (name, RELATION, epsilon))] = hits / n
    if (relation, seed) == (RELATION, SEED):
        for epsilon, hits, custom in zip(EPSILONS, content["private"], content["custom"], strict=True):
            by_task[Task(default_runs, (name, RELATION, epsilon, SEED))] = _shares(hits, content)
            by_task[Task(custom_accuracy, shipped_key(name, epsilon))] = np.array(custom) / n
    return by_task


def shipped_key(name: str, epsilon: float) -> tuple:
    """Return the arguments of `custom_accuracy` at the default settings."""
    values = ExploreValues.of(ExploreSettings(dataset=name, relation=RELATION, seed=SEED))
    return values.custom_key(epsilon)


def _shares(hits: Any, content: dict[str, Any]) -> dict[str, Any]:
    counts, hit = np.array(content["records"]), np.array(hits)
    # correct predictions in each class, and then in each group of people
    of_classes, of_groups = hit[..., : len(counts)], hit[..., len(counts) :]
    groups = of_groups / np.maximum(np.array(content.get("members", ())), 1)
    return {"accuracy": of_classes.sum(axis=-1) / counts.sum(), "recall": of_classes / counts, "groups": groups}


def make(name: str, epsilons: tuple[float, ...] = EPSILONS) -> dict[str, Any]:
    """Compute the results of a data set that ship."""
    data = dataset(name)
    counts = np.bincount(data.y_test, minlength=data.schema.n_classes)
    sizes = members(data).sum(axis=0).astype(int)

    def hits(shares: dict[str, Any]) -> list:
        of_all = np.concatenate([shares["recall"] * counts, shares["groups"] * sizes], axis=-1)
        listed: list = np.rint(of_all).astype(int).tolist()
        return listed

    n = counts.sum()
    custom = [custom_accuracy(*shipped_key(name, epsilon)) for epsilon in epsilons]
    return {
        "made with": made_with(*VERSIONS),
        "classes": [str(c) for c in data.class_names],
        "records": counts.tolist(),
        "groups": list(data.groups),
        "members": sizes.tolist(),
        "majority": majority_accuracy(data),
        "best": hits(non_private(name, RELATION)),
        "exact": [round(n * noiseless_accuracy(name, RELATION, epsilon)) for epsilon in epsilons],
        "custom": [np.rint(n * draws).astype(int).tolist() for draws in custom],
        "private": [hits(default_runs(name, RELATION, epsilon, SEED)) for epsilon in epsilons],
    }
