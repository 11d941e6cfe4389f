"""Exact audits of public objects: they rest on what really passed the door, and on no formula for the noise.

`recorded` is the recorder's cost of a whole call. It is exact for noise of which the recorder knows the densities, and
for choices whose probabilities are known. For what a proof bounds (one shot, peeling, the joint mechanism, sparse
vector, perturbed objectives) the recorder has that bound alone. There the outputs are enumerated here, or densities
compared, from the statistic and the mechanism that the call handed to the door (`drawn`, `Enumerated`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from dpml.auditing import recorded_cost, recorded_releases
from dpml.auditing.audit import smallest_epsilon
from dpml.mechanisms import door

__all__ = [
    "ComparedLoss",
    "ComparedProfile",
    "Enumerated",
    "EvenlyDivided",
    "RecordedLoss",
    "RecordedProfile",
    "drawn",
    "first_drawn",
    "of_choice",
    "recorded",
]

Call = Callable[[Any], Any]


class RecordedLoss:
    """The recorder's cost of a public call, for δ = 0."""

    def __init__(self, call: Call, pasts: int = 2):
        self.call, self.pasts = call, pasts

    def privacy_loss(self, data: Any, neighbour: Any) -> float:
        """Return the cost of everything that the call releases about these neighbours."""
        return recorded_cost(self.call, data, neighbour, pasts=self.pasts)


class RecordedProfile:
    """The recorder's cost of a public call at one δ: exact for one release and for Gaussian noise, else an upper bound.

    The profile is a step: what the call costs at that δ is looked for once, and is what a search over ε finds.
    """

    def __init__(self, call: Call, delta: float, pasts: int = 2):
        self.call, self.delta, self.pasts = call, delta, pasts
        self._known: list[tuple[Any, Any, float]] = []

    def _cost(self, data: Any, neighbour: Any) -> float:
        return recorded_cost(self.call, data, neighbour, delta=self.delta, pasts=self.pasts)

    def privacy_profile(self, data: Any, neighbour: Any, epsilon: float) -> float:
        """Return δ at the ε that the call costs at δ and above, else 1."""
        known = [cost for one, other, cost in self._known if one is data and other is neighbour]
        if not known:
            known = [self._cost(data, neighbour)]
            self._known.append((data, neighbour, known[0]))
        return self.delta if epsilon >= known[0] else 1.0


class EvenlyDivided(RecordedProfile):
    """The same with δ divided evenly among the releases that have no largest ratio.

    An upper bound too, and quick where the recorder's search for the best division takes minutes.
    """

    def _cost(self, data: Any, neighbour: Any) -> float:
        total = sum((r.loss for r in recorded_releases(self.call, data, neighbour)), door.NOTHING)
        if total.gaussian or total.sampled:
            raise NotImplementedError("Gaussian releases add up exactly: use RecordedProfile")
        share = self.delta / max(len(total.profiles), 1)
        return total.pure + sum(smallest_epsilon(profile, share) for profile in total.profiles)


def recorded(call: Call, delta: float = 0.0, pasts: int = 2) -> RecordedLoss | RecordedProfile:
    """Return an exact side for `dpml.auditing.audit`: the recorder's cost of a public call."""
    return RecordedProfile(call, delta, pasts) if delta else RecordedLoss(call, pasts)


def drawn(call: Call, data: Any) -> list[tuple[Any, Any]]:
    """Return each (mechanism, exact statistic) that a call hands to the door."""
    return [(release.mechanism, release.statistic) for release in recorded_releases(call, data, data)]


class _Found(BaseException):
    """Carries the first release out of a call, which ends there; no Exception, so that nothing on the way takes it."""


class _First:
    """A listener that ends a call at its first release, so that nothing is drawn."""

    def release(self, mechanism: Any, statistic: Any, rng: Any) -> Any:
        raise _Found(mechanism, statistic)

    def coins(self, draw: Callable[[Any], Any], rng: Any) -> Any:
        return draw(rng)

    def alternatives(self, factor: float) -> Any:
        return nullcontext(nullcontext)


def first_drawn(call: Call, data: Any) -> tuple[Any, Any]:
    """Return the (mechanism, exact statistic) of a call's first release, for which no noise is drawn."""
    try:
        with door.listen(_First()):
            call(data)
    except _Found as found:
        mechanism, statistic = found.args
        return mechanism, statistic
    raise LookupError("the call released nothing")


class Compared:
    """The cost of a call's one release; nothing is drawn, so that no sampler has to be installed."""

    def __init__(self, call: Call):
        self.call = call

    def _loss(self, data: Any, neighbour: Any) -> door.Loss:
        (one, statistic), (other, other_statistic) = (first_drawn(self.call, side) for side in (data, neighbour))
        return one._compare(statistic, other, other_statistic) if one == other else door.EVERYTHING


class ComparedLoss(Compared):
    """The same for δ = 0."""

    def privacy_loss(self, data: Any, neighbour: Any) -> float:
        """Return the largest log ratio."""
        return self._loss(data, neighbour).pure


class ComparedProfile(Compared):
    """The same for δ > 0, of one number."""

    def privacy_profile(self, data: Any, neighbour: Any, epsilon: float) -> float:
        """Return δ at ε."""
        [profile] = self._loss(data, neighbour).profiles
        return profile(epsilon)


class Enumerated:
    """The probabilities of all outputs, from the statistic and the mechanism of a call's one choice.

    Parameters
    ----------
    call : callable
        ``call(data)``, the public object; it makes one release, after any coins.
    probabilities : callable
        ``probabilities(mechanism, statistic)`` returns log probabilities, as an array or by output.
    outputs : sequence, optional
        What the places of that array stand for.
    """

    def __init__(self, call: Call, probabilities: Callable[[Any, Any], Any], outputs: Sequence[Any] | None = None):
        self.call, self.probabilities, self.outputs = call, probabilities, outputs

    def log_probabilities(self, data: Any) -> Any:
        """Return the log probability of each output."""
        found = self.probabilities(*first_drawn(self.call, data))
        return found if self.outputs is None else dict(zip(self.outputs, map(float, found), strict=True))


def of_choice(mechanism: Any, statistic: Any) -> Any:
    """Return the log probabilities of one choice by scores, which pass the door in units of the noise."""
    scores = np.asarray(statistic, dtype=float).reshape(-1)
    # both kinds of mechanism take scores in their own units
    units = mechanism.scale if hasattr(mechanism, "scale") else 1 / mechanism.weight
    with np.errstate(divide="ignore"):
        return np.log(mechanism.probabilities(scores * units))
