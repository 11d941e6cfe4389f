"""Results that ship with the app, so that its first page opens with its curves.

Made by ``python -m benchmarks.shipped cost DATASET ...``; a test makes a part of them again. What does not ship
is computed when it is asked for. Kept are numbers of test records, so that shares are the same to the last digit.
"""

from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from dpml.studies.accuracy import majority_accuracy
from dpml_app.data.facts import GroupFacts
from dpml_app.data.measures import dataset
from dpml_app.data.shipped import VERSIONS, made_with, read_shipped
from dpml_app.pages.explore import compute, cost
from dpml_app.pages.explore.settings import ExploreSettings, ExploreValues
from dpml_app.settings import EPSILONS
from dpml_app.work.pool import Task

HERE = Path(__file__).parent / "shipped"
RELATION, SEED = "add-remove", 0
read = partial(read_shipped, HERE)


def first_facts(name: str) -> GroupFacts | None:
    """Return what the first picture of a data set shows besides results; None if nothing ships."""
    kept = read(name)
    if not kept:
        return None
    return GroupFacts(
        majority=kept["majority"],
        classes=tuple(kept["classes"]),
        records=tuple(kept["records"]),
        groups=tuple(kept.get("groups", ())),
        members=tuple(kept.get("members", ())),
    )


@cache
def results(name: str, relation: str, seed: int) -> dict[Task, Any]:
    """Return what ships of a data set, by the tasks that would compute it."""
    kept = read(name)
    if not kept:
        return {}
    by_task: dict[Task, Any] = {}
    if relation == RELATION:
        by_task[Task(cost.best, (name, RELATION))] = _shares(kept["best"], kept)
        for epsilon, hits in zip(EPSILONS, kept["exact"], strict=True):
            by_task[Task(cost.without_noise, (name, RELATION, epsilon))] = hits / sum(kept["records"])
    if (relation, seed) == (RELATION, SEED):
        for epsilon, hits in zip(EPSILONS, kept["private"], strict=True):
            by_task[Task(cost.private, (name, RELATION, epsilon, SEED))] = _shares(hits, kept)
        for epsilon, hits in zip(EPSILONS, kept["custom"], strict=True):
            key = hand_key(name, epsilon)
            by_task[Task(compute.by_hand, key)] = np.array(hits) / sum(kept["records"])
    return by_task


def hand_key(name: str, epsilon: float) -> tuple:
    """Return the arguments of the custom model at its default settings."""
    values = ExploreValues.of(ExploreSettings(dataset=name, relation=RELATION, seed=SEED))
    return values.hand_key(epsilon)


def _shares(hits: Any, kept: dict[str, Any]) -> dict[str, Any]:
    counts, hit = np.array(kept["records"]), np.array(hits)
    # of each class, and then of each group of people
    right, among = hit[..., : len(counts)], hit[..., len(counts) :]
    groups = among / np.maximum(np.array(kept.get("members", ())), 1)
    return {"accuracy": right.sum(axis=-1) / counts.sum(), "recall": right / counts, "groups": groups}


def make(name: str, epsilons: tuple[float, ...] = EPSILONS) -> dict[str, Any]:
    """Return what ships of a data set, computed."""
    data = dataset(name)
    counts = np.bincount(data.y_test, minlength=data.schema.n_classes)
    members = cost.members(data).sum(axis=0).astype(int)

    def hits(shares: dict[str, Any]) -> list:
        of_all = np.concatenate([shares["recall"] * counts, shares["groups"] * members], axis=-1)
        listed: list = np.rint(of_all).astype(int).tolist()
        return listed

    n = counts.sum()
    hand = [compute.by_hand(*hand_key(name, epsilon)) for epsilon in epsilons]
    return {
        "made with": made_with(*VERSIONS),
        "classes": [str(c) for c in data.class_names],
        "records": counts.tolist(),
        "groups": list(data.groups),
        "members": members.tolist(),
        "majority": majority_accuracy(data),
        "best": hits(cost.best(name, RELATION)),
        "exact": [round(n * cost.without_noise(name, RELATION, epsilon)) for epsilon in epsilons],
        "custom": [np.rint(n * draws).astype(int).tolist() for draws in hand],
        "private": [hits(cost.private(name, RELATION, epsilon, SEED)) for epsilon in epsilons],
    }
