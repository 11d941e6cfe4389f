"""From a table of draws to means and bands, and the style of each series; draws of different settings are not mixed."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd

from dpml._validate import check_choice
from dpml.exceptions import InvalidData, InvalidParameter
from dpml_app.drawing.styles import PALETTE, Style, named_styles
from dpml_app.views.frame import axis

# what a band holds, in words
BANDS = {"draws": "mean and 90% of runs", "error": "mean with its 95% interval"}
ERRORS = 1.96
MARKERS = ("circle", "square", "triangle", "diamond", "inverted_triangle", "star", "hex", "plus")
RESULTS = ("mean", "se", "low", "high", "draws")


def tidy(results: Mapping[Any, Any], x: str = "epsilon", y: str = "accuracy", by: str = "method") -> pd.DataFrame:
    """Return a table with one row for each draw, of results that stand in dictionaries or arrays.

    Parameters
    ----------
    results : mapping
        Of each series, a mapping from x to its draws or to one value; or a pair of all x and of the rows of draws.
    x, y, by : str
        Names of the columns.

    Returns
    -------
    DataFrame
        Columns `by`, `x`, ``draw``, `y`.

    Raises
    ------
    InvalidData
        A series has another shape.

    Examples
    --------
    >>> tidy({"Laplace": {0.1: [0.6, 0.7], 1.0: [0.8, 0.9]}})
        method  epsilon  draw  accuracy
    0  Laplace      0.1     0       0.6
    1  Laplace      0.1     1       0.7
    2  Laplace      1.0     0       0.8
    3  Laplace      1.0     1       0.9
    """
    rows: list[tuple[Any, ...]] = []
    for name, series in results.items():
        try:
            for at, values in series.items() if isinstance(series, Mapping) else zip(*series, strict=True):
                draws = np.atleast_1d(np.asarray(values, dtype=float))
                rows += [(name, at, draw, float(value)) for draw, value in enumerate(draws)]
        except (TypeError, ValueError) as error:
            raise InvalidData(f"{name!r} is no mapping from {x} to draws, and no pair of {x} and draws") from error
    return pd.DataFrame(rows, columns=[by, x, "draw", y])


def bands(table: Any, keys: Sequence[str], y: str, *, band: str = "draws", exact: bool = False) -> pd.DataFrame:
    """Return a row for each point: the keys, mean, low and high; low and high are NaN where it is exact.

    A table with a row for each draw is summarised; that of `dpml.sweep.summarise` is taken as it is.
    """
    check_choice(band, "band", tuple(BANDS))
    if not isinstance(table, pd.DataFrame):
        raise InvalidParameter("table", table, "a DataFrame (views.tidy makes one of dictionaries and arrays)")
    summarised = y not in table.columns and "mean" in table.columns
    ends = ["low", "high"] if band == "draws" else ["se"]
    missing = [column for column in [*keys, *(["mean", *ends] if summarised else [y])] if column not in table.columns]
    if missing:
        there = ", ".join(map(str, table.columns))
        raise InvalidData(f"the table has no column {missing[0]!r}. Its columns are {there}")
    if not len(table):
        raise InvalidData("the table has no row")
    within = [*keys, *({"draw"} & set(table.columns))]
    if (summarised or "draw" in within) and table.duplicated(within).any():
        other = [c for c in table.columns if c not in (*within, *RESULTS, y) and table[c].nunique(dropna=False) > 1]
        hint = f" ({', '.join(map(str, other))} differ)" if other else ""
        raise InvalidData(
            f"the table has {' and '.join(within)} several times: pass the column that distinguishes them as by={hint}"
        )
    # imported with the first table: it brings scikit-learn
    means = table.copy() if summarised else import_module("dpml.sweep").summarise(table, keys, y)
    if band == "error":
        means["low"], means["high"] = (means["mean"] + sign * ERRORS * means["se"] for sign in (-1, 1))
    elif "draws" in means.columns:
        means.loc[means["draws"] == 1, ["low", "high"]] = np.nan
    alone = means[means["low"].isna()]
    if len(alone) and not exact:
        at = ", ".join(f"{key} = {alone[key].iloc[0]}" for key in keys)
        raise InvalidData(
            f"one value at {at} says nothing of its spread: give more draws, or say exact=True where a value is "
            "computed and not drawn"
        )
    return means


def grouped(table: pd.DataFrame, by: str | None) -> list[tuple[Style, pd.DataFrame]]:
    """Return the style and the rows of each series, a method's as in the app; without a column one, the mean.

    >>> table = pd.DataFrame({"n_features": [3, 3, 10]})
    >>> [(style.label, style.color, len(rows)) for style, rows in grouped(table, "n_features")]
    [('T = 3', '#0072B2', 2), ('T = 10', '#E69F00', 1)]
    """
    if by is None:
        return [(Style("mean", PALETTE[0], "circle"), table)]
    groups = list(table.groupby(by, sort=False, dropna=False))
    known = [named_styles().get(value) for value, _rows in groups]
    taken = {style.color for style in known if style is not None}
    colors, markers = cycle([*(color for color in PALETTE if color not in taken), *PALETTE]), cycle(MARKERS)
    return [
        (style or Style(_label(value, by), next(colors), next(markers)), rows)
        for style, (value, rows) in zip(known, groups, strict=True)
    ]


def _label(value: Any, column: str) -> str:
    if isinstance(value, str):
        return value
    symbol = axis(column).symbol or axis(column).label
    return f"{symbol} = {value:g}" if isinstance(value, int | float) else f"{symbol} = {value}"
