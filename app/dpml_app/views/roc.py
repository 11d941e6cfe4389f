"""ROC curves: released ones with their spread, exact ones, and the region that a claim of ε leaves to an attacker."""

import math
from collections.abc import Mapping
from typing import Any

import holoviews as hv
import numpy as np

from dpml._validate import check_epsilon
from dpml.exceptions import InvalidData, InvalidParameter
from dpml_app.drawing.styles import BAND_ALPHA, COST, EXACT, PALETTE, REFERENCE
from dpml_app.views.frame import AXES, dimension, framed

__all__ = ["roc"]

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
    x, y = dimension("fpr", AXES["fpr"]), dimension("tpr", AXES["tpr"])
    layers: list[Any] = [hv.Curve(([0, 1], [0, 1]), x, y).opts(color=REFERENCE, line_dash="dotted", line_width=1)]
    if claim is not None:
        layers.append(_region(check_epsilon(claim, "claim"), x, y))
    if band is not None:
        area = hv.Area((band.fpr, band.tpr_low, band.tpr_high), x, [y, "high"], label="its 90% band")
        layers.append(area.opts(color=PALETTE[0], alpha=BAND_ALPHA, line_width=0))
    for i, (label, pair) in enumerate(_named(released, "released")):
        draws = _draws(label, *pair)
        if len(draws) == 1 and band is None:
            raise InvalidData(f"{label}: one draw says nothing of its spread: give more draws, or the release's band")
        alpha = 1.0 if len(draws) == 1 else FAINT
        color = PALETTE[i % len(PALETTE)]
        layers += [hv.Curve(one, x, y, label=label).opts(color=color, alpha=alpha) for one in draws]
    for i, (label, pair) in enumerate(_named(exact, "exact")):
        color = (EXACT, COST, *PALETTE)[i % 8]
        layers += [hv.Curve(one, x, y, label=label).opts(color=color, line_width=2) for one in _draws(label, *pair)]
    look = {"width": 460, "height": 420, "legend_position": "bottom_right", **look}
    return framed(layers, AXES["fpr"], AXES["tpr"], **look)


def _named(curves: Any, name: str) -> list[tuple[str, Any]]:
    return [] if curves is None else list(curves.items()) if isinstance(curves, Mapping) else [(name, curves)]


def _draws(label: str, fpr: Any, tpr: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the pairs of rates of each draw; draws may have different numbers of points."""
    many = np.ndim(fpr[0]) > 0
    pairs = list(zip(fpr, tpr, strict=True)) if many else [(fpr, tpr)]
    curves = [(np.asarray(f, dtype=float), np.asarray(t, dtype=float)) for f, t in pairs]
    for f, t in curves:
        if f.shape != t.shape or f.ndim != 1:
            raise InvalidData(f"{label}: {f.shape} false and {t.shape} true positive rates are no curve")
        if not ((f >= 0) & (f <= 1) & (t >= 0) & (t <= 1)).all():
            raise InvalidData(f"{label}: a rate is not from 0 to 1")
    return curves


def _region(epsilon: float, x: Any, y: Any) -> Any:
    """Return what lies between a guess and the best attacker whom the claim admits."""
    most_errors = 1 / (1 + math.exp(epsilon))
    fpr, tpr = (0.0, most_errors, 1.0), (0.0, 1 - most_errors, 1.0)
    area = hv.Area((fpr, fpr, tpr), x, [y, "bound"], label=f"largest region at ε = {epsilon:g}")
    return area.opts(color=PALETTE[2], alpha=BAND_ALPHA, line_width=0)
