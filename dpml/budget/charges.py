"""Charges of a release to a budget, if one is given."""

from collections.abc import Mapping
from typing import cast

from dpml.budget.budget import Budget
from dpml.exceptions import InvalidParameter

# an ε, or arguments of `Budget.spend`
Cost = float | Mapping[str, float]


def charge(
    budget: Budget | None, relation: str, epsilon: float, delta: float = 0.0, *, rho: float = 0.0, label: str
) -> None:
    """Charge a release to a budget if one is given.

    Parameters
    ----------
    budget : Budget or None
        The budget. None charges nothing.
    relation : {"add-remove", "replace-one"}
        The relation under which the cost holds. It must be the budget's.
    epsilon : float
        Cost ε of the release.
    delta : float, default=0.0
        Cost δ of the release.
    rho : float, default=0.0
        Cost in zero-concentrated differential privacy instead.
    label : str
        Name of the release, for the ledger.

    See Also
    --------
    Budget : Bounds the total ε and δ.
    charge_all : Charges all parts of a release.

    Notes
    -----
    Privacy: no data is read.
    """
    if budget is not None:
        _checked(budget).spend(epsilon, delta, rho=rho, label=label, relation=relation)


def charge_all(budget: Budget | None, relation: str, costs: Mapping[str, Cost]) -> None:
    """Charge all parts of a release by their labels, or none of them, if a budget is given.

    Parameters
    ----------
    budget : Budget or None
        The budget. None charges nothing.
    relation : {"add-remove", "replace-one"}
        The relation under which the costs hold. It must be the budget's.
    costs : mapping of str to float or dict
        The ε of each part by its label. A part that is the only one may state arguments of `Budget.spend`.

    See Also
    --------
    Budget : Bounds the total ε and δ.
    charge : Charges one release.
    """
    if budget is None:
        return
    [(label, cost), *others] = costs.items()
    if others:
        _checked(budget).spend_all(cast(Mapping[str, float], costs), relation=relation)
    else:
        spent = cost if isinstance(cost, Mapping) else {"epsilon": cost}
        _checked(budget).spend(**spent, label=label, relation=relation)


def _checked(budget: Budget) -> Budget:
    if not isinstance(budget, Budget):
        raise InvalidParameter("budget", budget, "a dpml.budget.Budget or None")
    return budget
