"""Private metadata of one column of a table: bounds and quantiles of numbers, and the categories that occur."""

from dpml.mechanisms.columns.bounds import PrivateBounds, private_bounds
from dpml.mechanisms.columns.categories import PrivateCategories, private_categories
from dpml.mechanisms.columns.facts import private_facts
from dpml.mechanisms.columns.quantiles import private_quantiles

__all__ = [
    "PrivateBounds",
    "PrivateCategories",
    "private_bounds",
    "private_categories",
    "private_facts",
    "private_quantiles",
]
