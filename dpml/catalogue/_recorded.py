"""Exact audits of public objects. They use what the call really handed to the boundary, not a formula for the noise.

`recorded` gives the cost of a whole call as the recorder finds it. The cost is exact for noise with known densities and
for choices with known probabilities. For some mechanisms (one shot, peeling, the joint mechanism, sparse vector,
perturbed objectives) the recorder knows only the bound from a proof. For these, this module enumerates the outputs or
compares densities, from the statistic and the mechanism that the call handed to the boundary (`drawn`, `Enumerated`).
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from dpml.auditing import recorded_cost, recorded_releases
from dpml.auditing.audit import smallest_epsilon
from dpml.auditing.composition import needed_delta
from dpml.auditing.recorder import recorded_losses, total_epsilon
from dpml.exceptions import DpmlError, MissingExtra
from dpml.mechanisms import boundary

Call = Callable[[Any], Any]


class RecordedLoss:
    """The recorder's cost of a public call, for δ = 0."""

    def __init__(self, call: Call, pasts: int = 2):
        self.call, self.pasts = call, pasts

    def privacy_loss(self, data: Any, neighbour: Any) -> float:
        """Return the cost of all releases of the call for these neighbours."""
        return recorded_cost(self.call, data, neighbour, pasts=self.pasts)


class RecordedProfile:
    """The recorder's cost of a public call at one δ: exact for one release and for Gaussian noise, else an upper bound.

    The profile is a step function. The ε of the call at that δ is computed once, and a search over ε finds this value.
    The δ at another ε is `needed_delta`.
    """

    def __init__(self, call: Call, delta: float, pasts: int = 2):
        self.call, self.delta, self.pasts = call, delta, pasts
        self._known: list[tuple[Any, Any, list[boundary.Loss], float]] = []

    def _epsilon(self, loss: boundary.Loss) -> float:
        return total_epsilon(loss, self.delta)

    def _losses(self, data: Any, neighbour: Any) -> tuple[list[boundary.Loss], float]:
        """Return the losses of the call for several pasts, and the ε of the dearest at δ."""
        for one, other, losses, cost in self._known:
            if one is data and other is neighbour:
                return losses, cost
        losses = recorded_losses(self.call, data, neighbour, pasts=self.pasts)
        self._known.append((data, neighbour, losses, max(map(self._epsilon, losses))))
        return self._known[-1][2:]

    def privacy_profile(self, data: Any, neighbour: Any, epsilon: float) -> float:
        """Return δ if ε is at least the cost of the call at δ, else 1."""
        return self.delta if epsilon >= self._losses(data, neighbour)[1] else 1.0

    def needed_delta(self, data: Any, neighbour: Any, epsilon: float) -> float:
        """Return the δ of the call at an ε."""
        return max(needed_delta(loss, epsilon) for loss in self._losses(data, neighbour)[0])


class EvenlyDivided(RecordedProfile):
    """The same with δ divided evenly among the releases whose likelihood ratio is unbounded.

    This is an upper bound too. It is quick where the recorder's search for the best division takes minutes.
    """

    def _epsilon(self, loss: boundary.Loss) -> float:
        if loss.gaussian or loss.sampled:
            raise NotImplementedError("Gaussian releases add up exactly: use RecordedProfile")
        share = self.delta / max(len(loss.profiles), 1)
        return loss.pure + sum(smallest_epsilon(profile, share) for profile in loss.profiles)


def recorded(call: Call, delta: float = 0.0, pasts: int = 2) -> RecordedLoss | RecordedProfile:
    """Return an object for `Case.exact`, which gives the recorder's cost of a public call that has to run."""

    def runs(data: Any) -> Any:
        try:
            return call(data)
        except MissingExtra:
            raise
        except DpmlError as error:  # to the recorder equal refusals are equal results, which cost nothing
            raise RuntimeError(f"the case does not run: {error}") from error

    return RecordedProfile(runs, delta, pasts) if delta else RecordedLoss(runs, pasts)


def drawn(call: Call, data: Any) -> list[tuple[Any, Any]]:
    """Return each (mechanism, exact statistic) that a call hands to the boundary."""
    return [(release.mechanism, release.statistic) for release in recorded_releases(call, data, data)]


class _Found(BaseException):
    """Ends a call at its first release and carries it out. As it is no Exception, no handler on the way catches it."""


class _First:
    """An observer that ends a call at its first release, so that nothing is drawn."""

    def release(self, mechanism: Any, statistic: Any, rng: Any) -> Any:
        raise _Found(mechanism, statistic)

    def public_randomness(self, rng: Any, draw: str, arguments: tuple, size: Any) -> Any:
        return boundary.drawn_by(rng, draw, arguments, size)

    def best_of_runs(self, factor: float) -> Any:
        return nullcontext(nullcontext)


def first_drawn(call: Call, data: Any) -> tuple[Any, Any]:
    """Return the (mechanism, exact statistic) of a call's first release, without drawing noise."""
    try:
        with boundary.observe(_First()):
            call(data)
    except _Found as draw:
        mechanism, statistic = draw.args
        return mechanism, statistic
    raise LookupError("the call released nothing")


class Compared:
    """The cost of a call's only release. Nothing is drawn, so that no sampler has to be installed."""

    def __init__(self, call: Call):
        self.call = call

    def _loss(self, data: Any, neighbour: Any) -> boundary.Loss:
        (one, statistic), (other, other_statistic) = (first_drawn(self.call, side) for side in (data, neighbour))
        return one._compare(statistic, other, other_statistic) if one == other else boundary.EVERYTHING


class ComparedLoss(Compared):
    """The same for δ = 0."""

    def privacy_loss(self, data: Any, neighbour: Any) -> float:
        """Return the largest log ratio."""
        return self._loss(data, neighbour).pure


class ComparedProfile(Compared):
    """The same for the release of one number with δ > 0."""

    def privacy_profile(self, data: Any, neighbour: Any, epsilon: float) -> float:
        """Return the δ of the release at this ε."""
        [profile] = self._loss(data, neighbour).profiles
        return profile(epsilon)


class Enumerated:
    """The probabilities of all outputs, from the statistic and the mechanism of a call's only choice.

    `call`: ``call(data)`` runs the public object. It may draw at random, and then makes one release. `probabilities`:
    ``probabilities(mechanism, statistic)`` returns log probabilities, as an array or as a dict with a key for each
    output. `outputs`: what the places of that array stand for.
    """

    def __init__(self, call: Call, probabilities: Callable[[Any, Any], Any], outputs: Sequence[Any] | None = None):
        self.call, self.probabilities, self.outputs = call, probabilities, outputs

    def log_probabilities(self, data: Any) -> Any:
        """Return the log probability of each output."""
        values = self.probabilities(*first_drawn(self.call, data))
        return values if self.outputs is None else dict(zip(self.outputs, map(float, values), strict=True))


def of_choice(mechanism: Any, statistic: Any) -> Any:
    """Return the log probabilities of one choice by scores. The scores at the boundary are in units of the noise."""
    scores = np.asarray(statistic, dtype=float).reshape(-1)
    # `probabilities` takes scores in their own units, for both kinds of mechanism
    units = mechanism.scale if hasattr(mechanism, "scale") else 1 / mechanism.weight
    with np.errstate(divide="ignore"):
        return np.log(mechanism.probabilities(scores * units))
