"""Results that ship with the app, so that the page opens with its curves, and those of methods that take too long here.

Made by ``python -m benchmarks.shipped publish DATASET ...``; a test makes a part of them again. What does not ship is
computed when it is asked for. Kept are numbers of test records: shares are the same to the last digit.

`recorded` has what `benchmarks/publishing_graphical.py` measured, copied from its table.
"""

from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpml_app.data.facts import FirstFacts
from dpml_app.data.shipped import VERSIONS, made_with, read_shipped
from dpml_app.pages.publish import compute
from dpml_app.pages.publish.compute import drawn_table
from dpml_app.pages.publish.settings import PUBLISH_DATASETS, RECORDED, PublishSettings, PublishValues
from dpml_app.settings import EPSILONS
from dpml_app.work.pool import Task

HERE = Path(__file__).parent / "shipped"
read = partial(read_shipped, HERE)
# names of classifiers in the benchmarks' table
LEARNERS = {"CART": "cart", "SVM": "svm", "logistic": "logistic"}


def _values(name: str, classifier: str) -> PublishValues:
    """Return the settings that results ship for: the defaults, on one data set."""
    return PublishValues.of(PublishSettings(dataset=name, publish_classifier=classifier))


def first_facts(name: str) -> FirstFacts | None:
    """Return what the first picture of a data set shows besides results; None if nothing ships."""
    kept = read(name)
    return FirstFacts(majority=kept["majority"], classes=tuple(kept["classes"])) if kept else None


def model_tasks(values: PublishValues, epsilon: float) -> dict[str, Task]:
    """Return the tasks of what the same ε trains: by the cells of a grid, and linear."""
    drawn = values.publish_draws, values.seed
    key = values.dataset, values.relation, epsilon
    return {
        "cells": Task(compute.cells, (*values.release_key(epsilon), *drawn)),
        "linear": Task(compute.linear, (*key, *drawn)),
    }


def table_task(values: PublishValues, epsilon: float) -> Task:
    """Return the task of the classifier on published tables."""
    return Task(compute.published, values.table_key(epsilon))


def drawn_task(values: PublishValues) -> Task:
    """Return the task of the table that is shown."""
    return Task(drawn_table, values.drawn_key())


def tasks(values: PublishValues, epsilon: float) -> dict[str, Task]:
    """Return the tasks of a table and of models for the same ε, by series."""
    return {"table": table_task(values, epsilon), **model_tasks(values, epsilon)}


def true_task(values: PublishValues) -> Task:
    """Return the task of the classifier on the true records."""
    return Task(compute.on_true_table, (values.dataset, values.publish_classifier))


@cache
def results(name: str) -> dict[Task, Any]:
    """Return what ships of a data set, by the tasks that would compute it."""
    kept = read(name)
    by_task: dict[Task, Any] = {drawn_task(_values(name, "cart")): kept["drawn"]} if kept else {}
    for classifier, of in kept.get("tables", {}).items():
        values = _values(name, classifier)
        by_task[true_task(values)] = of["true"] / kept["records"]
        for place, epsilon in enumerate(EPSILONS):
            hits = {"table": of["published"][place], **{m: kept[m][place] for m in ("cells", "linear")}}
            for series, task in tasks(values, epsilon).items():
                by_task[task] = np.array(hits[series]) / kept["records"]
    return by_task


def make(name: str, classifiers: tuple[str, ...], epsilons: tuple[float, ...] = EPSILONS) -> dict[str, Any]:
    """Return what ships of a data set, computed."""
    known = compute.facts(name)

    def hits(task: Task) -> Any:
        return np.rint(np.asarray(task.function(*task.arguments)) * known.n_test).astype(int).tolist()

    models = [model_tasks(_values(name, "cart"), epsilon) for epsilon in epsilons]
    return {
        "made with": made_with(*VERSIONS, "pandas"),
        "classes": [str(c) for c in known.classes],
        "records": known.n_test,
        "majority": known.majority,
        "tables": {
            c: {
                "true": hits(true_task(_values(name, c))),
                "published": [hits(table_task(_values(name, c), epsilon)) for epsilon in epsilons],
            }
            for c in classifiers
        },
        "drawn": drawn_table(*_values(name, "cart").drawn_key()),
        **{m: [hits(of[m]) for of in models] for m in ("cells", "linear")},
    }


# ---- what benchmarks have measured ----------------------------------------------------------------------------------


def recorded(name: str, classifier: str) -> list[dict[str, Any]]:
    """Return what is recorded of slow publishers on a data set, a row for each method and ε."""
    rows: list[dict[str, Any]] = read("recorded").get("rows", [])
    return [row for row in rows if row["dataset"] == name and row["classifier"] == classifier]


def copy_recorded(folder: Path) -> dict[str, Any]:
    """Return the rows of the page's data sets from the benchmark's table in a folder."""
    table = pd.read_csv(folder / "publishing_graphical.csv", comment="#")
    table = table[table["method"].isin(RECORDED) & table["dataset"].isin(PUBLISH_DATASETS)]
    rows = [
        {
            "dataset": row["dataset"],
            "method": RECORDED[row["method"]],
            "classifier": LEARNERS[row["classifier"]],
            "epsilon": row["epsilon"],
            "accuracy": round(1 - row["error"], 5),
            "standard_error": row["standard_error"],
            "folds": row["n"],
            "seconds": row["seconds"],
        }
        for row in table.to_dict("records")
    ]
    return {"rows": rows}
