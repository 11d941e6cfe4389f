"""Plain values as Python writes them."""

from __future__ import annotations

import json
import math
from typing import Any

from dpml_app import uploaded_table

WIDTH = 100
DATASET = "settings.dataset"


def literal(value: Any) -> str:
    """Return a plain value as Python writes it; a session's table is read from a file, so it goes by its setting.

    Examples
    --------
    >>> literal((0.1, "toy", None)), literal(("own-1f", 3))
    ('(0.1, "toy", None)', '(settings.dataset, 3)')
    >>> literal({"price": "number"})
    '{"price": "number"}'
    """
    if uploaded_table.is_uploaded(value):
        return DATASET
    if isinstance(value, tuple):
        inside = ", ".join(map(literal, value))
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{literal(name)}: {literal(each)}" for name, each in value.items()) + "}"
    if value is not None and not isinstance(value, bool | int | float | str):
        raise TypeError(f"an argument of a script is a plain value, not {type(value).__name__}")
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    # what JSON writes of a text, Python reads as the same
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
