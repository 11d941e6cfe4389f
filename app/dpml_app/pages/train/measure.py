"""What every method of the Train page is measured by, of whatever family."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml_app.pages.train.compute import EXACT, data_of, nb_study, study_settings
from dpml_app.pages.train.linear_compute import released
from dpml_app.pages.train.methods import EVERY, LINEAR
from dpml_app.pages.train.settings import TrainValues
from dpml_app.work.pool import Task


def measured(
    method: str,
    values: TrainValues,
    epsilon: float,
    *,
    auc: bool = False,
    n: int | None = None,
    features: int | None = None,
) -> Task:
    """Return the task of a method's accuracies at ε, with the settings in `values`."""
    common = values.dataset, method, values.relation, epsilon, values.options(method)
    return Task(measure, (*common, EVERY[method].draws(values.draws), values.seed, auc, n, features))


def without_privacy(method: str, values: TrainValues, *, auc: bool = False) -> Task:
    """Return the task of what a method reaches without noise: one draw, for all are alike."""
    return measured(method, replace(values, draws=1), EXACT, auc=auc)


# the draws of the default classifier are divided among so many draws of bins and grid, which take longest
GRIDS = 5


def measure(
    name: str,
    method: str,
    relation: str,
    epsilon: float,
    options: tuple,
    draws: int,
    seed: int,
    auc: bool = False,
    n: int | None = None,
    features: int | None = None,
) -> dict[str, NDArray[np.float64]]:
    """Return test accuracies of shape (draws,), with `auc` the areas under the ROC curve as well.

    `options` are pairs of a setting's name and its value, from `TrainValues.options`; `n` and `features` as for
    `data_of`.
    """
    if method in LINEAR:
        data = data_of(name, n)
        models = released(name, method, relation, epsilon, dict(options), LINEAR[method].draws(draws), seed, n)
        areas = {"auc": models.auc(data.X_test, data.y_test)} if auc else {}
        return {"accuracy": models.accuracy(data.X_test, data.y_test), **areas}
    settings: dict[str, Any] = study_settings(options, data_of(name, n).schema)
    if method == "auto":
        settings["grids"] = min(GRIDS, draws)
    if auc:
        # a study that others registered need not know it
        settings["auc"] = True
    study = nb_study(name, method, relation, n, features)
    return study(epsilon, draws=draws, rng=np.random.default_rng(seed), **settings)
