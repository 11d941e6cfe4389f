"""The cost of privacy with the default classifier: noise, and the simpler method that a small ε forces."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpml.classifiers.automatic import Plan, default_plan
from dpml.datasets import Dataset
from dpml.studies.automatic import AutoStudy
from dpml.studies.noiseless import without_noise

# the settings that the rule derives from ε are tried at these, from tight to loose
SETTINGS = (0.1, 1.0, 10.0, 1000.0)


def best_without_noise(study: AutoStudy) -> float:
    """Return the best test accuracy of the default classifier without noise.

    The function tries every method of the public rule without noise, at the settings of several ε. For a table, it also
    tries weights without a grid and a grid with counts. The best is chosen on the test records.

    Parameters
    ----------
    study : AutoStudy
        Study of a data set.

    Returns
    -------
    float
        Best share of test records that are classified correctly.

    See Also
    --------
    best_predictions : Predictions of this fit.
    cost : Privacy cost at each ε.

    Notes
    -----
    Privacy: ε = none, the result is not private. δ = 0. Relation: none. Sensitivity: not bounded.

    Examples
    --------
    >>> from dpml.datasets import load
    >>> round(best_without_noise(AutoStudy(load("census", n=4000))), 1)
    0.9
    """
    return _share(study, best_predictions(study))


def best_predictions(study: AutoStudy) -> NDArray[np.intp]:
    """Return the predictions of the best fit without noise.

    The fit is that of `best_without_noise`, chosen on the test records.

    Parameters
    ----------
    study : AutoStudy
        Study of a data set.

    Returns
    -------
    ndarray of int of shape (n,)
        Predicted class of each test record.

    See Also
    --------
    best_without_noise : Accuracy of this fit.
    cost : Privacy cost at each ε.

    Notes
    -----
    Privacy: ε = none, the result is not private. δ = 0. Relation: none. Sensitivity: not bounded.

    Examples
    --------
    >>> from dpml.datasets import load
    >>> study = AutoStudy(load("census", n=4000))
    >>> bool((best_predictions(study) == study.y_test).mean() == best_without_noise(study))
    True
    """
    with without_noise():
        fits = [_predictions(study, epsilon, plan) for epsilon in SETTINGS for plan in _plans(study, epsilon)]
    return max(fits, key=lambda predicted: _share(study, predicted))


def _plans(study: AutoStudy, epsilon: float) -> list[Plan]:
    plan = default_plan(study.schema, epsilon, study.public_number(), relation=study.relation)
    if plan.kind != "table":
        return [plan]
    alone = replace(plan, addition="weights", grid_share=0.0)
    grid = replace(plan, addition="none", grid_share=1.0, trust=1.0)
    return list(dict.fromkeys([plan, alone, grid]))


def _predictions(study: AutoStudy, epsilon: float, plan: Plan | None = None) -> NDArray[np.intp]:
    options: dict[str, Any] = {"plan": plan, "predictions": True, "rng": np.random.default_rng(0)}
    predicted: NDArray[np.intp] = study(epsilon, draws=1, grids=1, **options)["predictions"][0]
    return predicted


def _share(study: AutoStudy, predicted: NDArray[np.intp]) -> float:
    return float((predicted == study.y_test).mean())


def cost(
    dataset: Dataset,
    epsilons: Sequence[float],
    *,
    relation: str = "add-remove",
    draws: int = 20,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Return the privacy cost of the default classifier at each ε, by its parts.

    The privacy cost is the difference to `best_without_noise`. The part *noise* would vanish without noise, with the
    method and the settings of the rule at this ε. The part *simpler* is the rest. At a small ε the rule uses coarser
    bins, a tighter regulariser, or a grid where a larger ε would allow weights. A part can be slightly below 0, if a
    tighter regulariser happens to suit the test records.

    The result is a simulation and not private, because the parts are computed without noise.

    Parameters
    ----------
    dataset : Dataset
        Data set with a raw table and a stated lower bound on its number of records.
    epsilons : sequence of float
        Values of ε, each finite and greater than 0.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        Neighbouring relation under which each ε holds.
    draws : int, default=20
        Fits at each ε, each with its own bins and grid.
    rng : numpy.random.Generator
        Source of the noise.

    Returns
    -------
    DataFrame
        A row for each ε: ``epsilon``, ``accuracy`` (the mean of the runs), ``standard_error``, ``best`` (the same in
        each row), and the parts ``noise`` and ``simpler``, with accuracy + noise + simpler = best. All but ε are shares
        of the test records.

    See Also
    --------
    best_without_noise : Return the non-private reference.
    AutoStudy : Study of the default classifier.

    Examples
    --------
    >>> from dpml.datasets import load
    >>> table = cost(load("census", n=4000), [0.1, 3.0], draws=3, rng=np.random.default_rng(0))
    >>> (table["noise"] + table["simpler"]).round(2).is_monotonic_decreasing
    True
    """
    study = AutoStudy(dataset, relation=relation)
    best = best_without_noise(study)
    rows = []
    for epsilon in epsilons:
        accuracy = study(epsilon, draws=draws, grids=draws, rng=rng)["accuracy"]
        with without_noise():
            exact = _share(study, _predictions(study, epsilon))
        error = accuracy.std(ddof=1) / np.sqrt(draws) if draws > 1 else np.nan
        parts = {"noise": exact - accuracy.mean(), "simpler": best - exact}
        rows.append({"epsilon": epsilon, "accuracy": accuracy.mean(), "standard_error": error, "best": best, **parts})
    return pd.DataFrame(rows)
