"""Results that ship with the app, so that the page opens with its picture.

Made by ``python -m benchmarks.shipped train DATASET ...``; a test makes a part of them again. What does not ship is
computed when it is asked for. Kept are numbers of test records, so that shares are the same to the last digit.
"""

from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from dpml_app.data.shipped import VERSIONS, made_with, read_shipped
from dpml_app.pages.train.compute import nb_facts
from dpml_app.pages.train.facts import TrainFacts
from dpml_app.pages.train.measure import measured, without_privacy
from dpml_app.pages.train.settings import TrainSettings, TrainValues
from dpml_app.settings import EPSILONS
from dpml_app.work.pool import Task

HERE = Path(__file__).parent / "shipped"
read = partial(read_shipped, HERE)


def tasks(name: str, epsilons: tuple[float, ...] = EPSILONS) -> dict[str, list[Task]]:
    """Return what ships: of each method that the page opens with, the task without privacy and those at each ε."""
    values = TrainValues.of(TrainSettings(dataset=name))
    methods = (*values.train_begin, *values.train_methods)
    return {m: [without_privacy(m, values), *(measured(m, values, epsilon) for epsilon in epsilons)] for m in methods}


def first_facts(name: str) -> TrainFacts | None:
    """Return what is known of a data set; None if nothing ships."""
    kept = read(name)
    return TrainFacts(**{**kept["facts"], "classes": tuple(kept["facts"]["classes"])}) if kept else None


@cache
def results(name: str) -> dict[Task, Any]:
    """Return what ships of a data set, by the tasks that would compute it."""
    kept = read(name)
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
        "made with": made_with(*VERSIONS),
        "facts": asdict(facts),
        "hits": {method: [hits(task) for task in asked] for method, asked in tasks(name, epsilons).items()},
    }
