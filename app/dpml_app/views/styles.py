"""The colour and marker of each series: a method's own, as in the app, or one that no other series of the plot has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dpml.methods import METHODS
from dpml_app.drawing.looks import LOOKS, PALETTE, Style
from dpml_app.views.axes import axis

__all__ = ["MARKERS", "STUDIES", "styles_of"]

# the method of a sweep's study; of one with several methods, the one that stands for it
STUDIES = {each.sweep: each.key for each in METHODS.values() if each.sweep}
STUDIES |= {METHODS[key].sweep: key for key in ("smooth", "objective")}
MARKERS = ("circle", "square", "triangle", "diamond", "inverted_triangle", "star", "hex", "plus")
LABELS = {style.label: style for style in LOOKS.values()}


def styles_of(
    groups: Sequence[tuple], columns: Sequence[str], names: Mapping[Any, str] | None = None
) -> dict[tuple, Style]:
    """Return the style of each group of a table, whose values stand in these columns.

    `names` says what a value is called. A method of the app keeps its colour and marker under another name, and a name
    that the app has brings them.

    Examples
    --------
    >>> styles_of([("row-bounded-naive-bayes",), (3,)], ["study"])[("row-bounded-naive-bayes",)].color
    '#009E73'
    >>> styles_of([(3.0,)], ["n_features"])[(3.0,)].label
    'T = 3'
    """
    known = {group: _known(group, names or {}) for group in groups}
    taken = {style.color for style in known.values() if style is not None}
    free = [color for color in PALETTE if color not in taken] + list(PALETTE)
    made: dict[tuple, Style] = {}
    for group in groups:
        style = known[group]
        if style is None:
            new = len([one for one in made if known[one] is None])
            style = Style(_label(group, columns, names or {}), free[new % len(free)], MARKERS[new % len(MARKERS)])
        made[group] = style
    return made


def _known(group: tuple, names: Mapping[Any, str]) -> Style | None:
    """Return the app's style of a method; a setting beside it makes another series of it."""
    told = [value for value in group if value == value]  # NaN: a setting that the method does not have
    if len(told) != 1:
        return None
    own = _look(told[0])
    name = names.get(told[0])
    return own if name is None else _look(name) or (own and replace(own, label=name))


def _look(name: Any) -> Style | None:
    return LOOKS.get(STUDIES.get(name, name)) or LABELS.get(name) if isinstance(name, str) else None


def _label(group: tuple, columns: Sequence[str], names: Mapping[Any, str]) -> str:
    return ", ".join(_said(value, c, names) for c, value in zip(columns, group, strict=True) if value == value)


def _said(value: Any, column: str, names: Mapping[Any, str]) -> str:
    if value in names:
        return names[value]
    if isinstance(value, str):
        style = LOOKS.get(STUDIES.get(value, value))
        return style.label if style else value
    symbol = axis(column).symbol or axis(column).label
    return f"{symbol} = {value:g}" if isinstance(value, int | float) else f"{symbol} = {value}"
