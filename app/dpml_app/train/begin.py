"""What the Train page computes of the default classifier, and of methods that others have registered."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml import methods
from dpml_app.train.compute import data_of

__all__ = ["GRIDS", "study_measure"]

# the draws are divided among so many draws of bins and grid, which take longest
GRIDS = 5


# nine sizes of a table
@lru_cache(maxsize=24)
def _study(name: str, method: str, relation: str, n: int | None) -> Any:
    return methods.method(method).study_of(data_of(name, n), relation=relation)


def study_measure(
    name: str,
    method: str,
    relation: str,
    epsilon: float,
    draws: int,
    seed: int,
    auc: bool = False,
    n: int | None = None,
) -> dict[str, NDArray[np.float64]]:
    """Return test accuracies of shape (draws,) by the method's own study, with `auc` the areas under the ROC curve.

    As `dpml_app.train.compute.nb_measure`.
    """
    more: dict[str, Any] = {"grids": min(GRIDS, draws)} if method == "auto" else {}
    if auc:
        more["auc"] = True
    return _study(name, method, relation, n)(epsilon, draws=draws, rng=np.random.default_rng(seed), **more)
