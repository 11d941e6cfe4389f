"""Audits of a mechanism on two neighbours: exact where its cost is known, and otherwise from samples.

A sampled audit plays the attacker. It chooses an event on one half of the draws, counts it on the other half, and turns
the two counts into a lower bound on ε by Clopper-Pearson intervals. It therefore refutes a true claim with probability
at most 1 - confidence.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from dpml._arrays import BoolArray, FloatArray, IntArray
from dpml._validate import check_epsilon, check_integer, check_number, check_rng
from dpml.audit.exact import (
    TOLERANCE,
    HasPrivacyLoss,
    HasPrivacyProfile,
    HasProbabilities,
    exact_epsilon,
    hockey_stick,
    smallest_epsilon,
)
from dpml.exceptions import InvalidParameter

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
    """Yield the scores that an attacker tries, by name; a larger score is evidence for the first data set."""
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
    """A score at or above a threshold, or below it, as evidence for the data (`for_first`) or for the neighbour."""

    threshold: float
    above: bool
    for_first: bool

    def inside(self, scores: FloatArray) -> NDArray[np.bool_]:
        """Return an indicator of the scores in the event."""
        return (scores >= self.threshold) == self.above

    def counts(self, first: FloatArray, second: FloatArray) -> tuple[int, int]:
        """Return the number of scores in the event: of the data set that it is evidence for, and of the other."""
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


class Box(NamedTuple):
    """Event on the attacker's ROC plane: lower limit, observed value and upper limit of both rates.

    The verdict is "data". The limits are those of Clopper and Pearson.
    """

    left: float
    fpr: float
    right: float
    bottom: float
    tpr: float
    top: float


@dataclass(frozen=True, eq=False, repr=False)
class Attack:
    """The attacker's score and event, with the outputs on which the event was counted.

    Attributes
    ----------
    name : str
        Name of the score.
    event : Event
        Scores on one side of a threshold, and the data set that they are evidence for.
    outputs, neighbour_outputs : ndarray
        The half of the outputs that is counted. It did not choose the event.
    scores, neighbour_scores : ndarray of shape (counted,)
        The attacker's scores of these outputs.
    delta, confidence : float
        The δ at which ε is bounded, and the probability with which the bound holds.
    """

    name: str
    event: Event
    outputs: NDArray
    neighbour_outputs: NDArray
    scores: FloatArray
    neighbour_scores: FloatArray
    delta: float
    confidence: float

    @property
    def counted(self) -> int:
        """Draws of each data set that were counted."""
        return len(self.scores)

    @property
    def counts(self) -> tuple[int, int]:
        """Draws inside the event: of the data set that it speaks for, and of the other."""
        return self.event.counts(self.scores, self.neighbour_scores)

    @property
    def epsilon_lower(self) -> float:
        """The lower bound on ε that these counts give."""
        return float(lower_bounds(*self.counts, self.counted, self.delta, 1 - self.confidence))

    def delta_lower(self, epsilon: float) -> float:
        """Return the lower bound on δ at an ε, from the same counts and at the same confidence as that on ε."""
        hits, misses = (clopper_pearson(k, self.counted, 1 - self.confidence) for k in self.counts)
        return max(float(hits[0] - np.exp(epsilon) * misses[1]), 0.0)

    @property
    def roc(self) -> tuple[FloatArray, FloatArray]:
        """(fpr, tpr) of an attacker who says "data" on the side of a threshold where the event speaks for it."""
        sign = 1.0 if self.event.above == self.event.for_first else -1.0
        return attacker_roc(sign * self.scores, sign * self.neighbour_scores)

    @property
    def inside(self) -> tuple[BoolArray, BoolArray]:
        """Which draws lie inside the event, of the data and of the neighbour."""
        return self.event.inside(self.scores), self.event.inside(self.neighbour_scores)

    @property
    def box(self) -> Box:
        """The event on the ROC plane. At δ = 0 the bound is the log ratio at the worst corner of its box."""
        alpha, n = 1 - self.confidence, self.counted
        hits, misses = self.counts

        def limits(k: int) -> tuple[float, float, float]:
            low, high = clopper_pearson(k, n, alpha)
            return float(low), k / n, float(high)

        tpr, fpr = list(limits(hits)), list(limits(misses))
        if not self.event.for_first:
            # the event speaks for the neighbour, so that the attacker says "data" outside it
            tpr, fpr = ([1 - v for v in reversed(limits(k))] for k in (misses, hits))
        return Box(*fpr, *tpr)

    def __repr__(self) -> str:
        n, sure = self.counted, self.confidence
        return f"<attack by {self}: ε at least {self.epsilon_lower:.6g}, {sure:.0%} confidence, {n:,} draws counted>"

    def __str__(self) -> str:
        return f"{self.name} {'>=' if self.event.above else '<'} {self.event.threshold:.6g}"


def attack_outputs(
    outputs: Any,
    neighbour_outputs: Any,
    *,
    delta: float = 0.0,
    confidence: float = 0.95,
    score: Score | None = None,
) -> Attack:
    """Choose the event that separates two samples of outputs best, and count it on held-out outputs.

    The first halves of the samples choose the event, and the second halves count it.
    `dpml.audit.audit_outputs` compares this attack with a claim.

    Parameters
    ----------
    outputs, neighbour_outputs : array-like
        Outputs of a mechanism from the data and from the neighbour. Both have the same length, at least 4.
    delta : float, default=0.0
        The δ at which ε is bounded, in [0, 1).
    confidence : float, default=0.95
        Probability, in (0, 1), with which the bound holds.
    score : callable, optional
        The attacker's score of an array of outputs, larger where the data are likelier. By default, several scores are
        tried on the first half.

    Returns
    -------
    Attack
        The best event and its counts.

    Raises
    ------
    InvalidParameter
        If the two samples differ in length or have fewer than 4 outputs.

    See Also
    --------
    audit_outputs : Compares the bound of an attack with a claim.
    attackers : Yields the scores that are tried.
    outcomes : Computes the shares of each outcome of an attack.

    Examples
    --------
    Randomised response that lies in one of four answers, ε = log 3:

    >>> rng = np.random.default_rng(0)
    >>> yes, no = rng.random(20_000) < 0.75, rng.random(20_000) < 0.25
    >>> attack = attack_outputs(yes, no)
    >>> attack.counted, round(attack.epsilon_lower, 2), attack.box.tpr > attack.box.bottom
    (10000, 1.05, True)
    """
    delta = check_number(delta, "delta", 0.0, 1.0, open_upper=True)
    confidence = check_number(confidence, "confidence", 0.0, 1.0, open_lower=True, open_upper=True)
    sides = np.asarray(outputs), np.asarray(neighbour_outputs)
    sizes = len(sides[0]), len(sides[1])
    if sizes[0] != sizes[1] or sizes[0] < 4:
        raise InvalidParameter("outputs", sizes, "as many of each, at least 4")
    alpha, half = 1 - confidence, sizes[0] // 2
    first, second = (as_rows(side[:half]) for side in sides)
    tried = [("score given", score)] if score is not None else list(attackers(first, second))
    best = (-1.0, "", tried[0][1], Event(0.0, True, True))
    for name, attacker in tried:
        ours, theirs = (np.asarray(attacker(side[:half]), float) for side in sides)
        bound, event = best_event(ours, theirs, delta, alpha)
        if bound > best[0]:
            best = (bound, name, attacker, event)
    _, name, attacker, event = best
    ours, theirs = (np.asarray(attacker(side[half:]), float) for side in sides)
    return Attack(name, event, sides[0][half:], sides[1][half:], ours, theirs, delta, confidence)


# Outputs of more coordinates are told by their score alone.
SHOWN_COORDINATES = 4


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Bars of outcomes, each inside the attacker's event or outside it.

    Attributes
    ----------
    kind : {"output", "score", "histogram"}
        One bar per distinct output, per distinct score of the attacker, or per bin of its scores.
    outputs : ndarray of shape (bars, coordinates)
        The outputs or scores. A histogram has no rows.
    left, right : ndarray of shape (bars,)
        Edges of the bars: of bins for a histogram, else around 0, 1, 2, ...
    first, second : ndarray of shape (bars,)
        Share of the counted outputs of the data, and of the neighbour, in each bar. The first and the last bin of a
        histogram include all values beyond them.
    event : ndarray of bool of shape (bars,)
        Whether the bar is inside the event.
    """

    kind: str
    outputs: FloatArray
    left: FloatArray
    right: FloatArray
    first: FloatArray
    second: FloatArray
    event: BoolArray


def outcomes(attack: Attack, *, most: int = 24, bins: int = 40) -> Outcomes:
    """Return the shares of the outcomes of an attack, by output if there are few, else by score.

    Parameters
    ----------
    attack : Attack
        An attack, as `attack_outputs` returns it.
    most : int, default=24
        Largest number of distinct outputs or scores that each have a bar.
    bins : int, default=40
        Approximate number of bins of a histogram.

    Returns
    -------
    Outcomes
        Shares of the counted outputs, by bar.

    See Also
    --------
    attack_outputs : Chooses and counts an attack.
    outcome_probabilities : Lists known probabilities of each output.

    Examples
    --------
    >>> from dpml.audit import attack_outputs
    >>> rng = np.random.default_rng(0)
    >>> shown = outcomes(attack_outputs(rng.random(4_000) < 0.75, rng.random(4_000) < 0.25))
    >>> shown.outputs.ravel().tolist(), shown.first.round(1).tolist(), shown.event.tolist()
    ([0.0, 1.0], [0.2, 0.8], [False, True])
    """
    most, bins = check_integer(most, "most", 1), check_integer(bins, "bins", 1)
    rows = np.concatenate([as_rows(side) for side in (attack.outputs, attack.neighbour_outputs)])
    if rows.shape[1] <= SHOWN_COORDINATES:
        distinct, where = np.unique(rows, axis=0, return_inverse=True)
        if len(distinct) <= most:
            return _bars(attack, "output", distinct, where.ravel())
    both = np.concatenate([attack.scores, attack.neighbour_scores])
    distinct, where = np.unique(both[:, None], axis=0, return_inverse=True)
    if len(distinct) <= most:
        return _bars(attack, "score", distinct, where.ravel())
    return _binned(attack.scores, attack.neighbour_scores, attack.event, bins)


def _bars(attack: Attack, kind: str, distinct: FloatArray, where: IntArray) -> Outcomes:
    n, place = attack.counted, np.arange(len(distinct), dtype=float)
    first, second = (np.bincount(side, minlength=len(distinct)) / n for side in (where[:n], where[n:]))
    inside = np.zeros(len(distinct), dtype=bool)
    inside[where[np.concatenate(attack.inside)]] = True
    return Outcomes(kind, distinct, place - 0.5, place + 0.5, first, second, inside)


def _binned(ours: FloatArray, theirs: FloatArray, event: Event, bins: int) -> Outcomes:
    both = np.concatenate([ours, theirs])
    low, high = np.quantile(both, [0.005, 0.995])
    low, high = min(low, event.threshold), max(high, event.threshold)
    # an edge at the threshold, so that each bin is in the event or not
    width = (high - low) / bins or 1.0
    if np.array_equal(both, np.round(both)):
        width = np.ceil(width)  # whole numbers: as many of them in each bin
    before = max(1, int(np.ceil((event.threshold - low) / width)))
    cuts = np.asarray(event.threshold + width * np.arange(-before, bins - before + 2), dtype=float)
    first, second = (np.histogram(np.clip(side, cuts[0], cuts[-1]), cuts)[0] / len(side) for side in (ours, theirs))
    return Outcomes("histogram", np.zeros((0, 1)), cuts[:-1], cuts[1:], first, second, event.inside(cuts[:-1]))


def claimed_region(epsilon: float, delta: float = 0.0) -> tuple[list[float], list[float]]:
    """Return the corners of the region that a claim allows on the attacker's ROC plane.

    Parameters
    ----------
    epsilon : float
        The claimed ε, >= 0.
    delta : float, default=0.0
        The claimed δ, in [0, 1).

    Returns
    -------
    fpr : list of float
        False positive rate of each of the eight corners.
    tpr : list of float
        True positive rate of each of the eight corners.

    See Also
    --------
    trade_off : Computes the trade-off curve of a claim.

    Notes
    -----
    Privacy: no data is read.

    Antonova (2016), eq. 2.6 and 2.7: tpr <= e^ε fpr + δ and 1 - fpr <= e^ε (1 - tpr) + δ, and the same with the two
    data sets exchanged.

    Examples
    --------
    >>> fpr, tpr = claimed_region(0.0)
    >>> fpr[2], tpr[2]
    (0.5, 0.5)
    """
    epsilon = check_number(epsilon, "epsilon", 0.0)
    delta = check_number(delta, "delta", 0.0, 1.0, open_upper=True)
    knee = (1 - delta) / (1 + math.exp(min(epsilon, 700.0)))
    fpr = [0, 0, knee, 1 - delta, 1, 1, 1 - knee, delta]
    tpr = [0, delta, 1 - knee, 1, 1, 1 - delta, knee, 0]
    return [float(v) for v in fpr], [float(v) for v in tpr]


def simultaneous_confidence(confidence: float, looks: int) -> float:
    """Return the confidence that each of several bounds needs for all to hold together.

    Use it if you inspect an audit while outputs arrive, and may stop at any time (Bonferroni).

    Parameters
    ----------
    confidence : float
        Probability, in (0, 1), with which all bounds hold together.
    looks : int
        Number of bounds.

    Returns
    -------
    float
        Confidence of each bound.

    See Also
    --------
    attack_outputs : Takes this confidence.
    largest_bound : Computes the largest bound that a number of draws can give.

    Examples
    --------
    >>> round(simultaneous_confidence(0.95, 16), 6)
    0.996875

    Bounds as draws arrive, of Laplace noise at ε = 1, none of them above it:

    >>> import numpy as np
    >>> from dpml.audit import attack_outputs
    >>> first, second = np.random.default_rng(0).laplace(size=(2, 4000)) + np.array([[1.0], [0.0]])
    >>> each = simultaneous_confidence(0.95, 3)
    >>> [round(attack_outputs(first[:n], second[:n], confidence=each).epsilon_lower, 1) for n in (250, 1000, 4000)]
    [0.1, 0.7, 0.8]
    """
    confidence = check_number(confidence, "confidence", 0.0, 1.0, open_lower=True, open_upper=True)
    return 1 - (1 - confidence) / check_integer(looks, "looks", 1)


def largest_bound(draws: int, confidence: float = 0.95, delta: float = 0.0) -> float:
    """Return the largest lower bound on ε that a number of draws can give.

    It is the bound of an event that occurs in every draw of one data set and in none of the other. Half of the draws
    choose the event and are not counted.

    Parameters
    ----------
    draws : int
        Number of outputs of each data set, at least 2.
    confidence : float, default=0.95
        Probability, in (0, 1), with which the bound holds.
    delta : float, default=0.0
        The δ at which ε is bounded, in [0, 1).

    Returns
    -------
    float
        The largest possible lower bound on ε.

    See Also
    --------
    simultaneous_confidence : Corrects the confidence for several bounds.

    Examples
    --------
    >>> round(largest_bound(1_000), 2), round(largest_bound(100_000), 2)
    (4.91, 9.51)
    """
    counted = check_integer(draws, "draws", 2)
    counted -= counted // 2
    confidence = check_number(confidence, "confidence", 0.0, 1.0, open_lower=True, open_upper=True)
    delta = check_number(delta, "delta", 0.0, 1.0, open_upper=True)
    return float(lower_bounds(counted, 0, counted, delta, 1 - confidence))


@dataclass(frozen=True)
class AuditResult:
    """Result of an audit.

    Attributes
    ----------
    epsilon : float
        The claimed ε.
    delta : float
        The claimed δ.
    epsilon_lower : float
        The actual ε of these neighbours if `exact`, else a lower bound on it.
    exact : bool
        Whether `epsilon_lower` was computed from the distributions and not from sampled outputs.
    passed : bool
        Whether the claim holds on these neighbours: `epsilon_lower` does not exceed `epsilon`.
    confidence : float
        Probability with which a sampled bound is a correct lower bound. It is 1 if exact.
    draws : int
        Number of outputs of each of the two data sets. It is 0 if exact.
    event : str
        Description of the event that separates the two data sets best.
    delta_lower : float or None
        The δ that these neighbours need at the claimed ε if `exact`, else a lower bound on it. None where only the
        largest log ratio is known. The claim holds where it does not exceed `delta`.
    fpr, tpr : ndarray or None
        The attacker's ROC curve on the held-out outputs: the probability of the verdict "data" if the output came from
        the neighbour (fpr) and from the data (tpr). A claim of ε bounds it by tpr <= e^ε fpr + δ and
        1 - fpr <= e^ε (1 - tpr) + δ.

    See Also
    --------
    audit : Audits a mechanism on two neighbours.
    audit_outputs : Audits given outputs.

    Notes
    -----
    Privacy: ε = none, the result is not private. δ = 0. Relation: that of the claim. Sensitivity: not bounded.

    The result is computed from known data. It is not a release.
    """

    epsilon: float
    delta: float
    epsilon_lower: float
    exact: bool
    passed: bool
    confidence: float = 1.0
    draws: int = 0
    event: str = ""
    fpr: FloatArray | None = None
    tpr: FloatArray | None = None
    delta_lower: float | None = None

    def __repr__(self) -> str:
        how = "exactly" if self.exact else f"at least, {self.confidence:.0%} confidence, {self.draws:,} draws"
        verdict = "passed" if self.passed else "FAILED"
        claim, needed = f"ε = {self.epsilon:g}", ""
        if self.delta:
            claim += f" and δ = {self.delta:g}"
            needed = "" if self.delta_lower is None else f", δ = {self.delta_lower:.3g} at the claimed ε"
        return f"<audit {verdict}: claim {claim}, true ε = {self.epsilon_lower:.6g}{needed} ({how})>"


def audit(
    mechanism: Any,
    data: Any,
    neighbour: Any,
    epsilon: float,
    *,
    delta: float = 0.0,
    draws: int = 20_000,
    confidence: float = 0.95,
    rng: np.random.Generator | None = None,
    score: Score | None = None,
) -> AuditResult:
    """Measure the privacy cost of a mechanism on two neighbouring data sets, and compare it with the claim.

    Parameters
    ----------
    mechanism : object or callable
        An object with a method ``privacy_loss(data, neighbour)``, ``privacy_profile(data, neighbour, epsilon)`` or
        ``log_probabilities(data)``, from which the actual ε is computed. Otherwise a callable: ``mechanism(data,
        draws=..., rng=...)`` returns that many outputs, and ε is bounded from them.
    data, neighbour : object
        Two data sets that differ by one record, in the form that the mechanism takes.
    epsilon : float
        The claimed ε, finite and > 0.
    delta : float, default=0.0
        The claimed δ, in [0, 1).
    draws : int, default=20000
        Number of outputs of each data set. Half of them choose the event and half test it. An exact audit ignores it.
    confidence : float, default=0.95
        Probability, in (0, 1), with which the lower bound holds.
    rng : numpy.random.Generator, optional
        Source of the noise. A sampled audit needs it.
    score : callable, optional
        The attacker's score of an array of outputs, larger where `data` is likelier. By default, several scores are
        tried on the first half of the outputs.

    Returns
    -------
    AuditResult
        The actual ε, or a lower bound on it, beside the claim.

    Raises
    ------
    InvalidParameter
        If the claim is not valid, or a sampled audit has no `rng`.

    See Also
    --------
    audit_outputs : Audits given outputs.
    search : Searches for neighbours that violate a claim.
    recorded_cost : Computes the privacy loss of a whole call.

    Notes
    -----
    Privacy: ε = none, the result is not private. δ = 0. Relation: that of the claim. Sensitivity: not bounded.

    The result is computed from known data. It is not a release.

    See Antonova (2016), section 2.1 (eq. 2.3 to 2.7: the bound on an attacker's errors). One pair of neighbours can
    refute a claim, but cannot prove one.

    Examples
    --------
    >>> from dpml.mechanisms import ExponentialMechanism
    >>> class Choice(ExponentialMechanism):
    ...     def log_probabilities(self, data):
    ...         return np.log(self.probabilities(data))
    >>> audit(Choice(1.0, change_range=1.0), [0, 5], [1, 5], epsilon=1.0).passed
    True
    """
    epsilon = check_epsilon(epsilon)
    delta = check_number(delta, "delta", 0.0, 1.0, open_upper=True)
    needed = None
    if isinstance(mechanism, HasPrivacyLoss):
        if delta:
            raise InvalidParameter("delta", delta, "0 for a mechanism that gives its largest log ratio")
        worst, event = float(mechanism.privacy_loss(data, neighbour)), "largest log density ratio"
    elif isinstance(mechanism, HasPrivacyProfile):
        event = f"smallest ε at δ = {delta:g}"
        worst = smallest_epsilon(lambda e: mechanism.privacy_profile(data, neighbour, e), delta)
        needed = getattr(mechanism, "needed_delta", mechanism.privacy_profile)(data, neighbour, epsilon)
    elif isinstance(mechanism, HasProbabilities):
        sides = mechanism.log_probabilities(data), mechanism.log_probabilities(neighbour)
        worst, event = exact_epsilon(*sides, delta=delta)
        needed = hockey_stick(*sides, epsilon)
    else:
        draws = check_integer(draws, "draws", 4)
        rng = check_rng(rng)
        first = mechanism(data, draws=draws, rng=rng)
        second = mechanism(neighbour, draws=draws, rng=rng)
        return audit_outputs(first, second, epsilon, delta=delta, confidence=confidence, score=score)
    return AuditResult(epsilon, delta, worst, True, worst <= epsilon + TOLERANCE, event=event, delta_lower=needed)


def audit_outputs(
    outputs: Any,
    neighbour_outputs: Any,
    epsilon: float,
    *,
    delta: float = 0.0,
    confidence: float = 0.95,
    score: Score | None = None,
) -> AuditResult:
    """Bound ε from given outputs, the same number from the data and from the neighbour.

    The first half of each set of outputs chooses the attacker's score and event. The second half counts the event
    once, so the bound needs no correction for the search.

    Parameters
    ----------
    outputs, neighbour_outputs : array-like
        Outputs of a mechanism from the data and from the neighbour. Both have the same length, at least 4.
    epsilon : float
        The claimed ε, finite and > 0.
    delta : float, default=0.0
        The claimed δ, in [0, 1).
    confidence : float, default=0.95
        Probability, in (0, 1), with which the lower bound holds.
    score : callable, optional
        The attacker's score of an array of outputs, larger where the data are likelier. By default, several scores are
        tried on the first half.

    Returns
    -------
    AuditResult
        The lower bound on ε beside the claim.

    See Also
    --------
    audit : Draws the outputs itself.
    attack_outputs : Returns the attack without a claim.

    Notes
    -----
    Privacy: ε = none, the result is not private. δ = 0. Relation: that of the claim. Sensitivity: not bounded.

    The result is computed from known data. It is not a release.
    """
    epsilon = check_epsilon(epsilon)
    attack = attack_outputs(outputs, neighbour_outputs, delta=delta, confidence=confidence, score=score)
    lower, (fpr, tpr), needed = attack.epsilon_lower, attack.roc, attack.delta_lower(epsilon)
    return AuditResult(
        epsilon,
        attack.delta,
        lower,
        False,
        lower <= epsilon,
        attack.confidence,
        len(np.asarray(outputs)),
        str(attack),
        fpr,
        tpr,
        needed,
    )
