"""The charge of a release, and words for it at every exit."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dpml.budget import Budget
from dpml.exceptions import InvalidParameter, RelationMismatch

NOT_RELEASED = ", but nothing was released. Another call is charged again"


@contextmanager
def charge_noted(budget: Any, planned: list[dict[str, Any]]) -> Iterator[None]:
    """Return a context in which every exception after the charge gets a note with its ε."""
    before = budget.charges_made if isinstance(budget, Budget) else 0
    try:
        yield
    except BaseException as error:
        if isinstance(budget, Budget) and budget.charges_made > before:
            error.add_note(charged_words(math.fsum(row["epsilon"] for row in planned), budget) + NOT_RELEASED)
        raise


def charged_words(epsilon: float, budget: Budget) -> str:
    """Return the ε that was charged, and where to."""
    return f"ε = {epsilon:.6g} was charged to {'the budget' if budget.path is None else repr(budget.path)}"


def charge_rows(budget: Any, planned: list[dict[str, Any]], relation: str) -> None:
    """Charge all rows to a budget, or none."""
    if not isinstance(budget, Budget):
        raise InvalidParameter("budget", budget, "a dpml.budget.Budget or None")
    if budget.relation != relation:
        message = f"the plan and its budget must have the same relation. Got {relation!r} and {budget.relation!r}"
        raise RelationMismatch(message)
    labels: dict[str, float] = {}
    for row in planned:
        label = f"{row['part']}: {row['released']}"
        # two charges of one name are two charges
        labels[label if label not in labels else f"{label} ({len(labels) + 1})"] = row["epsilon"]
    budget.spend_all(labels, relation=relation)
