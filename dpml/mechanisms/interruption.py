"""Places at which a long computation asks whether anybody still waits for it.

An observer of the boundary is asked at each draw. Between two draws there can be seconds of exact computation: its
loops call `checkpoint`, which does nothing unless somebody asked for it with `interruptible`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_check: ContextVar[Callable[[], None] | None] = ContextVar("check", default=None)


@contextmanager
def interruptible(check: Callable[[], None]) -> Iterator[None]:
    """Call a function at each checkpoint inside the ``with`` block, in this thread; what it raises ends the block.

    It must know nothing of the records: when it raises is seen by whoever waits.
    """
    token = _check.set(check)
    try:
        yield
    finally:
        _check.reset(token)


def checkpoint() -> None:
    """Let a long computation be interrupted here."""
    check = _check.get()
    if check is not None:
        check()
