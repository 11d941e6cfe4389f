"""The task that measures a method of the Train page, of any family."""

from __future__ import annotations

from dpml_app.pages.train.compute import nb_measure
from dpml_app.pages.train.linear_compute import linear_measure
from dpml_app.pages.train.methods import DEFAULTS, LINEAR
from dpml_app.pages.train.settings import TrainValues
from dpml_app.work.pool import Task

__all__ = ["measured"]


def measured(method: str, values: TrainValues, epsilon: float, *, auc: bool = False, n: int | None = None) -> Task:
    """Return the task of a method's accuracies at ε, with the settings in `values`."""
    common = values.dataset, method, values.relation, epsilon, values.options(method)
    if method in LINEAR:
        return Task(linear_measure, (*common, LINEAR[method].draws(values.draws), values.seed, auc, n))
    if method in DEFAULTS:
        return Task(nb_measure, (*common, DEFAULTS[method].draws(values.draws), values.seed, auc, n))
    size = () if n is None else (n,)
    return Task(nb_measure, (*common, values.draws, values.seed, auc, *size))
