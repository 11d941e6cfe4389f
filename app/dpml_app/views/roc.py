"""ROC curves: released ones with their spread, exact ones, and the region that a claim of ε leaves to an attacker."""

import math
from collections.abc import Mapping
from itertools import cycle
from typing import Any

import holoviews as hv
import numpy as np

from dpml._validate import check_epsilon
from dpml.exceptions import InvalidData, InvalidParameter
from dpml_app.drawing.styles import BAND_ALPHA, COST, EXACT, PALETTE, REFERENCE
from dpml_app.views.frame import AXES, framed

FAINT = 0.35


def roc(
    released: Any = None,
    *,
    exact: Any = None,
    band: Any = None,
    claim: float | None = None,
    **look: Any,
) -> hv.Overlay:
    """Return ROC curves in one square.

    Parameters
    ----------
    released : pair of arrays, or mapping of str to pairs, optional
        False and true positive rates of releases: each pair has a row for each draw. One curve alone is taken with its
        `band`.
    exact : pair of arrays, or mapping of str to pairs, optional
        Curves without noise.
    band : object, optional
        What `ReleasedEvaluation.roc_band` returns: ``fpr``, ``tpr_low`` and ``tpr_high``.
    claim : float, optional
        An ε: the region is drawn that every attacker stays in if it is true (Antonova 2016, eq. 2.6 and 2.7).
    **look
        Options of HoloViews for the whole.

    Returns
    -------
    holoviews.Overlay

    Raises
    ------
    InvalidData
        A released curve has one draw and no band, or rates are not from 0 to 1.
    InvalidParameter
        There is nothing to draw.

    Examples
    --------
    >>> len(roc(exact=([0, 0.2, 1], [0, 0.9, 1]), claim=1.0))
    3
    """
    if released is None and exact is None and band is None:
        raise InvalidParameter("released", released, "a pair of rates, unless exact or band is given")
    x, y = (hv.Dimension(name, label=AXES[name].label) for name in ("fpr", "tpr"))

    def area(columns: Any, label: str, color: str) -> Any:
        return hv.Area(columns, x, [y, "high"], label=label).opts(color=color, alpha=BAND_ALPHA, line_width=0)

    layers: list[Any] = [hv.Curve(([0, 1], [0, 1]), x, y).opts(color=REFERENCE, line_dash="dotted", line_width=1)]
    if claim is not None:
        most_errors = 1 / (1 + math.exp(check_epsilon(claim, "claim")))
        fpr, tpr = (0.0, most_errors, 1.0), (0.0, 1 - most_errors, 1.0)
        layers.append(area((fpr, fpr, tpr), f"largest region at ε = {claim:g}", PALETTE[2]))
    if band is not None:
        layers.append(area((band.fpr, band.tpr_low, band.tpr_high), "its 90% band", PALETTE[0]))
    for curves, name, colors in ((released, "released", PALETTE), (exact, "exact", (EXACT, COST, *PALETTE))):
        named = curves if isinstance(curves, Mapping) else {} if curves is None else {name: curves}
        for (label, pair), color in zip(named.items(), cycle(colors), strict=False):
            draws = _draws(label, *pair)
            if name == "released" and len(draws) == 1 and band is None:
                raise InvalidData(f"{label}: one draw says nothing of its spread: give more draws or the band")
            alpha = 1.0 if len(draws) == 1 else FAINT
            layers += [hv.Curve(one, x, y, label=label).opts(color=color, alpha=alpha, line_width=2) for one in draws]
    look = {"width": 460, "height": 420, "legend_position": "bottom_right", **look}
    return framed(layers, AXES["fpr"], AXES["tpr"], **look)


def _draws(label: str, fpr: Any, tpr: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the pairs of rates of each draw; draws may have different numbers of points."""
    pairs = list(zip(fpr, tpr, strict=True)) if np.ndim(fpr[0]) else [(fpr, tpr)]
    curves = [(np.asarray(f, dtype=float), np.asarray(t, dtype=float)) for f, t in pairs]
    if any(not ((rates >= 0) & (rates <= 1)).all() for curve in curves for rates in curve):
        raise InvalidData(f"{label}: a rate is not from 0 to 1")
    return curves
