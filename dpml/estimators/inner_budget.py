"""Fitting of an estimator inside a wrapper: it gets an inner budget, a `Budget` of its own, and must charge it.

The cost that an estimator states only sets the size of the inner budget, a `Budget` under the wrapper's relation. A fit
that costs more, or costs a δ that was not stated, or is stated for the other relation, raises an error. A fit that
charges nothing is refused, since nothing covers its releases, at `fit` or later at `predict`. The inner budget stays
with the fitted estimator, so the wrapper's charge also covers later releases.
"""

import warnings
from collections.abc import Sequence
from typing import Any

from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from dpml._validate import check_epsilon
from dpml.budget import Budget
from dpml.exceptions import BudgetExceeded, DpmlError, FactWarning, InvalidParameter, NotPrivate
from dpml.mechanisms.private import opened


def spending_steps(model: Any, needed: Sequence[str] = ("epsilon", "budget")) -> list[Any]:
    """Return the parts of an estimator that spend ε: itself, or the steps of a Pipeline that learn from records.

    Parameters
    ----------
    model : estimator
        An estimator or a Pipeline.
    needed : sequence of str, default=("epsilon", "budget")
        Parameters that each part must have.

    Returns
    -------
    list of estimator
        The parts, in the order of the Pipeline.

    Raises
    ------
    NotPrivate
        If a part that learns from records has no parameters ``epsilon`` and ``budget``, or is marked as not private. A
        search or ensemble around another estimator is such a part: its choice by exact scores has no ε. If a transform
        before a release has ``on_invalid="raise"``, because its error depends on a record.
    InvalidParameter
        If a parameter in `needed` is missing.

    See Also
    --------
    PrivateEstimator : Base of all private estimators.
    """
    steps = _steps(model)
    if any(getattr(step, "release", False) for step in steps):
        for step in steps:
            if getattr(step, "on_invalid", "clip") == "raise" and not hasattr(step, "release"):
                raise NotPrivate(f"an error of {type(step).__name__} depends on a record: pass on_invalid='clip'")
    return [step for step in steps if _spends(step, needed)]


def _steps(model: Any) -> list[Any]:
    """Return the steps of a Pipeline and of those in it, or else the estimator."""
    if isinstance(model, Pipeline):
        return [part for _, step in model.steps for part in _steps(step)]
    return [model]


def _spends(step: Any, needed: Sequence[str]) -> bool:
    if step is None or isinstance(step, (str, FrozenEstimator)):  # "passthrough", and what a fit leaves as it is
        return False
    name = type(step).__name__
    known = step.get_params(deep=False) if hasattr(step, "get_params") else {}
    if not {"epsilon", "budget"} <= set(known):
        if hasattr(step, "transform") and hasattr(step, "__sklearn_tags__") and not get_tags(step).requires_fit:
            return False
        raise NotPrivate(f"{name} takes no ε and no budget, so nothing bounds what it learns from the records")
    missing = [parameter for parameter in needed if parameter not in known]
    if missing:
        raise InvalidParameter("estimator", name, f"one with a parameter {missing[0]!r}")
    if getattr(step, "private", True) is False:
        raise NotPrivate(f"{name} is marked private = False: it does not satisfy the ε that it states")
    check_epsilon(step.epsilon)
    return True


def fit_with_inner_budget(model: Any, steps: Sequence[Any], X: Any, y: Any, holder: str) -> Any:
    """Fit a model whose spending steps hold inner budgets, and require a charge to each. `holder` names the wrapper.

    The fit takes the records themselves, so private ones are opened here, and nowhere else in a wrapper.
    """
    try:
        model.fit(opened(X), opened(y))
    except BudgetExceeded as error:
        names = ", ".join(type(step).__name__ for step in steps)
        raise BudgetExceeded(f"{holder} holds {names}, which charges more than its share: {error}") from error
    for step in steps:
        if not len(step.budget.ledger):
            raise NotPrivate(
                f"{holder} holds {type(step).__name__}, which charged nothing for its fit: its releases, at fit or "
                "later at predict, would be unpaid"
            )
    return model


def dry_run(model: Any, epsilons: Sequence[float], relation: str, nothing: tuple[Any, Any], holder: str) -> list[float]:
    """Fit a copy to an empty table, so that errors appear before anything is charged or drawn.

    `epsilons`: ε of each spending step. `nothing`: a table without records and its labels, of the types of the real
    ones. Returns the δ that each step charges, for the inner budgets of the fit on the records: a charge is public, so
    it is the same without records.
    """
    trial = clone(model)
    steps = spending_steps(trial)
    for step, epsilon in zip(steps, epsilons, strict=True):
        known = step.get_params(deep=False)
        facts = {
            # an inner budget with the δ that the estimator states, and no more
            "budget": Budget(epsilon, known.get("delta") or 0.0, relation),
            "on_invalid": "clip",
            "random_state": None if known.get("release") else 0,
        }
        step.set_params(**{name: value for name, value in facts.items() if name in known})
    try:
        with warnings.catch_warnings():
            # nobody needs to be told that an empty table has few records
            warnings.simplefilter("ignore", FactWarning)
            fit_with_inner_budget(trial, steps, *nothing, holder)
    except DpmlError:
        raise
    except Exception:  # the estimator cannot fit an empty table: the fit on the records decides
        return [step.budget.delta for step in steps]
    return [float(step.budget.ledger["delta"].sum()) for step in steps]
