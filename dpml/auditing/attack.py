"""One attack on two samples of outputs: the event that half of the draws chose, and what the other half shows."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpml._arrays import BoolArray, FloatArray
from dpml._validate import check_number
from dpml.auditing.attacker import (
    Event,
    Score,
    as_rows,
    attacker_roc,
    attackers,
    best_event,
    clopper_pearson,
    lower_bounds,
)
from dpml.exceptions import InvalidParameter


class Box(NamedTuple):
    """An event on the attacker's ROC plane with its Clopper-Pearson limits.

    Attributes
    ----------
    left, fpr, right : float
        How often the attacker says "data" when it was the neighbour: lower limit, share of the draws, upper limit.
    bottom, tpr, top : float
        The same when it was the data.
    """

    left: float
    fpr: float
    right: float
    bottom: float
    tpr: float
    top: float


@dataclass(frozen=True, eq=False, repr=False)
class Attack:
    """The attacker's score and event, and the draws that they were counted on.

    Attributes
    ----------
    name : str
        The score in words.
    event : Event
        Scores on one side of a threshold, and the data set that they speak for.
    outputs, neighbour_outputs : ndarray
        The half of the draws that is counted and did not choose the event.
    scores, neighbour_scores : ndarray
        The attacker's scores of these outputs.
    delta, confidence : float
        Of the bound.
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
        """Return the lower bound on the δ at an ε that these counts give, of the same confidence as that on ε."""
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
        """The event on the ROC plane; the bound (at δ = 0) is the log ratio at the worst corner of its box."""
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
    """Choose the event that tells two samples of outputs apart on their first halves, and count it on the others.

    `dpml.auditing.audit_outputs` is this attack beside a claim.

    Parameters
    ----------
    outputs, neighbour_outputs : array
        Outputs of a mechanism from either data set, as many of each, at least 4.
    delta : float
        The δ at which ε is bounded.
    confidence : float
        Of the bound, in (0, 1).
    score : callable, optional
        The attacker's score of an array of outputs, larger where the data are likelier. Default: several are tried on
        the first half.

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
