"""The door that every draw of noise and every private choice passes.

A mechanism hands its exact statistic to `release`, which draws. While somebody listens (`listen`; the recorder of
`dpml.auditing` does), the listener is handed the mechanism and the statistic instead, and what it returns is the
release. Randomness that hides nothing, such as which records a part takes, passes `coins`.

A mechanism at the door is a frozen dataclass with two methods:

- ``_sample(statistic, rng)`` draws one release of the statistic, with the scale that the mechanism states;
- ``_compare(statistic, other, other_statistic)`` returns the `Loss` of that release between two data sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

__all__ = ["Listener", "Loss", "alternatives", "coins", "l1_distance", "listen", "release", "unreleased"]


@dataclass(frozen=True)
class Loss:
    """What a release costs between two data sets; losses add up under adaptive composition.

    Attributes
    ----------
    pure : float
        The largest log ratio of the two densities; infinity if there is none.
    gaussian : float
        μ² of Gaussian noise: the squared distance of the statistics in standard deviations. Sums of it are exact
        (Dong, Roth and Su 2022, Corollary 3.3).
    profiles : tuple of callable
        For releases that have no largest ratio: ``profile(epsilon)`` is their δ, both ways.
    sampled : tuple of (float, float)
        For Gaussian noise on a Poisson sample of the records: its rate, and the μ of a record that is in it.
    """

    pure: float = 0.0
    gaussian: float = 0.0
    profiles: tuple[Callable[[float], float], ...] = ()
    sampled: tuple[tuple[float, float], ...] = ()

    def __add__(self, other: Loss) -> Loss:
        return Loss(
            self.pure + other.pure,
            self.gaussian + other.gaussian,
            self.profiles + other.profiles,
            self.sampled + other.sampled,
        )


NOTHING = Loss()
EVERYTHING = Loss(pure=float("inf"))


class Listener(Protocol):
    """Who is handed each release instead of the generator."""

    def release(self, mechanism: Any, statistic: Any, rng: np.random.Generator | None) -> Any:
        """Return what is released."""
        ...

    def coins(self, draw: Callable[[Any], Any], rng: np.random.Generator | None) -> Any:
        """Return randomness that hides nothing."""
        ...

    def alternatives(self, factor: float) -> Any:
        """Return a context in which each run costs `factor` times its loss, and the dearest counts."""
        ...


_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listen(listener: Listener | None) -> Iterator[None]:
    """Hand every release of the block, in this thread, to a listener."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def unreleased() -> Any:
    """Return a context for noise that is part of a statistic: what is drawn in it does not leave the call."""
    return listen(None)


def l1_distance(first: Any, second: Any) -> float:
    """Return the sum of |first - second|, the two of one shape."""
    first, second = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    equal = (first == second) | (np.isnan(first) & np.isnan(second))  # two infinities are not apart
    with np.errstate(invalid="ignore"):
        return float(np.abs(np.where(equal, 0.0, first - second)).sum())


def release(mechanism: Any, statistic: Any, rng: np.random.Generator | None) -> Any:
    """Draw one release of a statistic; without a generator the mechanism has a source of its own."""
    listener = _listener.get()
    if listener is None:
        return mechanism._sample(statistic, rng)
    return listener.release(mechanism, statistic, rng)


def coins(draw: Callable[[Any], Any], rng: np.random.Generator | None) -> Any:
    """Draw randomness that hides nothing and may be known to all: what it decides is paid for as if it were.

    Where it has an entry for each record, the entries are in the order of the records.
    """
    listener = _listener.get()
    return draw(rng) if listener is None else listener.coins(draw, rng)


def alternatives(factor: float) -> Any:
    """Return a context manager that gives, for each run of a random number of them, a context for its releases.

    Only the best run is released, which costs `factor` times what the dearest run costs (`dpml.tuning.stopping`).
    """
    listener = _listener.get()
    return nullcontext(nullcontext) if listener is None else listener.alternatives(factor)
