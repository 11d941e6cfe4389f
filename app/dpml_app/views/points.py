"""Draws themselves: as points of two numbers, and counted in bins."""

from collections.abc import Mapping, Sequence
from typing import Any

import holoviews as hv
import numpy as np
import pandas as pd

from dpml.exceptions import InvalidData
from dpml_app.drawing.styles import EXACT, PALETTE, REFERENCE
from dpml_app.views.frame import Axis, axis, dimension, framed
from dpml_app.views.styles import grouped
from dpml_app.views.tables import check_columns, columns_of

__all__ = ["histogram", "points"]

# of a count, in standard deviations: 95 %
ERRORS = 1.96


def points(
    table: pd.DataFrame,
    x: str,
    y: str,
    by: str | Sequence[str] | None = None,
    *,
    diagonal: bool = False,
    joined: bool = False,
    names: Mapping[Any, str] | None = None,
    **look: Any,
) -> hv.Overlay:
    """Return a dot for each row.

    Parameters
    ----------
    table : DataFrame
        With a row for each draw.
    x, y : str
        Columns.
    by : str or sequence of str, optional
        The columns that tell one series from another.
    diagonal : bool
        Whether the line is drawn on which both are equal.
    joined : bool
        Whether the dots of a series are joined in the order of the rows.
    names, **look
        As for `curve`.

    Returns
    -------
    holoviews.Overlay

    Raises
    ------
    InvalidData
        A column is missing, or there is no row.

    Examples
    --------
    >>> len(points(pd.DataFrame({"stated": [0.2, 0.8], "true": [0.3, 0.7]}), "stated", "true", diagonal=True))
    2
    """
    keys = columns_of(by)
    check_columns(table, [*keys, x, y])
    at, of = axis(x, log=look.pop("logx", None)), axis(y, log=look.pop("logy", None))
    kdims = [dimension(x, at), dimension(y, of)]
    layers: list[Any] = []
    if diagonal:
        ends = [float(table[[x, y]].min().min()), float(table[[x, y]].max().max())]
        layers.append(hv.Curve((ends, ends), *kdims).opts(color=REFERENCE, line_dash="dotted"))
    rest = [column for column in table.columns if column not in (x, y)]
    for style, rows in grouped(table, keys, names, "draws"):
        if joined:
            layers.append(hv.Path([rows[[x, y]]], kdims).opts(color=style.color, line_width=1.5))
        dots = hv.Points(rows, kdims, rest, label=style.label)
        size = 7 if len(rows) < 100 else 3
        layers.append(dots.opts(color=style.color, marker=style.marker, size=size, alpha=0.6, tools=["hover"]))
    return framed(layers, at, of, **{"show_legend": bool(keys), **look})


def histogram(
    values: Any,
    edges: Any,
    *,
    density: bool = False,
    curves: Mapping[str, Any] | None = None,
    noisy: Any = None,
    x: str = "value",
    y: str = "",
    **look: Any,
) -> hv.Overlay:
    """Return how many values are in each bin, and curves to compare with.

    Parameters
    ----------
    values : array
    edges : array
        Of the bins, ascending.
    density : bool
        Whether values are draws of a density: then each bin is a dot at its share of all values for each unit, with
        the 95 % interval of its count (normal approximation).
    curves : mapping of str to pairs of arrays, optional
        Exact curves by their names.
    noisy : array, optional
        A release of the bins' counts, drawn as dots.
    x, y : str
        The axes' names.
    **look
        Options of HoloViews for the whole.

    Returns
    -------
    holoviews.Overlay

    Raises
    ------
    InvalidData
        There are no values, the edges do not ascend, or `noisy` has another number of bins.

    Examples
    --------
    >>> len(histogram([1, 2, 2], [0, 1.5, 3], noisy=[2, 1]))
    2
    """
    values, edges = np.asarray(values, dtype=float).ravel(), np.asarray(edges, dtype=float)
    if not len(values):
        raise InvalidData("there are no values")
    if edges.ndim != 1 or len(edges) < 2 or not (np.diff(edges) > 0).all():
        raise InvalidData("the edges do not ascend")
    count, middle = np.histogram(values, edges)[0], (edges[1:] + edges[:-1]) / 2
    if noisy is not None and len(noisy) != len(count):
        raise InvalidData(f"noisy has {len(noisy)} bins, and the edges have {len(count)}")
    at, of = Axis(x), Axis(y or ("density" if density else "number"), log=look.pop("logy", False))
    kdim, vdim = hv.Dimension(x), hv.Dimension(of.label)
    layers: list[Any] = []
    if density:
        layers += _shares(count, middle, np.diff(edges), len(values), kdim, vdim)
    else:
        layers.append(hv.Histogram((edges, count), kdims=[kdim], vdims=[vdim]).opts(color=REFERENCE, alpha=0.4))
    for i, (name, pair) in enumerate((curves or {}).items()):
        color = (EXACT, *PALETTE)[i % (1 + len(PALETTE))]
        layers.append(hv.Curve(pair, kdim, vdim, label=name).opts(color=color, line_width=2))
    if noisy is not None:
        layers.append(hv.Scatter((middle, noisy), kdim, vdim, label="noisy").opts(color=PALETTE[0], size=8))
    look = {"show_legend": noisy is not None or bool(curves), **look}
    return framed(layers, at, of, **look)


def _shares(count: np.ndarray, middle: np.ndarray, width: np.ndarray, total: int, kdim: Any, vdim: Any) -> list[Any]:
    """Return dots of densities, and whiskers of their 95 % intervals; an empty bin has none on a log axis."""
    seen = count > 0
    share = count[seen] / total
    half = ERRORS * np.sqrt(share * (1 - share) / total)
    # on a log axis nothing goes down to 0
    low = np.maximum(share - half, share / 10)
    at, bottom, middle_of, top = middle[seen], *(part / width[seen] for part in (low, share, share + half))
    whiskers = hv.Segments((at, bottom, at, top), [kdim, vdim, "to", "top"]).opts(color=PALETTE[0], line_width=1)
    return [whiskers, hv.Scatter((at, middle_of), kdim, vdim, label="draws").opts(color=PALETTE[0], size=4)]
