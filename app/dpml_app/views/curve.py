"""Curves over a setting, each with the band of its draws."""

from collections.abc import Mapping
from itertools import cycle
from typing import Any

import holoviews as hv
import numpy as np
import pandas as pd

from dpml_app.drawing.figure import spread
from dpml_app.drawing.styles import REFERENCE, Style
from dpml_app.views.frame import Axis, axis, framed, line
from dpml_app.views.rendered import Table, ViewFigure
from dpml_app.views.tables import BANDS, bands, grouped

# more of them hide their line
MOST_MARKERS = 24
LEVEL_DASHES = ("dashed", "dotted", "dotdash", "dashdot")


def curve(
    table: pd.DataFrame,
    x: str = "epsilon",
    y: str = "accuracy",
    by: str | None = None,
    *,
    band: str = "draws",
    exact: bool = False,
    levels: Mapping[str, float] | None = None,
    **look: Any,
) -> hv.Overlay:
    """Return a curve for each series of a table, with a band around it.

    Parameters
    ----------
    table : DataFrame
        From `dpml.sweep.sweep`, with a row for each draw, or from `dpml.sweep.summarise`.
    x, y : str
        Columns; `y` only names the axis of a table that is summarised.
    by : str, optional
        The column that tells one series from another. A method of the app has its colour and marker there.
    band : {"draws", "error"}
        Whether a band holds 90% of the draws, which is what one release may turn out to be, or the mean with
        95 % confidence (1.96 standard errors), which is how well the study knows it.
    exact : bool
        Whether values that stand alone are computed and not drawn.
    levels : mapping of str to float, optional
        Horizontal lines to compare with, such as the majority class, by their names.
    **look
        Options of HoloViews for the whole, such as ``width``. Without ``logx`` and ``logy``, a known column has its
        own scale.

    Returns
    -------
    holoviews.Overlay

    Raises
    ------
    InvalidData
        A column is missing, a point has a single value that is not called exact, or draws of different settings would
        be mixed.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"epsilon": [0.1, 1.0], "mean": [0.6, 0.8], "low": [0.5, 0.7], "high": [0.7, 0.9]})
    >>> len(curve(table, levels={"majority": 0.55}))
    4
    """
    at, of = axis(x, log=look.get("logx")), axis(y, log=look.get("logy"))
    means = bands(table, [x] if by is None else [by, x], y, band=band, exact=exact)
    # by dimensions of one name, plots side by side share an axis
    kdim, ydim = hv.Dimension(x, label=at.label), hv.Dimension(y, label=of.label)
    layers = []
    for style, rows in grouped(means, by):
        mine = rows.sort_values(x).rename(columns={"mean": y})
        drawn = bool(mine["low"].notna().any())
        layers += series_layers(mine, kdim, ydim, style, marks=len(mine) <= MOST_MARKERS, band=drawn)
    ends = [float(means[x].min()), float(means[x].max())]
    for (name, value), dash in zip((levels or {}).items(), cycle(LEVEL_DASHES), strict=False):
        level = hv.Curve((ends, [value, value]), kdim, ydim, label=name)
        layers.append(level.opts(color=REFERENCE, line_width=1.5, line_dash=dash))
    drawn = means["low"].notna().any()
    words = f"{of.label}, {BANDS[band]}" if drawn else of.label
    legend = {} if by or levels else {"show_legend": False}
    return framed(_bands_first(layers), at, of, **{"ylabel": words, **legend, **look})


def series_layers(
    table: Any, x: Any, middle: Any, style: Style, *, marks: bool, band: bool = True, **named: Any
) -> list[Any]:
    """Return the band of a series between the columns low and high, its line and its markers."""
    ends = ["low", "high"]
    layers: list[Any] = []
    if band:
        layers.append(hv.Area(table, x, ends, label=style.label, **named).opts(**style.band, line_width=0))
    line = hv.Curve(table, x, [middle, *ends], label=style.label, **named)
    layers.append(line.opts(**style.line, tools=[] if marks else ["hover"]))
    if marks:
        dots = hv.Scatter(table, x, [middle, *ends], label=style.label, **named)
        layers.append(dots.opts(**style.dot, size=8, tools=["hover"]))
    return layers


def _bands_first(layers: list[Any]) -> list[Any]:
    """Return layers with every band behind all lines."""
    return sorted(layers, key=lambda layer: not isinstance(layer, hv.Area))


# ---- in the app ------------------------------------------------------------------------------------------------------


class CurveFigure(ViewFigure):
    """A figure of curves with bands, and of level lines.

    `column` and `middle` are the names of columns, `look` are options of HoloViews, and `options` are of `ViewFigure`.
    """

    def __init__(
        self,
        name: str,
        x: Axis,
        y: Axis,
        styles: Mapping[str, Style],
        levels: Mapping[str, Style],
        *,
        column: str = "x",
        middle: str = "mean",
        marks: bool = False,
        tip: str = "0.0%",
        look: Mapping[str, Any],
        **options: Any,
    ):
        def view(tables: Mapping[str, Table]) -> hv.Overlay:
            layers = [line(tables, level, ("x", "y"), style) for level, style in levels.items()]
            return framed([*layers, *self._layers(styles, tables)] or [hv.Curve([])], x, y, **look)

        self._columns, self._marks = (column, middle, "low", "high", "label"), marks
        tips = [("", "@label"), (column, f"@{column}"), (middle, f"@{middle}{{{tip}}}")]
        tips.append(("90% of runs", f"@low{{{tip}}} to @high{{{tip}}}"))
        columns = dict.fromkeys(styles, self._columns) | dict.fromkeys(levels, ("x", "y"))
        super().__init__(name, view, columns, tips, **options)

    def add_series(self, styles: Mapping[str, Style]) -> None:
        """Draw more curves with bands."""
        self.add(lambda tables: hv.Overlay(self._layers(styles, tables)), dict.fromkeys(styles, self._columns))

    def _layers(self, styles: Mapping[str, Style], tables: Mapping[str, Table]) -> list[Any]:
        """Return the elements of curves."""
        x, middle, *_ = self._columns
        layers: list[Any] = []
        for series, style in styles.items():
            layers += series_layers(tables[series], x, middle, style, marks=self._marks, group=series)
        return _bands_first(layers)


def curve_table(points: Mapping[float, np.ndarray], label: str, column: str = "x", middle: str = "mean") -> Table:
    """Return the table of a curve: of the draws at each place the mean or the median, and the ends of 90%."""
    at = sorted(points)
    rows = np.array([spread(points[x], middle) for x in at]).reshape(-1, 3).T
    return dict(zip((column, middle, "low", "high", "label"), (at, *rows, [label] * len(at)), strict=True))
