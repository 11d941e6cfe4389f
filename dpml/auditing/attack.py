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
    """Event on the attacker's ROC plane with its Clopper-Pearson limits.

    Parameters
    ----------
    left, fpr, right : float
        Lower limit, observed value and upper limit of the false positive rate.
    bottom, tpr, top : float
        Lower limit, observed value and upper limit of the true positive rate.

    Attributes
    ----------
    left, fpr, right : float
        Lower limit, observed value and upper limit of the attacker's false positive rate: the probability of the
        verdict "data" on outputs of the neighbour.
    bottom, tpr, top : float
        Lower limit, observed value and upper limit of the attacker's true positive rate: the probability of the verdict
        "data" on outputs of the data.

    See Also
    --------
    Attack : Computes the box of its event.
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
    delta : float
        The δ at which ε is bounded.
    confidence : float
        Probability with which the bound holds.

    See Also
    --------
    attack_outputs : Chooses and counts an attack.
    outcomes : Computes the shares of each outcome of an attack.
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
        """Return the lower bound on δ at an ε, from the same counts and at the same confidence as that on ε.

        Parameters
        ----------
        epsilon : float
            The ε at which δ is bounded.

        Returns
        -------
        float
            Lower bound on δ, at least 0.
        """
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
    `dpml.auditing.audit_outputs` compares this attack with a claim.

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
