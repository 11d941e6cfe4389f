"""The task that measures a method of the Train page, of any family."""

from __future__ import annotations

from dataclasses import replace

from dpml_app.pages.train.compute import EXACT
from dpml_app.pages.train.measure import measure
from dpml_app.pages.train.methods import EVERY
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
