"""Figures of what ε promises, and of settings themselves."""

from __future__ import annotations

from typing import Any

from dpml.budget import Budget
from dpml.evaluation.histogram import noise_scale
from dpml_app.lessons.figures import figure
from dpml_app.page_list import PAGES
from dpml_app.text import phrases


@figure
def setting(s: Any, name: str) -> float:
    """Return a setting of the step."""
    return float(getattr(s, name))


def _epsilon(s: Any) -> float:
    return float(getattr(s, PAGES[s.page].risk_of[0]))


@figure
def sure(s: Any) -> str:
    """Return how many of 100 even bets are won at most, as each page says it."""
    return phrases.right_of_hundred(_epsilon(s))


@figure
def factor(s: Any) -> str:
    """Return by how much odds rise at most, as each page says it."""
    return phrases.factor(_epsilon(s))


@figure
def times_as_much_noise(s: Any) -> float:
    """Return how much more noise a table of counts needs where a record is replaced."""
    return noise_scale(1.0, "replace-one") / noise_scale(1.0, "add-remove")


@figure
def paid(s: Any, what: str) -> float:
    """Charge choice and training to a budget of ε, and return the first, the second or their sum."""
    budget = Budget(s.epsilon)
    for share in (s.selection_share, 1 - s.selection_share):
        budget.spend(share * s.epsilon, label="a part")
    costs: list[Any] = list(budget.ledger["epsilon"])
    return float({"first": costs[0], "second": costs[1], "sum": sum(costs)}[what])
