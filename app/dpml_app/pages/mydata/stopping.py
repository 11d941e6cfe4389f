"""A release that is cancelled stops at its next draw of noise, or at the next checkpoint of a long computation.

The rule for its ε: what is charged stays charged, and a release charges all of its parts before its first draw. So a
cancelled release is free if it had not begun, and costs what it would have cost otherwise. A refund would need a proof
that nothing was learned from what was drawn. There is none: how long it took is seen, and whoever cancels may have
chosen the moment by it.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dpml.mechanisms import boundary
from dpml.mechanisms.interruption import interruptible


class Stopped(BaseException):
    """A release was cancelled. No exception of the library's: nothing on the way takes it for a fault of the data."""


class CancellationToken:
    """A wish to stop, said in one thread and obeyed in another at its next draw or checkpoint.

    >>> stop = CancellationToken()
    >>> stop.check()
    >>> stop.ask()
    >>> stop.asked
    True
    """

    def __init__(self) -> None:
        self._event = threading.Event()

    @property
    def asked(self) -> bool:
        """Whether somebody has asked to stop."""
        return self._event.is_set()

    def ask(self) -> None:
        """Ask to stop."""
        self._event.set()

    def check(self) -> None:
        """Raise `Stopped` once somebody has asked."""
        if self.asked:
            raise Stopped

    @contextmanager
    def cancellable(self) -> Iterator[None]:
        """Return a context in which no noise is drawn once somebody has asked, and no result leaves."""
        self.check()
        with boundary.observe(_Observer(self)), interruptible(self.check):
            yield
        self.check()


class _Observer:
    """Draws as if nobody listened, while nobody has asked to stop."""

    def __init__(self, stop: CancellationToken):
        self.stop = stop

    def release(self, mechanism: Any, statistic: Any, rng: Any) -> Any:
        self.stop.check()
        return mechanism._sample(statistic, rng)

    def public_randomness(self, rng: Any, draw: str, arguments: tuple, size: Any) -> Any:
        self.stop.check()
        return boundary.drawn_by(rng, draw, arguments, size)

    def best_of_runs(self, factor: float) -> Any:
        with boundary.unreleased():
            return boundary.best_of_runs(factor)
