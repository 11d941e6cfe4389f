"""Signals that wait until a charge is recorded, or until its files are written."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def signals_held() -> Iterator[None]:
    """Return a context in which Ctrl-C and SIGTERM wait until its end. Only the main thread receives signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # None: a handler that Python cannot put back
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    handlers = {number: one for number, one in handlers.items() if one not in (None, signal.SIG_IGN)}
    received: list[int] = []
    try:
        for number in handlers:
            signal.signal(number, lambda number, _frame: received.append(number))
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number in dict.fromkeys(received):
            signal.raise_signal(number)
