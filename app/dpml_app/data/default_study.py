"""The default classifier on a data set: one stored study, which all pages, lessons and documents read.

The study has `DRAWS` independent runs of `dpml.classifiers.AutoClassifier` at each ε, the same fits without noise, and
one non-private baseline. Baseline and fits without noise are measured on the test records: never publish them.
"""

from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml.classifiers import AutoClassifier
from dpml.datasets import Dataset
from dpml.schema import Schema
from dpml.studies import AutoStudy, best_predictions, raw_table, without_noise
from dpml.studies.accuracy import majority_accuracy
from dpml_app.data.facts import GroupFacts
from dpml_app.data.measures import dataset
from dpml_app.data.shipped import VERSIONS, made_with, read_shipped
from dpml_app.jobs import Task, kept
from dpml_app.settings import EPSILONS

# runs at one ε; each takes half a second on adult
DRAWS = 20
FloatArray = NDArray[np.float64]


@kept(2)  # the data set that is shown, and the one before
def _table(name: str) -> tuple[Schema, Any, Any]:
    return raw_table(dataset(name))


def default_runs(name: str, relation: str, epsilon: float, seed: int) -> dict[str, FloatArray]:
    """Return shares of correct test predictions of `AutoClassifier` in `DRAWS` runs.

    ``accuracy`` has shape (DRAWS,), ``recall`` (DRAWS, C) for each class, and ``groups`` (DRAWS, G) for each group of
    people that the data set's card names.
    """
    runs = [_correct(name, _predicted(name, relation, epsilon, [seed, draw])) for draw in range(DRAWS)]
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


# ---- results that ship --------------------------------------------------------------------------------------------

# Made by ``python -m benchmarks.shipped default DATASET ...``; a test makes a part of them again. Files hold numbers of
# test records, so that shares are the same to the last digit.
SHIPPED = Path(__file__).parent / "default"
RELATION, SEED = "add-remove", 0
read = partial(read_shipped, SHIPPED)


def shipped_facts(name: str) -> GroupFacts | None:
    """Return the facts of a data set that its first picture shows; None if nothing ships."""
    content = read(name)
    if not content:
        return None
    classes, groups = tuple(content["classes"]), tuple(content["groups"])
    return GroupFacts(majority=content["majority"], classes=classes, groups=groups)


@cache
def shipped_results(name: str) -> dict[Task, Any]:
    """Return the results of a data set that ship, by the tasks that would compute them."""
    content = read(name)
    if not content:
        return {}
    by_task = {Task(non_private, (name, RELATION)): _shares(content["best"], content)}
    for epsilon, exact, private in zip(EPSILONS, content["exact"], content["private"], strict=True):
        by_task[Task(noiseless_accuracy, (name, RELATION, epsilon))] = exact / sum(content["records"])
        by_task[Task(default_runs, (name, RELATION, epsilon, SEED))] = _shares(private, content)
    return by_task


def result_of(task: Task) -> Any:
    """Return the stored result of a task, or compute it if it does not ship."""
    known = shipped_results(task.arguments[0])
    return known[task] if task in known else task.function(*task.arguments)


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

    return {
        "made with": made_with(*VERSIONS),
        "classes": [str(c) for c in data.class_names],
        "records": counts.tolist(),
        "groups": list(data.groups),
        "members": sizes.tolist(),
        "majority": majority_accuracy(data),
        "best": hits(non_private(name, RELATION)),
        "exact": [round(counts.sum() * noiseless_accuracy(name, RELATION, epsilon)) for epsilon in epsilons],
        "private": [hits(default_runs(name, RELATION, epsilon, SEED)) for epsilon in epsilons],
    }
