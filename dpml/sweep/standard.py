"""Standard studies: every method at every ε on some data sets, drawn once and shipped, so that nobody need wait.

``python -m benchmarks.shipped studies`` makes them; a test makes a part of each again. A file holds numbers of test
records that were classified correctly, so that accuracies are the same to the last digit.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd

from dpml._validate import check_choice
from dpml.datasets import Dataset, load, shipped
from dpml.sweep.declaration import Declaration, declared, of_facts
from dpml.sweep.plan import cells_of
from dpml.sweep.run import sweep
from dpml.sweep.table import joined, rows_of, settings_of

__all__ = ["STANDARD", "StandardStudy", "make_standard", "standard_declaration", "standard_study"]

STANDARD = ("census", "adult", "mushrooms", "breast_cancer", "toy")
EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
DRAWS, SEED = 30, 0
COMMAND = "python -m benchmarks.shipped studies"
VERSIONS = ("dpml", "numpy", "scipy", "scikit-learn")


@dataclass(frozen=True)
class StandardStudy:
    """A study that ships.

    Parameters
    ----------
    table : DataFrame
        A row for each draw, as `sweep` returns it.
    study : mapping
        What was declared, as `dpml.sweep.Declaration.facts` gives it.
    made_with : mapping
        Versions of the packages on which the numbers may depend.
    command : str
        What makes it again.
    """

    table: pd.DataFrame
    study: Mapping[str, Any]
    made_with: Mapping[str, str]
    command: str


def standard_study(name: str) -> StandardStudy:
    """Return the study that ships of a data set: which method is best at which ε can be read from it at once.

    The relation is add-remove, the seed 0. Each of its points has 30 draws, and all methods have the same streams.

    Parameters
    ----------
    name : {"census", "adult", "mushrooms", "breast_cancer", "toy"}

    Raises
    ------
    InvalidParameter

    Examples
    --------
    >>> from dpml.studies import frontier
    >>> found = standard_study("census")
    >>> best = frontier(found.table, rng=np.random.default_rng(0))
    >>> len(best), sorted(found.made_with)
    (10, ['dpml', 'numpy', 'scikit-learn', 'scipy'])
    """
    check_choice(name, "name", STANDARD)
    kept = json.loads(shipped(f"studies/{name}.json").read_text(encoding="utf-8"))
    return StandardStudy(_table(of_facts(kept["study"]), kept), kept["study"], kept["made with"], kept["command"])


def _table(declaration: Declaration, kept: Mapping[str, Any]) -> pd.DataFrame:
    parts = [
        rows_of([cell], [{"accuracy": np.array(right) / kept["records"]}])
        for cell, right in zip(cells_of(declaration), kept["right"], strict=True)
    ]
    return joined(parts, settings_of(declaration))


def standard_declaration(dataset: Dataset, epsilons: tuple[float, ...] = EPSILONS) -> dict[str, Any]:
    """Return what is declared of a data set with a raw table: methods whose claim holds, with some of their settings.

    Each draw of the default classifier has a grid of its own, so that all draws are independent.
    """
    numbers = [f for f in dataset.frame_schema.features if f.kind == "numeric"] if dataset.frame_schema else []
    return {
        "study": [
            {"name": "automatic", "grids": DRAWS},
            "row-bounded-naive-bayes",
            "binned-naive-bayes",
            # without numbers there is one way to release moments: by counts
            {"name": "moments-naive-bayes", "method": ["global", "smooth"] if numbers else ["global"]},
            "naive-bayes",
            {"name": "naive-bayes", "score": ["count", "mutual_information"], "n_features": [5, 10, 20]},
            "partitioned-naive-bayes",
            {"name": "logistic-regression", "method": ["output", "objective"], "reg_lambda": [10.0, 100.0, 1000.0]},
        ],
        "data": dataset.name,
        "epsilon": list(epsilons),
        "draws": DRAWS,
        "seed": SEED,
    }


def make_standard(name: str, epsilons: tuple[float, ...] = EPSILONS, progress: Any = None) -> dict[str, Any]:
    """Return what ships of a data set, computed; fewer values of ε make a part of it, with the same numbers."""
    dataset = load(check_choice(name, "name", STANDARD))
    asked = standard_declaration(dataset, epsilons)
    records, table = len(dataset.y_test), sweep(asked, progress=progress)
    right = np.rint(table["accuracy"].to_numpy() * records).astype(int).reshape(-1, DRAWS)
    return {
        "made with": {package: version(package) for package in VERSIONS},
        "command": f"{COMMAND} {name}",
        "study": declared(asked).facts(),
        "records": records,
        "right": right.tolist(),
    }
