"""The area between two curves. It is exact, so not private."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml.exceptions import InvalidParameter

# Most numbers in memory at a time.
BLOCK_CELLS = 1 << 20


def area_between(fpr1: Any, tpr1: Any, fpr2: Any, tpr2: Any) -> float | NDArray[np.float64]:
    """Return the area between two ROC curves.

    It is the integral over the false positive rate of the absolute difference in true positive rate, exact for
    piecewise linear curves. Vertical steps have no width and add nothing by themselves.

    Parameters
    ----------
    fpr1 : array-like of shape (n_points,) or (draws, n_points)
        Two curves or batches of curves. Fpr increases from 0 to 1 (ties are vertical steps). The two may have
        different numbers of points, and a single curve is compared to each of a batch.
    tpr1 : array-like of shape (n_points,) or (draws, n_points)
        Two curves or batches of curves. Fpr increases from 0 to 1 (ties are vertical steps). The two may have
        different numbers of points, and a single curve is compared to each of a batch.
    fpr2 : array-like of shape (n_points,) or (draws, n_points)
        Two curves or batches of curves. Fpr increases from 0 to 1 (ties are vertical steps). The two may have
        different numbers of points, and a single curve is compared to each of a batch.
    tpr2 : array-like of shape (n_points,) or (draws, n_points)
        Two curves or batches of curves. Fpr increases from 0 to 1 (ties are vertical steps). The two may have
        different numbers of points, and a single curve is compared to each of a batch.

    Returns
    -------
    float or ndarray of shape (draws,)
        Area in [0, 1].

    Raises
    ------
    InvalidParameter
        If an fpr does not increase from 0 to 1, a value is not finite, or shapes do not fit.

    See Also
    --------
    private_roc_curve : Return a private ROC curve.
    roc_from_histogram : Compute ROC curves from counts.

    Notes
    -----
    Privacy: no data is read. The area to an exact curve is not private, so do not publish it. The area is the measure
    of error of Stoddard et al.

    References
    ----------
    - Stoddard, B., Chen, Y. and Machanavajjhala, A. (2014). Differentially private algorithms for empirical
      machine learning. Section 5.2, Table 1.

    Examples
    --------
    >>> area_between([0, 0, 1], [0, 1, 1], [0, 1], [0, 1])
    0.5
    """
    f1, t1 = _check_curve(fpr1, tpr1, "1")
    f2, t2 = _check_curve(fpr2, tpr2, "2")
    single = f1.ndim == 1 and f2.ndim == 1
    f1, t1, f2, t2 = (np.atleast_2d(a) for a in (f1, t1, f2, t2))
    if 1 not in (len(f1), len(f2)) and len(f1) != len(f2):
        raise InvalidParameter("draws of curves 1 and 2", (len(f1), len(f2)), "equal, or 1 for one of them")
    draws = len(f2) if len(f1) == 1 else len(f1)
    f1, t1 = (np.broadcast_to(a, (draws, a.shape[1])) for a in (f1, t1))
    f2, t2 = (np.broadcast_to(a, (draws, a.shape[1])) for a in (f2, t2))
    areas = np.empty(draws)
    rows = max(BLOCK_CELLS // (f1.shape[1] + f2.shape[1]), 1)
    for start in range(0, draws, rows):
        block = slice(start, start + rows)
        areas[block] = _areas(f1[block], t1[block], f2[block], t2[block])
    return float(areas[0]) if single else areas


def _check_curve(fpr: Any, tpr: Any, which: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    f, t = np.asarray(fpr, dtype=float), np.asarray(tpr, dtype=float)
    if f.ndim not in (1, 2) or f.shape != t.shape or f.shape[-1] < 2 or f.shape[0] < 1:
        shapes, allowed = f"{f.shape} and {t.shape}", "equal, (n_points,) or (draws, n_points)"
        raise InvalidParameter(f"shapes of fpr{which} and tpr{which}", shapes, allowed)
    if not np.isfinite(t).all():
        raise InvalidParameter(f"tpr{which}", tpr, "finite")
    if not ((f[..., 0] == 0) & (f[..., -1] == 1)).all() or not (f[..., 1:] >= f[..., :-1]).all():
        raise InvalidParameter(f"fpr{which}", fpr, "increasing from 0 to 1")
    return f, t


def _areas(f1: NDArray, t1: NDArray, f2: NDArray, t2: NDArray) -> NDArray[np.float64]:
    """Return the areas between two batches of curves, row by row."""
    n = f1.shape[1]
    fpr = np.concatenate([f1, f2], axis=1)
    order = np.argsort(fpr, axis=1, kind="stable")
    fpr = np.take_along_axis(fpr, order, axis=1)
    # number of points of each curve at or left of each breakpoint; of ties the last counts, the others have no width
    passed1 = np.cumsum(order < n, axis=1)
    passed2 = np.arange(1, fpr.shape[1] + 1) - passed1
    left1, right1 = _between(f1, t1, fpr, passed1)
    left2, right2 = _between(f2, t2, fpr, passed2)
    left, right = left1 - left2, right1 - right2
    ends = np.abs(left) + np.abs(right)
    # where the curves cross inside an interval the area is that of two triangles
    crossing = (left**2 + right**2) / (2 * np.where(ends > 0, ends, 1.0))
    height = np.where(left * right >= 0, ends / 2, crossing)
    return np.sum(height * np.diff(fpr, axis=1), axis=1)


def _between(f: NDArray, t: NDArray, fpr: NDArray, passed: NDArray) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return a curve's limits at both ends of each interval between breakpoints, from inside the interval."""
    i = np.clip(passed[:, :-1] - 1, 0, f.shape[1] - 2)
    x0, x1 = np.take_along_axis(f, i, axis=1), np.take_along_axis(f, i + 1, axis=1)
    y0, y1 = np.take_along_axis(t, i, axis=1), np.take_along_axis(t, i + 1, axis=1)
    width = np.where(x1 > x0, x1 - x0, 1.0)
    at = [y0 + (np.clip(x, x0, x1) - x0) / width * (y1 - y0) for x in (fpr[:, :-1], fpr[:, 1:])]
    return at[0], at[1]
