"""Which ε a stated accuracy needs, with an interval, from draws at some values of ε."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_number
from dpml.exceptions import InvalidParameter


class NeededEpsilon(NamedTuple):
    """The smallest ε whose mean reaches a target, and where it may lie; infinite where none that was tried does."""

    epsilon: float
    low: float
    high: float


def needed_epsilon(epsilons: Any, draws: Any, target: float, *, errors: float = 2.0) -> NeededEpsilon:
    """Return the smallest ε at which the mean over draws reaches a target.

    The mean is interpolated linearly in log ε between values that were tried. The interval's ends are where the mean
    plus and minus `errors` standard errors first reach the target: the uncertainty of a study with few draws, not the
    spread of one release. All of it is a study of known data and spends no ε by itself; a choice of ε that looks at
    private data is a release of its own.

    Parameters
    ----------
    epsilons : array of shape (E,)
        Values of ε, each > 0, in ascending order.
    draws : array of shape (E, n)
        What is to be reached, such as test accuracies of n models at each ε; n >= 2.
    target : float
    errors : float
        Standard errors to either side, >= 0.

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
