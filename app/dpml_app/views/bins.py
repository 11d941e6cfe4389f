"""Draws themselves, counted in bins."""

from collections.abc import Mapping
from typing import Any

import holoviews as hv
import numpy as np

from dpml.exceptions import InvalidData
from dpml_app.drawing.styles import EXACT, PALETTE, REFERENCE
from dpml_app.views.frame import Axis, framed

__all__ = ["histogram"]

# of a count, in standard deviations: 95 %
ERRORS = 1.96


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
