"""The colour and marker of each series: a method's own, as in the app, or one that no other series of the plot has."""

from collections.abc import Sequence
from functools import cache
from itertools import cycle
from typing import Any

import pandas as pd

from dpml.registry import method, of_family
from dpml_app.drawing.styles import PALETTE, STYLES, Style, all_styles, style_of
from dpml_app.views.frame import axis

__all__ = ["grouped"]

MARKERS = ("circle", "square", "triangle", "diamond", "inverted_triangle", "star", "hex", "plus")


def grouped(table: pd.DataFrame, keys: Sequence[str]) -> list[tuple[Style, pd.DataFrame]]:
    """Return the style and the rows of each series; without keys one, the mean.

    >>> table = pd.DataFrame({"n_features": [3, 3, None], "study": [None, None, "row-bounded-naive-bayes"]})
    >>> [(style.label, style.color) for style, _rows in grouped(table, ["study", "n_features"])]
    [('T = 3', '#0072B2'), ('Row-bounded', '#009E73')]
    """
    if not keys:
        return [(Style("mean", PALETTE[0], "circle"), table)]
    groups = dict(list(table.groupby(list(keys), sort=False, dropna=False)))
    known = {group: _known(group) for group in groups}
    taken = {style.color for style in known.values() if style is not None}
    colors, markers = cycle([*(color for color in PALETTE if color not in taken), *PALETTE]), cycle(MARKERS)
    return [
        (known[group] or Style(_label(group, keys), next(colors), next(markers)), rows)
        for group, rows in groups.items()
    ]


def _known(group: tuple) -> Style | None:
    """Return the app's style of a method; a setting beside it makes another series of it."""
    values = [value for value in group if not pd.isna(value)]  # a setting that the method does not have
    return _methods().get(values[0]) if len(values) == 1 else None


# made when a plot first names a series: they need the claims of all methods, whose import takes longer than a plot's
@cache
def _methods() -> dict[Any, Style]:
    """Return the styles by label, key and study.

    A key of several families is the last one's. "exact" is rarely a choice of features. Of a study with several
    methods, one stands for it.
    """
    families = ("noise", "publisher", "selector", "classifier")
    styles = {style.label: style for style in all_styles()}
    styles |= {key: style_of(key, family) for family in families for key in STYLES[family] if key != "exact"}
    studies = {each.sweep: each.key for each in of_family() if each.sweep}
    studies |= {method(key).sweep: key for key in ("smooth", "objective")}
    return styles | {study: styles[key] for study, key in studies.items() if key in styles}


def _label(group: tuple, columns: Sequence[str]) -> str:
    return ", ".join(_said(value, c) for c, value in zip(columns, group, strict=True) if not pd.isna(value))


def _said(value: Any, column: str) -> str:
    if isinstance(value, str):
        style = _methods().get(value)
        return style.label if style else value
    symbol = axis(column).symbol or axis(column).label
    return f"{symbol} = {value:g}" if isinstance(value, int | float) else f"{symbol} = {value}"
