"""Which ε a stated accuracy needs, with an interval, from draws at some values of ε."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_number
from dpml.exceptions import InvalidParameter


class NeededEpsilon(NamedTuple):
    """Hold the smallest ε whose mean reaches a target, with its interval.

    A value is infinite if no ε that was tried reaches the target.

    Parameters
    ----------
    epsilon : float
        Smallest ε whose mean reaches the target.
    low : float
        Lower end of the interval.
    high : float
        Upper end of the interval.

    See Also
    --------
    needed_epsilon : Compute it from draws.
    best_needed : Compute it for the best method.

    Notes
    -----
    Privacy: no data is read.
    """

    epsilon: float
    low: float
    high: float


def needed_epsilon(epsilons: Any, draws: Any, target: float, *, errors: float = 2.0) -> NeededEpsilon:
    """Return the smallest ε at which the mean of the draws reaches a target.

    The mean is interpolated linearly in log ε between values that were tried. At the ends of the interval, the mean
    plus and minus `errors` standard errors first reaches the target. The interval shows the uncertainty of a study with
    few draws, not the spread of one release.

    Parameters
    ----------
    epsilons : array of shape (E,)
        Values of ε, each greater than 0, in ascending order.
    draws : array of shape (E, n)
        Measure of n runs at each ε, such as test accuracies, with n >= 2.
    target : float
        Value that the mean must reach.
    errors : float, default=2.0
        Number of standard errors to either side, at least 0.

    Returns
    -------
    NeededEpsilon
        Smallest ε and its interval.

    See Also
    --------
    best_needed : Smallest ε of the best method and settings.
    frontier : Best method and settings at each ε.

    Notes
    -----
    The computation is a study of known data and spends no budget. A
    choice of ε from private data is a release of its own.

    Examples
    --------
    >>> needed_epsilon([0.1, 1.0], [[0.7, 0.7], [0.9, 0.9]], 0.8)
    NeededEpsilon(epsilon=0.316, low=0.316, high=0.316)
    >>> needed_epsilon([0.1, 1.0], [[0.7, 0.7], [0.9, 0.9]], 0.95).epsilon
    inf
    """
    at, values = np.asarray(epsilons, dtype=float), np.asarray(draws, dtype=float)
    if at.ndim != 1 or not len(at) or not (at > 0).all() or (np.diff(at) <= 0).any():
        raise InvalidParameter("epsilons", epsilons, "positive numbers in ascending order")
    if values.ndim != 2 or values.shape[0] != len(at) or values.shape[1] < 2:
        raise InvalidParameter(
            "draws", f"an array of shape {values.shape}", f"an array of shape ({len(at)}, n), n >= 2"
        )
    check_number(target, "target")
    check_number(errors, "errors", 0.0)
    mean = values.mean(axis=1)
    error = errors * values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
    crossings = (_first(at, curve, target) for curve in (mean, mean + error, mean - error))
    return NeededEpsilon(*(float(f"{epsilon:.3g}") for epsilon in crossings))


def _first(at: NDArray[np.float64], curve: NDArray[np.float64], target: float) -> float:
    """Return where a curve first reaches a target; at the first value that was tried it may do so earlier."""
    reached = np.flatnonzero(curve >= target)
    if not len(reached):
        return np.inf
    place = int(reached[0])
    if place == 0:
        return float(at[0])
    before, after = curve[place - 1], curve[place]
    share = (target - before) / (after - before)
    return float(np.exp((1 - share) * np.log(at[place - 1]) + share * np.log(at[place])))
