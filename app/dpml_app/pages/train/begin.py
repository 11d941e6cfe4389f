"""What the Train page computes of the default classifier, and of methods that others have registered."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml import methods
from dpml.methods import study_by_name
from dpml_app.pages.train.compute import data_of

__all__ = ["GRIDS", "auto_measure", "study_measure"]

# the draws are divided among so many draws of bins and grid, which take longest
GRIDS = 5


# nine sizes of a table
@lru_cache(maxsize=24)
def _study(name: str, own: tuple[str, tuple], relation: str, n: int | None) -> Any:
    return study_by_name(own[0])(data_of(name, n), relation=relation, **dict(own[1]))


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

    As `dpml_app.pages.train.compute.nb_measure`; the method is always "auto".
    """
    study = _study(name, (methods.method("auto").study, ()), relation, n)
    return study(epsilon, draws=draws, rng=np.random.default_rng(seed), auc=auc, grids=min(GRIDS, draws))


def study_measure(
    name: str,
    own: tuple[str, tuple],
    relation: str,
    epsilon: float,
    draws: int,
    seed: int,
    auc: bool = False,
    n: int | None = None,
) -> dict[str, NDArray[np.float64]]:
    """Return what a method's own study measures, as `auto_measure`.

    `own` is the study's dotted name and its options: a worker imports it, and need not know who registered it.
    """
    more = {"auc": True} if auc else {}
    return _study(name, own, relation, n)(epsilon, draws=draws, rng=np.random.default_rng(seed), **more)
