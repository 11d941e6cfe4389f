"""Privacy budgets: the total that may be spent, the charges so far, and the neighbouring relation."""

from dpml.budget.budget import Budget, Cost, charge, charge_all
from dpml.budget.conversion import zcdp_epsilon, zcdp_rho

__all__ = ["Budget", "Cost", "charge", "charge_all", "zcdp_epsilon", "zcdp_rho"]
