"""The colour and marker of each series: a method's own, as in the app, or one that no other series of the plot has."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pandas as pd

from dpml.registry import method, of_family
from dpml_app.drawing.styles import PALETTE, STYLES, Style, all_styles, style_of
from dpml_app.views.frame import axis

__all__ = ["MARKERS", "STUDIES", "grouped", "styles_of"]

# the method of a sweep's study; of one with several methods, the one that stands for it
STUDIES = {each.sweep: each.key for each in of_family() if each.sweep}
STUDIES |= {method(key).sweep: key for key in ("smooth", "objective")}
MARKERS = ("circle", "square", "triangle", "diamond", "inverted_triangle", "star", "hex", "plus")


def styles_of(
    groups: Sequence[tuple], columns: Sequence[str], names: Mapping[Any, str] | None = None
) -> dict[tuple, Style]:
    """Return the style of each group of a table, whose values stand in these columns.

    `names` says what a value is called. A method of the app keeps its colour and marker under another name, and a name
    that the app has brings them.

    >>> styles_of([("row-bounded-naive-bayes",), (3,)], ["study"])[("row-bounded-naive-bayes",)].color
    '#009E73'
    >>> styles_of([(3.0,)], ["n_features"])[(3.0,)].label
    'T = 3'
    """
    known = {group: _known(group, names or {}) for group in groups}
    taken = {style.color for style in known.values() if style is not None}
    free = [color for color in PALETTE if color not in taken] + list(PALETTE)
    styles: dict[tuple, Style] = {}
    for group in groups:
        style = known[group]
        if style is None:
            new = len([one for one in styles if known[one] is None])
            style = Style(_label(group, columns, names or {}), free[new % len(free)], MARKERS[new % len(MARKERS)])
        styles[group] = style
    return styles


def grouped(
    table: pd.DataFrame, keys: Sequence[str], names: Mapping[Any, str] | None
) -> list[tuple[Style, pd.DataFrame]]:
    """Return the style and the rows of each series; without keys one, the mean."""
    if not keys:
        return [(Style("mean", PALETTE[0], "circle"), table)]
    groups = dict(list(table.groupby(list(keys), sort=False, dropna=False)))
    styles = styles_of(list(groups), keys, names)
    return [(styles[group], rows) for group, rows in groups.items()]


def _known(group: tuple, names: Mapping[Any, str]) -> Style | None:
    """Return the app's style of a method; a setting beside it makes another series of it."""
    values = [value for value in group if value == value]  # NaN: a setting that the method does not have
    if len(values) != 1:
        return None
    own = _look(values[0])
    name = names.get(values[0])
    return own if name is None else _look(name) or (own and replace(own, label=name))


# made when a plot first names a series: they need the claims of all methods, whose import takes longer than a plot's
@cache
def _by_label() -> dict[str, Style]:
    return {style.label: style for style in all_styles()}


@cache
def _by_key() -> dict[str, Style]:
    """Return the styles by key; one of several families is the last one's. "exact" is rarely a choice of features."""
    families = ("noise", "publisher", "selector", "classifier")
    return {key: style_of(key, family) for family in families for key in STYLES[family] if key != "exact"}


def _look(name: Any) -> Style | None:
    return _by_key().get(STUDIES.get(name, name)) or _by_label().get(name) if isinstance(name, str) else None


def _label(group: tuple, columns: Sequence[str], names: Mapping[Any, str]) -> str:
    return ", ".join(_said(value, c, names) for c, value in zip(columns, group, strict=True) if value == value)


def _said(value: Any, column: str, names: Mapping[Any, str]) -> str:
    if value in names:
        return names[value]
    if isinstance(value, str):
        style = _by_key().get(STUDIES.get(value, value))
        return style.label if style else value
    symbol = axis(column).symbol or axis(column).label
    return f"{symbol} = {value:g}" if isinstance(value, int | float) else f"{symbol} = {value}"
