"""Results that ship with the app, so that the page opens with its picture.

Made by ``python -m dpml_app.pages.train.shipped DATASET ...``; a test makes a part of them again. What does not ship is
computed when it is asked for. Kept are numbers of test records, so that shares are the same to the last digit.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from dpml_app.pages.train.compute import nb_facts
from dpml_app.pages.train.facts import TrainFacts
from dpml_app.pages.train.measure import measured, without_privacy
from dpml_app.pages.train.settings import TrainSettings, TrainValues
from dpml_app.settings import EPSILONS
from dpml_app.work.pool import Task

HERE = Path(__file__).parent / "shipped"
VERSIONS = ("numpy", "scipy", "scikit-learn")


@cache
def _read(name: str) -> dict[str, Any]:
    path = HERE / f"{name}.json"
    kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return kept


def tasks(name: str, epsilons: tuple[float, ...] = EPSILONS) -> dict[str, list[Task]]:
    """Return what ships: of each method that the page opens with, the task without privacy and those at each ε."""
    values = TrainValues.of(TrainSettings(dataset=name))
    methods = (*values.train_begin, *values.train_methods)
    return {m: [without_privacy(m, values), *(measured(m, values, epsilon) for epsilon in epsilons)] for m in methods}


def first_facts(name: str) -> TrainFacts | None:
    """Return what is known of a data set; None if nothing ships."""
    kept = _read(name)
    return TrainFacts(**{**kept["facts"], "classes": tuple(kept["facts"]["classes"])}) if kept else None


@cache
def results(name: str) -> dict[Task, Any]:
    """Return what ships of a data set, by the tasks that would compute it."""
    kept = _read(name)
    if not kept:
        return {}
    records = kept["facts"]["n_test"]
    return {
        task: {"accuracy": np.array(hits) / records}
        for method, asked in tasks(name).items()
        for task, hits in zip(asked, kept["hits"][method], strict=True)
    }


def make(name: str, epsilons: tuple[float, ...] = EPSILONS) -> dict[str, Any]:
    """Return what ships of a data set, computed."""
    facts = nb_facts(name)

    def hits(task: Task) -> list[int]:
        shares = task.function(*task.arguments)["accuracy"]
        counts: list[int] = np.rint(shares * facts.n_test).astype(int).tolist()
        return counts

    return {
        "made with": {package: version(package) for package in VERSIONS},
        "facts": asdict(facts),
        "hits": {method: [hits(task) for task in asked] for method, asked in tasks(name, epsilons).items()},
    }


if __name__ == "__main__":
    for wanted in sys.argv[1:]:
        (HERE / f"{wanted}.json").write_text(json.dumps(make(wanted), separators=(",", ":")) + "\n", encoding="utf-8")
        print(wanted, flush=True)
