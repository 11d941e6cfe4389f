"""The marks of a schema: data-derived facts, and those of them that a person has confirmed."""

from collections.abc import Mapping
from typing import Any

from dpml._validate import check_choice
from dpml.exceptions import InvalidSchema

# what can be read off the data: of a column, by its kind, and of the whole table
OF_KIND = {"binary": ("kind",), "categorical": ("categories",), "numeric": ("lower", "upper")}
OF_TABLE = ("classes", "row_bound", "n_rows", "n_lower", "ignored")


def check_marks(marks: Mapping[str, Any], facts: tuple[str, ...], of: str = "") -> dict[str, tuple[str, ...]]:
    """Return the facts of each mark in their order. True marks all of them, and none has two marks."""
    every: dict[str, tuple[str, ...]] = {}
    for name, given in marks.items():
        marked = facts if given is True else (given,) if isinstance(given, str) else tuple(given or ())
        for fact in marked:
            check_choice(fact, f"fact in {name}{of}", facts)
        for other, known in every.items():
            if twice := next((fact for fact in known if fact in marked), ""):
                raise InvalidSchema(f"fact in {name}{of}", twice, f"not in {other}, too")
        every[name] = tuple(fact for fact in facts if fact in marked)
    return every
