"""Places at which a long computation asks whether its result is still needed.

An observer of the boundary is asked at each draw. Between two draws there can be seconds of exact computation. Loops in
it call `checkpoint`, which does nothing without `interruptible`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_check: ContextVar[Callable[[], None] | None] = ContextVar("check", default=None)


@contextmanager
def interruptible(check: Callable[[], None]) -> Iterator[None]:
    """Call a function at each checkpoint inside the ``with`` block, in this thread. An exception of it ends the block.

    The function must know nothing of the records: the client sees the time at which it raises.
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
