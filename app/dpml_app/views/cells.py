"""A map of two settings: the mean in each cell, the best one in each column, and those that may be as good."""

from typing import Any

import holoviews as hv
import numpy as np
import pandas as pd

from dpml_app.views.frame import SIZES, WIDTH, axis
from dpml_app.views.tables import bands, check_columns

__all__ = ["map"]

# a cell is as good as the best within so many standard errors of their difference
ERRORS = 2.0


def map(  # noqa: A001
    table: pd.DataFrame,
    x: str = "epsilon",
    y: str = "n_features",
    value: str = "accuracy",
    *,
    title: str = "",
    **look: Any,
) -> hv.Overlay:
    """Return a heat map of the means; in each column a ring is around the best cell, and a dot in each of its equals.

    Equal means: not worse than the best by more than two standard errors of the difference. It is taken draw by draw,
    for a sweep pairs its draws.

    Parameters
    ----------
    table : DataFrame
        From `dpml.sweep.sweep`: a row for each draw, and the column ``draw``.
    x, y, value : str
        Columns.
    title : str
    **look
        Options of HoloViews for the whole.

    Returns
    -------
    holoviews.Overlay

    Raises
    ------
    InvalidData
        A column is missing, there is one draw, or draws of different settings would be mixed.

    Examples
    --------
    >>> rows = [(e, t, d, e * t + d / 10) for e in (0.1, 1.0) for t in (1, 2) for d in (0, 1)]
    >>> view = map(pd.DataFrame(rows, columns=["epsilon", "n_features", "draw", "accuracy"]))
    >>> [type(part).__name__ for part in view]
    ['HeatMap', 'Points', 'Points']
    """
    check_columns(table, [x, y, value, "draw"])
    means = bands(table, [x, y], value, band="error")
    names = {column: [_text(at) for at in sorted(means[column].unique())] for column in (x, y)}
    at, of = axis(x, log=False), axis(y, log=False)
    kdims = [hv.Dimension(x, label=at.label), hv.Dimension(y, label=of.label)]
    shown = means.assign(**{column: means[column].map(_text) for column in (x, y)}).rename(columns={"mean": value})
    shown = (
        shown.set_index([y, x]).reindex([(b, a) for b in names[y] for a in names[x]]).dropna(how="all").reset_index()
    )
    heat = hv.HeatMap(shown, kdims, [hv.Dimension(value, label=axis(value).label), "low", "high", "draws"])
    heat = heat.opts(cmap="viridis", colorbar=True, tools=["hover"], clabel=axis(value).label)
    best, equal = _marks(table, x, y, value)
    rings = hv.Points(best, kdims).opts(fill_alpha=0, line_color="white", line_width=2.5, size=16)
    dots = hv.Points(equal, kdims).opts(color="white", line_color="black", size=6)
    words = f"{title}{': ' if title else ''}ring: best of its column, dot: within two standard errors of it"
    options = {"width": WIDTH, "fontsize": SIZES, "height": 360, "title": words, "xlabel": at.label, "ylabel": of.label}
    return (heat * rings * dots).opts(**{**options, "show_legend": False, **look})


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float | np.number) else str(value)


def _marks(table: pd.DataFrame, x: str, y: str, value: str) -> tuple[list, list]:
    """Return the best cell of each column, and the others that are not clearly worse."""
    best, equal = [], []
    for at, mine in table.groupby(x, sort=True):
        draws = mine.pivot(index="draw", columns=y, values=value)
        first = draws.mean().idxmax()
        best.append((_text(at), _text(first)))
        behind = draws.rsub(draws[first], axis=0).drop(columns=first)
        error = behind.std() / np.sqrt(behind.count())
        equal += [
            (_text(at), _text(other)) for other in behind.columns if behind[other].mean() <= ERRORS * error[other]
        ]
    return best, equal
