"""What the Train page computes about private tuning: the library's `TuningStudy`, one scheme at one ε at a time."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml.studies.tuning import TuningStudy
from dpml.tuning.search import search_costs
from dpml_app.pages.train.compute import data_of
from dpml_app.pages.train.linear_compute import public_lambda
from dpml_app.work.cache import kept

CANDIDATES: dict[str, tuple[float, ...]] = {"reg_lambda": (1.0, 10.0, 100.0, 1000.0), "row_bound": (1, 2, 3, 5, 8)}
# each draw trains every candidate several times
MOST_TUNING_DRAWS = 10
# what `search_costs` has to be told of a scheme
OPTIONS: dict[str, dict[str, Any]] = {
    "disjoint": {"training": "disjoint", "method": "exponential", "retrain_share": 0.0},
    "shared, retrained": {"training": "shared", "method": "exponential"},
    "stability": {"method": "stability"},
    "random stopping 0": {"method": "random-stopping", "retrain_share": 0.0, "eta": 0.0},
    "random stopping 1": {"method": "random-stopping", "retrain_share": 0.0, "eta": 1.0},
}


def candidates(name: str, tuned: str) -> tuple[float, ...]:
    """Return the values that are tried: the same for all data, but no row bound beyond the schema's."""
    if tuned == "reg_lambda":
        return CANDIDATES[tuned]
    most = data_of(name).schema.row_bound
    return tuple(r for r in CANDIDATES[tuned] if r <= most)


def costs_of(scheme: str, epsilon: float, n_candidates: int) -> dict[str, float]:
    """Return the ε of each step of a search, and in all.

    >>> costs_of("random stopping 0", 1.0, 4)
    {'train': 0.5, 'select': 0.5, 'retrain': 0.0, 'total': 1.0}
    """
    return search_costs(epsilon, n_candidates, **OPTIONS[scheme])


@kept(4)
def _study(name: str, tuned: str, relation: str, public: float | None) -> TuningStudy:
    values = {tuned: candidates(name, tuned)}
    return TuningStudy(data_of(name), values, relation=relation, choice="exponential", public=public)


def tuning_measure(
    name: str, tuned: str, relation: str, epsilon: float, scheme: str, draws: int, seed: int
) -> dict[str, NDArray[np.float64]]:
    """Return test accuracies of shape (draws,) of one scheme that spends ε in all."""
    # of the row bound the study knows the rule itself
    public = public_lambda(name, "objective", epsilon, relation) if tuned == "reg_lambda" else None
    study = _study(name, tuned, relation, public if scheme == "public rule" else None)
    return {"accuracy": study(epsilon, draws=draws, rng=np.random.default_rng(seed), schemes=(scheme,))[scheme]}
