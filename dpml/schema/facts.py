"""Which facts were read off the data, and which of those a person has confirmed: the marks that a schema keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dpml._validate import check_choice
from dpml.exceptions import InvalidSchema

if TYPE_CHECKING:
    from dpml.schema.schema import Schema

# what can be read off the data: of a column, by its kind, and of the whole table
OF_KIND = {"binary": ("kind",), "categorical": ("categories",), "numeric": ("lower", "upper")}
OF_TABLE = ("classes", "row_bound", "n_rows", "n_lower", "ignored")


def check_marks(marks: Mapping[str, Any], facts: tuple[str, ...], of: str = "") -> dict[str, tuple[str, ...]]:
    """Return the facts of each mark in their order; True stands for all of them, and none has two marks."""
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


def unconfirmed(schema: Schema) -> tuple[str, ...]:
    """Return the names of the facts that were read off the data and that nobody has confirmed."""
    return (*(f"{fact} of {f.name!r}" for f in schema.features for fact in f.data_derived), *schema.data_derived)


def confirm(schema: Schema, name: str, facts: tuple[str, ...]) -> Schema:
    """Return a schema in which a person has confirmed some facts: see `Schema.confirm`."""
    if not facts:
        if name not in schema.data_derived:
            allowed = "a fact of the table that is in data_derived; of a column, name the column and then its facts"
            raise InvalidSchema("fact", name, allowed)
        return replace(schema, **_moved(schema, (name,)))
    features = {f.name: f for f in schema.features}
    if name not in features:
        raise InvalidSchema("column", name, "a feature of the schema")
    for fact in facts:
        if fact not in features[name].data_derived:
            marked = ", ".join(features[name].data_derived) or "none"
            raise InvalidSchema(
                f"fact of {name!r}", fact, f"one that was read off the data and is not confirmed: {marked}"
            )
    features[name] = replace(features[name], **_moved(features[name], facts))
    return replace(schema, features=tuple(features.values()))


def _moved(holder: Any, facts: tuple[str, ...]) -> dict[str, Any]:
    left = tuple(fact for fact in holder.data_derived if fact not in facts)
    return {"data_derived": left, "confirmed": (*holder.confirmed, *facts)}
