"""Privacy budgets: the total that may be spent, the charges so far, and the neighbouring relation."""

from dpml.budget.budget import Budget, charge
from dpml.budget.conversion import zcdp_epsilon

__all__ = ["Budget", "charge", "zcdp_epsilon"]
