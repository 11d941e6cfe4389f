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
    """Study whose results are included in the library.

    Parameters
    ----------
    table : DataFrame
        One row for each run, as `sweep` returns it.
    study : mapping
        Declaration, as `dpml.sweep.Declaration.facts` returns it.
    made_with : mapping
        Versions of the packages that made the results.
    command : str
        Command that reproduces the results.

    See Also
    --------
    standard_study : Load one of them.
    stored : Read the table of a finished sweep.
    """

    table: pd.DataFrame
    study: Mapping[str, Any]
    made_with: Mapping[str, str]
    command: str


def standard_study(name: str) -> StandardStudy:
    """Load the included study of a data set.

    It shows the best method at each ε without a computation. The relation is add/remove-one, and the seed 0. Each point
    has 30 runs, and all methods use the same random streams.

    Parameters
    ----------
    name : {"census", "adult", "mushrooms", "breast_cancer", "toy"}
        Name of the data set.

    Returns
    -------
    StandardStudy
        Table, declaration, versions and command.

    See Also
    --------
    sweep : Run a study.
    dpml.studies.frontier : Find the best method at each ε.

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
