"""Code of a card that has none of its own: the calls behind it, and its own layout of their results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpml_app.code.calls import called, imported, written, written_call
from dpml_app.code.script import Code
from dpml_app.core.card import Card, Place, Values
from dpml_app.work.pool import Chunk

__all__ = ["generated"]


def generated(card: Card, room: str, work: Mapping[Place, Chunk], values: Values, facts: Chunk | None) -> Code:
    """Return code that makes the calls behind a card, one by one, and has the card lay out their results."""
    kind: Any = type(card)
    names = called(chunk.function for chunk in ([facts] if facts else []) + list(work.values()))
    names |= {f: "facts_of" for f, name in names.items() if name == "facts"}
    imports = imported(names)
    imports |= {f"from {kind.__module__} import {kind.__name__}", "from dpml_app.code.tables import tables_of"}
    if facts is None:
        known = ["facts = {}"]
    else:
        told = ['settings["dataset"]', *(repr(each) for each in facts.arguments[1:])]
        known = [
            "# what is known of the data set",
            *written_call(facts.function, told, "facts = ", name=names[facts.function]),
        ]
    lines = [
        *known,
        "",
        "# every result behind the plot, under its series and its place",
        "results = {}",
        *written(work, values, room, names),
        "",
        "# means, quantiles and references, as the plot shows them",
        f"tables = tables_of({kind.__name__}(), settings, facts, results)",
    ]
    return Code(tuple(sorted(imports)), "\n".join(lines), tuple(values))
