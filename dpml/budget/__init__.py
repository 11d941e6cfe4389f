"""What may be spent, what has been spent, and under which neighbouring relation."""

from dpml.budget.budget import Budget, charge
from dpml.budget.conversion import zcdp_epsilon

__all__ = ["Budget", "charge", "zcdp_epsilon"]
