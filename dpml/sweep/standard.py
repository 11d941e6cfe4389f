"""Standard studies: every method at every ε on some data sets, drawn once and shipped, so that nobody need wait.

``python -m benchmarks.shipped studies`` makes them, as `benchmarks/standard_studies.py` says. A test makes a part of
each again. A file holds numbers of test records that were classified correctly, so that accuracies are the same to the
last digit.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dpml._validate import check_choice
from dpml.datasets import shipped
from dpml.sweep.declaration import Declaration, of_facts
from dpml.sweep.plan import cells_of
from dpml.sweep.table import joined, rows_of, settings_of

STANDARD = ("census", "adult", "mushrooms", "breast_cancer", "toy")


@dataclass(frozen=True)
class StandardStudy:
    """Hold a study that dpml ships.

    Parameters
    ----------
    table : DataFrame
        Table with a row for each draw, as `sweep` returns it.
    study : mapping
        Declaration, as `dpml.sweep.Declaration.facts` returns it.
    made_with : mapping
        Versions of the packages that made the results.
    command : str
        Command that computes the study again.

    See Also
    --------
    standard_study : Load the study of a data set.
    sweep : Run a study of your own.
    """

    table: pd.DataFrame
    study: Mapping[str, Any]
    made_with: Mapping[str, str]
    command: str


def standard_study(name: str) -> StandardStudy:
    """Return the study that dpml ships for a data set.

    From its table you can read the best method at each ε. The relation is add-remove and the seed is 0. Each point has
    30 draws, and all methods use the same streams.

    Parameters
    ----------
    name : {"census", "adult", "mushrooms", "breast_cancer", "toy"}
        Name of the data set.

    Returns
    -------
    StandardStudy
        The table, its declaration, and the versions that made it.

    See Also
    --------
    dpml.studies.frontier : Best method and settings at each ε.
    sweep : Run a study of your own.

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
