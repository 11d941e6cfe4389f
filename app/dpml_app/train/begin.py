"""What the Train page computes of the classifier to begin with."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpml.studies import AutoStudy
from dpml_app.train.compute import data_of

__all__ = ["GRIDS", "auto_measure"]

# the draws are divided among so many draws of bins and grid, which take longest
GRIDS = 5


# nine sizes of a table
@lru_cache(maxsize=12)
def auto_study(name: str, relation: str, n: int | None = None) -> AutoStudy:
    """Return the library's study of a data set."""
    return AutoStudy(data_of(name, n), relation=relation)


def auto_measure(
    name: str,
    method: str,
    relation: str,
    epsilon: float,
    draws: int,
    seed: int,
    auc: bool = False,
    n: int | None = None,
) -> dict[str, NDArray[np.float64]]:
    """Return test accuracies of shape (draws,), with `auc` the areas under the ROC curve as well.

    As `dpml_app.train.compute.nb_measure`; the method is always "auto".
    """
    study = auto_study(name, relation, n)
    return study(epsilon, draws=draws, rng=np.random.default_rng(seed), auc=auc, grids=min(GRIDS, draws))
