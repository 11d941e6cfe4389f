"""Private metadata of one column of a table: bounds and quantiles of numbers, and the categories that occur."""

from dpml.mechanisms.columns.categories import PrivateCategories, private_categories, private_facts
from dpml.mechanisms.columns.numbers import PrivateBounds, private_bounds, private_quantiles

__all__ = [
    "PrivateBounds",
    "PrivateCategories",
    "private_bounds",
    "private_categories",
    "private_facts",
    "private_quantiles",
]
