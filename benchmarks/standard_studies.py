"""What the standard studies that ship ask for, and how they are made (`dpml.sweep.standard_study` reads them)."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np

from dpml import __version__
from dpml._validate import check_choice
from dpml.datasets import Dataset, load
from dpml.sweep import STANDARD, declared, sweep

EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
DRAWS, SEED = 30, 0
COMMAND = "python -m benchmarks.shipped studies"
VERSIONS = ("numpy", "scipy", "scikit-learn")


def standard_declaration(dataset: Dataset, epsilons: tuple[float, ...] = EPSILONS) -> dict[str, Any]:
    """Return what is declared of a data set with a raw table: methods whose claim holds, with some of their settings.

    Each draw of the default classifier has a grid of its own, so that all draws are independent.
    """
    numbers = [f for f in dataset.frame_schema.features if f.kind == "numeric"] if dataset.frame_schema else []
    return {
        "study": [
            {"name": "auto", "grids": DRAWS},
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
        "made with": {"dpml": __version__, **{package: version(package) for package in VERSIONS}},
        "command": f"{COMMAND} {name}",
        "study": declared(asked).facts(),
        "records": records,
        "right": right.tolist(),
    }
