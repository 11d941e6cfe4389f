"""Scores that an attacker tries on the outputs of two data sets, and the lower bound on ε from an event."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

FloatArray = NDArray[np.float64]

Score = Callable[[Any], Any]
# A frequency table of outputs is a useful attacker only if outputs repeat.
MOST_DISTINCT = 4096
# Coordinates that the linear attacker uses, and coordinates that are tried one by one.
MOST_COORDINATES = 200
SINGLE_COORDINATES = 8
# Number of thresholds whose bound is computed exactly.
MOST_LIKELY = 100


def _frequencies(first: FloatArray, second: FloatArray) -> Score | None:
    """Score an output by how much more often it came from the first data set; None if outputs hardly repeat."""
    rows = np.concatenate([first, second])
    # continuous outputs do not repeat, which a few of them show
    if len(np.unique(rows[:: max(len(rows) // 1000, 1)], axis=0)) > 500:
        return None
    codes = _codes(rows)
    distinct, where = np.unique(codes, return_inverse=True)
    if len(distinct) > min(MOST_DISTINCT, len(rows) // 8):
        return None
    ones = np.bincount(where[: len(first)], minlength=len(distinct))
    twos = np.bincount(where[len(first) :], minlength=len(distinct))
    # an unseen output is evidence for neither data set
    scores = np.append(np.log((ones + 0.5) / (twos + 0.5)), 0.0)

    def score(x: Any) -> FloatArray:
        codes = _codes(as_rows(x))
        place = np.minimum(np.searchsorted(distinct, codes), len(distinct) - 1)
        return scores[np.where(distinct[place] == codes, place, len(distinct))]

    return score


def _codes(rows: FloatArray) -> NDArray[np.uint64]:
    """Return a hash of each row. Rows that collide share a score, which only makes the attacker weaker."""
    bits = np.ascontiguousarray(rows + 0.0).view(np.uint64)
    odd = np.asarray(np.random.default_rng(0).integers(1, 2**63, rows.shape[1], dtype=np.uint64)) | np.uint64(1)
    codes = np.zeros(len(rows), dtype=np.uint64)
    for k in range(rows.shape[1]):
        # floats with few digits differ in their high bits only, which the product would shift out
        codes += (bits[:, k] ^ (bits[:, k] >> np.uint64(32))) * odd[k]
    return codes


def direction(first: FloatArray, second: FloatArray) -> Score:
    """Score an output by Fisher's linear discriminant, on coordinates clipped against heavy tails."""
    # a part of the draws is enough to estimate centre and spread
    step = max(len(first) // 20_000, 1)
    both = np.concatenate([first[::step], second[::step]])
    centre = np.median(both, axis=0)
    spread = np.median(np.abs(both - centre), axis=0)
    spread[spread == 0] = 1.0
    # the coordinates that differ most; with more, the covariance would take long
    gap = np.abs(first.mean(axis=0) - second.mean(axis=0)) / spread
    chosen = np.sort(np.argsort(-gap, kind="stable")[:MOST_COORDINATES])

    def standard(x: Any) -> FloatArray:
        return np.clip((as_rows(x)[:, chosen] - centre[chosen]) / spread[chosen], -20, 20)

    one, two = standard(first), standard(second)
    covariance = np.atleast_2d(np.cov(one, rowvar=False) + np.cov(two, rowvar=False))
    ridge = 1e-6 * np.trace(covariance) / len(covariance) + 1e-12
    weights = np.linalg.solve(covariance + ridge * np.eye(len(covariance)), one.mean(axis=0) - two.mean(axis=0))
    return lambda x: standard(x) @ weights


def _coordinate(k: int, centre: float | None) -> Score:
    if centre is None:
        return lambda x: as_rows(x)[:, k]
    return lambda x: np.abs(as_rows(x)[:, k] - centre)


def as_rows(outputs: Any) -> FloatArray:
    """Return outputs of any shape as rows of floats."""
    array = np.asarray(outputs, dtype=float)
    return array.reshape(len(array), -1)


def attackers(first: FloatArray, second: FloatArray) -> Iterable[tuple[str, Score]]:
    """Yield the scores that an attacker tries, by name.

    Parameters
    ----------
    first, second : ndarray of shape (draws, k)
        Outputs from the data and from the neighbour.

    Yields
    ------
    name : str
        Name of the score.
    score : callable
        Maps an array of outputs to one score each, larger where the data are likelier.

    See Also
    --------
    attack_outputs : Chooses the best event of these scores.
    """
    frequencies = _frequencies(first, second)
    if frequencies is not None:
        yield "frequency of the output", frequencies
    if first.shape[1] > 1:
        yield "linear discriminant of the output", direction(first, second)
    gap = np.abs(np.median(first, axis=0) - np.median(second, axis=0))
    for k in np.argsort(-gap, kind="stable")[:SINGLE_COORDINATES]:
        yield f"coordinate {k}", _coordinate(k, None)
        yield f"distance of coordinate {k}", _coordinate(k, float(np.median(second[:, k])))


def clopper_pearson(counts: Any, n: int, alpha: float) -> tuple[FloatArray, FloatArray]:
    """Return one-sided Clopper-Pearson limits of the probabilities behind counts of n draws, `alpha`/2 each."""
    k = np.asarray(counts, float)
    # k = 0 and k = n are special cases
    low = np.where(k > 0, betaincinv(np.maximum(k, 1), n - k + 1, alpha / 2), 0.0)
    high = np.where(k < n, betaincinv(k + 1, np.maximum(n - k, 1), 1 - alpha / 2), 1.0)
    return low, high


def lower_bounds(hits: Any, misses: Any, n: int, delta: float, alpha: float) -> FloatArray:
    """Return lower bounds on ε of confidence 1 - `alpha`, from the counts of events."""
    low, high = clopper_pearson(hits, n, alpha)[0], clopper_pearson(misses, n, alpha)[1]
    with np.errstate(divide="ignore"):
        return np.maximum(np.log(np.maximum(low - delta, 0.0) / high), 0.0)


@dataclass(frozen=True)
class Event:
    """Event that a score is at or above a threshold, or below it.

    Attributes
    ----------
    threshold : float
        The threshold, in the units of the score.
    above : bool
        True if the event consists of scores at or above the threshold, and false if it consists of those below.
    for_first : bool
        True if the event is evidence for the data, and false if it is evidence for the neighbour.

    See Also
    --------
    Attack : Stores an event and its counts.
    """

    threshold: float
    above: bool
    for_first: bool

    def inside(self, scores: FloatArray) -> NDArray[np.bool_]:
        """Return an indicator of the scores in the event.

        Parameters
        ----------
        scores : ndarray
            The attacker's scores.

        Returns
        -------
        ndarray of bool
            True for each score in the event, in the shape of `scores`.
        """
        return (scores >= self.threshold) == self.above

    def counts(self, first: FloatArray, second: FloatArray) -> tuple[int, int]:
        """Return the number of scores in the event for each data set.

        Parameters
        ----------
        first, second : ndarray of shape (draws,)
            The attacker's scores of the outputs from the data and from the neighbour.

        Returns
        -------
        hits : int
            Count of the data set that the event is evidence for.
        misses : int
            Count of the other data set.
        """
        ours, theirs = (int(self.inside(side).sum()) for side in (first, second))
        return (ours, theirs) if self.for_first else (theirs, ours)


def best_event(first: FloatArray, second: FloatArray, delta: float, alpha: float) -> tuple[float, Event]:
    """Return the largest lower bound on ε over all thresholds of a score, and its event."""
    return best_events(first, second, delta, (alpha,))[0]


def best_events(
    first: FloatArray, second: FloatArray, delta: float, alphas: Iterable[float]
) -> list[tuple[float, Event]]:
    """Return the largest lower bound on ε and its event at each of several levels."""
    n = len(first)
    first, second = np.sort(first), np.sort(second)
    # thresholds are denser in the tails, for rare events
    tail = np.geomspace(1.0 / n, 0.01, 100)
    places = np.unique(np.concatenate([np.linspace(0, 1, 801), tail, 1 - tail]) * (n - 1)).astype(int)
    values = np.unique(np.concatenate([first[places], second[places]]))
    one = n - np.searchsorted(first, values, side="left")
    two = n - np.searchsorted(second, values, side="left")
    kinds = [(True, True), (True, False), (False, True), (False, False)]
    sides = [(one, two), (two, one), (n - one, n - two), (n - two, n - one)]
    hits, misses = (np.concatenate(side) for side in zip(*sides, strict=True))
    # exact limits take long: compute them only where an approximate bound is largest
    rough = np.log(np.maximum(hits - delta * n, 0.5) / (misses + 1))
    rough -= 1.5 * np.sqrt(1 / np.maximum(hits, 0.5) + 1 / (misses + 1))
    likely = np.argsort(-rough, kind="stable")[:MOST_LIKELY]
    events = []
    for alpha in alphas:
        bounds = lower_bounds(hits[likely], misses[likely], n, delta, alpha)
        k = int(bounds.argmax())
        kind, place = divmod(int(likely[k]), len(values))
        events.append((float(bounds[k]), Event(float(values[place]), *kinds[kind])))
    return events


def attacker_roc(first: Any, second: Any, points: int = 200) -> tuple[FloatArray, FloatArray]:
    """Return the ROC curve of an attacker who separates two data sets by a score."""
    first, second = np.asarray(first, float), np.asarray(second, float)
    values = np.unique(np.concatenate([first, second]))
    if len(values) > points:
        values = np.unique(np.quantile(values, np.linspace(0, 1, points)))
    tpr = 1 - np.searchsorted(np.sort(first), values, side="left") / len(first)
    fpr = 1 - np.searchsorted(np.sort(second), values, side="left") / len(second)
    return np.concatenate([[0.0], fpr[::-1], [1.0]]), np.concatenate([[0.0], tpr[::-1], [1.0]])
