"""Things beside one another, best first: a mean and a whisker for each, and one colour for each series."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import holoviews as hv
import numpy as np
import pandas as pd

from dpml_app.drawing.styles import REFERENCE, Style
from dpml_app.views.frame import LEVEL_DASHES, axis, dimension, framed
from dpml_app.views.styles import grouped
from dpml_app.views.tables import BANDS, bands, columns_of

__all__ = ["ranked"]

# between two things are one step; the series of one thing share this much of it
ROOM = 0.6


def ranked(
    table: pd.DataFrame,
    of: str,
    value: str,
    by: str | Sequence[str] | None = None,
    *,
    band: str = "draws",
    exact: bool | Collection[str] = False,
    levels: Mapping[str, float] | None = None,
    names: Mapping[Any, str] | None = None,
    order: Sequence[Any] | None = None,
    **look: Any,
) -> hv.Overlay:
    """Return a row for each thing: the mean of each series, and a whisker that holds its draws.

    Parameters
    ----------
    table : DataFrame
        With a row for each draw, or from `dpml.sweep.summarise`.
    of, value : str
        The column that names the things, and the column of what is measured.
    by : str or sequence of str, optional
        The columns that tell one series from another.
    band, exact, names
        As for `curve`.
    levels : mapping of str to float, optional
        Vertical lines to compare with, by their names.
    order : sequence, optional
        The things from top to bottom; default: by the mean of the first series, the largest first.
    **look
        Options of HoloViews for the whole.

    Returns
    -------
    holoviews.Overlay

    Raises
    ------
    InvalidData
        As for `curve`.

    Examples
    --------
    >>> table = pd.DataFrame({"feature": ["age", "job"], "probability": [0.2, 0.9]})
    >>> view = ranked(table, "feature", "probability", exact=True)
    >>> [name for _place, name in hv.Store.lookup_options("bokeh", view, "plot").kwargs["yticks"]]
    ['job', 'age']
    """
    keys, at = columns_of(by), axis(value, log=False)
    means = bands(table, [*keys, of], value, band=band, exact=exact)
    groups = grouped(means, keys, names)
    first = groups[0][1].sort_values("mean", ascending=False)[of]
    things = list(order) if order is not None else list(dict.fromkeys([*first, *means[of]]))
    places = {thing: -float(i) for i, thing in enumerate(things)}
    x, y = dimension(value, at), hv.Dimension(of, label=of.replace("_", " "))
    step = ROOM / len(groups)
    layers: list[Any] = []
    for i, (style, rows) in enumerate(groups):
        shift = step * ((len(groups) - 1) / 2 - i)
        mine = rows[rows[of].isin(places)].rename(columns={"mean": value})
        mine = mine.assign(**{of: mine[of].map(places).astype(float) + shift})
        layers += _series(mine, x, y, style)
    ends = [min(places.values()) - 0.5, 0.5]
    for i, (name, value_at) in enumerate((levels or {}).items()):
        line = hv.Path([[(value_at, end) for end in ends]], [x, y], label=name)
        layers.append(line.opts(color=REFERENCE, line_width=1.5, line_dash=LEVEL_DASHES[i % len(LEVEL_DASHES)]))
    drawn = means["low"].notna().any()
    words = f"{at.label}, {BANDS[band]}" if drawn else at.label
    look = {
        "yticks": [(place, str(thing)) for thing, place in places.items()],
        "ylim": tuple(ends),
        "height": max(180, 90 + int(np.ceil(len(things) * (18 + 12 * len(groups))))),
        "show_legend": bool(keys or levels),
        "xlabel": words,
        **look,
    }
    return framed(layers, at, axis(of, log=False), **look)


def _series(rows: pd.DataFrame, x: Any, y: Any, style: Style) -> list[Any]:
    layers: list[Any] = []
    if rows["low"].notna().any():
        whiskers = hv.Segments((rows["low"], rows[y.name], rows["high"], rows[y.name]), [x, y, "high", "to"])
        layers.append(whiskers.opts(color=style.color, line_width=2))
    dots = hv.Points(rows, [x, y], ["low", "high", "draws"], label=style.label)
    return [*layers, dots.opts(color=style.color, marker=style.marker, size=9, tools=["hover"])]
