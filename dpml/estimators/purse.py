"""What a wrapper does with an estimator that it holds: fit it with a purse of its own, and require that it was charged.

What an estimator says of its cost only sizes the purse. The purse is a `Budget` under the wrapper's relation: a fit
that costs more, or a δ, or is stated for the other relation, raises; a fit that charges nothing is refused, for what it
releases then, or later at `predict`, nobody has paid for. The purse stays with the fitted estimator, so that whatever
it releases afterwards is paid from what the wrapper has charged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from dpml._validate import check_epsilon
from dpml.budget import Budget
from dpml.exceptions import BudgetExceeded, DpmlError, InvalidParameter, NotPrivate

__all__ = ["fit_held", "rehearse", "spending_steps"]


def spending_steps(model: Any, needed: Sequence[str] = ("epsilon", "budget")) -> list[Any]:
    """Return what spends ε in an estimator: itself, or the steps of a Pipeline that learn from records.

    Raises
    ------
    NotPrivate
        If what learns from records takes no ε and no budget, says that it does not hold its claim, or holds another
        estimator that spends for it: what such a search or ensemble chooses by exact scores has no ε.
    InvalidParameter
        If a parameter in `needed` is missing.
    """
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    return [step for step in steps if _spends(step, needed)]


def _spends(step: Any, needed: Sequence[str]) -> bool:
    if step is None or isinstance(step, str):  # "passthrough"
        return False
    name = type(step).__name__
    known = step.get_params(deep=False) if hasattr(step, "get_params") else {}
    if not {"epsilon", "budget"} <= set(known):
        if hasattr(step, "transform") and not get_tags(step).requires_fit:
            return False
        raise NotPrivate(f"{name} takes no ε and no budget: what it learns from the records has no claim to hold it to")
    missing = [parameter for parameter in needed if parameter not in known]
    if missing:
        raise InvalidParameter("estimator", name, f"one with a parameter {missing[0]!r}")
    if getattr(step, "private", True) is False:
        raise NotPrivate(f"{name} does not hold the ε that it states")
    check_epsilon(step.epsilon)
    return True


def fit_held(model: Any, steps: Sequence[Any], X: Any, y: Any, holder: str) -> Any:
    """Fit a model whose spending steps hold purses, and require that each was charged; `holder` is for messages."""
    try:
        model.fit(X, y)
    except BudgetExceeded as error:
        names = ", ".join(type(step).__name__ for step in steps)
        raise BudgetExceeded(f"{holder} holds {names}, which charges more than it was given: {error}") from error
    for step in steps:
        if not len(step.budget.ledger):
            raise NotPrivate(
                f"{holder} holds {type(step).__name__}, which charged nothing for its fit: what it releases then, or "
                "later at predict, nobody has paid for"
            )
    return model


def rehearse(
    model: Any, epsilons: Sequence[float], relation: str, nothing: tuple[Any, Any], holder: str
) -> list[float]:
    """Fit a copy to no records, so that what is refused is refused before anything is charged or drawn.

    Parameters
    ----------
    model : estimator
    epsilons : sequence of float
        What each spending step is given.
    relation : str
    nothing : (table, labels)
        Without records, of the kind and with the columns of the real ones.
    holder : str

    Returns
    -------
    list of float
        The δ that each spending step charges, for the purses of the fit on the records. What an estimator charges is
        public, so no records tell it as well as all of them.
    """
    trial = clone(model)
    steps = spending_steps(trial)
    for step, epsilon in zip(steps, epsilons, strict=True):
        known = step.get_params(deep=False)
        facts = {
            # no more δ than the estimator states
            "budget": Budget(epsilon, known.get("delta") or 0.0, relation),
            "on_invalid": "clip",
            "random_state": None if known.get("release") else 0,
        }
        step.set_params(**{name: value for name, value in facts.items() if name in known})
    try:
        fit_held(trial, steps, *nothing, holder)
    except DpmlError:
        raise
    except Exception:  # an estimator that takes no empty table: the fit on the records decides
        return [step.budget.delta for step in steps]
    return [float(step.budget.ledger["delta"].sum()) for step in steps]
